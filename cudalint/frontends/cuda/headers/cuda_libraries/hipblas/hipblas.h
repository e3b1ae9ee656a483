/* hipBLAS, whose types are those of cuBLAS under other names. What is not declared here is made up. */
#ifndef CUDALINT_HIPBLAS_H
#define CUDALINT_HIPBLAS_H
#include "../hip/hip_runtime_api.h"
#include "../cublas_v2.h"

#define HIPBLAS_STATUS_SUCCESS CUBLAS_STATUS_SUCCESS
#define HIPBLAS_STATUS_NOT_INITIALIZED CUBLAS_STATUS_NOT_INITIALIZED
#define HIPBLAS_STATUS_ALLOC_FAILED CUBLAS_STATUS_ALLOC_FAILED
#define HIPBLAS_STATUS_INVALID_VALUE CUBLAS_STATUS_INVALID_VALUE
#define HIPBLAS_STATUS_EXECUTION_FAILED CUBLAS_STATUS_EXECUTION_FAILED
#define HIPBLAS_STATUS_INTERNAL_ERROR CUBLAS_STATUS_INTERNAL_ERROR
#define HIPBLAS_STATUS_NOT_SUPPORTED CUBLAS_STATUS_NOT_SUPPORTED
#define HIPBLAS_OP_N CUBLAS_OP_N
#define HIPBLAS_OP_T CUBLAS_OP_T
#define HIPBLAS_OP_C CUBLAS_OP_C
#define HIPBLAS_FILL_MODE_LOWER CUBLAS_FILL_MODE_LOWER
#define HIPBLAS_FILL_MODE_UPPER CUBLAS_FILL_MODE_UPPER
#define HIPBLAS_DIAG_NON_UNIT CUBLAS_DIAG_NON_UNIT
#define HIPBLAS_DIAG_UNIT CUBLAS_DIAG_UNIT
#define HIPBLAS_SIDE_LEFT CUBLAS_SIDE_LEFT
#define HIPBLAS_SIDE_RIGHT CUBLAS_SIDE_RIGHT
#define HIPBLAS_POINTER_MODE_HOST CUBLAS_POINTER_MODE_HOST
#define HIPBLAS_POINTER_MODE_DEVICE CUBLAS_POINTER_MODE_DEVICE
#define HIPBLAS_GEMM_DEFAULT CUBLAS_GEMM_DEFAULT
#define HIPBLAS_COMPUTE_32F CUBLAS_COMPUTE_32F

typedef cublasStatus_t hipblasStatus_t;
typedef cublasHandle_t hipblasHandle_t;
typedef cublasOperation_t hipblasOperation_t;
typedef cublasFillMode_t hipblasFillMode_t;
typedef cublasDiagType_t hipblasDiagType_t;
typedef cublasSideMode_t hipblasSideMode_t;
typedef cublasPointerMode_t hipblasPointerMode_t;
typedef cudaDataType hipblasDatatype_t;
typedef cublasComputeType_t hipblasComputeType_t;
typedef cublasGemmAlgo_t hipblasGemmAlgo_t;
typedef cuComplex hipblasComplex;
typedef cuDoubleComplex hipblasDoubleComplex;

CUDALINT_BEGIN
hipblasStatus_t hipblasCreate(hipblasHandle_t *handle);
hipblasStatus_t hipblasDestroy(hipblasHandle_t handle);
hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t stream);
hipblasStatus_t hipblasGetStream(hipblasHandle_t handle, hipStream_t *stream);
hipblasStatus_t hipblasSetVector(int n, int elementSize, const void *x, int incx, void *y, int incy);
hipblasStatus_t hipblasGetVector(int n, int elementSize, const void *x, int incx, void *y, int incy);
hipblasStatus_t hipblasSetMatrix(int rows, int columns, int elementSize, const void *a, int lda, void *b, int ldb);
hipblasStatus_t hipblasGetMatrix(int rows, int columns, int elementSize, const void *a, int lda, void *b, int ldb);
#define F(name) CUDALINT_FUNCTION(hipblasStatus_t, hipblas##name)
F(SetPointerMode) F(Saxpy) F(Daxpy) F(Sscal) F(Dscal) F(Sdot) F(Ddot) F(Sgemv) F(Dgemv) F(Sgemm)
F(Dgemm) F(SgemmStridedBatched) F(DgemmStridedBatched) F(GemmEx) F(GemmStridedBatchedEx) F(Snrm2)
F(Dnrm2)
#undef F
CUDALINT_END
#endif
