/* hipSOLVER, whose types are those of cuSOLVER under other names. What is not declared here is made up. */
#ifndef CUDALINT_HIPSOLVER_H
#define CUDALINT_HIPSOLVER_H
#include "../hip/hip_runtime_api.h"
#include "../cusolverDn.h"

#define HIPSOLVER_STATUS_SUCCESS CUSOLVER_STATUS_SUCCESS
#define HIPSOLVER_STATUS_ALLOC_FAILED CUSOLVER_STATUS_ALLOC_FAILED
#define HIPSOLVER_STATUS_NOT_INITIALIZED CUSOLVER_STATUS_NOT_INITIALIZED
#define HIPSOLVER_STATUS_INTERNAL_ERROR CUSOLVER_STATUS_INTERNAL_ERROR
#define HIPSOLVER_EIG_MODE_VECTOR CUSOLVER_EIG_MODE_VECTOR
#define HIPSOLVER_EIG_MODE_NOVECTOR CUSOLVER_EIG_MODE_NOVECTOR

typedef cusolverStatus_t hipsolverStatus_t;
typedef cusolverDnHandle_t hipsolverHandle_t;
typedef cusolverDnHandle_t hipsolverDnHandle_t;
typedef syevjInfo_t hipsolverSyevjInfo_t;
typedef gesvdjInfo_t hipsolverGesvdjInfo_t;
typedef cusolverDnParams_t hipsolverDnParams_t;

CUDALINT_BEGIN
hipsolverStatus_t hipsolverCreate(hipsolverHandle_t *handle);
hipsolverStatus_t hipsolverDestroy(hipsolverHandle_t handle);
hipsolverStatus_t hipsolverDnCreate(hipsolverDnHandle_t *handle);
hipsolverStatus_t hipsolverDnDestroy(hipsolverDnHandle_t handle);
hipsolverStatus_t hipsolverSetStream(hipsolverHandle_t handle, hipStream_t stream);
hipsolverStatus_t hipsolverDnCreateSyevjInfo(hipsolverSyevjInfo_t *info);
hipsolverStatus_t hipsolverDnDestroySyevjInfo(hipsolverSyevjInfo_t info);
hipsolverStatus_t hipsolverDnCreateGesvdjInfo(hipsolverGesvdjInfo_t *info);
hipsolverStatus_t hipsolverDnDestroyGesvdjInfo(hipsolverGesvdjInfo_t info);
hipsolverStatus_t hipsolverDnCreateParams(hipsolverDnParams_t *params);
hipsolverStatus_t hipsolverDnDestroyParams(hipsolverDnParams_t params);
#define F(name) CUDALINT_FUNCTION(hipsolverStatus_t, hipsolver##name)
F(DnSpotrf) F(DnSpotrf_bufferSize) F(DnDpotrf) F(DnDpotrf_bufferSize) F(DnSgetrf)
F(DnSgetrf_bufferSize) F(DnDgetrf) F(DnDgetrf_bufferSize) F(DnSgetrs) F(DnDgetrs)
#undef F
CUDALINT_END
#endif
