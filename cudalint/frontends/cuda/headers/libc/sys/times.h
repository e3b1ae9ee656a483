#ifndef CUDALINT_LIBC_SYS_TIMES_H
#define CUDALINT_LIBC_SYS_TIMES_H
#include <cudalint_types.h>
CUDALINT_C
struct tms { clock_t tms_utime, tms_stime, tms_cutime, tms_cstime; };
clock_t times(struct tms *buffer);
CUDALINT_END_C
#endif
