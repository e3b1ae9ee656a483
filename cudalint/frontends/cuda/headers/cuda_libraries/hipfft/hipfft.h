/* hipFFT, whose types are those of cuFFT under other names. What is not declared here is made up. */
#ifndef CUDALINT_HIPFFT_H
#define CUDALINT_HIPFFT_H
#include "../hip/hip_runtime_api.h"
#include "../cufft.h"

#define HIPFFT_SUCCESS CUFFT_SUCCESS
#define HIPFFT_ALLOC_FAILED CUFFT_ALLOC_FAILED
#define HIPFFT_INVALID_PLAN CUFFT_INVALID_PLAN
#define HIPFFT_INVALID_VALUE CUFFT_INVALID_VALUE
#define HIPFFT_EXEC_FAILED CUFFT_EXEC_FAILED
#define HIPFFT_FORWARD CUFFT_FORWARD
#define HIPFFT_BACKWARD CUFFT_INVERSE
#define HIPFFT_R2C CUFFT_R2C
#define HIPFFT_C2R CUFFT_C2R
#define HIPFFT_C2C CUFFT_C2C
#define HIPFFT_D2Z CUFFT_D2Z
#define HIPFFT_Z2D CUFFT_Z2D
#define HIPFFT_Z2Z CUFFT_Z2Z

typedef cufftResult hipfftResult;
typedef cufftType hipfftType;
typedef cufftReal hipfftReal;
typedef cufftDoubleReal hipfftDoubleReal;
typedef cufftComplex hipfftComplex;
typedef cufftDoubleComplex hipfftDoubleComplex;
typedef cufftHandle hipfftHandle;

CUDALINT_BEGIN
hipfftResult hipfftCreate(hipfftHandle *plan);
hipfftResult hipfftDestroy(hipfftHandle plan);
hipfftResult hipfftSetStream(hipfftHandle plan, hipStream_t stream);
hipfftResult hipfftPlan1d(hipfftHandle *plan, int nx, hipfftType type, int batch);
hipfftResult hipfftPlan2d(hipfftHandle *plan, int nx, int ny, hipfftType type);
hipfftResult hipfftPlan3d(hipfftHandle *plan, int nx, int ny, int nz, hipfftType type);
#define F(name) CUDALINT_FUNCTION(hipfftResult, hipfft##name)
F(PlanMany) F(MakePlan1d) F(MakePlan2d) F(MakePlan3d) F(MakePlanMany) F(ExecC2C) F(ExecR2C)
F(ExecC2R) F(ExecZ2Z) F(ExecD2Z) F(ExecZ2D) F(SetWorkArea) F(GetSize)
#undef F
CUDALINT_END
#endif
