/* HIP's runtime, whose types and functions are CUDA's under other names. */
#ifndef CUDALINT_HIP_RUNTIME_API_H
#define CUDALINT_HIP_RUNTIME_API_H
#include "../cudalint_declarations.h"

#define hipSuccess cudaSuccess
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorMemoryAllocation cudaErrorMemoryAllocation
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorNotReady cudaErrorNotReady
#define hipErrorNoDevice cudaErrorNoDevice
#define hipErrorInvalidDevice cudaErrorInvalidDevice
#define hipErrorPeerAccessAlreadyEnabled cudaErrorPeerAccessAlreadyEnabled
#define hipErrorNotSupported cudaErrorNotSupported
#define hipErrorLaunchFailure cudaErrorLaunchFailure
#define hipErrorUnknown cudaErrorUnknown
#define hipMemcpyHostToHost cudaMemcpyHostToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDefault cudaMemcpyDefault
#define hipStreamDefault cudaStreamDefault
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamPerThread cudaStreamPerThread
#define hipEventDefault cudaEventDefault
#define hipEventBlockingSync cudaEventBlockingSync
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventInterprocess cudaEventInterprocess
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostMallocPortable cudaHostAllocPortable
#define hipHostMallocMapped cudaHostAllocMapped
#define hipHostMallocWriteCombined cudaHostAllocWriteCombined
#define hipHostMallocNumaUser 0x20000000
#define hipHostMallocCoherent 0x40000000
#define hipHostMallocNonCoherent 0x80000000
#define hipHostAllocDefault cudaHostAllocDefault
#define hipHostAllocPortable cudaHostAllocPortable
#define hipHostAllocMapped cudaHostAllocMapped
#define hipHostRegisterDefault cudaHostRegisterDefault
#define hipHostRegisterPortable cudaHostRegisterPortable
#define hipHostRegisterMapped cudaHostRegisterMapped
#define hipMemAttachGlobal cudaMemAttachGlobal
#define hipMemAttachHost cudaMemAttachHost
#define hipMemAdviseSetReadMostly cudaMemAdviseSetReadMostly
#define hipMemAdviseSetPreferredLocation cudaMemAdviseSetPreferredLocation
#define hipMemAdviseSetAccessedBy cudaMemAdviseSetAccessedBy
#define hipCpuDeviceId cudaCpuDeviceId
#define hipInvalidDeviceId cudaInvalidDeviceId
#define hipDeviceMapHost cudaDeviceMapHost
#define hipDeviceScheduleBlockingSync cudaDeviceScheduleBlockingSync
#define hipDeviceScheduleSpin cudaDeviceScheduleSpin
#define hipDeviceScheduleYield cudaDeviceScheduleYield
#define hipLimitMallocHeapSize cudaLimitMallocHeapSize
#define hipLimitStackSize cudaLimitStackSize
#define hipLimitPrintfFifoSize cudaLimitPrintfFifoSize
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncAttributePreferredSharedMemoryCarveout cudaFuncAttributePreferredSharedMemoryCarveout
#define hipFuncCachePreferNone cudaFuncCachePreferNone
#define hipFuncCachePreferShared cudaFuncCachePreferShared
#define hipFuncCachePreferL1 cudaFuncCachePreferL1
#define hipFuncCachePreferEqual cudaFuncCachePreferEqual
#define hipMemPoolAttrReleaseThreshold cudaMemPoolAttrReleaseThreshold
#define hipStreamCaptureModeGlobal cudaStreamCaptureModeGlobal
#define hipStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define hipStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipDeviceAttributeMemoryClockRate cudaDevAttrMemoryClockRate
#define hipDeviceAttributeMemoryBusWidth cudaDevAttrGlobalMemoryBusWidth
#define hipDeviceAttributeClockRate cudaDevAttrClockRate
#define hipDeviceAttributeConcurrentManagedAccess cudaDevAttrConcurrentManagedAccess
#define hipDeviceAttributeManagedMemory cudaDevAttrManagedMemory
#define hipDeviceAttributeCooperativeLaunch cudaDevAttrCooperativeLaunch
#define hipDeviceAttributeMemoryPoolsSupported cudaDevAttrMemoryPoolsSupported
#define hipDeviceAttributeMaxGridDimX cudaDevAttrMaxGridDimX
#define hipAddressModeClamp cudaAddressModeClamp
#define hipAddressModeWrap cudaAddressModeWrap
#define hipAddressModeBorder cudaAddressModeBorder
#define hipFilterModePoint cudaFilterModePoint
#define hipFilterModeLinear cudaFilterModeLinear
#define hipReadModeElementType cudaReadModeElementType
#define hipReadModeNormalizedFloat cudaReadModeNormalizedFloat
#define hipResourceTypeArray cudaResourceTypeArray
#define hipResourceTypeLinear cudaResourceTypeLinear
#define hipResourceTypePitch2D cudaResourceTypePitch2D
#define hipChannelFormatKindFloat cudaChannelFormatKindFloat
#define hipChannelFormatKindSigned cudaChannelFormatKindSigned
#define hipChannelFormatKindUnsigned cudaChannelFormatKindUnsigned
#define hipComputeModeProhibited cudaComputeModeProhibited

typedef cudaError_t hipError_t;
typedef enum cudaMemcpyKind hipMemcpyKind;
typedef cudaStream_t hipStream_t;
typedef cudaEvent_t hipEvent_t;
typedef cudaGraph_t hipGraph_t;
typedef cudaGraphExec_t hipGraphExec_t;
typedef cudaGraphNode_t hipGraphNode_t;
typedef cudaMemPool_t hipMemPool_t;
typedef cudaArray_t hipArray_t;
typedef cudaMipmappedArray_t hipMipmappedArray_t;
typedef cudaTextureObject_t hipTextureObject_t;
typedef cudaSurfaceObject_t hipSurfaceObject_t;
typedef struct cudaDeviceProp hipDeviceProp_t;
typedef struct cudaPointerAttributes hipPointerAttribute_t;
typedef struct cudaExtent hipExtent;
typedef struct cudaPos hipPos;
typedef struct cudaPitchedPtr hipPitchedPtr;
typedef struct cudaMemcpy3DParms hipMemcpy3DParms;
typedef struct cudaResourceDesc hipResourceDesc;
typedef struct cudaTextureDesc hipTextureDesc;
typedef struct cudaChannelFormatDesc hipChannelFormatDesc;
typedef struct cudaFuncAttributes hipFuncAttributes;
typedef struct cudaMemPoolProps hipMemPoolProps;
typedef cudaIpcMemHandle_t hipIpcMemHandle_t;
typedef cudaIpcEventHandle_t hipIpcEventHandle_t;
typedef enum cudaLimit hipLimit_t;
typedef enum cudaFuncCache hipFuncCache_t;
typedef enum cudaFuncAttribute hipFuncAttribute;
typedef enum cudaDeviceAttr hipDeviceAttribute_t;
typedef enum cudaMemoryAdvise hipMemoryAdvise;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipCtx_t *hipCtx_t;
typedef int hipDevice_t;
typedef void *hipDeviceptr_t;

CUDALINT_BEGIN
const char *hipGetErrorString(hipError_t error);
const char *hipGetErrorName(hipError_t error);
#define F(name) CUDALINT_FUNCTION(hipError_t, hip##name)
F(GetDeviceProperties) F(DeviceGetAttribute) F(DeviceSetLimit) F(DeviceGetLimit)
F(DeviceSetCacheConfig) F(DeviceGetCacheConfig) F(DeviceSetSharedMemConfig) F(SetDeviceFlags)
F(DeviceCanAccessPeer) F(DeviceEnablePeerAccess) F(DeviceDisablePeerAccess)
F(DeviceGetStreamPriorityRange) F(DeviceGetDefaultMemPool) F(DriverGetVersion)
F(RuntimeGetVersion) F(Init) F(DeviceGet) F(DeviceGetName) F(DeviceTotalMem) F(MemGetInfo)
F(HostRegister) F(HostGetFlags) F(Memset2D) F(Memset3D) F(Memset2DAsync) F(MemcpyPeer)
F(MemcpyPeerAsync) F(Memcpy2D) F(Memcpy2DAsync) F(Memcpy3D) F(Memcpy3DAsync) F(Memcpy2DToArray)
F(Memcpy2DFromArray) F(MemcpyToArray) F(MemcpyFromArray) F(MemcpyHtoD) F(MemcpyDtoH) F(MemcpyDtoD)
F(MemcpyWithStream) F(MallocArray) F(Malloc3DArray) F(Malloc3D) F(MemPrefetchAsync) F(MemAdvise)
F(PointerGetAttributes) F(StreamAddCallback) F(StreamBeginCapture) F(StreamEndCapture)
F(EventElapsedTime) F(GraphInstantiate) F(GraphLaunch) F(FuncSetAttribute) F(FuncSetCacheConfig)
F(FuncGetAttributes) F(LaunchKernel) F(LaunchCooperativeKernel) F(LaunchHostFunc) F(ModuleLoad)
F(ModuleLoadData) F(ModuleGetFunction) F(ModuleLaunchKernel) F(CtxCreate) F(CtxSynchronize)
F(CtxSetCurrent) F(CreateTextureObject) F(CreateSurfaceObject) F(MemPoolSetAttribute)
F(MemPoolGetAttribute) F(MemPoolTrimTo) F(IpcGetMemHandle) F(IpcOpenMemHandle)
F(OccupancyMaxActiveBlocksPerMultiprocessor) F(OccupancyMaxPotentialBlockSize) F(ProfilerStart)
F(ProfilerStop)
#undef F
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
hipError_t hipSetDevice(int device);
hipError_t hipGetDevice(int *device);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceReset(void);
hipError_t hipFree(void *pointer);
hipError_t hipFreeAsync(void *pointer, hipStream_t stream);
hipError_t hipFreeHost(void *pointer);
hipError_t hipHostFree(void *pointer);
hipError_t hipHostUnregister(void *pointer);
hipError_t hipFreeArray(hipArray_t array);
hipError_t hipFreeMipmappedArray(hipMipmappedArray_t array);
hipError_t hipIpcCloseMemHandle(void *pointer);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphExecDestroy(hipGraphExec_t graph);
hipError_t hipDestroyTextureObject(hipTextureObject_t texture);
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface);
hipError_t hipMemPoolDestroy(hipMemPool_t pool);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipCtxDestroy(hipCtx_t context);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemset(void *to, int value, size_t bytes);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags);
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *properties);
#ifdef __cplusplus
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream = 0);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream = 0);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = 0);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
#else
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
hipError_t hipMalloc(void **pointer, size_t bytes);
hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags);
hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream);
hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags);
hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags);
hipError_t hipMallocHost(void **pointer, size_t bytes);
hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
hipError_t hipHostGetDevicePointer(void **pointer, void *host, unsigned flags);
#endif
CUDALINT_END

#ifdef __cplusplus
template <class T> hipError_t hipMalloc(T **pointer, size_t bytes);
template <class T> hipError_t hipMallocManaged(T **pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal);
template <class T> hipError_t hipMallocAsync(T **pointer, size_t bytes, hipStream_t stream);
template <class T> hipError_t hipHostMalloc(T **pointer, size_t bytes, unsigned flags = 0);
template <class T> hipError_t hipHostAlloc(T **pointer, size_t bytes, unsigned flags = 0);
template <class T> hipError_t hipMallocHost(T **pointer, size_t bytes);
template <class T> hipError_t hipMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height);
template <class T> hipError_t hipHostGetDevicePointer(T **pointer, void *host, unsigned flags);
template <class T> hipError_t hipMemcpyToSymbol(const T &to, const void *from, size_t bytes, size_t offset = 0, hipMemcpyKind kind = cudaMemcpyHostToDevice);
template <class T> hipError_t hipMemcpyFromSymbol(void *to, const T &from, size_t bytes, size_t offset = 0, hipMemcpyKind kind = cudaMemcpyDeviceToHost);
template <class T> hipError_t hipMemcpyToSymbolAsync(const T &to, const void *from, size_t bytes, size_t offset, hipMemcpyKind kind, hipStream_t stream = 0);
template <class T> hipError_t hipGetSymbolAddress(void **pointer, const T &symbol);
inline hipExtent make_hipExtent(size_t width, size_t height, size_t depth) { return hipExtent{width, height, depth}; }
inline hipPitchedPtr make_hipPitchedPtr(void *pointer, size_t pitch, size_t width, size_t height) { return hipPitchedPtr{pointer, pitch, width, height}; }
template <class T> hipChannelFormatDesc hipCreateChannelDesc();
#endif
#endif
