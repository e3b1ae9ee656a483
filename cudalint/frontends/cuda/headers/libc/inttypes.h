#ifndef CUDALINT_LIBC_INTTYPES_H
#define CUDALINT_LIBC_INTTYPES_H
#include <cudalint_types.h>
#define PRId8 "d"
#define PRId16 "d"
#define PRId32 "d"
#define PRId64 "ld"
#define PRIi8 "i"
#define PRIi16 "i"
#define PRIi32 "i"
#define PRIi64 "li"
#define PRIu8 "u"
#define PRIu16 "u"
#define PRIu32 "u"
#define PRIu64 "lu"
#define PRIx8 "x"
#define PRIx16 "x"
#define PRIx32 "x"
#define PRIx64 "lx"
#define PRIX32 "X"
#define PRIX64 "lX"
#define PRIo32 "o"
#define PRIo64 "lo"
#define PRIdPTR "ld"
#define PRIuPTR "lu"
#define PRIxPTR "lx"
#define PRIdMAX "ld"
#define PRIuMAX "lu"
#define SCNd32 "d"
#define SCNd64 "ld"
#define SCNu32 "u"
#define SCNu64 "lu"
#define SCNx32 "x"
#define SCNx64 "lx"
CUDALINT_C
typedef struct { intmax_t quot, rem; } imaxdiv_t;
intmax_t imaxabs(intmax_t n);
imaxdiv_t imaxdiv(intmax_t a, intmax_t b);
intmax_t strtoimax(const char *CUDALINT_RESTRICT text, char **CUDALINT_RESTRICT end, int base);
uintmax_t strtoumax(const char *CUDALINT_RESTRICT text, char **CUDALINT_RESTRICT end, int base);
intmax_t wcstoimax(const wchar_t *CUDALINT_RESTRICT text, wchar_t **CUDALINT_RESTRICT end, int base);
uintmax_t wcstoumax(const wchar_t *CUDALINT_RESTRICT text, wchar_t **CUDALINT_RESTRICT end, int base);
CUDALINT_END_C
#endif
