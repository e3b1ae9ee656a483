/* NVIDIA's own, with the members of cudaDeviceProp that CUDA 13 removed and programs still read. */
#ifndef CUDALINT_DRIVER_TYPES_H
#define CUDALINT_DRIVER_TYPES_H
#include "cudalint_older_members.h"
#include_next <driver_types.h>
#undef gpuPciDeviceID
#endif
