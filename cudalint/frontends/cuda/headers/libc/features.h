/* A C library of declarations only, for machines that have no C headers. Nothing is ever linked. */
#ifndef CUDALINT_LIBC_FEATURES_H
#define CUDALINT_LIBC_FEATURES_H
#ifdef __cplusplus
#define CUDALINT_C extern "C" {
#define CUDALINT_END_C }
#define __BEGIN_DECLS extern "C" {
#define __END_DECLS }
#else
#define CUDALINT_C
#define CUDALINT_END_C
#define __BEGIN_DECLS
#define __END_DECLS
#endif
#ifdef __cplusplus
#define CUDALINT_RESTRICT __restrict
#define CUDALINT_NORETURN __attribute__((noreturn))
#else
#define CUDALINT_RESTRICT restrict
#define CUDALINT_NORETURN __attribute__((noreturn))
#endif
#define __USE_POSIX 1
#define __USE_MISC 1
#define __USE_GNU 1
#define __USE_XOPEN 1
#define __THROW
#define __NTH(function) function
#endif
