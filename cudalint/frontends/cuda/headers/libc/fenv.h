#ifndef CUDALINT_LIBC_FENV_H
#define CUDALINT_LIBC_FENV_H
#include <features.h>
CUDALINT_C
typedef struct { unsigned words[8]; } fenv_t;
typedef unsigned short fexcept_t;
#define FE_INVALID 1
#define FE_DIVBYZERO 4
#define FE_OVERFLOW 8
#define FE_UNDERFLOW 16
#define FE_INEXACT 32
#define FE_ALL_EXCEPT 61
#define FE_TONEAREST 0
#define FE_DOWNWARD 0x400
#define FE_UPWARD 0x800
#define FE_TOWARDZERO 0xc00
#define FE_DFL_ENV ((const fenv_t *)-1)
int feclearexcept(int); int fegetexceptflag(fexcept_t *, int); int feraiseexcept(int);
int fesetexceptflag(const fexcept_t *, int); int fetestexcept(int); int fegetround(void);
int fesetround(int); int fegetenv(fenv_t *); int feholdexcept(fenv_t *);
int fesetenv(const fenv_t *); int feupdateenv(const fenv_t *); int feenableexcept(int);
CUDALINT_END_C
#endif
