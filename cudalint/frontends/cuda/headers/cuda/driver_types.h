/* NVIDIA's own, with the members of cudaDeviceProp that CUDA 13 removed and programs still read. */
#ifndef CUDALINT_DRIVER_TYPES_H
#define CUDALINT_DRIVER_TYPES_H
#define gpuPciDeviceID \
  gpuPciDeviceID, clockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode, \
  maxTexture1DLinear, memoryClockRate, singleToDoublePrecisionPerfRatio, \
  cooperativeMultiDeviceLaunch
#include_next <driver_types.h>
#undef gpuPciDeviceID
#endif
