/* hipSPARSE, whose types are those of cuSPARSE under other names. What is not declared here is made up. */
#ifndef CUDALINT_HIPSPARSE_H
#define CUDALINT_HIPSPARSE_H
#include "../hip/hip_runtime_api.h"
#include "../cusparse.h"

#define HIPSPARSE_STATUS_SUCCESS CUSPARSE_STATUS_SUCCESS
#define HIPSPARSE_STATUS_ALLOC_FAILED CUSPARSE_STATUS_ALLOC_FAILED
#define HIPSPARSE_OPERATION_NON_TRANSPOSE CUSPARSE_OPERATION_NON_TRANSPOSE
#define HIPSPARSE_OPERATION_TRANSPOSE CUSPARSE_OPERATION_TRANSPOSE
#define HIPSPARSE_INDEX_BASE_ZERO CUSPARSE_INDEX_BASE_ZERO
#define HIPSPARSE_INDEX_BASE_ONE CUSPARSE_INDEX_BASE_ONE
#define HIPSPARSE_INDEX_32I CUSPARSE_INDEX_32I
#define HIPSPARSE_INDEX_64I CUSPARSE_INDEX_64I
#define HIPSPARSE_MATRIX_TYPE_GENERAL CUSPARSE_MATRIX_TYPE_GENERAL
#define HIPSPARSE_ORDER_ROW CUSPARSE_ORDER_ROW
#define HIPSPARSE_ORDER_COLUMN CUSPARSE_ORDER_COL
#define HIPSPARSE_ORDER_COL CUSPARSE_ORDER_COL
#define HIP_R_32F CUDA_R_32F
#define HIP_R_64F CUDA_R_64F
#define HIPSPARSE_POINTER_MODE_HOST CUSPARSE_POINTER_MODE_HOST
#define HIPSPARSE_POINTER_MODE_DEVICE CUSPARSE_POINTER_MODE_DEVICE

typedef cusparseStatus_t hipsparseStatus_t;
typedef cusparseHandle_t hipsparseHandle_t;
typedef cusparseMatDescr_t hipsparseMatDescr_t;
typedef cusparseSpMatDescr_t hipsparseSpMatDescr_t;
typedef cusparseDnMatDescr_t hipsparseDnMatDescr_t;
typedef cusparseDnVecDescr_t hipsparseDnVecDescr_t;
typedef cusparseSpVecDescr_t hipsparseSpVecDescr_t;
typedef cusparseOperation_t hipsparseOperation_t;

CUDALINT_BEGIN
hipsparseStatus_t hipsparseCreate(hipsparseHandle_t *handle);
hipsparseStatus_t hipsparseDestroy(hipsparseHandle_t handle);
hipsparseStatus_t hipsparseSetStream(hipsparseHandle_t handle, hipStream_t stream);
hipsparseStatus_t hipsparseCreateMatDescr(hipsparseMatDescr_t *description);
hipsparseStatus_t hipsparseDestroyMatDescr(hipsparseMatDescr_t description);
hipsparseStatus_t hipsparseDestroySpMat(hipsparseSpMatDescr_t matrix);
hipsparseStatus_t hipsparseDestroyDnMat(hipsparseDnMatDescr_t matrix);
hipsparseStatus_t hipsparseDestroyDnVec(hipsparseDnVecDescr_t vector);
hipsparseStatus_t hipsparseDestroySpVec(hipsparseSpVecDescr_t vector);
#define F(name) CUDALINT_FUNCTION(hipsparseStatus_t, hipsparse##name)
F(CreateCsr) F(CreateCoo) F(CreateDnMat) F(CreateDnVec) F(CreateSpVec) F(SpMV) F(SpMV_bufferSize)
F(SpMM) F(SpMM_bufferSize) F(SetMatType) F(SetMatIndexBase)
#undef F
CUDALINT_END
#endif
