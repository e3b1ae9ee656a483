#ifndef CUDALINT_LIBC_NETDB_H
#define CUDALINT_LIBC_NETDB_H
#include <netinet/in.h>
CUDALINT_C
struct hostent { char *h_name, **h_aliases; int h_addrtype, h_length; char **h_addr_list; };
struct addrinfo { int ai_flags, ai_family, ai_socktype, ai_protocol; socklen_t ai_addrlen; struct sockaddr *ai_addr; char *ai_canonname; struct addrinfo *ai_next; };
struct hostent *gethostbyname(const char *name);
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result);
void freeaddrinfo(struct addrinfo *result);
CUDALINT_END_C
#endif
