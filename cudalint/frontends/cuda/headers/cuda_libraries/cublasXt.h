#ifndef CUDALINT_CUBLASXT_H
#define CUDALINT_CUBLASXT_H
#include "cublas_api.h"
CUDALINT_BEGIN
CUDALINT_HANDLE(cublasXtHandle_t, cublasXtContext)
cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle);
cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle);
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int devices, int ids[]);
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int size);
#define F(name) CUDALINT_FUNCTION(cublasStatus_t, name)
F(cublasXtSgemm) F(cublasXtDgemm) F(cublasXtCgemm) F(cublasXtZgemm) F(cublasXtSetPinningMemMode)
#undef F
CUDALINT_END
#endif
