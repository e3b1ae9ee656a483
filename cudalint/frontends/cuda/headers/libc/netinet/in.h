#ifndef CUDALINT_LIBC_NETINET_IN_H
#define CUDALINT_LIBC_NETINET_IN_H
#include <sys/socket.h>
typedef uint16_t in_port_t;
typedef uint32_t in_addr_t;
struct in_addr { in_addr_t s_addr; };
struct sockaddr_in { sa_family_t sin_family; in_port_t sin_port; struct in_addr sin_addr; unsigned char sin_zero[8]; };
struct in6_addr { uint8_t s6_addr[16]; };
struct sockaddr_in6 { sa_family_t sin6_family; in_port_t sin6_port; uint32_t sin6_flowinfo; struct in6_addr sin6_addr; uint32_t sin6_scope_id; };
#define INADDR_ANY ((in_addr_t)0)
#define INADDR_LOOPBACK ((in_addr_t)0x7f000001)
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define INET_ADDRSTRLEN 16
CUDALINT_C
uint32_t htonl(uint32_t n);
uint16_t htons(uint16_t n);
uint32_t ntohl(uint32_t n);
uint16_t ntohs(uint16_t n);
CUDALINT_END_C
#endif
