#ifndef CUDALINT_LIBC_GLOB_H
#define CUDALINT_LIBC_GLOB_H
#include <cudalint_types.h>
CUDALINT_C
typedef struct { size_t gl_pathc; char **gl_pathv; size_t gl_offs; } glob_t;
#define GLOB_ERR 1
#define GLOB_NOSORT 4
#define GLOB_TILDE 4096
#define GLOB_NOSPACE 1
#define GLOB_ABORTED 2
#define GLOB_NOMATCH 3
int glob(const char *pattern, int flags, int (*error)(const char *, int), glob_t *result);
void globfree(glob_t *result);
CUDALINT_END_C
#endif
