#ifndef CUDALINT_CUDALIBXT_H
#define CUDALINT_CUDALIBXT_H
#include "cudalint_declarations.h"
#define MAX_CUDA_DESCRIPTOR_GPUS 64
#define CUDA_XT_DESCRIPTOR_VERSION 0x01000000
typedef enum cudaXtCopyType_t {
  LIB_XT_COPY_HOST_TO_DEVICE, LIB_XT_COPY_DEVICE_TO_HOST, LIB_XT_COPY_DEVICE_TO_DEVICE
} cudaLibXtCopyType;
typedef enum libFormat_t { LIB_FORMAT_CUFFT = 0, LIB_FORMAT_UNDEFINED = 1 } libFormat;
typedef struct cudaXtDesc_t {
  int version; int nGPUs; int GPUs[MAX_CUDA_DESCRIPTOR_GPUS];
  void *data[MAX_CUDA_DESCRIPTOR_GPUS]; size_t size[MAX_CUDA_DESCRIPTOR_GPUS]; void *cudaXtState;
} cudaXtDesc;
typedef struct cudaLibXtDesc_t {
  int version; cudaXtDesc *descriptor; libFormat library; int subFormat; void *libDescriptor;
} cudaLibXtDesc;
#endif
