#ifndef CUDALINT_LIBC_SYS_PARAM_H
#define CUDALINT_LIBC_SYS_PARAM_H
#include <limits.h>
#define MAXPATHLEN 4096
#ifndef MIN
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) (((a) > (b)) ? (a) : (b))
#endif
#endif
