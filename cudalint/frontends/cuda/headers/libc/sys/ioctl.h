#ifndef CUDALINT_LIBC_SYS_IOCTL_H
#define CUDALINT_LIBC_SYS_IOCTL_H
#include <features.h>
CUDALINT_C
int ioctl(int file, unsigned long request, ...);
CUDALINT_END_C
#endif
