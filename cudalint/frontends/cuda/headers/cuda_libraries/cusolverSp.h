/* cuSOLVER for sparse matrices. */
#ifndef CUSOLVERSP_H_
#define CUSOLVERSP_H_
#include "cusolver_common.h"
#include "cusparse.h"
CUDALINT_BEGIN
CUDALINT_HANDLE(cusolverSpHandle_t, cusolverSpContext)
CUDALINT_HANDLE(csrqrInfo_t, csrqrInfo)
CUDALINT_HANDLE(csrcholInfo_t, csrcholInfo)
CUDALINT_HANDLE(csrluInfoHost_t, csrluInfoHost)
CUDALINT_HANDLE(csrqrInfoHost_t, csrqrInfoHost)
CUDALINT_HANDLE(csrcholInfoHost_t, csrcholInfoHost)
cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t *handle);
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle);
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t *info);
cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info);
cusolverStatus_t cusolverSpCreateCsrcholInfo(csrcholInfo_t *info);
cusolverStatus_t cusolverSpDestroyCsrcholInfo(csrcholInfo_t info);
cusolverStatus_t cusolverSpCreateCsrluInfoHost(csrluInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrluInfoHost(csrluInfoHost_t info);
cusolverStatus_t cusolverSpCreateCsrqrInfoHost(csrqrInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrqrInfoHost(csrqrInfoHost_t info);
cusolverStatus_t cusolverSpCreateCsrcholInfoHost(csrcholInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrcholInfoHost(csrcholInfoHost_t info);
#define F(name) CUDALINT_FUNCTION(cusolverStatus_t, cusolverSp##name)
#define TYPED(name) F(S##name) F(D##name) F(C##name) F(Z##name)
TYPED(csrlsvqr) TYPED(csrlsvchol) TYPED(csrlsvqrHost) TYPED(csrlsvcholHost) TYPED(csrlsvluHost)
TYPED(csreigvsi) F(XcsrqrAnalysisBatched) F(XcsrsymrcmHost) F(XcsrsymamdHost) F(XcsrsymmdqHost)
F(XcsrpermHost) F(Xcsrperm_bufferSizeHost) F(XcsrissymHost) F(XcsrmetisndHost)
#undef TYPED
#undef F
CUDALINT_END
#endif
