/* SPDX-License-Identifier: MIT */
/* Signals that end the process by default: where the disposition is SIG_DFL, a handler of ours keeps what
 * has been recorded, then lets the signal do what it would have done. The program does not see it: what
 * it asks of a disposition, or sets, goes by here. Nothing is kept in memory, which a vfork child shares
 * with its parent: the kernel's own table says whose a handler is. */
#include "cuda/signals.h"

#include "cuda/ends.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

typedef int sigaction_fn(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t signal_fn(int, sighandler_t);

static atomic_bool taken; /* handlers of ours may be set */

/* ---- the functions behind ours ---- */

enum { SIGACTION, SIGNAL, SYSV_SIGNAL, SIGSET, REAL_COUNT };
static void *_Atomic real[REAL_COUNT];

static void *find(int which) {
  static const char *const names[REAL_COUNT] = {"sigaction", "signal", "__sysv_signal", "sigset"};
  void *found = real[which];
  if (!found)
    real[which] = found = dlsym(RTLD_NEXT, names[which]);
  return found;
}

/* Here, as dlsym is nothing for a signal handler. */
__attribute__((constructor)) static void find_all(void) {
  for (int i = 0; i < REAL_COUNT; i++)
    find(i);
}

static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  return ((sigaction_fn *)find(SIGACTION))(number, action, old);
}

/* ---- our handler ---- */

static bool ends_by_default(int number) {
  static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD, SIGCONT, SIGURG, SIGWINCH};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (number == others[i])
      return false;
  return number > 0 && number < NSIG;
}

/* Raised again while it is blocked, so that it comes once it is not, where a sigsuspend was interrupted too. */
static void by_default(int number) {
  const int before = errno;
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigset_t one;
  if (getpid() == 1) /* the first process of a container: nothing ends it that it has no handler for */
    return;
  ink_record_signalled(number);
  sigemptyset(&action.sa_mask);
  real_sigaction(number, &action, NULL);
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
  errno = before;
}

static bool is_ours(const struct sigaction *action) {
  return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == by_default;
}

/* SIG_DFL as the kernel is to have it. No other signal comes in between, so the one that came first is the
 * one that ends the process. Only what a full stack raises takes the stack that the program has for handlers: that
 * may be too small, or gone, as nobody used it. */
static struct sigaction ours(int number, const struct sigaction *by_program) {
  struct sigaction action = {.sa_handler = by_default};
  action.sa_flags = by_program->sa_flags & ~(SA_SIGINFO | SA_NODEFER | SA_ONSTACK);
  if (number == SIGSEGV || number == SIGBUS)
    action.sa_flags |= SA_ONSTACK;
  sigfillset(&action.sa_mask);
  return action;
}

static void as_default(struct sigaction *action) {
  action->sa_handler = SIG_DFL;
  action->sa_flags &= ~SA_ONSTACK;
  sigemptyset(&action->sa_mask);
}

static int set_action(int number, const struct sigaction *action, struct sigaction *old) {
  struct sigaction instead;
  if (action && action->sa_handler == SIG_DFL && atomic_load(&taken) && ends_by_default(number)) {
    instead = ours(number, action);
    action = &instead;
  }
  const int code = real_sigaction(number, action, old);
  if (!code && old && is_ours(old))
    as_default(old);
  return code;
}

/* The program's other threads may set handlers meanwhile: what was there in between goes back. */
static void take(int number) {
  struct sigaction now, next;
  if (real_sigaction(number, NULL, &now) || now.sa_handler != SIG_DFL)
    return;
  next = ours(number, &now);
  while (!real_sigaction(number, &next, &now) && now.sa_handler != SIG_DFL && !is_ours(&now))
    next = now;
}

void ink_signals_take(void) {
  if (getpid() == 1 || atomic_exchange(&taken, true))
    return;
  for (int number = 1; number < NSIG; number++)
    if (ends_by_default(number))
      take(number);
}

/* ---- what the program calls ---- */

INK_API int sigaction(int, const struct sigaction *restrict, struct sigaction *restrict);
int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old) {
  return set_action(number, action, old);
}

/* With SIG_DFL only the handler matters; any other goes to the C library as it is. */
static sighandler_t set_handler(int which, int number, sighandler_t handler) {
  struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART}, old;
  if (handler != SIG_DFL) {
    const sighandler_t before = ((signal_fn *)find(which))(number, handler);
    return before == by_default ? SIG_DFL : before;
  }
  sigemptyset(&action.sa_mask);
  return set_action(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

#define SIGNAL_BY(name, which)                                                                     \
  INK_API sighandler_t name(int, sighandler_t);                                                    \
  sighandler_t name(int number, sighandler_t handler) { return set_handler(which, number, handler); }
SIGNAL_BY(signal, SIGNAL)
SIGNAL_BY(bsd_signal, SIGNAL)
SIGNAL_BY(ssignal, SIGNAL)
SIGNAL_BY(sysv_signal, SYSV_SIGNAL)
SIGNAL_BY(__sysv_signal, SYSV_SIGNAL)

/* Unblocks the signal as well, and tells whether it was blocked. */
INK_API sighandler_t sigset(int, sighandler_t);
sighandler_t sigset(int number, sighandler_t handler) {
  if (handler != SIG_DFL)
    return set_handler(SIGSET, number, handler);
  const sighandler_t before = set_handler(SIGSET, number, SIG_DFL);
  sigset_t one, blocked;
  sigemptyset(&one);
  if (before == SIG_ERR || sigaddset(&one, number) || sigprocmask(SIG_UNBLOCK, &one, &blocked))
    return SIG_ERR;
  return sigismember(&blocked, number) ? SIG_HOLD : before;
}
