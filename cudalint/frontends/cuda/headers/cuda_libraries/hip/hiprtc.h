/* HIP's compiler at run time. */
#ifndef CUDALINT_HIPRTC_H
#define CUDALINT_HIPRTC_H
#include "../nvrtc.h"
#include "../cudalint_declarations.h"

#define HIPRTC_SUCCESS NVRTC_SUCCESS
#define HIPRTC_ERROR_COMPILATION NVRTC_ERROR_COMPILATION
typedef nvrtcResult hiprtcResult;
typedef nvrtcProgram hiprtcProgram;

CUDALINT_BEGIN
const char *hiprtcGetErrorString(hiprtcResult result);
hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name, int count, const char **headers, const char **names);
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program);
#define F(name) CUDALINT_FUNCTION(hiprtcResult, hiprtc##name)
F(CompileProgram) F(GetCode) F(GetCodeSize) F(GetProgramLog) F(GetProgramLogSize)
F(AddNameExpression) F(GetLoweredName) F(Version)
#undef F
CUDALINT_END
#endif
