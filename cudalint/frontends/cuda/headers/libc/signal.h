#ifndef CUDALINT_LIBC_SIGNAL_H
#define CUDALINT_LIBC_SIGNAL_H
#include <cudalint_types.h>
CUDALINT_C
typedef int sig_atomic_t;
typedef void (*sighandler_t)(int);
typedef struct { unsigned long bits[16]; } sigset_t;
typedef struct { int si_signo, si_errno, si_code; void *si_addr; pid_t si_pid; } siginfo_t;
struct sigaction {
  void (*sa_handler)(int);
  void (*sa_sigaction)(int, siginfo_t *, void *);
  sigset_t sa_mask;
  int sa_flags;
};
#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
#define SIG_ERR ((sighandler_t)-1)
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SA_SIGINFO 4
#define SA_RESTART 0x10000000
sighandler_t signal(int number, sighandler_t handler);
int raise(int number);
int kill(pid_t pid, int number);
int sigaction(int number, const struct sigaction *action, struct sigaction *old);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int number);
int sigprocmask(int how, const sigset_t *set, sigset_t *old);
CUDALINT_END_C
#endif
