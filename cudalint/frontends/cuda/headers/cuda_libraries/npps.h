/* NPP for signals: the functions that allocate and free. */
#ifndef CUDALINT_NPPS_H
#define CUDALINT_NPPS_H
#include "nppcore.h"
CUDALINT_BEGIN
#define ALLOCATOR(type) Npp##type *nppsMalloc_##type(size_t size);
ALLOCATOR(8u) ALLOCATOR(8s) ALLOCATOR(16u) ALLOCATOR(16s) ALLOCATOR(16sc) ALLOCATOR(32u)
ALLOCATOR(32s) ALLOCATOR(32sc) ALLOCATOR(32f) ALLOCATOR(32fc) ALLOCATOR(64s) ALLOCATOR(64sc)
ALLOCATOR(64f) ALLOCATOR(64fc)
#undef ALLOCATOR
void nppsFree(void *data);
CUDALINT_END
#endif
