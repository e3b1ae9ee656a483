/* cuSPARSE. */
#ifndef CUSPARSE_H_
#define CUSPARSE_H_
#include "cudalint_declarations.h"
#define CUSPARSEAPI
#define CUSPARSE_VERSION 12600
#define CUSPARSE_VER_MAJOR 12
CUDALINT_BEGIN
typedef enum {
  CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_NOT_INITIALIZED = 1, CUSPARSE_STATUS_ALLOC_FAILED = 2,
  CUSPARSE_STATUS_INVALID_VALUE = 3, CUSPARSE_STATUS_ARCH_MISMATCH = 4,
  CUSPARSE_STATUS_MAPPING_ERROR = 5, CUSPARSE_STATUS_EXECUTION_FAILED = 6,
  CUSPARSE_STATUS_INTERNAL_ERROR = 7, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSPARSE_STATUS_ZERO_PIVOT = 9, CUSPARSE_STATUS_NOT_SUPPORTED = 10,
  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
} cusparseStatus_t;
typedef enum { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 } cusparsePointerMode_t;
typedef enum { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 } cusparseAction_t;
typedef enum {
  CUSPARSE_MATRIX_TYPE_GENERAL = 0, CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1,
  CUSPARSE_MATRIX_TYPE_HERMITIAN = 2, CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3
} cusparseMatrixType_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;
typedef enum {
  CUSPARSE_OPERATION_NON_TRANSPOSE = 0, CUSPARSE_OPERATION_TRANSPOSE = 1,
  CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
} cusparseOperation_t;
typedef enum { CUSPARSE_DIRECTION_ROW = 0, CUSPARSE_DIRECTION_COLUMN = 1 } cusparseDirection_t;
typedef enum { CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0, CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1 } cusparseSolvePolicy_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum {
  CUSPARSE_FORMAT_CSR = 1, CUSPARSE_FORMAT_CSC = 2, CUSPARSE_FORMAT_COO = 3,
  CUSPARSE_FORMAT_BLOCKED_ELL = 5, CUSPARSE_FORMAT_BSR = 6, CUSPARSE_FORMAT_SLICED_ELLPACK = 7
} cusparseFormat_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE } cusparseSpMatAttribute_t;
typedef enum {
  CUSPARSE_SPMV_ALG_DEFAULT = 0, CUSPARSE_MV_ALG_DEFAULT = 0, CUSPARSE_SPMV_CSR_ALG1 = 2,
  CUSPARSE_CSRMV_ALG1 = 2, CUSPARSE_SPMV_CSR_ALG2 = 3, CUSPARSE_CSRMV_ALG2 = 3,
  CUSPARSE_SPMV_COO_ALG1 = 1, CUSPARSE_COOMV_ALG = 1, CUSPARSE_SPMV_COO_ALG2 = 4
} cusparseSpMVAlg_t;
typedef enum {
  CUSPARSE_SPMM_ALG_DEFAULT = 0, CUSPARSE_MM_ALG_DEFAULT = 0, CUSPARSE_SPMM_COO_ALG1 = 1,
  CUSPARSE_SPMM_COO_ALG2 = 2, CUSPARSE_SPMM_COO_ALG3 = 3, CUSPARSE_SPMM_CSR_ALG1 = 4,
  CUSPARSE_CSRMM_ALG1 = 4, CUSPARSE_SPMM_COO_ALG4 = 5, CUSPARSE_SPMM_CSR_ALG2 = 6,
  CUSPARSE_SPMM_CSR_ALG3 = 12, CUSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13
} cusparseSpMMAlg_t;
typedef enum {
  CUSPARSE_SPGEMM_DEFAULT = 0, CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1, CUSPARSE_SPGEMM_ALG1 = 3,
  CUSPARSE_SPGEMM_ALG2 = 4, CUSPARSE_SPGEMM_ALG3 = 5
} cusparseSpGEMMAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT = 0 } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT = 0 } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT = 0 } cusparseSDDMMAlg_t;
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 } cusparseDenseToSparseAlg_t;
typedef enum { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1, CUSPARSE_CSR2CSC_ALG2 = 2 } cusparseCsr2CscAlg_t;

#define F(name) CUDALINT_FUNCTION(cusparseStatus_t, name)
/* An object with a function that makes it from nothing and one that destroys it. */
#define OBJECT(name, type, tag) \
  CUDALINT_HANDLE(type, tag) \
  cusparseStatus_t cusparseCreate##name(type *object); \
  cusparseStatus_t cusparseDestroy##name(type object);
/* An object made with further arguments by functions of other names. */
#define DESCRIPTION(name, type, tag) \
  CUDALINT_HANDLE(type, tag) \
  typedef struct tag const *cusparseConst##name##Descr_t; \
  cusparseStatus_t cusparseDestroy##name(cusparseConst##name##Descr_t object);
CUDALINT_HANDLE(cusparseHandle_t, cusparseContext)
cusparseStatus_t cusparseCreate(cusparseHandle_t *handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
OBJECT(MatDescr, cusparseMatDescr_t, cusparseMatDescr)
OBJECT(Csrsv2Info, csrsv2Info_t, csrsv2Info)
OBJECT(Csrsm2Info, csrsm2Info_t, csrsm2Info)
OBJECT(Csric02Info, csric02Info_t, csric02Info)
OBJECT(Csrilu02Info, csrilu02Info_t, csrilu02Info)
OBJECT(Csrgemm2Info, csrgemm2Info_t, csrgemm2Info)
OBJECT(Bsrsv2Info, bsrsv2Info_t, bsrsv2Info)
OBJECT(Bsrsm2Info, bsrsm2Info_t, bsrsm2Info)
OBJECT(Bsric02Info, bsric02Info_t, bsric02Info)
OBJECT(Bsrilu02Info, bsrilu02Info_t, bsrilu02Info)
OBJECT(SolveAnalysisInfo, cusparseSolveAnalysisInfo_t, cusparseSolveAnalysisInfo)
OBJECT(HybMat, cusparseHybMat_t, cusparseHybMat)
OBJECT(ColorInfo, cusparseColorInfo_t, cusparseColorInfo)
OBJECT(PruneInfo, pruneInfo_t, pruneInfo)
OBJECT(Csru2csrInfo, csru2csrInfo_t, csru2csrInfo)
DESCRIPTION(SpVec, cusparseSpVecDescr_t, cusparseSpVecDescr)
DESCRIPTION(DnVec, cusparseDnVecDescr_t, cusparseDnVecDescr)
DESCRIPTION(SpMat, cusparseSpMatDescr_t, cusparseSpMatDescr)
DESCRIPTION(DnMat, cusparseDnMatDescr_t, cusparseDnMatDescr)
CUDALINT_HANDLE(cusparseSpGEMMDescr_t, cusparseSpGEMMDescr)
CUDALINT_HANDLE(cusparseSpSVDescr_t, cusparseSpSVDescr)
CUDALINT_HANDLE(cusparseSpSMDescr_t, cusparseSpSMDescr)
cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *object);
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t object);
cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t *object);
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t object);
cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t *object);
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t object);
F(cusparseCreateCsr) F(cusparseCreateCsc) F(cusparseCreateCoo) F(cusparseCreateBlockedEll)
F(cusparseCreateSpVec) F(cusparseCreateDnVec) F(cusparseCreateDnMat) F(cusparseCreateConstCsr)
F(cusparseCreateConstDnVec) F(cusparseCreateConstDnMat) F(cusparseCreateBsr) F(cusparseCreateSlicedEll)
F(cusparseSpMV) F(cusparseSpMV_bufferSize) F(cusparseSpMV_preprocess) F(cusparseSpMM)
F(cusparseSpMM_bufferSize) F(cusparseSpMM_preprocess) F(cusparseSpVV) F(cusparseSpVV_bufferSize)
F(cusparseSpGEMM_workEstimation) F(cusparseSpGEMM_compute) F(cusparseSpGEMM_copy)
F(cusparseSpGEMM_estimateMemory) F(cusparseSpGEMM_getNumProducts)
F(cusparseSpSV_bufferSize) F(cusparseSpSV_analysis) F(cusparseSpSV_solve) F(cusparseSpSV_updateMatrix)
F(cusparseSpSM_bufferSize) F(cusparseSpSM_analysis) F(cusparseSpSM_solve) F(cusparseSDDMM)
F(cusparseSDDMM_bufferSize) F(cusparseSDDMM_preprocess) F(cusparseSparseToDense) F(cusparseSparseToDense_bufferSize)
F(cusparseDenseToSparse_bufferSize) F(cusparseDenseToSparse_analysis) F(cusparseDenseToSparse_convert)
F(cusparseCsrSetPointers) F(cusparseCooSetPointers) F(cusparseCscSetPointers) F(cusparseDnVecSetValues)
F(cusparseDnVecGetValues) F(cusparseDnMatSetValues) F(cusparseDnMatGetValues) F(cusparseSpMatGetSize)
F(cusparseSpMatSetAttribute) F(cusparseSpMatGetAttribute) F(cusparseSpMatSetStridedBatch)
F(cusparseDnMatSetStridedBatch) F(cusparseCsrSetStridedBatch) F(cusparseCsrGet) F(cusparseGather)
F(cusparseScatter) F(cusparseAxpby) F(cusparseRot) F(cusparseSetStream) F(cusparseGetStream)
F(cusparseSetPointerMode) F(cusparseGetPointerMode) F(cusparseGetVersion) F(cusparseSetMatType)
F(cusparseSetMatIndexBase) F(cusparseSetMatFillMode) F(cusparseSetMatDiagType) F(cusparseXcoo2csr)
F(cusparseXcsr2coo) F(cusparseXcsrsort) F(cusparseXcsrsort_bufferSizeExt) F(cusparseXcoosortByRow)
F(cusparseXcoosort_bufferSizeExt) F(cusparseCreateIdentityPermutation) F(cusparseCsr2cscEx2)
F(cusparseCsr2cscEx2_bufferSize) F(cusparseXcsrgeam2Nnz) F(cusparseXcsrgemmNnz) F(cusparseXcsrilu02_zeroPivot)
F(cusparseXcsrsv2_zeroPivot) F(cusparseXcsric02_zeroPivot)
#define TYPED(name) F(cusparseS##name) F(cusparseD##name) F(cusparseC##name) F(cusparseZ##name)
TYPED(csrmv) TYPED(csrmm) TYPED(csrmm2) TYPED(csrgemm) TYPED(csrgeam) TYPED(csrgeam2)
TYPED(csrgeam2_bufferSizeExt) TYPED(csrsv2_bufferSize) TYPED(csrsv2_analysis) TYPED(csrsv2_solve)
TYPED(csrilu02) TYPED(csrilu02_bufferSize) TYPED(csrilu02_analysis) TYPED(csric02)
TYPED(csric02_bufferSize) TYPED(csric02_analysis) TYPED(csrsv_analysis) TYPED(csrsv_solve)
TYPED(csr2csc) TYPED(dense2csr) TYPED(csr2dense) TYPED(csc2dense) TYPED(nnz) TYPED(gtsv2)
TYPED(gtsv2_bufferSizeExt) TYPED(gtsv2_nopivot) TYPED(gtsv2_nopivot_bufferSizeExt)
TYPED(gtsv2StridedBatch) TYPED(gtsv2StridedBatch_bufferSizeExt) TYPED(bsrmv) TYPED(bsrmm)
TYPED(csr2bsr) TYPED(gthr) TYPED(axpyi) TYPED(hybmv) TYPED(csr2hyb)
const char *cusparseGetErrorName(cusparseStatus_t status);
const char *cusparseGetErrorString(cusparseStatus_t status);
#undef TYPED
#undef OBJECT
#undef DESCRIPTION
#undef F
CUDALINT_END
#endif
