#ifndef CUDALINT_LIBC_SYS_SYSINFO_H
#define CUDALINT_LIBC_SYS_SYSINFO_H
#include <features.h>
CUDALINT_C
struct sysinfo { long uptime; unsigned long loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap; unsigned short procs; unsigned mem_unit; };
int sysinfo(struct sysinfo *information);
int get_nprocs(void);
CUDALINT_END_C
#endif
