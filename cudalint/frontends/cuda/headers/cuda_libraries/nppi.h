/* NPP for images: the functions that allocate and free. */
#ifndef CUDALINT_NPPI_H
#define CUDALINT_NPPI_H
#include "nppcore.h"
CUDALINT_BEGIN
#define ALLOCATOR(type, suffix) Npp##type *nppiMalloc_##type##_##suffix(int width, int height, int *step);
#define ALLOCATORS(type) ALLOCATOR(type, C1) ALLOCATOR(type, C2) ALLOCATOR(type, C3) ALLOCATOR(type, C4)
ALLOCATORS(8u) ALLOCATORS(16u) ALLOCATORS(16s) ALLOCATORS(16sc) ALLOCATORS(32s) ALLOCATORS(32sc)
ALLOCATORS(32f) ALLOCATORS(32fc)
#undef ALLOCATORS
#undef ALLOCATOR
void nppiFree(void *data);
CUDALINT_END
#endif
