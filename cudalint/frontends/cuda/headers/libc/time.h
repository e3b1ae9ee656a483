#ifndef CUDALINT_LIBC_TIME_H
#define CUDALINT_LIBC_TIME_H
#include <cudalint_types.h>
CUDALINT_C
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; long tm_gmtoff; const char *tm_zone; };
struct itimerspec { struct timespec it_interval, it_value; };
#define CLOCKS_PER_SEC ((clock_t)1000000)
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_MONOTONIC_RAW 4
#define TIME_UTC 1
clock_t clock(void);
time_t time(time_t *result);
double difftime(time_t a, time_t b);
time_t mktime(struct tm *tm);
time_t timegm(struct tm *tm);
struct tm *gmtime(const time_t *time);
struct tm *localtime(const time_t *time);
struct tm *gmtime_r(const time_t *time, struct tm *tm);
struct tm *localtime_r(const time_t *time, struct tm *tm);
char *asctime(const struct tm *tm);
char *ctime(const time_t *time);
size_t strftime(char *CUDALINT_RESTRICT text, size_t size, const char *CUDALINT_RESTRICT format, const struct tm *CUDALINT_RESTRICT tm);
size_t strftime_l(char *CUDALINT_RESTRICT text, size_t size, const char *CUDALINT_RESTRICT format, const struct tm *CUDALINT_RESTRICT tm, locale_t locale);
char *strptime(const char *CUDALINT_RESTRICT text, const char *CUDALINT_RESTRICT format, struct tm *CUDALINT_RESTRICT tm);
int nanosleep(const struct timespec *time, struct timespec *remaining);
int clock_gettime(clockid_t clock, struct timespec *time);
int clock_getres(clockid_t clock, struct timespec *time);
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *remaining);
int timespec_get(struct timespec *time, int base);
CUDALINT_END_C
#endif
