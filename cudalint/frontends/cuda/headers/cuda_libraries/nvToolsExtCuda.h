#ifndef CUDALINT_NVTOOLSEXTCUDA_H
#define CUDALINT_NVTOOLSEXTCUDA_H
#include <cuda.h>
#include "nvToolsExt.h"
#ifdef __cplusplus
extern "C" {
#endif
void nvtxNameCuDeviceA(CUdevice device, const char *name);
void nvtxNameCuContextA(CUcontext context, const char *name);
void nvtxNameCuStreamA(CUstream stream, const char *name);
void nvtxNameCuEventA(CUevent event, const char *name);
#ifdef __cplusplus
}
#endif
#endif
