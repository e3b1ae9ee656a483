/* The CUDA driver interface where NVIDIA offers no headers to install. */
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__
#include <cuda_runtime_api.h>
#define CUDA_VERSION 13000
#define CUDAAPI
#define CU_STREAM_DEFAULT 0
#define CU_STREAM_NON_BLOCKING 1
#define CU_CTX_SCHED_AUTO 0
#define CU_CTX_SCHED_BLOCKING_SYNC 4
#define CU_CTX_MAP_HOST 8
#define CU_MEMHOSTALLOC_PORTABLE 1
#define CU_MEMHOSTALLOC_DEVICEMAP 2
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#ifdef __cplusplus
extern "C" {
#endif
typedef enum {
  CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_DEINITIALIZED = 4, CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101, CUDA_ERROR_INVALID_CONTEXT = 201, CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_NOT_SUPPORTED = 801, CUDA_ERROR_UNKNOWN = 999
} CUresult;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUarray_st *CUarray;
typedef cudaMipmappedArray_t CUmipmappedArray;
typedef struct CUtexref_st *CUtexref;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef cudaGraph_t CUgraph;
typedef cudaGraphExec_t CUgraphExec;
typedef cudaGraphNode_t CUgraphNode;
typedef cudaMemPool_t CUmemoryPool;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef unsigned long long CUtexObject, CUsurfObject;
typedef int CUdevice_attribute, CUjit_option, CUmem_advise;
CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes);
CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CUresult cuEventCreate(CUevent *event, unsigned flags);
#define F(name) CUresult cu##name(CUDALINT_ANYTHING);
F(Array3DCreate) F(Array3DGetDescriptor) F(ArrayCreate) F(ArrayDestroy) F(ArrayGetDescriptor)
F(ArrayGetMemoryRequirements) F(ArrayGetPlane) F(ArrayGetSparseProperties)
F(CheckpointOperationComplete) F(CheckpointProcessCheckpoint)
F(CheckpointProcessGetRestoreThreadId) F(CheckpointProcessGetState) F(CheckpointProcessLock)
F(CheckpointProcessRestore) F(CheckpointProcessUnlock) F(CoredumpDeregisterCompleteCallback)
F(CoredumpDeregisterStartCallback) F(CoredumpGetAttribute) F(CoredumpGetAttributeGlobal)
F(CoredumpRegisterCompleteCallback) F(CoredumpRegisterStartCallback) F(CoredumpSetAttribute)
F(CoredumpSetAttributeGlobal) F(CtxAttach) F(CtxCreate) F(CtxDestroy) F(CtxDetach)
F(CtxDisablePeerAccess) F(CtxEnablePeerAccess) F(CtxFromGreenCtx) F(CtxGetApiVersion)
F(CtxGetCacheConfig) F(CtxGetCurrent) F(CtxGetDevResource) F(CtxGetDevice) F(CtxGetExecAffinity)
F(CtxGetFlags) F(CtxGetId) F(CtxGetLimit) F(CtxGetSharedMemConfig) F(CtxGetStreamPriorityRange)
F(CtxPopCurrent) F(CtxPushCurrent) F(CtxRecordEvent) F(CtxResetPersistingL2Cache)
F(CtxSetCacheConfig) F(CtxSetCurrent) F(CtxSetFlags) F(CtxSetLimit) F(CtxSetSharedMemConfig)
F(CtxSynchronize) F(CtxWaitEvent) F(DestroyExternalMemory) F(DestroyExternalSemaphore)
F(DevResourceGenerateDesc) F(DevSmResourceSplit) F(DevSmResourceSplitByCount)
F(DeviceCanAccessPeer) F(DeviceComputeCapability) F(DeviceGet) F(DeviceGetAttribute)
F(DeviceGetByPCIBusId) F(DeviceGetCliqueCount) F(DeviceGetCliqueInfo) F(DeviceGetCount)
F(DeviceGetDefaultMemPool) F(DeviceGetDevResource) F(DeviceGetExecAffinitySupport)
F(DeviceGetFabricClusterUuid) F(DeviceGetGraphMemAttribute) F(DeviceGetHostAtomicCapabilities)
F(DeviceGetLuid) F(DeviceGetMemPool) F(DeviceGetName) F(DeviceGetNvSciSyncAttributes)
F(DeviceGetP2PAtomicCapabilities) F(DeviceGetP2PAttribute) F(DeviceGetPCIBusId)
F(DeviceGetProperties) F(DeviceGetTexture1DLinearMaxWidth) F(DeviceGetUuid) F(DeviceGraphMemTrim)
F(DevicePrimaryCtxGetState) F(DevicePrimaryCtxRelease) F(DevicePrimaryCtxReset)
F(DevicePrimaryCtxRetain) F(DevicePrimaryCtxSetFlags) F(DeviceRegisterAsyncNotification)
F(DeviceSetGraphMemAttribute) F(DeviceSetMemPool) F(DeviceTotalMem)
F(DeviceUnregisterAsyncNotification) F(DriverGetVersion) F(EventDestroy)
F(EventElapsedTime) F(EventQuery) F(EventRecord) F(EventRecordWithFlags) F(EventSynchronize)
F(ExternalMemoryGetMappedBuffer) F(ExternalMemoryGetMappedMipmappedArray) F(FabricCpyBatchAsync)
F(FlushGPUDirectRDMAWrites) F(FuncGetAttribute) F(FuncGetModule) F(FuncGetName)
F(FuncGetParamCount) F(FuncGetParamInfo) F(FuncIsLoaded) F(FuncLoad) F(FuncSetAttribute)
F(FuncSetBlockShape) F(FuncSetCacheConfig) F(FuncSetSharedMemConfig) F(FuncSetSharedSize)
F(GetErrorName) F(GetErrorString) F(GetExportTable) F(GetProcAddress) F(GraphAddBatchMemOpNode)
F(GraphAddChildGraphNode) F(GraphAddDependencies) F(GraphAddEmptyNode) F(GraphAddEventRecordNode)
F(GraphAddEventWaitNode) F(GraphAddExternalSemaphoresSignalNode)
F(GraphAddExternalSemaphoresWaitNode) F(GraphAddHostNode) F(GraphAddKernelNode)
F(GraphAddMemAllocNode) F(GraphAddMemFreeNode) F(GraphAddMemcpyNode) F(GraphAddMemsetNode)
F(GraphAddNode) F(GraphBatchMemOpNodeGetParams) F(GraphBatchMemOpNodeSetParams)
F(GraphChildGraphNodeGetGraph) F(GraphClone) F(GraphConditionalHandleCreate) F(GraphCreate)
F(GraphDebugDotPrint) F(GraphDestroy) F(GraphDestroyNode) F(GraphEventRecordNodeGetEvent)
F(GraphEventRecordNodeSetEvent) F(GraphEventWaitNodeGetEvent) F(GraphEventWaitNodeSetEvent)
F(GraphExecBatchMemOpNodeSetParams) F(GraphExecChildGraphNodeSetParams) F(GraphExecDestroy)
F(GraphExecEventRecordNodeSetEvent) F(GraphExecEventWaitNodeSetEvent)
F(GraphExecExternalSemaphoresSignalNodeSetParams) F(GraphExecExternalSemaphoresWaitNodeSetParams)
F(GraphExecGetFlags) F(GraphExecGetId) F(GraphExecHostNodeSetParams)
F(GraphExecKernelNodeSetParams) F(GraphExecMemcpyNodeSetParams) F(GraphExecMemsetNodeSetParams)
F(GraphExecNodeSetParams) F(GraphExecUpdate) F(GraphExternalSemaphoresSignalNodeGetParams)
F(GraphExternalSemaphoresSignalNodeSetParams) F(GraphExternalSemaphoresWaitNodeGetParams)
F(GraphExternalSemaphoresWaitNodeSetParams) F(GraphGetEdges) F(GraphGetId) F(GraphGetNodes)
F(GraphGetRootNodes) F(GraphHostNodeGetParams) F(GraphHostNodeSetParams) F(GraphInstantiate)
F(GraphInstantiateWithParams) F(GraphKernelNodeCopyAttributes) F(GraphKernelNodeGetAttribute)
F(GraphKernelNodeGetParams) F(GraphKernelNodeSetAttribute) F(GraphKernelNodeSetParams)
F(GraphLaunch) F(GraphMemAllocNodeGetParams) F(GraphMemFreeNodeGetParams)
F(GraphMemcpyNodeGetParams) F(GraphMemcpyNodeSetParams) F(GraphMemsetNodeGetParams)
F(GraphMemsetNodeSetParams) F(GraphNodeFindInClone) F(GraphNodeGetContainingGraph)
F(GraphNodeGetDependencies) F(GraphNodeGetDependentNodes) F(GraphNodeGetEnabled)
F(GraphNodeGetLocalId) F(GraphNodeGetParams) F(GraphNodeGetToolsId) F(GraphNodeGetType)
F(GraphNodeSetEnabled) F(GraphNodeSetParams) F(GraphReleaseUserObject) F(GraphRemoveDependencies)
F(GraphRetainUserObject) F(GraphUpload) F(GraphicsMapResources)
F(GraphicsResourceGetMappedMipmappedArray) F(GraphicsResourceGetMappedPointer)
F(GraphicsResourceSetMapFlags) F(GraphicsSubResourceGetMappedArray) F(GraphicsUnmapResources)
F(GraphicsUnregisterResource) F(GreenCtxCreate) F(GreenCtxDestroy) F(GreenCtxGetDevResource)
F(GreenCtxGetId) F(GreenCtxRecordEvent) F(GreenCtxStreamCreate) F(GreenCtxWaitEvent)
F(ImportExternalMemory) F(ImportExternalSemaphore) F(Init) F(IpcCloseMemHandle)
F(IpcGetEventHandle) F(IpcGetMemHandle) F(IpcOpenEventHandle) F(IpcOpenMemHandle)
F(KernelGetAttribute) F(KernelGetFunction) F(KernelGetLibrary) F(KernelGetName)
F(KernelGetParamCount) F(KernelGetParamInfo) F(KernelSetAttribute) F(KernelSetCacheConfig)
F(Launch) F(LaunchCooperativeKernel) F(LaunchCooperativeKernelMultiDevice) F(LaunchGrid)
F(LaunchGridAsync) F(LaunchHostFunc) F(LaunchKernel) F(LaunchKernelEx) F(LibraryEnumerateKernels)
F(LibraryGetGlobal) F(LibraryGetKernel) F(LibraryGetKernelCount) F(LibraryGetManaged)
F(LibraryGetModule) F(LibraryGetUnifiedFunction) F(LibraryLoadData) F(LibraryLoadFromFile)
F(LibraryUnload) F(LinkAddData) F(LinkAddFile) F(LinkCreate) F(LogicalEndpointAddDevice)
F(LogicalEndpointBindAddr) F(LogicalEndpointBindMem) F(LogicalEndpointCreate)
F(LogicalEndpointDestroy) F(LogicalEndpointExport) F(LogicalEndpointGetLimits)
F(LogicalEndpointIdRelease) F(LogicalEndpointIdReserve) F(LogicalEndpointImport)
F(LogicalEndpointQuery) F(LogicalEndpointUnbind) F(LogsCurrent) F(LogsDumpToFile)
F(LogsDumpToMemory) F(LogsRegisterCallback) F(LogsUnregisterCallback) F(MemAddressFree)
F(MemAddressReserve) F(MemAdvise) F(MemAlloc) F(MemAllocAsync) F(MemAllocFromPoolAsync)
F(MemAllocHost) F(MemAllocManaged) F(MemAllocPitch) F(MemBatchDecompressAsync) F(MemCreate)
F(MemDiscardAndPrefetchBatchAsync) F(MemDiscardBatchAsync) F(MemExportToShareableHandle)
F(MemFree) F(MemFreeAsync) F(MemFreeHost) F(MemGetAccess) F(MemGetAddressRange)
F(MemGetAllocationGranularity) F(MemGetAllocationPropertiesFromHandle) F(MemGetDefaultMemPool)
F(MemGetHandleForAddressRange) F(MemGetInfo) F(MemGetMemPool) F(MemHostAlloc)
F(MemHostGetDevicePointer) F(MemHostGetFlags) F(MemHostRegister) F(MemHostUnregister)
F(MemImportFromShareableHandle) F(MemMap) F(MemMapArrayAsync) F(MemPoolCreate) F(MemPoolDestroy)
F(MemPoolExportPointer) F(MemPoolExportToShareableHandle) F(MemPoolGetAccess)
F(MemPoolGetAttribute) F(MemPoolImportFromShareableHandle) F(MemPoolImportPointer)
F(MemPoolSetAccess) F(MemPoolSetAttribute) F(MemPoolTrimTo) F(MemPrefetchAsync)
F(MemPrefetchBatchAsync) F(MemRangeGetAttribute) F(MemRangeGetAttributes) F(MemRelease)
F(MemRetainAllocationHandle) F(MemSetAccess) F(MemSetMemPool) F(MemUnmap) F(Memcpy) F(Memcpy2D)
F(Memcpy2DAsync) F(Memcpy2DUnaligned) F(Memcpy3D) F(Memcpy3DAsync) F(Memcpy3DBatchAsync)
F(Memcpy3DPeer) F(Memcpy3DPeerAsync) F(Memcpy3DWithAttributesAsync) F(MemcpyAsync) F(MemcpyAtoA)
F(MemcpyAtoD) F(MemcpyAtoH) F(MemcpyAtoHAsync) F(MemcpyBatchAsync) F(MemcpyDtoA) F(MemcpyDtoD)
F(MemcpyDtoDAsync) F(MemcpyDtoH) F(MemcpyDtoHAsync) F(MemcpyHtoA) F(MemcpyHtoAAsync) F(MemcpyHtoD)
F(MemcpyHtoDAsync) F(MemcpyPeer) F(MemcpyPeerAsync) F(MemcpyWithAttributesAsync) F(MemsetD16)
F(MemsetD16Async) F(MemsetD2D16) F(MemsetD2D16Async) F(MemsetD2D32) F(MemsetD2D32Async)
F(MemsetD2D8) F(MemsetD2D8Async) F(MemsetD32) F(MemsetD32Async) F(MemsetD8) F(MemsetD8Async)
F(MipmappedArrayCreate) F(MipmappedArrayDestroy) F(MipmappedArrayGetLevel)
F(MipmappedArrayGetMemoryRequirements) F(MipmappedArrayGetSparseProperties)
F(ModuleEnumerateFunctions) F(ModuleGetFunction) F(ModuleGetFunctionCount) F(ModuleGetGlobal)
F(ModuleGetLoadingMode) F(ModuleGetSurfRef) F(ModuleGetTexRef) F(ModuleLoad) F(ModuleLoadData)
F(ModuleLoadDataEx) F(ModuleLoadFatBinary) F(ModuleUnload) F(MulticastAddDevice)
F(MulticastBindAddr) F(MulticastBindMem) F(MulticastCreate) F(MulticastGetGranularity)
F(MulticastUnbind) F(OccupancyAvailableDynamicSMemPerBlock)
F(OccupancyMaxActiveBlocksPerMultiprocessor) F(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
F(OccupancyMaxActiveClusters) F(OccupancyMaxPotentialBlockSize)
F(OccupancyMaxPotentialBlockSizeWithFlags) F(OccupancyMaxPotentialClusterSize) F(ParamSetSize)
F(ParamSetTexRef) F(ParamSetf) F(ParamSeti) F(ParamSetv) F(PointerGetAttribute)
F(PointerGetAttributes) F(PointerSetAttribute) F(SignalExternalSemaphoresAsync)
F(StreamAddCallback) F(StreamAttachMemAsync) F(StreamBatchMemOp) F(StreamBeginCapture)
F(StreamBeginCaptureToCig) F(StreamBeginCaptureToGraph) F(StreamBeginRecaptureToGraph)
F(StreamCopyAttributes) F(StreamCreateWithPriority) F(StreamDestroy)
F(StreamEndCapture) F(StreamEndCaptureToCig) F(StreamGetAttribute) F(StreamGetCaptureInfo)
F(StreamGetCtx) F(StreamGetDevResource) F(StreamGetDevice) F(StreamGetFlags) F(StreamGetGreenCtx)
F(StreamGetId) F(StreamGetPriority) F(StreamIsCapturing) F(StreamQuery) F(StreamSetAttribute)
F(StreamSynchronize) F(StreamUpdateCaptureDependencies) F(StreamWaitEvent) F(StreamWaitValue32)
F(StreamWaitValue64) F(StreamWriteValue32) F(StreamWriteValue64) F(SurfObjectCreate)
F(SurfObjectDestroy) F(SurfObjectGetResourceDesc) F(SurfRefGetArray) F(SurfRefSetArray)
F(TensorMapEncodeIm2col) F(TensorMapEncodeIm2colWide) F(TensorMapEncodeTiled)
F(TensorMapReplaceAddress) F(TensorMapSetAllocationClass) F(TexObjectCreate) F(TexObjectDestroy)
F(TexObjectGetResourceDesc) F(TexObjectGetResourceViewDesc) F(TexObjectGetTextureDesc)
F(TexRefCreate) F(TexRefDestroy) F(TexRefGetAddress) F(TexRefGetAddressMode) F(TexRefGetArray)
F(TexRefGetBorderColor) F(TexRefGetFilterMode) F(TexRefGetFlags) F(TexRefGetFormat)
F(TexRefGetMaxAnisotropy) F(TexRefGetMipmapFilterMode) F(TexRefGetMipmapLevelBias)
F(TexRefGetMipmapLevelClamp) F(TexRefGetMipmappedArray) F(TexRefSetAddress) F(TexRefSetAddress2D)
F(TexRefSetAddressMode) F(TexRefSetArray) F(TexRefSetBorderColor) F(TexRefSetFilterMode)
F(TexRefSetFlags) F(TexRefSetFormat) F(TexRefSetMaxAnisotropy) F(TexRefSetMipmapFilterMode)
F(TexRefSetMipmapLevelBias) F(TexRefSetMipmapLevelClamp) F(TexRefSetMipmappedArray)
F(ThreadExchangeStreamCaptureMode) F(UserObjectCreate) F(UserObjectRelease) F(UserObjectRetain)
F(WaitExternalSemaphoresAsync)
F(MemFree) F(MemAllocPitch) F(MemAllocHost) F(MemGetInfo) F(MemcpyHtoD) F(MemcpyDtoH) F(MemcpyDtoD)
F(MemcpyHtoDAsync) F(MemcpyDtoHAsync) F(MemsetD8) F(MemsetD32) F(CtxDestroy) F(CtxPushCurrent)
F(CtxPopCurrent) F(StreamDestroy) F(EventDestroy) F(EventElapsedTime) F(ModuleGetGlobal)
F(ArrayCreate) F(MemHostRegister) F(MemHostGetDevicePointer) F(LinkCreate) F(LinkAddData)
F(DeviceTotalMem) F(DevicePrimaryCtxRelease) F(DevicePrimaryCtxReset) F(IpcOpenMemHandle)
#undef F
#ifdef __cplusplus
}
#endif
#endif
