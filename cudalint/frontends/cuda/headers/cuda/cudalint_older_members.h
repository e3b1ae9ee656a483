/* The members of cudaDeviceProp that CUDA 13 removed and programs still read. */
#define gpuPciDeviceID \
  gpuPciDeviceID, clockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode, \
  maxTexture1DLinear, memoryClockRate, singleToDoublePrecisionPerfRatio, \
  cooperativeMultiDeviceLaunch
