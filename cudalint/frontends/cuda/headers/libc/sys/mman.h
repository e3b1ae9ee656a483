#ifndef CUDALINT_LIBC_SYS_MMAN_H
#define CUDALINT_LIBC_SYS_MMAN_H
#include <cudalint_types.h>
CUDALINT_C
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MAP_ANON 0x20
#define MAP_POPULATE 0x8000
#define MAP_HUGETLB 0x40000
#define MAP_FAILED ((void *)-1)
#define MADV_SEQUENTIAL 2
#define MADV_WILLNEED 3
#define MADV_HUGEPAGE 14
#define MS_SYNC 4
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int munmap(void *address, size_t size);
int mprotect(void *address, size_t size, int protection);
int msync(void *address, size_t size, int flags);
int madvise(void *address, size_t size, int advice);
int mlock(const void *address, size_t size);
int munlock(const void *address, size_t size);
int shm_open(const char *name, int flags, mode_t mode);
int shm_unlink(const char *name);
CUDALINT_END_C
#endif
