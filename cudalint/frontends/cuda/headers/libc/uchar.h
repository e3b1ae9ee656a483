#ifndef CUDALINT_LIBC_UCHAR_H
#define CUDALINT_LIBC_UCHAR_H
#include <cudalint_types.h>
#ifndef __cplusplus
typedef uint_least16_t char16_t;
typedef uint_least32_t char32_t;
#endif
CUDALINT_C
size_t mbrtoc16(char16_t *CUDALINT_RESTRICT to, const char *CUDALINT_RESTRICT from, size_t size, mbstate_t *CUDALINT_RESTRICT state);
size_t c16rtomb(char *CUDALINT_RESTRICT to, char16_t from, mbstate_t *CUDALINT_RESTRICT state);
size_t mbrtoc32(char32_t *CUDALINT_RESTRICT to, const char *CUDALINT_RESTRICT from, size_t size, mbstate_t *CUDALINT_RESTRICT state);
size_t c32rtomb(char *CUDALINT_RESTRICT to, char32_t from, mbstate_t *CUDALINT_RESTRICT state);
CUDALINT_END_C
#endif
