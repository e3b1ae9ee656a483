#ifndef CUDALINT_LIBC_TYPES_H
#define CUDALINT_LIBC_TYPES_H
#include <features.h>
#define __need_size_t
#define __need_NULL
#define __need_wchar_t
#define __need_ptrdiff_t
#include <stddef.h>
#include <stdint.h>
typedef long ssize_t;
typedef long off_t;
typedef long off64_t;
typedef long loff_t;
typedef long time_t;
typedef long suseconds_t;
typedef long clock_t;
typedef int clockid_t;
typedef void *timer_t;
typedef int pid_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
typedef unsigned id_t;
typedef unsigned mode_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
typedef unsigned long nlink_t;
typedef long blksize_t;
typedef long blkcnt_t;
typedef int key_t;
typedef unsigned useconds_t;
typedef unsigned socklen_t;
typedef unsigned short sa_family_t;
typedef unsigned char u_char;
typedef unsigned short u_short, ushort;
typedef unsigned u_int, uint;
typedef unsigned long u_long, ulong;
typedef uint8_t u_int8_t;
typedef uint16_t u_int16_t;
typedef uint32_t u_int32_t;
typedef uint64_t u_int64_t;
typedef char *caddr_t;
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
typedef struct cudalint_locale *locale_t;
#ifndef __cplusplus
#ifndef _WINT_T
#define _WINT_T
typedef unsigned wint_t;
#endif
#else
typedef unsigned wint_t;
#endif
typedef struct { int state; unsigned value; } mbstate_t;
#endif
