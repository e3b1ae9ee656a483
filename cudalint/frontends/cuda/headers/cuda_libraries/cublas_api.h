/* cuBLAS: types, handles and the calls that programs make most. */
#ifndef CUBLAS_API_H_
#define CUBLAS_API_H_
#include "cudalint_declarations.h"
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#define CUBLASAPI
#define CUBLASWINAPI
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VERSION 130000

CUDALINT_BEGIN
typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
  CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3, CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73, CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1,
  CUBLAS_GEMM_ALGO2, CUBLAS_GEMM_ALGO3, CUBLAS_GEMM_ALGO4, CUBLAS_GEMM_ALGO5, CUBLAS_GEMM_ALGO6,
  CUBLAS_GEMM_ALGO7, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_ALGO0_TENSOR_OP = 100, CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;
typedef cudaDataType cublasDataType_t;

CUDALINT_HANDLE(cublasHandle_t, cublasContext)

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasSetVector(int n, int elementSize, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasGetVector(int n, int elementSize, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int elementSize, const void *a, int lda, void *b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int elementSize, const void *a, int lda, void *b, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int elementSize, const void *x, int incx, void *y, int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int elementSize, const void *x, int incx, void *y, int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int elementSize, const void *a, int lda, void *b, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int elementSize, const void *a, int lda, void *b, int ldb, cudaStream_t stream);
const char *cublasGetStatusString(cublasStatus_t status);
const char *cublasGetStatusName(cublasStatus_t status);

#define F(name) CUDALINT_FUNCTION(cublasStatus_t, name)
#define TYPED(name) F(cublasS##name) F(cublasD##name) F(cublasC##name) F(cublasZ##name)
#define REAL(name) F(cublasS##name) F(cublasD##name)
#define COMPLEX(name) F(cublasC##name) F(cublasZ##name)
TYPED(axpy) TYPED(scal) TYPED(copy) TYPED(swap) TYPED(gemv) TYPED(gbmv) TYPED(trmv) TYPED(trsv)
TYPED(tbmv) TYPED(tbsv) TYPED(tpmv) TYPED(tpsv) TYPED(symv) TYPED(syr) TYPED(syr2) TYPED(gemm)
TYPED(gemmBatched) TYPED(gemmStridedBatched) TYPED(symm) TYPED(syrk) TYPED(syr2k) TYPED(syrkx)
TYPED(trmm) TYPED(trsm) TYPED(trsmBatched) TYPED(geam) TYPED(dgmm) TYPED(getrfBatched)
TYPED(getrsBatched) TYPED(getriBatched) TYPED(geqrfBatched) TYPED(gelsBatched) TYPED(matinvBatched)
TYPED(tpttr) TYPED(trttp) TYPED(gemvBatched) TYPED(gemvStridedBatched) TYPED(rot) TYPED(rotg)
REAL(dot) REAL(nrm2) REAL(asum) REAL(ger) REAL(rotm) REAL(rotmg) REAL(spmv) REAL(sbmv) REAL(spr)
COMPLEX(dotu) COMPLEX(dotc) COMPLEX(geru) COMPLEX(gerc) COMPLEX(hemv) COMPLEX(her) COMPLEX(her2)
COMPLEX(hemm) COMPLEX(herk) COMPLEX(her2k) COMPLEX(herkx) COMPLEX(hbmv)
F(cublasScnrm2) F(cublasDznrm2) F(cublasScasum) F(cublasDzasum) F(cublasCsscal) F(cublasZdscal)
F(cublasIsamax) F(cublasIdamax) F(cublasIcamax) F(cublasIzamax)
F(cublasIsamin) F(cublasIdamin) F(cublasIcamin) F(cublasIzamin)
F(cublasHgemm) F(cublasHgemmBatched) F(cublasHgemmStridedBatched) F(cublasSgemmEx) F(cublasGemmEx)
F(cublasGemmBatchedEx) F(cublasGemmStridedBatchedEx) F(cublasCgemm3m) F(cublasAxpyEx) F(cublasDotEx)
F(cublasScalEx) F(cublasNrm2Ex) F(cublasLoggerConfigure) F(cublasGetProperty)
F(cublasSgemm_v2) F(cublasDgemm_v2) F(cublasSgemv_v2) F(cublasDgemv_v2) F(cublasSaxpy_v2) F(cublasDaxpy_v2)
F(cublasSdot_v2) F(cublasDdot_v2) F(cublasSscal_v2) F(cublasDscal_v2)
#undef TYPED
#undef REAL
#undef COMPLEX
#undef F
CUDALINT_END
#endif
