/* What older CUDA versions declared and programs still use: texture references, the thread
   functions, signatures that have changed since. */
#ifndef CUDALINT_REMOVED_H
#define CUDALINT_REMOVED_H
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit);
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config);
struct textureReference;
struct surfaceReference;
cudaError_t cudaUnbindTexture(const struct textureReference *texture);
cudaError_t cudaGetTextureReference(const struct textureReference **texture, const void *symbol);
cudaError_t cudaProfilerInitialize(const char *config, const char *output, int mode);
#ifdef __cplusplus
}
#endif

/* Their enumerators became others or went away. */
#define cudaErrorProfilerNotInitialized ((cudaError_t)6)

#ifdef __cplusplus
#include <vector_types.h>

struct cudaLaunchParams {
  void *func;
  dim3 gridDim, blockDim;
  void **args;
  size_t sharedMem;
  cudaStream_t stream;
};
extern "C" cudaError_t cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *launches, unsigned devices, unsigned flags = 0);

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03

struct textureReference {
  int normalized;
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureAddressMode addressMode[3];
  struct cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};
struct surfaceReference { struct cudaChannelFormatDesc channelDesc; };
template <class T, int type = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture : textureReference {
  __host__ __device__ texture(int normalized = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
                              cudaTextureAddressMode address = cudaAddressModeClamp);
  __host__ texture(int normalized, cudaTextureFilterMode filter, cudaTextureAddressMode address,
                   struct cudaChannelFormatDesc description);
};
template <class T, int type = 1> struct surface : surfaceReference {
  __host__ __device__ surface();
};

template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(size_t *offset, const texture<T, type, mode> &to, const void *pointer, size_t bytes = 0xffffffff);
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(size_t *offset, const texture<T, type, mode> &to, const void *pointer,
                            const cudaChannelFormatDesc &description, size_t bytes = 0xffffffff);
cudaError_t cudaBindTexture(size_t *offset, const textureReference *to, const void *pointer,
                            const cudaChannelFormatDesc *description, size_t bytes = 0xffffffff);
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, type, mode> &to, const void *pointer,
                              size_t width, size_t height, size_t pitch);
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, type, mode> &to, const void *pointer,
                              const cudaChannelFormatDesc &description, size_t width, size_t height, size_t pitch);
cudaError_t cudaBindTexture2D(size_t *offset, const textureReference *to, const void *pointer,
                              const cudaChannelFormatDesc *description, size_t width, size_t height, size_t pitch);
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToArray(const texture<T, type, mode> &to, cudaArray_const_t array);
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToArray(const texture<T, type, mode> &to, cudaArray_const_t array, const cudaChannelFormatDesc &description);
cudaError_t cudaBindTextureToArray(const textureReference *to, cudaArray_const_t array, const cudaChannelFormatDesc *description);
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToMipmappedArray(const texture<T, type, mode> &to, cudaMipmappedArray_const_t array);
template <class T, int type>
cudaError_t cudaBindSurfaceToArray(const surface<T, type> &to, cudaArray_const_t array);
template <class T, int type>
cudaError_t cudaBindSurfaceToArray(const surface<T, type> &to, cudaArray_const_t array, const cudaChannelFormatDesc &description);
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaUnbindTexture(const texture<T, type, mode> &texture);
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const texture<T, type, mode> &texture);

/* What a fetch gives: the element, or floats of the same shape. */
template <class T, cudaTextureReadMode mode> struct cudalint_fetched { typedef T type; };
#define CUDALINT_NORMALIZED(from, to) \
  template <> struct cudalint_fetched<from, cudaReadModeNormalizedFloat> { typedef to type; };
CUDALINT_NORMALIZED(char, float)
CUDALINT_NORMALIZED(unsigned char, float)
CUDALINT_NORMALIZED(short, float)
CUDALINT_NORMALIZED(unsigned short, float)
CUDALINT_NORMALIZED(uchar2, float2)
CUDALINT_NORMALIZED(ushort2, float2)
CUDALINT_NORMALIZED(char4, float4)
CUDALINT_NORMALIZED(uchar4, float4)
CUDALINT_NORMALIZED(short4, float4)
CUDALINT_NORMALIZED(ushort4, float4)
#undef CUDALINT_NORMALIZED
#define CUDALINT_FETCH(name) \
  template <class T, int type, cudaTextureReadMode mode, class... A> \
  __device__ typename cudalint_fetched<T, mode>::type name(texture<T, type, mode> from, A... where);
CUDALINT_FETCH(tex1D)
CUDALINT_FETCH(tex1Dfetch)
CUDALINT_FETCH(tex2D)
CUDALINT_FETCH(tex3D)
CUDALINT_FETCH(tex1DLayered)
CUDALINT_FETCH(tex2DLayered)
CUDALINT_FETCH(tex2DLod)
CUDALINT_FETCH(tex3DLod)
CUDALINT_FETCH(texCubemap)
CUDALINT_FETCH(tex2Dgather)
#undef CUDALINT_FETCH
#define CUDALINT_WRITE(name) \
  template <class V, class T, int type, class... A> \
  __device__ void name(V value, surface<T, type> to, A... where);
CUDALINT_WRITE(surf1Dwrite)
CUDALINT_WRITE(surf2Dwrite)
CUDALINT_WRITE(surf3Dwrite)
CUDALINT_WRITE(surf2DLayeredwrite)
#undef CUDALINT_WRITE
#define CUDALINT_READ(name) \
  template <class V, class T, int type, class... A> \
  __device__ void name(V *value, surface<T, type> from, A... where); \
  template <class V, class T, int type, class... A> \
  __device__ V name(surface<T, type> from, A... where);
CUDALINT_READ(surf1Dread)
CUDALINT_READ(surf2Dread)
CUDALINT_READ(surf3Dread)
CUDALINT_READ(surf2DLayeredread)
#undef CUDALINT_READ

/* Warp functions without a mask. */
#define CUDALINT_SHUFFLE(name, Lane) \
  template <class T> __device__ T name(T value, Lane lane, int width = 32);
CUDALINT_SHUFFLE(__shfl, int)
CUDALINT_SHUFFLE(__shfl_up, unsigned)
CUDALINT_SHUFFLE(__shfl_down, unsigned)
CUDALINT_SHUFFLE(__shfl_xor, int)
#undef CUDALINT_SHUFFLE
__device__ int __any(int predicate);
__device__ int __all(int predicate);
__device__ unsigned __ballot(int predicate);

/* Stores with cache hints, which clang's own headers lack. */
template <class T> __device__ void __stcs(T *pointer, T value);
template <class T> __device__ void __stcg(T *pointer, T value);
template <class T> __device__ void __stwb(T *pointer, T value);
template <class T> __device__ void __stwt(T *pointer, T value);

#ifndef CUDALINT_FALLBACK_RUNTIME_API_H
/* Signatures before CUDA 13. */
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream = 0);
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream);
cudaError_t cudaMemAdvise_v2(const void *pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *dependencies, size_t *count);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *dependents, size_t *count);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count, cudaGraphNodeParams *params);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, cudaGraphNode_t *error, char *log, size_t bytes);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t *error, cudaGraphExecUpdateResult *result);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count, unsigned flags = 0);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id = 0,
                                        cudaGraph_t *graph = 0, const cudaGraphNode_t **dependencies = 0, size_t *count = 0);
#ifdef __cuda_cuda_h__
CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream);
#endif
#endif

/* nvcc's overloads for the host, which clang has for the device only. */
#define CUDALINT_LARGER(result, first, second) \
  __host__ constexpr result max(first a, second b) { return a < b ? b : a; } \
  __host__ constexpr result min(first a, second b) { return b < a ? b : a; }
CUDALINT_LARGER(int, int, int)
CUDALINT_LARGER(unsigned, unsigned, unsigned)
CUDALINT_LARGER(unsigned, int, unsigned)
CUDALINT_LARGER(unsigned, unsigned, int)
CUDALINT_LARGER(long, long, long)
CUDALINT_LARGER(unsigned long, unsigned long, unsigned long)
CUDALINT_LARGER(unsigned long, long, unsigned long)
CUDALINT_LARGER(unsigned long, unsigned long, long)
CUDALINT_LARGER(long long, long long, long long)
CUDALINT_LARGER(unsigned long long, unsigned long long, unsigned long long)
CUDALINT_LARGER(unsigned long long, long long, unsigned long long)
CUDALINT_LARGER(unsigned long long, unsigned long long, long long)
CUDALINT_LARGER(float, float, float)
CUDALINT_LARGER(double, double, double)
CUDALINT_LARGER(double, float, double)
CUDALINT_LARGER(double, double, float)
#undef CUDALINT_LARGER
#endif
#endif
