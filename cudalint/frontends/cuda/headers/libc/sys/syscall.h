#ifndef CUDALINT_LIBC_SYS_SYSCALL_H
#define CUDALINT_LIBC_SYS_SYSCALL_H
#include <features.h>
#define SYS_futex 202
#define SYS_gettid 186
#define __NR_futex 202
#define __NR_gettid 186
CUDALINT_C
long syscall(long number, ...);
CUDALINT_END_C
#endif
