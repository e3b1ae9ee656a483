#ifndef CUDALINT_LIBC_MATH_H
#define CUDALINT_LIBC_MATH_H
#include <features.h>
typedef float float_t;
typedef double double_t;
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VALL __builtin_huge_vall()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define FP_ILOGB0 (-__INT_MAX__ - 1)
#define FP_ILOGBNAN __INT_MAX__
#define MATH_ERRNO 1
#define MATH_ERREXCEPT 2
#define math_errhandling 3
#define fpclassify(x) \
  __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x)
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
#define isnan(x) __builtin_isnan(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x) __builtin_signbit(x)
#define isgreater(x, y) __builtin_isgreater(x, y)
#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)
#define isless(x, y) __builtin_isless(x, y)
#define islessequal(x, y) __builtin_islessequal(x, y)
#define islessgreater(x, y) __builtin_islessgreater(x, y)
#define isunordered(x, y) __builtin_isunordered(x, y)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define MAXFLOAT 3.40282347e+38F
CUDALINT_C
#define F1(name) double name(double x); float name##f(float x); long double name##l(long double x);
#define F2(name) \
  double name(double x, double y); float name##f(float x, float y); \
  long double name##l(long double x, long double y);
#define F3(name) \
  double name(double x, double y, double z); float name##f(float x, float y, float z); \
  long double name##l(long double x, long double y, long double z);
#define TO(type, name) type name(double x); type name##f(float x); type name##l(long double x);
F1(acos) F1(asin) F1(atan) F1(cos) F1(sin) F1(tan) F1(acosh) F1(asinh) F1(atanh) F1(cosh) F1(sinh)
F1(tanh) F1(exp) F1(exp2) F1(exp10) F1(expm1) F1(log) F1(log10) F1(log1p) F1(log2) F1(logb) F1(cbrt)
F1(fabs) F1(sqrt) F1(erf) F1(erfc) F1(lgamma) F1(tgamma) F1(ceil) F1(floor) F1(nearbyint) F1(rint)
F1(round) F1(trunc) F1(j0) F1(j1) F1(y0) F1(y1)
F2(atan2) F2(pow) F2(hypot) F2(fmod) F2(remainder) F2(copysign) F2(nextafter) F2(fdim) F2(fmax)
F2(fmin) F2(drem)
F3(fma)
TO(int, ilogb) TO(long, lrint) TO(long, lround) TO(long long, llrint) TO(long long, llround)
double frexp(double x, int *e); float frexpf(float x, int *e); long double frexpl(long double x, int *e);
double ldexp(double x, int e); float ldexpf(float x, int e); long double ldexpl(long double x, int e);
double modf(double x, double *i); float modff(float x, float *i); long double modfl(long double x, long double *i);
double scalbn(double x, int n); float scalbnf(float x, int n); long double scalbnl(long double x, int n);
double scalbln(double x, long n); float scalblnf(float x, long n); long double scalblnl(long double x, long n);
double remquo(double x, double y, int *q); float remquof(float x, float y, int *q);
long double remquol(long double x, long double y, int *q);
double nan(const char *tag); float nanf(const char *tag); long double nanl(const char *tag);
double nexttoward(double x, long double y); float nexttowardf(float x, long double y);
long double nexttowardl(long double x, long double y);
double jn(int n, double x); double yn(int n, double x); float jnf(int n, float x); float ynf(int n, float x);
void sincos(double x, double *s, double *c); void sincosf(float x, float *s, float *c);
double lgamma_r(double x, int *sign); double gamma(double x); double significand(double x);
#undef F1
#undef F2
#undef F3
#undef TO
extern int signgam;
CUDALINT_END_C
#endif
