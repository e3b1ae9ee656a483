#ifndef CUDALINT_LIBC_EXECINFO_H
#define CUDALINT_LIBC_EXECINFO_H
#include <features.h>
CUDALINT_C
int backtrace(void **buffer, int size);
char **backtrace_symbols(void *const *buffer, int size);
void backtrace_symbols_fd(void *const *buffer, int size, int file);
CUDALINT_END_C
#endif
