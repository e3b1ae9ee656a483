#ifndef CUDALINT_LIBC_SYS_SELECT_H
#define CUDALINT_LIBC_SYS_SELECT_H
#include <cudalint_types.h>
CUDALINT_C
typedef struct { unsigned long bits[16]; } fd_set;
#define FD_ZERO(set) ((void)(set))
#define FD_SET(file, set) ((void)(file), (void)(set))
#define FD_ISSET(file, set) ((file), (set) != 0)
int select(int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *timeout);
CUDALINT_END_C
#endif
