#ifndef CUDALINT_LIBC_STRINGS_H
#define CUDALINT_LIBC_STRINGS_H
#include <cudalint_types.h>
CUDALINT_C
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t size);
void bzero(void *to, size_t size);
void bcopy(const void *from, void *to, size_t size);
int ffs(int bits);
CUDALINT_END_C
#endif
