#ifndef CUDALINT_LIBC_SETJMP_H
#define CUDALINT_LIBC_SETJMP_H
#include <features.h>
CUDALINT_C
typedef struct { long words[25]; } jmp_buf[1];
typedef jmp_buf sigjmp_buf;
int setjmp(jmp_buf buffer) __attribute__((returns_twice));
int sigsetjmp(sigjmp_buf buffer, int save) __attribute__((returns_twice));
void longjmp(jmp_buf buffer, int value) CUDALINT_NORETURN;
void siglongjmp(sigjmp_buf buffer, int value) CUDALINT_NORETURN;
CUDALINT_END_C
#define setjmp(buffer) setjmp(buffer)
#endif
