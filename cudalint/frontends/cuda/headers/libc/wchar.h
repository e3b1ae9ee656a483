#ifndef CUDALINT_LIBC_WCHAR_H
#define CUDALINT_LIBC_WCHAR_H
#include <cudalint_types.h>
#include <stdarg.h>
#include <stdio.h>
#ifndef WEOF
#define WEOF (0xffffffffu)
#endif
CUDALINT_C
struct tm;
#define R CUDALINT_RESTRICT
int fwprintf(FILE *R file, const wchar_t *R format, ...);
int swprintf(wchar_t *R text, size_t size, const wchar_t *R format, ...);
int wprintf(const wchar_t *R format, ...);
int vfwprintf(FILE *R file, const wchar_t *R format, va_list arguments);
int vswprintf(wchar_t *R text, size_t size, const wchar_t *R format, va_list arguments);
int vwprintf(const wchar_t *R format, va_list arguments);
int fwscanf(FILE *R file, const wchar_t *R format, ...);
int swscanf(const wchar_t *R text, const wchar_t *R format, ...);
int wscanf(const wchar_t *R format, ...);
int vfwscanf(FILE *R file, const wchar_t *R format, va_list arguments);
int vswscanf(const wchar_t *R text, const wchar_t *R format, va_list arguments);
int vwscanf(const wchar_t *R format, va_list arguments);
wint_t fgetwc(FILE *file);
wchar_t *fgetws(wchar_t *R text, int size, FILE *R file);
wint_t fputwc(wchar_t c, FILE *file);
int fputws(const wchar_t *R text, FILE *R file);
int fwide(FILE *file, int mode);
wint_t getwc(FILE *file);
wint_t getwchar(void);
wint_t putwc(wchar_t c, FILE *file);
wint_t putwchar(wchar_t c);
wint_t ungetwc(wint_t c, FILE *file);
double wcstod(const wchar_t *R text, wchar_t **R end);
float wcstof(const wchar_t *R text, wchar_t **R end);
long double wcstold(const wchar_t *R text, wchar_t **R end);
long wcstol(const wchar_t *R text, wchar_t **R end, int base);
long long wcstoll(const wchar_t *R text, wchar_t **R end, int base);
unsigned long wcstoul(const wchar_t *R text, wchar_t **R end, int base);
unsigned long long wcstoull(const wchar_t *R text, wchar_t **R end, int base);
wchar_t *wcscpy(wchar_t *R to, const wchar_t *R from);
wchar_t *wcsncpy(wchar_t *R to, const wchar_t *R from, size_t size);
wchar_t *wcscat(wchar_t *R to, const wchar_t *R from);
wchar_t *wcsncat(wchar_t *R to, const wchar_t *R from, size_t size);
int wcscmp(const wchar_t *a, const wchar_t *b);
int wcscoll(const wchar_t *a, const wchar_t *b);
int wcscoll_l(const wchar_t *a, const wchar_t *b, locale_t locale);
int wcsncmp(const wchar_t *a, const wchar_t *b, size_t size);
size_t wcsxfrm(wchar_t *R to, const wchar_t *R from, size_t size);
size_t wcsxfrm_l(wchar_t *R to, const wchar_t *R from, size_t size, locale_t locale);
wchar_t *wcschr(const wchar_t *text, wchar_t c);
size_t wcscspn(const wchar_t *text, const wchar_t *reject);
size_t wcslen(const wchar_t *text);
wchar_t *wcspbrk(const wchar_t *text, const wchar_t *accept);
wchar_t *wcsrchr(const wchar_t *text, wchar_t c);
size_t wcsspn(const wchar_t *text, const wchar_t *accept);
wchar_t *wcsstr(const wchar_t *text, const wchar_t *what);
wchar_t *wcstok(wchar_t *R text, const wchar_t *R separators, wchar_t **R state);
wchar_t *wmemchr(const wchar_t *from, wchar_t c, size_t size);
int wmemcmp(const wchar_t *a, const wchar_t *b, size_t size);
wchar_t *wmemcpy(wchar_t *R to, const wchar_t *R from, size_t size);
wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t size);
wchar_t *wmemset(wchar_t *to, wchar_t c, size_t size);
size_t wcsftime(wchar_t *R text, size_t size, const wchar_t *R format, const struct tm *R tm);
wint_t btowc(int c);
int wctob(wint_t c);
int mbsinit(const mbstate_t *state);
size_t mbrlen(const char *R text, size_t size, mbstate_t *R state);
size_t mbrtowc(wchar_t *R to, const char *R from, size_t size, mbstate_t *R state);
size_t wcrtomb(char *R to, wchar_t from, mbstate_t *R state);
size_t mbsrtowcs(wchar_t *R to, const char **R from, size_t size, mbstate_t *R state);
size_t wcsrtombs(char *R to, const wchar_t **R from, size_t size, mbstate_t *R state);
size_t mbsnrtowcs(wchar_t *R to, const char **R from, size_t count, size_t size, mbstate_t *R state);
size_t wcsnrtombs(char *R to, const wchar_t **R from, size_t count, size_t size, mbstate_t *R state);
#undef R
CUDALINT_END_C
#endif
