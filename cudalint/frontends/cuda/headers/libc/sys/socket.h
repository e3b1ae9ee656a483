#ifndef CUDALINT_LIBC_SYS_SOCKET_H
#define CUDALINT_LIBC_SYS_SOCKET_H
#include <cudalint_types.h>
CUDALINT_C
struct sockaddr { sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_storage { sa_family_t ss_family; char data[126]; };
struct iovec { void *iov_base; size_t iov_len; };
struct msghdr { void *msg_name; socklen_t msg_namelen; struct iovec *msg_iov; size_t msg_iovlen; void *msg_control; size_t msg_controllen; int msg_flags; };
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOL_SOCKET 1
#define SO_REUSEADDR 2
int socket(int domain, int type, int protocol);
int bind(int socket, const struct sockaddr *address, socklen_t size);
int listen(int socket, int backlog);
int accept(int socket, struct sockaddr *address, socklen_t *size);
int connect(int socket, const struct sockaddr *address, socklen_t size);
ssize_t send(int socket, const void *from, size_t size, int flags);
ssize_t recv(int socket, void *to, size_t size, int flags);
ssize_t sendmsg(int socket, const struct msghdr *message, int flags);
ssize_t recvmsg(int socket, struct msghdr *message, int flags);
int setsockopt(int socket, int level, int name, const void *value, socklen_t size);
int shutdown(int socket, int how);
CUDALINT_END_C
#endif
