#ifndef CUDALINT_LIBC_SYS_WAIT_H
#define CUDALINT_LIBC_SYS_WAIT_H
#include <cudalint_types.h>
CUDALINT_C
#define WNOHANG 1
#define WEXITSTATUS(status) (((status) >> 8) & 0xff)
#define WIFEXITED(status) (((status) & 0x7f) == 0)
#define WIFSIGNALED(status) (((status) & 0x7f) != 0)
#define WTERMSIG(status) ((status) & 0x7f)
pid_t wait(int *status);
pid_t waitpid(pid_t pid, int *status, int options);
CUDALINT_END_C
#endif
