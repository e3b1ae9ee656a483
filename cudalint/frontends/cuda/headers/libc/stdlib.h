#ifndef CUDALINT_LIBC_STDLIB_H
#define CUDALINT_LIBC_STDLIB_H
#include <cudalint_types.h>
#include <alloca.h>
CUDALINT_C
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX ((size_t)6)
#define R CUDALINT_RESTRICT
void *malloc(size_t size) __attribute__((malloc));
void *calloc(size_t count, size_t size) __attribute__((malloc));
void *realloc(void *pointer, size_t size);
void *reallocarray(void *pointer, size_t count, size_t size);
void free(void *pointer);
void *aligned_alloc(size_t alignment, size_t size);
void *valloc(size_t size);
int posix_memalign(void **pointer, size_t alignment, size_t size);
void abort(void) CUDALINT_NORETURN;
void exit(int status) CUDALINT_NORETURN;
void _Exit(int status) CUDALINT_NORETURN;
void quick_exit(int status) CUDALINT_NORETURN;
int atexit(void (*function)(void));
int at_quick_exit(void (*function)(void));
char *getenv(const char *name);
char *secure_getenv(const char *name);
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
int putenv(char *text);
int system(const char *command);
double atof(const char *text);
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double strtod(const char *R text, char **R end);
float strtof(const char *R text, char **R end);
long double strtold(const char *R text, char **R end);
long strtol(const char *R text, char **R end, int base);
long long strtoll(const char *R text, char **R end, int base);
unsigned long strtoul(const char *R text, char **R end, int base);
unsigned long long strtoull(const char *R text, char **R end, int base);
double strtod_l(const char *R text, char **R end, locale_t locale);
float strtof_l(const char *R text, char **R end, locale_t locale);
long double strtold_l(const char *R text, char **R end, locale_t locale);
long long strtoll_l(const char *R text, char **R end, int base, locale_t locale);
unsigned long long strtoull_l(const char *R text, char **R end, int base, locale_t locale);
int rand(void);
void srand(unsigned seed);
int rand_r(unsigned *seed);
long random(void);
void srandom(unsigned seed);
double drand48(void);
double erand48(unsigned short state[3]);
long lrand48(void);
long mrand48(void);
void srand48(long seed);
void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void qsort_r(void *base, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *data);
int abs(int n);
long labs(long n);
long long llabs(long long n);
div_t div(int a, int b);
ldiv_t ldiv(long a, long b);
lldiv_t lldiv(long long a, long long b);
int mblen(const char *text, size_t size);
int mbtowc(wchar_t *R to, const char *R from, size_t size);
int wctomb(char *to, wchar_t from);
size_t mbstowcs(wchar_t *R to, const char *R from, size_t size);
size_t wcstombs(char *R to, const wchar_t *R from, size_t size);
char *realpath(const char *R path, char *R resolved);
int mkstemp(char *name);
char *mkdtemp(char *name);
int getloadavg(double average[], int count);
#undef R
CUDALINT_END_C
#endif
