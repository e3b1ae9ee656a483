#ifndef CUDALINT_FALLBACK_CUCOMPLEX_H
#define CUDALINT_FALLBACK_CUCOMPLEX_H
#include <vector_types.h>
typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;
#ifdef __cplusplus
#define make_cuComplex make_float2
#define make_cuFloatComplex make_float2
#define make_cuDoubleComplex make_double2
#endif
#endif
