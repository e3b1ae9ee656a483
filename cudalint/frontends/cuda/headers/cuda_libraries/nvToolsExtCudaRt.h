#ifndef CUDALINT_NVTOOLSEXTCUDART_H
#define CUDALINT_NVTOOLSEXTCUDART_H
#include <cuda_runtime_api.h>
#include "nvToolsExt.h"
#ifdef __cplusplus
extern "C" {
#endif
void nvtxNameCudaDeviceA(int device, const char *name);
void nvtxNameCudaStreamA(cudaStream_t stream, const char *name);
void nvtxNameCudaEventA(cudaEvent_t event, const char *name);
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#ifdef __cplusplus
}
#endif
#endif
