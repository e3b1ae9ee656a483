/* Read anew each time: NDEBUG may have changed. */
#include <features.h>
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif
#ifndef __cplusplus
#undef static_assert
#define static_assert _Static_assert
#endif
#ifndef CUDALINT_LIBC_ASSERT_H
#define CUDALINT_LIBC_ASSERT_H
CUDALINT_C
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function) CUDALINT_NORETURN;
CUDALINT_END_C
#endif
