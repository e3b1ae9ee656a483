#ifndef CUDALINT_LIBC_SYS_UTSNAME_H
#define CUDALINT_LIBC_SYS_UTSNAME_H
#include <features.h>
CUDALINT_C
struct utsname { char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65]; };
int uname(struct utsname *name);
CUDALINT_END_C
#endif
