#ifndef CUDALINT_CUDAPROFILER_H
#define CUDALINT_CUDAPROFILER_H
#include <cuda.h>
#ifdef __cplusplus
extern "C" {
#endif
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
#ifdef __cplusplus
}
#endif
#endif
