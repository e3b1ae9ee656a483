#ifndef CUDALINT_LIBC_POLL_H
#define CUDALINT_LIBC_POLL_H
#include <features.h>
CUDALINT_C
struct pollfd { int fd; short events, revents; };
typedef unsigned long nfds_t;
#define POLLIN 1
#define POLLOUT 4
int poll(struct pollfd *files, nfds_t count, int timeout);
CUDALINT_END_C
#endif
