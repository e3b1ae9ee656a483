#ifndef CUDALINT_LIBC_SYS_FILE_H
#define CUDALINT_LIBC_SYS_FILE_H
#include <fcntl.h>
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
CUDALINT_C
int flock(int file, int operation);
CUDALINT_END_C
#endif
