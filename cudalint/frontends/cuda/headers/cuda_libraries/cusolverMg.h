#ifndef CUDALINT_CUSOLVERMG_H
#define CUDALINT_CUSOLVERMG_H
#include "cusolverDn.h"
CUDALINT_BEGIN
CUDALINT_HANDLE(cusolverMgHandle_t, cusolverMgContext)
typedef void *cudaLibMgGrid_t;
typedef void *cudaLibMgMatrixDesc_t;
typedef enum { CUDALIBMG_GRID_MAPPING_ROW_MAJOR = 1, CUDALIBMG_GRID_MAPPING_COL_MAJOR = 0 } cusolverMgGridMapping_t;
cusolverStatus_t cusolverMgCreate(cusolverMgHandle_t *handle);
cusolverStatus_t cusolverMgDestroy(cusolverMgHandle_t handle);
cusolverStatus_t cusolverMgDestroyGrid(cudaLibMgGrid_t grid);
cusolverStatus_t cusolverMgDestroyMatrixDesc(cudaLibMgMatrixDesc_t description);
CUDALINT_END
#endif
