#ifndef CUDALINT_LIBC_SYS_RESOURCE_H
#define CUDALINT_LIBC_SYS_RESOURCE_H
#include <cudalint_types.h>
CUDALINT_C
typedef unsigned long rlim_t;
struct rlimit { rlim_t rlim_cur, rlim_max; };
struct rusage {
  struct timeval ru_utime, ru_stime;
  long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock;
  long ru_oublock, ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
#define RLIMIT_STACK 3
#define RLIMIT_MEMLOCK 8
#define RLIM_INFINITY (~0UL)
int getrusage(int who, struct rusage *usage);
int getrlimit(int resource, struct rlimit *limit);
int setrlimit(int resource, const struct rlimit *limit);
CUDALINT_END_C
#endif
