/* The CUDA runtime where NVIDIA offers no headers to install (macOS): types, and functions that
   accept anything. */
#ifndef CUDALINT_FALLBACK_RUNTIME_API_H
#define CUDALINT_FALLBACK_RUNTIME_API_H
#include <stddef.h>
#include <stdint.h>
#include <vector_types.h>

/* By these names programs know that the header is there. */
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define CUDART_VERSION 13000
#define __CUDART_API_VERSION 13000
#define CUDARTAPI
#define CUDART_CB
#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaEventInterprocess 4
#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2
#define cudaHostRegisterIoMemory 4
#define cudaHostRegisterReadOnly 8
#define cudaMemAttachGlobal 1
#define cudaMemAttachHost 2
#define cudaMemAttachSingle 4
#define cudaDeviceScheduleAuto 0
#define cudaDeviceScheduleSpin 1
#define cudaDeviceScheduleYield 2
#define cudaDeviceScheduleBlockingSync 4
#define cudaDeviceMapHost 8
#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
#define cudaArrayCubemap 4
#define cudaIpcMemLazyEnablePeerAccess 1
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

#ifdef __cplusplus
#define CUDALINT_ANYTHING ...
extern "C" {
#else
#define CUDALINT_ANYTHING
#endif
enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInitializationError = 3,
  cudaErrorCudartUnloading = 4, cudaErrorProfilerDisabled = 5,
  cudaErrorProfilerNotInitialized = 6, cudaErrorProfilerAlreadyStarted = 7,
  cudaErrorProfilerAlreadyStopped = 8, cudaErrorInvalidConfiguration = 9,
  cudaErrorVersionTranslation = 10, cudaErrorInvalidPitchValue = 12, cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidHostPointer = 16, cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidTexture = 18, cudaErrorInvalidTextureBinding = 19,
  cudaErrorInvalidChannelDescriptor = 20, cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorAddressOfConstant = 22, cudaErrorTextureFetchFailed = 23,
  cudaErrorTextureNotBound = 24, cudaErrorSynchronizationError = 25,
  cudaErrorInvalidFilterSetting = 26, cudaErrorInvalidNormSetting = 27,
  cudaErrorMixedDeviceExecution = 28, cudaErrorNotYetImplemented = 31,
  cudaErrorMemoryValueTooLarge = 32, cudaErrorStubLibrary = 34, cudaErrorInsufficientDriver = 35,
  cudaErrorCallRequiresNewerDriver = 36, cudaErrorInvalidSurface = 37,
  cudaErrorDuplicateVariableName = 43, cudaErrorDuplicateTextureName = 44,
  cudaErrorDuplicateSurfaceName = 45, cudaErrorDevicesUnavailable = 46,
  cudaErrorIncompatibleDriverContext = 49, cudaErrorMissingConfiguration = 52,
  cudaErrorPriorLaunchFailure = 53, cudaErrorLaunchMaxDepthExceeded = 65,
  cudaErrorLaunchFileScopedTex = 66, cudaErrorLaunchFileScopedSurf = 67,
  cudaErrorSyncDepthExceeded = 68, cudaErrorLaunchPendingCountExceeded = 69,
  cudaErrorInvalidDeviceFunction = 98, cudaErrorNoDevice = 100, cudaErrorInvalidDevice = 101,
  cudaErrorDeviceNotLicensed = 102, cudaErrorSoftwareValidityNotEstablished = 103,
  cudaErrorStartupFailure = 127, cudaErrorInvalidKernelImage = 200,
  cudaErrorDeviceUninitialized = 201, cudaErrorMapBufferObjectFailed = 205,
  cudaErrorUnmapBufferObjectFailed = 206, cudaErrorArrayIsMapped = 207,
  cudaErrorAlreadyMapped = 208, cudaErrorNoKernelImageForDevice = 209,
  cudaErrorAlreadyAcquired = 210, cudaErrorNotMapped = 211, cudaErrorNotMappedAsArray = 212,
  cudaErrorNotMappedAsPointer = 213, cudaErrorECCUncorrectable = 214,
  cudaErrorUnsupportedLimit = 215, cudaErrorDeviceAlreadyInUse = 216,
  cudaErrorPeerAccessUnsupported = 217, cudaErrorInvalidPtx = 218,
  cudaErrorInvalidGraphicsContext = 219, cudaErrorNvlinkUncorrectable = 220,
  cudaErrorJitCompilerNotFound = 221, cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorJitCompilationDisabled = 223, cudaErrorUnsupportedExecAffinity = 224,
  cudaErrorUnsupportedDevSideSync = 225, cudaErrorContained = 226,
  cudaErrorInsufficientLoaderVersion = 227, cudaErrorInvalidSource = 300,
  cudaErrorFileNotFound = 301, cudaErrorSharedObjectSymbolNotFound = 302,
  cudaErrorSharedObjectInitFailed = 303, cudaErrorOperatingSystem = 304,
  cudaErrorInvalidResourceHandle = 400, cudaErrorIllegalState = 401, cudaErrorLossyQuery = 402,
  cudaErrorSymbolNotFound = 500, cudaErrorNotReady = 600, cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701, cudaErrorLaunchTimeout = 702,
  cudaErrorLaunchIncompatibleTexturing = 703, cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705, cudaErrorSetOnActiveProcess = 708,
  cudaErrorContextIsDestroyed = 709, cudaErrorAssert = 710, cudaErrorTooManyPeers = 711,
  cudaErrorHostMemoryAlreadyRegistered = 712, cudaErrorHostMemoryNotRegistered = 713,
  cudaErrorHardwareStackError = 714, cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716, cudaErrorInvalidAddressSpace = 717, cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719, cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorTensorMemoryLeak = 721, cudaErrorNotPermitted = 800, cudaErrorNotSupported = 801,
  cudaErrorSystemNotReady = 802, cudaErrorSystemDriverMismatch = 803,
  cudaErrorCompatNotSupportedOnDevice = 804, cudaErrorMpsConnectionFailed = 805,
  cudaErrorMpsRpcFailure = 806, cudaErrorMpsServerNotReady = 807,
  cudaErrorMpsMaxClientsReached = 808, cudaErrorMpsMaxConnectionsReached = 809,
  cudaErrorMpsClientTerminated = 810, cudaErrorCdpNotSupported = 811,
  cudaErrorCdpVersionMismatch = 812, cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901, cudaErrorStreamCaptureMerge = 902,
  cudaErrorStreamCaptureUnmatched = 903, cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905, cudaErrorStreamCaptureImplicit = 906,
  cudaErrorCapturedEvent = 907, cudaErrorStreamCaptureWrongThread = 908, cudaErrorTimeout = 909,
  cudaErrorGraphExecUpdateFailure = 910, cudaErrorExternalDevice = 911,
  cudaErrorInvalidClusterSize = 912, cudaErrorFunctionNotLoaded = 913,
  cudaErrorInvalidResourceType = 914, cudaErrorInvalidResourceConfiguration = 915,
  cudaErrorStreamDetached = 917, cudaErrorGraphRecaptureFailure = 918,
  cudaErrorFabricNotReady = 919, cudaErrorUnknown = 999, cudaErrorApiFailureBase = 10000
};
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3, cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5, cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaMemLocationType { cudaMemLocationTypeInvalid = 0, cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost = 2 };
enum cudaLimit {
  cudaLimitStackSize = 0, cudaLimitPrintfFifoSize = 1, cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3, cudaLimitDevRuntimePendingLaunchCount = 4
};
enum cudaFuncCache {
  cudaFuncCachePreferNone = 0, cudaFuncCachePreferShared = 1, cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 15
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4, cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7, cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10, cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14, cudaDevAttrGpuOverlap = 15,
  cudaDevAttrMultiProcessorCount = 16, cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18, cudaDevAttrCanMapHostMemory = 19, cudaDevAttrComputeMode = 20,
  cudaDevAttrMaxTexture1DWidth = 21, cudaDevAttrMaxTexture2DWidth = 22,
  cudaDevAttrMaxTexture2DHeight = 23, cudaDevAttrMaxTexture3DWidth = 24,
  cudaDevAttrMaxTexture3DHeight = 25, cudaDevAttrMaxTexture3DDepth = 26,
  cudaDevAttrMaxTexture2DLayeredWidth = 27, cudaDevAttrMaxTexture2DLayeredHeight = 28,
  cudaDevAttrMaxTexture2DLayeredLayers = 29, cudaDevAttrSurfaceAlignment = 30,
  cudaDevAttrConcurrentKernels = 31, cudaDevAttrEccEnabled = 32, cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34, cudaDevAttrTccDriver = 35, cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37, cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41, cudaDevAttrMaxTexture1DLayeredWidth = 42,
  cudaDevAttrMaxTexture1DLayeredLayers = 43, cudaDevAttrMaxTexture2DGatherWidth = 45,
  cudaDevAttrMaxTexture2DGatherHeight = 46, cudaDevAttrMaxTexture3DWidthAlt = 47,
  cudaDevAttrMaxTexture3DHeightAlt = 48, cudaDevAttrMaxTexture3DDepthAlt = 49,
  cudaDevAttrPciDomainId = 50, cudaDevAttrTexturePitchAlignment = 51,
  cudaDevAttrMaxTextureCubemapWidth = 52, cudaDevAttrMaxTextureCubemapLayeredWidth = 53,
  cudaDevAttrMaxTextureCubemapLayeredLayers = 54, cudaDevAttrMaxSurface1DWidth = 55,
  cudaDevAttrMaxSurface2DWidth = 56, cudaDevAttrMaxSurface2DHeight = 57,
  cudaDevAttrMaxSurface3DWidth = 58, cudaDevAttrMaxSurface3DHeight = 59,
  cudaDevAttrMaxSurface3DDepth = 60, cudaDevAttrMaxSurface1DLayeredWidth = 61,
  cudaDevAttrMaxSurface1DLayeredLayers = 62, cudaDevAttrMaxSurface2DLayeredWidth = 63,
  cudaDevAttrMaxSurface2DLayeredHeight = 64, cudaDevAttrMaxSurface2DLayeredLayers = 65,
  cudaDevAttrMaxSurfaceCubemapWidth = 66, cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67,
  cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68, cudaDevAttrMaxTexture1DLinearWidth = 69,
  cudaDevAttrMaxTexture2DLinearWidth = 70, cudaDevAttrMaxTexture2DLinearHeight = 71,
  cudaDevAttrMaxTexture2DLinearPitch = 72, cudaDevAttrMaxTexture2DMipmappedWidth = 73,
  cudaDevAttrMaxTexture2DMipmappedHeight = 74, cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxTexture1DMipmappedWidth = 77,
  cudaDevAttrStreamPrioritiesSupported = 78, cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82, cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84, cudaDevAttrMultiGpuBoardGroupID = 85,
  cudaDevAttrHostNativeAtomicSupported = 86, cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88, cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90, cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrReserved92 = 92, cudaDevAttrReserved93 = 93, cudaDevAttrReserved94 = 94,
  cudaDevAttrCooperativeLaunch = 95, cudaDevAttrReserved96 = 96,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrCanFlushRemoteWrites = 98,
  cudaDevAttrHostRegisterSupported = 99, cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrDirectManagedMemAccessFromHost = 101, cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108, cudaDevAttrMaxAccessPolicyWindowSize = 109,
  cudaDevAttrReservedSharedMemoryPerBlock = 111, cudaDevAttrSparseCudaArraySupported = 112,
  cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrTimelineSemaphoreInteropSupported = 114, cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrGPUDirectRDMASupported = 116, cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117,
  cudaDevAttrGPUDirectRDMAWritesOrdering = 118, cudaDevAttrMemoryPoolSupportedHandleTypes = 119,
  cudaDevAttrClusterLaunch = 120, cudaDevAttrDeferredMappingCudaArraySupported = 121,
  cudaDevAttrReserved122 = 122, cudaDevAttrReserved123 = 123, cudaDevAttrReserved124 = 124,
  cudaDevAttrIpcEventSupport = 125, cudaDevAttrMemSyncDomainCount = 126,
  cudaDevAttrReserved127 = 127, cudaDevAttrReserved128 = 128, cudaDevAttrReserved129 = 129,
  cudaDevAttrNumaConfig = 130, cudaDevAttrNumaId = 131, cudaDevAttrReserved132 = 132,
  cudaDevAttrMpsEnabled = 133, cudaDevAttrHostNumaId = 134, cudaDevAttrD3D12CigSupported = 135,
  cudaDevAttrVulkanCigSupported = 138, cudaDevAttrGpuPciDeviceId = 139,
  cudaDevAttrGpuPciSubsystemId = 140, cudaDevAttrReserved141 = 141,
  cudaDevAttrHostNumaMemoryPoolsSupported = 142, cudaDevAttrHostNumaMultinodeIpcSupported = 143,
  cudaDevAttrHostMemoryPoolsSupported = 144, cudaDevAttrReserved145 = 145,
  cudaDevAttrOnlyPartialHostNativeAtomicSupported = 147,
  cudaDevAttrAtomicReductionSupported = 148, cudaDevAttrLocalityDomainCount = 149,
  cudaDevAttrOversizedSharedMemoryPerBlock = 150, cudaDevAttrCigStreamsSupported = 151,
  cudaDevAttrLocalityDomainMultiprocessorCount = 157,
  cudaDevAttrTensorMapLargeTensorMinSize = 160
};
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5, cudaMemPoolAttrUsedMemCurrent = 7
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0, cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0, cudaAddressModeClamp = 1, cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaResourceType {
  cudaResourceTypeArray = 0, cudaResourceTypeMipmappedArray = 1, cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0, cudaChannelFormatKindUnsigned = 1, cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
enum cudaComputeMode {
  cudaComputeModeDefault = 0, cudaComputeModeExclusive = 1, cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1, cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st *cudaExternalSemaphore_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef void (*cudaHostFn_t)(void *);
typedef struct { char reserved[64]; } cudaIpcMemHandle_t, cudaIpcEventHandle_t;
struct cudaMemLocation { enum cudaMemLocationType type; int id; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaChannelFormatDesc { int x, y, z, w; enum cudaChannelFormatKind f; };
struct cudaMemcpy3DParms {
  cudaArray_t srcArray; struct cudaPos srcPos; struct cudaPitchedPtr srcPtr;
  cudaArray_t dstArray; struct cudaPos dstPos; struct cudaPitchedPtr dstPtr;
  struct cudaExtent extent; enum cudaMemcpyKind kind;
};
struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { cudaMipmappedArray_t mipmap; } mipmap;
    struct { void *devPtr; struct cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void *devPtr; struct cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3]; enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode; int sRGB; float borderColor[4]; int normalizedCoords;
  unsigned maxAnisotropy; enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};
struct cudaPointerAttributes { enum cudaMemoryType type; int device; void *devicePointer, *hostPointer; };
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes; };
struct cudaMemPoolProps { int allocType, handleTypes; struct cudaMemLocation location; };
struct cudaDeviceProp {
  char name[256]; size_t totalGlobalMem, sharedMemPerBlock; int regsPerBlock, warpSize; size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3]; size_t totalConstMem; int major, minor;
  size_t textureAlignment; int multiProcessorCount, integrated, canMapHostMemory, concurrentKernels;
  int asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor;
  int managedMemory, concurrentManagedAccess, cooperativeLaunch, pageableMemoryAccess, ECCEnabled;
  int pciBusID, pciDeviceID, pciDomainID, tccDriver, computeMode, clockRate, memoryClockRate, deviceOverlap;
  int kernelExecTimeoutEnabled, maxTexture1D, maxTexture2D[2], maxTexture3D[3];
  size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock; int regsPerMultiprocessor;
};
typedef struct { dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; void *attrs; unsigned numAttrs; } cudaLaunchConfig_t;

const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned flags);
#ifdef __cplusplus
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags = 1);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0);
#else
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
#endif
#define F(name) cudaError_t cuda##name(CUDALINT_ANYTHING);
F(ArrayGetInfo) F(ArrayGetMemoryRequirements) F(ArrayGetPlane) F(ArrayGetSparseProperties)
F(ChooseDevice) F(CreateSurfaceObject) F(CreateTextureObject) F(CtxResetPersistingL2Cache)
F(DestroyExternalMemory) F(DestroyExternalSemaphore) F(DestroySurfaceObject)
F(DestroyTextureObject) F(DevResourceGenerateDesc) F(DevSmResourceSplit)
F(DevSmResourceSplitByCount) F(DeviceCanAccessPeer) F(DeviceDisablePeerAccess)
F(DeviceEnablePeerAccess) F(DeviceFlushGPUDirectRDMAWrites) F(DeviceGetAttribute)
F(DeviceGetByPCIBusId) F(DeviceGetCacheConfig) F(DeviceGetDefaultMemPool) F(DeviceGetDevResource)
F(DeviceGetExecutionCtx) F(DeviceGetGraphMemAttribute) F(DeviceGetHostAtomicCapabilities)
F(DeviceGetLimit) F(DeviceGetMemPool) F(DeviceGetNvSciSyncAttributes)
F(DeviceGetP2PAtomicCapabilities) F(DeviceGetP2PAttribute) F(DeviceGetPCIBusId)
F(DeviceGetSharedMemConfig) F(DeviceGetStreamPriorityRange) F(DeviceGetTexture1DLinearMaxWidth)
F(DeviceGraphMemTrim) F(DeviceRegisterAsyncNotification) F(DeviceReset) F(DeviceSetCacheConfig)
F(DeviceSetGraphMemAttribute) F(DeviceSetLimit) F(DeviceSetMemPool) F(DeviceSetSharedMemConfig)
F(DeviceUnregisterAsyncNotification) F(DriverGetVersion) F(EventCreateWithFlags) F(EventDestroy)
F(EventElapsedTime) F(EventQuery) F(EventRecord) F(EventRecordWithFlags) F(EventSynchronize)
F(ExecutionCtxDestroy) F(ExecutionCtxGetDevResource) F(ExecutionCtxGetDevice) F(ExecutionCtxGetId)
F(ExecutionCtxRecordEvent) F(ExecutionCtxStreamCreate) F(ExecutionCtxSynchronize)
F(ExecutionCtxWaitEvent) F(ExternalMemoryGetMappedBuffer) F(ExternalMemoryGetMappedMipmappedArray)
F(FreeArray) F(FreeAsync) F(FreeHost) F(FreeMipmappedArray) F(FuncGetAttributes) F(FuncGetName)
F(FuncGetParamCount) F(FuncGetParamInfo) F(FuncSetAttribute) F(FuncSetCacheConfig)
F(FuncSetSharedMemConfig) F(GetChannelDesc) F(GetDevice) F(GetDeviceCount) F(GetDeviceFlags)
F(GetDeviceProperties) F(GetDriverEntryPoint) F(GetDriverEntryPointByVersion) F(GetExportTable)
F(GetFuncBySymbol) F(GetKernel) F(GetMipmappedArrayLevel) F(GetSurfaceObjectResourceDesc)
F(GetTextureObjectResourceDesc) F(GetTextureObjectResourceViewDesc) F(GetTextureObjectTextureDesc)
F(GraphAddChildGraphNode) F(GraphAddDependencies) F(GraphAddEmptyNode) F(GraphAddEventRecordNode)
F(GraphAddEventWaitNode) F(GraphAddExternalSemaphoresSignalNode)
F(GraphAddExternalSemaphoresWaitNode) F(GraphAddHostNode) F(GraphAddKernelNode)
F(GraphAddMemAllocNode) F(GraphAddMemFreeNode) F(GraphAddMemcpyNode) F(GraphAddMemcpyNode1D)
F(GraphAddMemcpyNodeFromSymbol) F(GraphAddMemcpyNodeToSymbol) F(GraphAddMemsetNode)
F(GraphAddNode) F(GraphChildGraphNodeGetGraph) F(GraphClone) F(GraphConditionalHandleCreate)
F(GraphConditionalHandleCreate_v2) F(GraphCreate) F(GraphDebugDotPrint) F(GraphDestroy)
F(GraphDestroyNode) F(GraphEventRecordNodeGetEvent) F(GraphEventRecordNodeSetEvent)
F(GraphEventWaitNodeGetEvent) F(GraphEventWaitNodeSetEvent) F(GraphExecChildGraphNodeSetParams)
F(GraphExecDestroy) F(GraphExecEventRecordNodeSetEvent) F(GraphExecEventWaitNodeSetEvent)
F(GraphExecExternalSemaphoresSignalNodeSetParams) F(GraphExecExternalSemaphoresWaitNodeSetParams)
F(GraphExecGetFlags) F(GraphExecGetId) F(GraphExecHostNodeSetParams)
F(GraphExecKernelNodeSetParams) F(GraphExecMemcpyNodeSetParams) F(GraphExecMemcpyNodeSetParams1D)
F(GraphExecMemcpyNodeSetParamsFromSymbol) F(GraphExecMemcpyNodeSetParamsToSymbol)
F(GraphExecMemsetNodeSetParams) F(GraphExecNodeSetParams) F(GraphExecUpdate)
F(GraphExternalSemaphoresSignalNodeGetParams) F(GraphExternalSemaphoresSignalNodeSetParams)
F(GraphExternalSemaphoresWaitNodeGetParams) F(GraphExternalSemaphoresWaitNodeSetParams)
F(GraphGetEdges) F(GraphGetId) F(GraphGetNodes) F(GraphGetRootNodes) F(GraphHostNodeGetParams)
F(GraphHostNodeSetParams) F(GraphInstantiate) F(GraphInstantiateWithFlags)
F(GraphInstantiateWithParams) F(GraphKernelNodeCopyAttributes) F(GraphKernelNodeGetAttribute)
F(GraphKernelNodeGetParams) F(GraphKernelNodeSetAttribute) F(GraphKernelNodeSetParams)
F(GraphLaunch) F(GraphMemAllocNodeGetParams) F(GraphMemFreeNodeGetParams)
F(GraphMemcpyNodeGetParams) F(GraphMemcpyNodeSetParams) F(GraphMemcpyNodeSetParams1D)
F(GraphMemcpyNodeSetParamsFromSymbol) F(GraphMemcpyNodeSetParamsToSymbol)
F(GraphMemsetNodeGetParams) F(GraphMemsetNodeSetParams) F(GraphNodeFindInClone)
F(GraphNodeGetContainingGraph) F(GraphNodeGetDependencies) F(GraphNodeGetDependentNodes)
F(GraphNodeGetEnabled) F(GraphNodeGetLocalId) F(GraphNodeGetParams) F(GraphNodeGetToolsId)
F(GraphNodeGetType) F(GraphNodeSetEnabled) F(GraphNodeSetParams) F(GraphReleaseUserObject)
F(GraphRemoveDependencies) F(GraphRetainUserObject) F(GraphUpload) F(GraphicsMapResources)
F(GraphicsResourceGetMappedMipmappedArray) F(GraphicsResourceGetMappedPointer)
F(GraphicsResourceSetMapFlags) F(GraphicsSubResourceGetMappedArray) F(GraphicsUnmapResources)
F(GraphicsUnregisterResource) F(GreenCtxCreate) F(HostGetFlags) F(HostRegister) F(HostUnregister)
F(ImportExternalMemory) F(ImportExternalSemaphore) F(InitDevice) F(IpcCloseMemHandle)
F(IpcGetEventHandle) F(IpcGetMemHandle) F(IpcOpenEventHandle) F(IpcOpenMemHandle)
F(KernelSetAttributeForDevice) F(LaunchCooperativeKernel) F(LaunchHostFunc) F(LaunchHostFunc_v2)
F(LaunchKernel) F(LaunchKernelExC) F(LibraryEnumerateKernels) F(LibraryGetGlobal)
F(LibraryGetKernel) F(LibraryGetKernelCount) F(LibraryGetManaged) F(LibraryGetUnifiedFunction)
F(LibraryLoadData) F(LibraryLoadFromFile) F(LibraryUnload) F(LogsCurrent) F(LogsDumpToFile)
F(LogsDumpToMemory) F(LogsRegisterCallback) F(LogsUnregisterCallback) F(Malloc3D) F(Malloc3DArray)
F(MallocArray) F(MallocMipmappedArray) F(MemAdvise) F(MemDiscardAndPrefetchBatchAsync)
F(MemDiscardBatchAsync) F(MemGetDefaultMemPool) F(MemGetInfo) F(MemGetLocationInfo)
F(MemGetMemPool) F(MemPoolCreate) F(MemPoolDestroy) F(MemPoolExportPointer)
F(MemPoolExportToShareableHandle) F(MemPoolGetAccess) F(MemPoolGetAttribute)
F(MemPoolImportFromShareableHandle) F(MemPoolImportPointer) F(MemPoolSetAccess)
F(MemPoolSetAttribute) F(MemPoolTrimTo) F(MemPrefetchAsync) F(MemPrefetchBatchAsync)
F(MemRangeGetAttribute) F(MemRangeGetAttributes) F(MemSetMemPool) F(Memcpy2D)
F(Memcpy2DArrayToArray) F(Memcpy2DAsync) F(Memcpy2DFromArray) F(Memcpy2DFromArrayAsync)
F(Memcpy2DToArray) F(Memcpy2DToArrayAsync) F(Memcpy3D) F(Memcpy3DAsync) F(Memcpy3DBatchAsync)
F(Memcpy3DPeer) F(Memcpy3DPeerAsync) F(Memcpy3DWithAttributesAsync) F(MemcpyArrayToArray)
F(MemcpyBatchAsync) F(MemcpyFromArray) F(MemcpyFromArrayAsync) F(MemcpyPeer) F(MemcpyPeerAsync)
F(MemcpyToArray) F(MemcpyToArrayAsync) F(MemcpyWithAttributesAsync) F(Memset2D) F(Memset2DAsync)
F(Memset3D) F(Memset3DAsync) F(MipmappedArrayGetMemoryRequirements)
F(MipmappedArrayGetSparseProperties) F(OccupancyAvailableDynamicSMemPerBlock)
F(OccupancyMaxActiveBlocksPerMultiprocessor) F(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
F(OccupancyMaxActiveClusters) F(OccupancyMaxPotentialClusterSize) F(PointerGetAttributes)
F(RuntimeGetVersion) F(SetDevice) F(SetDeviceFlags) F(SetValidDevices)
F(SignalExternalSemaphoresAsync) F(StreamAddCallback) F(StreamAttachMemAsync)
F(StreamBeginCapture) F(StreamBeginCaptureToGraph) F(StreamBeginRecaptureToGraph)
F(StreamCopyAttributes) F(StreamCreateWithFlags) F(StreamCreateWithPriority) F(StreamDestroy)
F(StreamEndCapture) F(StreamGetAttribute) F(StreamGetCaptureInfo) F(StreamGetDevResource)
F(StreamGetDevice) F(StreamGetFlags) F(StreamGetId) F(StreamGetPriority) F(StreamIsCapturing)
F(StreamQuery) F(StreamSetAttribute) F(StreamSynchronize) F(StreamUpdateCaptureDependencies)
F(StreamWaitEvent) F(ThreadExchangeStreamCaptureMode) F(UserObjectCreate) F(UserObjectRelease)
F(UserObjectRetain) F(WaitExternalSemaphoresAsync)
#undef F
#ifdef __cplusplus
}
#endif
#endif
