/* What marks device code, as clang spells it. */
#ifndef CUDALINT_FALLBACK_HOST_DEFINES_H
#define CUDALINT_FALLBACK_HOST_DEFINES_H
#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...)
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define CUDA_CB
#endif
