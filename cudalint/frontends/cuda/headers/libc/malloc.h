#ifndef CUDALINT_LIBC_MALLOC_H
#define CUDALINT_LIBC_MALLOC_H
#include <stdlib.h>
CUDALINT_C
void *memalign(size_t alignment, size_t size);
size_t malloc_usable_size(void *pointer);
int malloc_trim(size_t keep);
CUDALINT_END_C
#endif
