/* clang's own limits.h has what the language says; this is the system's part. */
#ifndef CUDALINT_LIBC_LIMITS_H
#define CUDALINT_LIBC_LIMITS_H
#define PATH_MAX 4096
#define NAME_MAX 255
#define IOV_MAX 1024
#define SSIZE_MAX __LONG_MAX__
#define MB_LEN_MAX 16
#define HOST_NAME_MAX 64
#define LINE_MAX 2048
#endif
