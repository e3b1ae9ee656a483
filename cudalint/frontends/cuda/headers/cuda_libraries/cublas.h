/* The first cuBLAS interface, without handles. */
#ifndef CUDALINT_CUBLAS_H
#define CUDALINT_CUBLAS_H
#include "cublas_api.h"
CUDALINT_BEGIN
cublasStatus cublasInit(void);
cublasStatus cublasShutdown(void);
cublasStatus cublasGetError(void);
cublasStatus cublasAlloc(int n, int elementSize, void **devicePtr);
cublasStatus cublasFree(void *devicePtr);
cublasStatus cublasSetKernelStream(cudaStream_t stream);
CUDALINT_END
#endif
