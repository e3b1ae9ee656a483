#ifndef CUDALINT_LIBC_SCHED_H
#define CUDALINT_LIBC_SCHED_H
#include <cudalint_types.h>
CUDALINT_C
struct sched_param { int sched_priority; };
typedef struct { unsigned long bits[16]; } cpu_set_t;
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2
#define CPU_SETSIZE 1024
#define CPU_ZERO(set) ((void)(set))
#define CPU_SET(cpu, set) ((void)(cpu), (void)(set))
#define CPU_ISSET(cpu, set) ((cpu), (set) != 0)
int sched_yield(void);
int sched_getcpu(void);
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
CUDALINT_END_C
#endif
