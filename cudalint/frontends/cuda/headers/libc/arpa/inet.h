#ifndef CUDALINT_LIBC_ARPA_INET_H
#define CUDALINT_LIBC_ARPA_INET_H
#include <netinet/in.h>
CUDALINT_C
in_addr_t inet_addr(const char *text);
char *inet_ntoa(struct in_addr address);
int inet_pton(int family, const char *text, void *to);
const char *inet_ntop(int family, const void *from, char *to, socklen_t size);
CUDALINT_END_C
#endif
