#ifndef CUDALINT_LIBC_DIRENT_H
#define CUDALINT_LIBC_DIRENT_H
#include <cudalint_types.h>
CUDALINT_C
typedef struct cudalint_directory DIR;
struct dirent { ino_t d_ino; off_t d_off; unsigned short d_reclen; unsigned char d_type; char d_name[256]; };
#define DT_DIR 4
#define DT_REG 8
DIR *opendir(const char *name);
struct dirent *readdir(DIR *directory);
int closedir(DIR *directory);
CUDALINT_END_C
#endif
