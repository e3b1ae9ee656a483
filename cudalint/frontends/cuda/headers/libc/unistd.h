#ifndef CUDALINT_LIBC_UNISTD_H
#define CUDALINT_LIBC_UNISTD_H
#include <cudalint_types.h>
#include <getopt.h>
CUDALINT_C
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define F_OK 0
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
#define _SC_PHYS_PAGES 85
#define _SC_CLK_TCK 2
#define _SC_HOST_NAME_MAX 180
extern char **environ;
int access(const char *name, int mode);
unsigned alarm(unsigned seconds);
int chdir(const char *path);
int close(int file);
int dup(int file);
int dup2(int from, int to);
int execl(const char *path, const char *argument, ...);
int execlp(const char *file, const char *argument, ...);
int execv(const char *path, char *const arguments[]);
int execvp(const char *file, char *const arguments[]);
void _exit(int status) CUDALINT_NORETURN;
pid_t fork(void);
int fsync(int file);
int ftruncate(int file, off_t size);
char *getcwd(char *buffer, size_t size);
int gethostname(char *name, size_t size);
int getpagesize(void);
pid_t getpid(void);
pid_t getppid(void);
uid_t getuid(void);
int isatty(int file);
off_t lseek(int file, off_t offset, int whence);
int pause(void);
int pipe(int files[2]);
ssize_t pread(int file, void *to, size_t size, off_t offset);
ssize_t pwrite(int file, const void *from, size_t size, off_t offset);
ssize_t read(int file, void *to, size_t size);
ssize_t readlink(const char *path, char *to, size_t size);
int rmdir(const char *path);
unsigned sleep(unsigned seconds);
long sysconf(int name);
int truncate(const char *path, off_t size);
int unlink(const char *path);
int usleep(useconds_t microseconds);
ssize_t write(int file, const void *from, size_t size);
CUDALINT_END_C
#endif
