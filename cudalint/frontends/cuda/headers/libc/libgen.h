#ifndef CUDALINT_LIBC_LIBGEN_H
#define CUDALINT_LIBC_LIBGEN_H
#include <features.h>
CUDALINT_C
char *basename(char *path);
char *dirname(char *path);
CUDALINT_END_C
#endif
