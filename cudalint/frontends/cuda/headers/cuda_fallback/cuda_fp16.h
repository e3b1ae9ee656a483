#ifndef CUDALINT_FALLBACK_FP16_H
#define CUDALINT_FALLBACK_FP16_H
#include <cuda_runtime.h>
#ifdef __cplusplus
struct alignas(2) __half { unsigned short bits; template <class T> __host__ __device__ __half(T); __half() = default; __host__ __device__ operator float() const; };
struct alignas(4) __half2 { __half x, y; };
typedef __half half;
typedef __half2 half2;
__host__ __device__ float __half2float(__half);
__host__ __device__ __half __float2half(float);
#endif
#endif
