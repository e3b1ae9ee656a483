#ifndef CUDALINT_LIBC_SEMAPHORE_H
#define CUDALINT_LIBC_SEMAPHORE_H
#include <cudalint_types.h>
CUDALINT_C
typedef struct { long words[4]; } sem_t;
int sem_init(sem_t *semaphore, int shared, unsigned value);
int sem_destroy(sem_t *semaphore);
int sem_wait(sem_t *semaphore);
int sem_trywait(sem_t *semaphore);
int sem_post(sem_t *semaphore);
sem_t *sem_open(const char *name, int flags, ...);
int sem_close(sem_t *semaphore);
int sem_unlink(const char *name);
CUDALINT_END_C
#endif
