#ifndef CUDALINT_LIBC_CTYPE_H
#define CUDALINT_LIBC_CTYPE_H
#include <cudalint_types.h>
CUDALINT_C
#define F(name) int name(int c); int name##_l(int c, locale_t locale);
F(isalnum) F(isalpha) F(isblank) F(iscntrl) F(isdigit) F(isgraph) F(islower) F(isprint) F(ispunct)
F(isspace) F(isupper) F(isxdigit) F(tolower) F(toupper)
#undef F
int isascii(int c);
int toascii(int c);
CUDALINT_END_C
#endif
