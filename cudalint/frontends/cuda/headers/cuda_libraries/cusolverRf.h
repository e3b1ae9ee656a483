#ifndef CUDALINT_CUSOLVERRF_H
#define CUDALINT_CUSOLVERRF_H
#include "cusolver_common.h"
CUDALINT_BEGIN
CUDALINT_HANDLE(cusolverRfHandle_t, cusolverRfCommon)
cusolverStatus_t cusolverRfCreate(cusolverRfHandle_t *handle);
cusolverStatus_t cusolverRfDestroy(cusolverRfHandle_t handle);
CUDALINT_END
#endif
