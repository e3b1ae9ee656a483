#ifndef CUDALINT_LIBC_STRING_H
#define CUDALINT_LIBC_STRING_H
#include <cudalint_types.h>
#include <strings.h>
CUDALINT_C
#define R CUDALINT_RESTRICT
void *memcpy(void *R to, const void *R from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
void *mempcpy(void *R to, const void *R from, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memchr(const void *from, int c, size_t size);
void *memrchr(const void *from, int c, size_t size);
void *memmem(const void *from, size_t size, const void *what, size_t length);
char *strcpy(char *R to, const char *R from);
char *strncpy(char *R to, const char *R from, size_t size);
char *stpcpy(char *R to, const char *R from);
char *strcat(char *R to, const char *R from);
char *strncat(char *R to, const char *R from, size_t size);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t size);
int strcoll(const char *a, const char *b);
int strcoll_l(const char *a, const char *b, locale_t locale);
size_t strxfrm(char *R to, const char *R from, size_t size);
size_t strxfrm_l(char *R to, const char *R from, size_t size, locale_t locale);
char *strchr(const char *text, int c);
char *strrchr(const char *text, int c);
size_t strcspn(const char *text, const char *reject);
size_t strspn(const char *text, const char *accept);
char *strpbrk(const char *text, const char *accept);
char *strstr(const char *text, const char *what);
char *strcasestr(const char *text, const char *what);
char *strtok(char *R text, const char *R separators);
char *strtok_r(char *R text, const char *R separators, char **R state);
char *strsep(char **R text, const char *R separators);
size_t strlen(const char *text);
size_t strnlen(const char *text, size_t size);
char *strdup(const char *text);
char *strndup(const char *text, size_t size);
char *strerror(int number);
char *strerror_r(int number, char *buffer, size_t size);
char *strsignal(int number);
#undef R
CUDALINT_END_C
#endif
