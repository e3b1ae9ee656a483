#ifndef CUDALINT_LIBC_SYS_TIME_H
#define CUDALINT_LIBC_SYS_TIME_H
#include <cudalint_types.h>
#include <sys/select.h>
CUDALINT_C
struct timezone { int tz_minuteswest, tz_dsttime; };
struct itimerval { struct timeval it_interval, it_value; };
int gettimeofday(struct timeval *time, void *zone);
int settimeofday(const struct timeval *time, const struct timezone *zone);
int setitimer(int which, const struct itimerval *value, struct itimerval *old);
#define timersub(a, b, result) ((void)(a), (void)(b), (void)(result))
CUDALINT_END_C
#endif
