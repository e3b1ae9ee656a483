#ifndef CUDALINT_LIBC_COMPLEX_H
#define CUDALINT_LIBC_COMPLEX_H
#include <features.h>
#define complex _Complex
#define _Complex_I 1.0fi
#define I _Complex_I
CUDALINT_C
#define F(name) double _Complex name(double _Complex z); float _Complex name##f(float _Complex z);
F(cacos) F(casin) F(catan) F(ccos) F(csin) F(ctan) F(ccosh) F(csinh) F(ctanh) F(cexp) F(clog)
F(csqrt) F(conj) F(cproj)
#undef F
double cabs(double _Complex z); double carg(double _Complex z); double creal(double _Complex z);
double cimag(double _Complex z); float cabsf(float _Complex z); float crealf(float _Complex z);
float cimagf(float _Complex z); float cargf(float _Complex z);
double _Complex cpow(double _Complex a, double _Complex b);
CUDALINT_END_C
#endif
