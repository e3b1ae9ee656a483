/* CUDA's vector types where NVIDIA offers no headers to install. */
#ifndef CUDALINT_FALLBACK_VECTOR_TYPES_H
#define CUDALINT_FALLBACK_VECTOR_TYPES_H
#include <host_defines.h>
#ifdef __cplusplus
#define CUDALINT_MAKER(...) __VA_ARGS__
#else
#define CUDALINT_MAKER(...)
#endif
#define CUDALINT_VECTORS(name, type, alignment2, alignment4) \
  typedef struct name##1 { type x; } name##1; \
  typedef struct __attribute__((aligned(alignment2))) name##2 { type x, y; } name##2; \
  typedef struct name##3 { type x, y, z; } name##3; \
  typedef struct __attribute__((aligned(alignment4))) name##4 { type x, y, z, w; } name##4; \
  CUDALINT_MAKER( \
    static inline __host__ __device__ name##1 make_##name##1(type x) { return name##1{x}; } \
    static inline __host__ __device__ name##2 make_##name##2(type x, type y) { return name##2{x, y}; } \
    static inline __host__ __device__ name##3 make_##name##3(type x, type y, type z) { return name##3{x, y, z}; } \
    static inline __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w) { return name##4{x, y, z, w}; })
CUDALINT_VECTORS(char, signed char, 2, 4)
CUDALINT_VECTORS(uchar, unsigned char, 2, 4)
CUDALINT_VECTORS(short, short, 4, 8)
CUDALINT_VECTORS(ushort, unsigned short, 4, 8)
CUDALINT_VECTORS(int, int, 8, 16)
CUDALINT_VECTORS(uint, unsigned, 8, 16)
CUDALINT_VECTORS(long, long, 16, 16)
CUDALINT_VECTORS(ulong, unsigned long, 16, 16)
CUDALINT_VECTORS(longlong, long long, 16, 16)
CUDALINT_VECTORS(ulonglong, unsigned long long, 16, 16)
CUDALINT_VECTORS(float, float, 8, 16)
CUDALINT_VECTORS(double, double, 16, 16)
#undef CUDALINT_VECTORS
#undef CUDALINT_MAKER
typedef struct dim3 {
  unsigned x, y, z;
#ifdef __cplusplus
  constexpr __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr __host__ __device__ operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;
#endif
