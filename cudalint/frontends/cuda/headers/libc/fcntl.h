#ifndef CUDALINT_LIBC_FCNTL_H
#define CUDALINT_LIBC_FCNTL_H
#include <cudalint_types.h>
CUDALINT_C
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_EXCL 0200
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define O_SYNC 04010000
#define O_DIRECT 040000
#define O_CLOEXEC 02000000
#define F_GETFL 3
#define F_SETFL 4
int open(const char *path, int flags, ...);
int creat(const char *path, mode_t mode);
int fcntl(int file, int command, ...);
int posix_fallocate(int file, off_t offset, off_t size);
int posix_fadvise(int file, off_t offset, off_t size, int advice);
CUDALINT_END_C
#endif
