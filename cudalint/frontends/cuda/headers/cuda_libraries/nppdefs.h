/* NPP: types. */
#ifndef NV_NPPIDEFS_H
#define NV_NPPIDEFS_H
#include "cudalint_declarations.h"
typedef unsigned char Npp8u;
typedef signed char Npp8s;
typedef unsigned short Npp16u;
typedef short Npp16s;
typedef unsigned Npp32u;
typedef int Npp32s;
typedef unsigned long long Npp64u;
typedef long long Npp64s;
typedef float Npp32f;
typedef double Npp64f;
typedef struct { short fp16; } Npp16f;
typedef struct { Npp16s re, im; } Npp16sc;
typedef struct { Npp32s re, im; } Npp32sc;
typedef struct { Npp32f re, im; } Npp32fc;
typedef struct { Npp64s re, im; } Npp64sc;
typedef struct { Npp64f re, im; } Npp64fc;
typedef struct { int x, y; } NppiPoint;
typedef struct { int width, height; } NppiSize;
typedef struct { int x, y, width, height; } NppiRect;
typedef struct { int major, minor, build; } NppLibraryVersion;
typedef struct {
  cudaStream_t hStream; int nCudaDeviceId, nMultiProcessorCount, nMaxThreadsPerMultiProcessor,
  nMaxThreadsPerBlock; size_t nSharedMemPerBlock; int nCudaDevAttrComputeCapabilityMajor,
  nCudaDevAttrComputeCapabilityMinor; unsigned nStreamFlags; int nReserved0;
} NppStreamContext;
typedef enum {
  NPP_NOT_SUPPORTED_MODE_ERROR = -9999, NPP_CUDA_KERNEL_EXECUTION_ERROR = -1000,
  NPP_BAD_ARGUMENT_ERROR = -26, NPP_MEMORY_ALLOCATION_ERR = -2, NPP_NULL_POINTER_ERROR = -8,
  NPP_SIZE_ERROR = -6, NPP_STEP_ERROR = -14, NPP_ERROR = -2000, NPP_NO_ERROR = 0, NPP_SUCCESS = 0,
  NPP_NO_OPERATION_WARNING = 1
} NppStatus;
typedef enum {
  NPPI_INTER_UNDEFINED = 0, NPPI_INTER_NN = 1, NPPI_INTER_LINEAR = 2, NPPI_INTER_CUBIC = 4,
  NPPI_INTER_SUPER = 8, NPPI_INTER_LANCZOS = 16
} NppiInterpolationMode;
typedef enum { NPP_BORDER_NONE = 1, NPP_BORDER_CONSTANT = 2, NPP_BORDER_REPLICATE = 2, NPP_BORDER_WRAP = 3, NPP_BORDER_MIRROR = 4 } NppiBorderType;
typedef enum { NPP_CMP_LESS, NPP_CMP_LESS_EQ, NPP_CMP_EQ, NPP_CMP_GREATER_EQ, NPP_CMP_GREATER } NppCmpOp;
typedef enum { NPP_MASK_SIZE_3_X_3 = 200, NPP_MASK_SIZE_5_X_5 = 201 } NppiMaskSize;
typedef enum { NPP_FILTER_SOBEL, NPP_FILTER_SCHARR } NppiDifferentialKernel;
typedef enum { nppiNormInf = 0, nppiNormL1 = 1, nppiNormL2 = 2 } NppiNorm;
#endif
