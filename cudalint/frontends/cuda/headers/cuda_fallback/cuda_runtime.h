/* The CUDA runtime's C++ part where NVIDIA offers no headers to install. */
#ifndef CUDALINT_FALLBACK_RUNTIME_H
#define CUDALINT_FALLBACK_RUNTIME_H
#if defined(__CUDA__) && defined(__cplusplus)
#include <__clang_cuda_math_forward_declares.h>
#endif
#include <cuda_runtime_api.h>
#if defined(__CUDA__) && defined(__cplusplus)
#define __CUDACC__ 1
#define __CUDA_RUNTIME_H__
#include <__clang_cuda_builtin_vars.h>

template <class T> cudaError_t cudaMalloc(T **pointer, size_t bytes);
template <class T> cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = 0);
template <class T> cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags);
template <class T> cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned flags = 1);
template <class T> cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height);
template <class T> cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream);
template <class T> cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
template <class T> cudaError_t cudaHostGetDevicePointer(T **pointer, void *host, unsigned flags);
template <class T> cudaError_t cudaMemcpyToSymbol(const T &to, const void *from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <class T> cudaError_t cudaMemcpyFromSymbol(void *to, const T &from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
template <class T> cudaError_t cudaMemcpyToSymbolAsync(const T &to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = 0);
template <class T> cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = 0);
template <class T> cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol);
template <class T> cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol);
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f);
cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags = 0);
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return cudaExtent{width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return cudaPos{x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t width, size_t height) { return cudaPitchedPtr{pointer, pitch, width, height}; }
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);

__device__ void __syncthreads();
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ void __syncwarp(unsigned mask = 0xffffffff);
template <class T, class V> __device__ T atomicAdd(T *address, V value);
template <class T, class V> __device__ T atomicSub(T *address, V value);
template <class T, class V> __device__ T atomicMax(T *address, V value);
template <class T, class V> __device__ T atomicMin(T *address, V value);
template <class T, class V> __device__ T atomicExch(T *address, V value);
template <class T, class V, class W> __device__ T atomicCAS(T *address, V compare, W value);
template <class T, class V> __device__ T atomicOr(T *address, V value);
template <class T, class V> __device__ T atomicAnd(T *address, V value);
template <class T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T> __device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
__device__ int __any_sync(unsigned mask, int predicate);
__device__ int __all_sync(unsigned mask, int predicate);
template <class T> __device__ T __ldg(const T *pointer);
__device__ long long clock64();
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void *malloc(size_t size);
extern "C" __device__ void free(void *pointer);
#define CUDALINT_PART(result, name) template <class... A> __device__ result name(A...);
CUDALINT_PART(int, __mul24)
CUDALINT_PART(unsigned, __umul24)
CUDALINT_PART(float, __expf)
CUDALINT_PART(float, __logf)
CUDALINT_PART(float, __sinf)
CUDALINT_PART(float, __cosf)
CUDALINT_PART(float, __powf)
CUDALINT_PART(float, __fdividef)
CUDALINT_PART(float, __saturatef)
CUDALINT_PART(float, rsqrtf)
CUDALINT_PART(unsigned, umin)
CUDALINT_PART(unsigned, umax)
CUDALINT_PART(int, __popc)
CUDALINT_PART(int, __clz)
CUDALINT_PART(int, __ffs)
#undef CUDALINT_PART
template <class T, class... A> __device__ T tex1D(cudaTextureObject_t texture, A... where);
template <class T, class... A> __device__ T tex1Dfetch(cudaTextureObject_t texture, A... where);
template <class T, class... A> __device__ T tex2D(cudaTextureObject_t texture, A... where);
template <class T, class... A> __device__ T tex3D(cudaTextureObject_t texture, A... where);
template <class T, class... A> __device__ T tex2DLayered(cudaTextureObject_t texture, A... where);
template <class T, class... A> __device__ T tex2DLod(cudaTextureObject_t texture, A... where);
template <class T, class... A> __device__ T surf2Dread(cudaSurfaceObject_t surface, A... where);
template <class T, class... A> __device__ void surf2Dwrite(T value, cudaSurfaceObject_t surface, A... where);
#endif
#endif
