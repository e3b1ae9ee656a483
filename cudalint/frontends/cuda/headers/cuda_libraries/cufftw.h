#ifndef CUDALINT_CUFFTW_H
#define CUDALINT_CUFFTW_H
#include "cufft.h"
#define FFTW_FORWARD -1
#define FFTW_BACKWARD 1
#define FFTW_ESTIMATE 64
#define FFTW_MEASURE 0
typedef double fftw_complex[2];
typedef float fftwf_complex[2];
typedef void *fftw_plan;
typedef void *fftwf_plan;
#endif
