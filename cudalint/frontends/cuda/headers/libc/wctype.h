#ifndef CUDALINT_LIBC_WCTYPE_H
#define CUDALINT_LIBC_WCTYPE_H
#include <cudalint_types.h>
#ifndef WEOF
#define WEOF (0xffffffffu)
#endif
CUDALINT_C
typedef unsigned long wctype_t;
typedef const int *wctrans_t;
#define F(name) int name(wint_t c); int name##_l(wint_t c, locale_t locale);
F(iswalnum) F(iswalpha) F(iswblank) F(iswcntrl) F(iswdigit) F(iswgraph) F(iswlower) F(iswprint)
F(iswpunct) F(iswspace) F(iswupper) F(iswxdigit)
#undef F
wint_t towlower(wint_t c);
wint_t towupper(wint_t c);
wint_t towlower_l(wint_t c, locale_t locale);
wint_t towupper_l(wint_t c, locale_t locale);
wctype_t wctype(const char *name);
int iswctype(wint_t c, wctype_t type);
int iswctype_l(wint_t c, wctype_t type, locale_t locale);
wctrans_t wctrans(const char *name);
wint_t towctrans(wint_t c, wctrans_t map);
CUDALINT_END_C
#endif
