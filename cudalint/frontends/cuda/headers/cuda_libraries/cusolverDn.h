/* cuSOLVER for dense matrices. */
#ifndef CUSOLVERDN_H_
#define CUSOLVERDN_H_
#include "cusolver_common.h"
CUDALINT_BEGIN
CUDALINT_HANDLE(cusolverDnHandle_t, cusolverDnContext)
CUDALINT_HANDLE(syevjInfo_t, syevjInfo)
CUDALINT_HANDLE(gesvdjInfo_t, gesvdjInfo)
CUDALINT_HANDLE(cusolverDnParams_t, cusolverDnParams)
CUDALINT_HANDLE(cusolverDnIRSParams_t, cusolverDnIRSParams)
CUDALINT_HANDLE(cusolverDnIRSInfos_t, cusolverDnIRSInfos)
typedef enum { CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1 } cusolverDnFunction_t;
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream);
cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t *info);
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info);
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t *info);
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);
cusolverStatus_t cusolverDnIRSParamsCreate(cusolverDnIRSParams_t *params);
cusolverStatus_t cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params);
cusolverStatus_t cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t *infos);
cusolverStatus_t cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos);
#define F(name) CUDALINT_FUNCTION(cusolverStatus_t, name)
#define PAIR(name) F(cusolverDn##name) F(cusolverDn##name##_bufferSize)
#define TYPED(name) PAIR(S##name) PAIR(D##name) PAIR(C##name) PAIR(Z##name)
TYPED(potrf) TYPED(potrs) TYPED(potri) TYPED(getrf) TYPED(getrs) TYPED(geqrf) TYPED(gesvd)
TYPED(gesvdj) TYPED(gesvdjBatched) TYPED(gesvdaStridedBatched) TYPED(sytrf) TYPED(gebrd)
TYPED(potrfBatched) TYPED(potrsBatched) TYPED(laswp) TYPED(trtri)
PAIR(Ssyevd) PAIR(Dsyevd) PAIR(Cheevd) PAIR(Zheevd) PAIR(Ssyevj) PAIR(Dsyevj) PAIR(Cheevj)
PAIR(Zheevj) PAIR(SsyevjBatched) PAIR(DsyevjBatched) PAIR(Sormqr) PAIR(Dormqr) PAIR(Cunmqr)
PAIR(Zunmqr) PAIR(Sorgqr) PAIR(Dorgqr) PAIR(Cungqr) PAIR(Zungqr) PAIR(Ssygvd) PAIR(Dsygvd)
PAIR(Ssyevdx) PAIR(Dsyevdx) PAIR(Ssytrd) PAIR(Dsytrd) PAIR(Sormtr) PAIR(Dormtr) PAIR(Sorgtr)
PAIR(Dorgtr) PAIR(Xsyevd) PAIR(Xpotrf) PAIR(Xpotrs) PAIR(Xgetrf) PAIR(Xgetrs) PAIR(Xgeqrf)
PAIR(Xgesvd) PAIR(Xgesvdp) PAIR(Xgesvdr) PAIR(Xgeev) PAIR(Xtrtri) PAIR(Xsyevdx) PAIR(XsyevBatched)
F(cusolverDnXsyevjSetTolerance) F(cusolverDnXsyevjSetMaxSweeps) F(cusolverDnXsyevjSetSortEig)
F(cusolverDnXsyevjGetResidual) F(cusolverDnXsyevjGetSweeps) F(cusolverDnXgesvdjSetTolerance)
F(cusolverDnXgesvdjSetMaxSweeps) F(cusolverDnXgesvdjSetSortEig) F(cusolverDnXgesvdjGetResidual)
F(cusolverDnXgesvdjGetSweeps) F(cusolverDnSetAdvOptions) F(cusolverGetProperty) F(cusolverGetVersion)
F(cusolverDnIRSXgesv) F(cusolverDnIRSXgesv_bufferSize)
#undef TYPED
#undef PAIR
#undef F
CUDALINT_END
#endif
