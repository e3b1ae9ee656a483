#ifndef CUDALINT_LIBC_STDIO_H
#define CUDALINT_LIBC_STDIO_H
#include <cudalint_types.h>
#include <stdarg.h>
CUDALINT_C
typedef struct _IO_FILE FILE;
typedef struct { long position; mbstate_t state; } fpos_t;
extern FILE *stdin, *stdout, *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define FOPEN_MAX 16
#define L_tmpnam 20
#define TMP_MAX 238328
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define R CUDALINT_RESTRICT
int printf(const char *R format, ...);
int fprintf(FILE *R file, const char *R format, ...);
int sprintf(char *R text, const char *R format, ...);
int snprintf(char *R text, size_t size, const char *R format, ...);
int dprintf(int file, const char *R format, ...);
int asprintf(char **R text, const char *R format, ...);
int vprintf(const char *R format, va_list arguments);
int vfprintf(FILE *R file, const char *R format, va_list arguments);
int vsprintf(char *R text, const char *R format, va_list arguments);
int vsnprintf(char *R text, size_t size, const char *R format, va_list arguments);
int vasprintf(char **R text, const char *R format, va_list arguments);
int scanf(const char *R format, ...);
int fscanf(FILE *R file, const char *R format, ...);
int sscanf(const char *R text, const char *R format, ...);
int vscanf(const char *R format, va_list arguments);
int vfscanf(FILE *R file, const char *R format, va_list arguments);
int vsscanf(const char *R text, const char *R format, va_list arguments);
FILE *fopen(const char *R name, const char *R mode);
FILE *fopen64(const char *R name, const char *R mode);
FILE *fdopen(int file, const char *mode);
FILE *freopen(const char *R name, const char *R mode, FILE *R file);
FILE *popen(const char *command, const char *mode);
FILE *fmemopen(void *buffer, size_t size, const char *mode);
FILE *tmpfile(void);
int pclose(FILE *file);
int fclose(FILE *file);
int fflush(FILE *file);
int fileno(FILE *file);
size_t fread(void *R to, size_t size, size_t count, FILE *R file);
size_t fwrite(const void *R from, size_t size, size_t count, FILE *R file);
int fgetc(FILE *file);
int getc(FILE *file);
int getchar(void);
char *fgets(char *R text, int size, FILE *R file);
char *gets(char *text);
int fputc(int c, FILE *file);
int putc(int c, FILE *file);
int putchar(int c);
int fputs(const char *R text, FILE *R file);
int puts(const char *text);
int ungetc(int c, FILE *file);
ssize_t getline(char **R line, size_t *R size, FILE *R file);
ssize_t getdelim(char **R line, size_t *R size, int end, FILE *R file);
int fseek(FILE *file, long offset, int whence);
int fseeko(FILE *file, off_t offset, int whence);
long ftell(FILE *file);
off_t ftello(FILE *file);
void rewind(FILE *file);
int fgetpos(FILE *R file, fpos_t *R position);
int fsetpos(FILE *file, const fpos_t *position);
void clearerr(FILE *file);
int feof(FILE *file);
int ferror(FILE *file);
void perror(const char *text);
void setbuf(FILE *R file, char *R buffer);
int setvbuf(FILE *R file, char *R buffer, int mode, size_t size);
int remove(const char *name);
int rename(const char *from, const char *to);
char *tmpnam(char *name);
#undef R
CUDALINT_END_C
#endif
