// Errors and versions.
#pragma once

namespace ledger {

inline cudaError_t take_last(bool clear) {
    ThreadState& t = thread();
    cudaError_t status = t.last;
    if (clear) t.last = cudaSuccess;
    // A sticky error does not go away.
    if (runtime().sticky != cudaSuccess) return runtime().sticky;
    return status;
}

}  // namespace ledger

API(cudaGetLastError)(void) {
    cudaError_t own = ledger::take_last(true);
    if (own != cudaSuccess || simulating()) return own;
    return REAL(cudaGetLastError)();
}

API(cudaPeekAtLastError)(void) {
    cudaError_t own = ledger::take_last(false);
    if (own != cudaSuccess || simulating()) return own;
    return REAL(cudaPeekAtLastError)();
}

namespace ledger {

struct ErrorText {
    int status;
    const char *name, *text;
};

// The texts are the ledger's own; programs print them, none should read them.
static const ErrorText error_texts[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {4, "cudaErrorCudartUnloading", "driver shutting down"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {16, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {18, "cudaErrorInvalidTexture", "invalid texture reference"},
    {20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {201, "cudaErrorDeviceUninitialized", "invalid device context"},
    {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {217, "cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
    {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {301, "cudaErrorFileNotFound", "file not found"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {401, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {708, "cudaErrorSetOnActiveProcess", "cannot set while device is active in this process"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {714, "cudaErrorHardwareStackError", "hardware stack error"},
    {715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {800, "cudaErrorNotPermitted", "operation not permitted"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    {906, "cudaErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream"},
    {999, "cudaErrorUnknown", "unknown error"},
};

inline const ErrorText* error_text(int status) {
    for (const ErrorText& e : error_texts)
        if (e.status == status) return &e;
    return nullptr;
}

}  // namespace ledger

#define API_TEXT(name) extern "C" EXPORT const char* name

API_TEXT(cudaGetErrorName)(cudaError_t error) {
    if (!simulating()) return REAL(cudaGetErrorName)(error);
    const ledger::ErrorText* e = ledger::error_text(int(error));
    return e ? e->name : "unrecognized error code";
}

API_TEXT(cudaGetErrorString)(cudaError_t error) {
    if (!simulating()) return REAL(cudaGetErrorString)(error);
    const ledger::ErrorText* e = ledger::error_text(int(error));
    return e ? e->text : "unrecognized error code";
}

API(cudaDriverGetVersion)(int* version) {
    CALL_FORWARD(cudaDriverGetVersion, version);
    if (!version) return call.done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return call.done(cudaSuccess);
}

API(cudaRuntimeGetVersion)(int* version) {
    CALL_FORWARD(cudaRuntimeGetVersion, version);
    if (!version) return call.done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return call.done(cudaSuccess);
}
