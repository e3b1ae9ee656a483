#ifndef CUDALINT_LIBC_ALLOCA_H
#define CUDALINT_LIBC_ALLOCA_H
#define alloca(size) __builtin_alloca(size)
#endif
