#ifndef CUDALINT_FALLBACK_BF16_H
#define CUDALINT_FALLBACK_BF16_H
#include <cuda_runtime.h>
#ifdef __cplusplus
struct alignas(2) __nv_bfloat16 { unsigned short bits; template <class T> __host__ __device__ __nv_bfloat16(T); __nv_bfloat16() = default; __host__ __device__ operator float() const; };
struct alignas(4) __nv_bfloat162 { __nv_bfloat16 x, y; };
__host__ __device__ float __bfloat162float(__nv_bfloat16);
__host__ __device__ __nv_bfloat16 __float2bfloat16(float);
#endif
#endif
