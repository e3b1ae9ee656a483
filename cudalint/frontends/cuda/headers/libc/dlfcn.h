#ifndef CUDALINT_LIBC_DLFCN_H
#define CUDALINT_LIBC_DLFCN_H
#include <features.h>
CUDALINT_C
#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_GLOBAL 0x100
#define RTLD_LOCAL 0
#define RTLD_NOLOAD 4
#define RTLD_DEFAULT ((void *)0)
#define RTLD_NEXT ((void *)-1)
void *dlopen(const char *file, int mode);
void *dlsym(void *handle, const char *name);
int dlclose(void *handle);
char *dlerror(void);
CUDALINT_END_C
#endif
