/* SPDX-License-Identifier: MIT */
/* The ends of a recorded process: exit, _exit, abort, a signal, a main that leaves by pthread_exit. The
 * recording is ended by a thread of its own, the ender: whoever leaves may stand above a lock of malloc
 * or of the driver, in a signal handler too, so it only waits, and its patience is bounded. */
#include "cuda/ends.h"

#include "cuda/own_threads.h"
#include "cuda/record_state.h"
#include "cuda/session_private.h"
#include "monotonic.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  SIGNAL_PATIENCE_MS = 1000, /* a signal that ends a process does so at once, or nearly */
  LEAVE_PATIENCE_MS = 30000,
  LOOK_EVERY_MS = 20, /* at the threads that are left, once main is gone */
  MAIN_EVERY_MS = 1000 /* whether main's thread is there, which may end by the system call */
};

static ink_i_end_calls calls;

static struct {
  pthread_t thread;
  bool runs;
  sem_t wake;
  atomic_bool asked;     /* the ender is to end the recording */
  atomic_flag taken;     /* who sets it ends the recording, or asks for it; nobody else does */
  atomic_bool leaves, at_once;
  atomic_bool dying;     /* of a signal: nothing else is to be the end of the process */
  _Atomic int signal;    /* that ends the process, or 0 */
  _Atomic uint32_t done; /* a futex: the recording has ended */
  _Atomic uint32_t keeps, keeps_ready; /* asked for; the other is a futex: what the ender is through with */
  atomic_bool becomes;   /* the last was asked for in front of an exec */
} end = {.taken = ATOMIC_FLAG_INIT};

static struct {
  pthread_key_t key;       /* its destructor runs where main's thread ends alone, by whatever */
  bool watched;
  pthread_mutex_t lives;   /* robust, and held by main's thread, which takes it with it into its grave */
  atomic_bool leaves;      /* by a way of the C library */
  bool has_ended;          /* the ender's */
} main_thread;

/* Until the word is another one than `is`, at most so long. By the plain system call, in which a thread cannot be
 * cancelled: for signal handlers. */
static void wait_while(_Atomic uint32_t *word, uint32_t is, int64_t until_ms) {
  int64_t left;
  while (atomic_load(word) == is && (left = until_ms - ink_i_monotonic_ms()) > 0) {
    const struct timespec rest = {left / 1000, left % 1000 * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, is, &rest, NULL, 0);
  }
}

static bool wait_until_done(int64_t patience_ms) {
  wait_while(&end.done, 0, ink_i_monotonic_ms() + patience_ms);
  return atomic_load(&end.done);
}

/* The thread that has the signal ends the process at any moment. */
static void wait_to_die(void) {
  const struct timespec rest = {2 * SIGNAL_PATIENCE_MS / 1000, 0};
  syscall(SYS_nanosleep, &rest, NULL);
}

static void tell(_Atomic uint32_t *word, uint32_t is) {
  atomic_store(word, is);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void tell_done(void) { tell(&end.done, 1); }

static void ask(bool leaves, bool at_once) {
  atomic_store(&end.leaves, leaves);
  atomic_store(&end.at_once, at_once);
  atomic_store(&end.asked, true);
  sem_post(&end.wake);
}

/* ---- main's thread may end alone ---- */

static void main_leaves(void *user) {
  (void)user;
  if (!ink_i_record_is_mine())
    return;
  atomic_store(&main_thread.leaves, true);
  if (end.runs)
    sem_post(&end.wake);
}

static void watch_main(void) {
  pthread_mutexattr_t kind;
  if (!main_thread.watched && pthread_key_create(&main_thread.key, main_leaves))
    return;
  main_thread.watched = true;
  atomic_store(&main_thread.leaves, false);
  main_thread.has_ended = false;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&main_thread.lives, &kind);
  pthread_mutexattr_destroy(&kind);
  pthread_mutex_lock(&main_thread.lives);
  pthread_setspecific(main_thread.key, &main_thread);
}

void ink_i_ends_watch_main(const ink_i_end_calls *of_recording) {
  calls = *of_recording;
  watch_main();
}

static bool main_has_ended(void) {
  main_thread.has_ended = main_thread.has_ended || pthread_mutex_trylock(&main_thread.lives) == EOWNERDEAD;
  return main_thread.has_ended;
}

/* Main's thread has ended and so have all that are not ours: the process would have ended with the last one. The
 * folder has two links and one for each thread, main's among them for good. */
static bool program_is_gone(void) {
  struct stat tasks;
  return main_has_ended() && !stat("/proc/self/task", &tasks) && (long)tasks.st_nlink - 3 <= ink_i_own_threads();
}

/* What main's thread gave the system call, which is the process's exit code: the last number of its line. */
static int code_of_main(void) {
  char path[64], line[1024] = "";
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)getpid());
  FILE *file = fopen(path, "re");
  if (file && !fgets(line, sizeof line, file))
    line[0] = 0;
  if (file)
    fclose(file);
  const char *last = strrchr(line, ' ');
  return last ? (atoi(last) >> 8) & 0xff : 0;
}

/* ---- the ender ---- */

/* Threads that are to run another program, or what may be the end. */
static void serve_keeps(void) {
  const uint32_t asked = atomic_load(&end.keeps);
  if (asked == atomic_load(&end.keeps_ready))
    return;
  calls.keep(atomic_load(&end.becomes));
  tell(&end.keeps_ready, asked);
}

static void wait_at_most(int ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += ms / 1000;
  until.tv_nsec += ms % 1000 * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  sem_clockwait(&end.wake, CLOCK_MONOTONIC, &until);
}

/* -1: asked; else no thread of the program is left, and this is its exit code. */
static int wait_to_be_asked(void) {
  while (!atomic_load(&end.asked)) {
    serve_keeps();
    wait_at_most(main_has_ended() ? LOOK_EVERY_MS : MAIN_EVERY_MS);
    if (atomic_load(&end.asked) || !program_is_gone())
      continue;
    if (atomic_load(&main_thread.leaves))
      exit(0); /* as the C library does */
    atomic_store(&end.leaves, true);
    return code_of_main();
  }
  return -1;
}

static void *ender(void *user) {
  const int code = wait_to_be_asked();
  calls.end(atomic_load(&end.leaves), atomic_load(&end.signal), atomic_load(&end.at_once));
  if (code >= 0)
    syscall(SYS_exit_group, code);
  tell_done();
  tell(&end.keeps_ready, atomic_load(&end.keeps));
  return user;
}

void ink_i_ends_start(void) {
  if (end.runs || sem_init(&end.wake, 0, 0))
    return;
  end.runs = ink_i_make_thread(&end.thread, ender, NULL);
}

void ink_i_ends_after_fork(void) {
  end.runs = false;
  atomic_flag_clear(&end.taken);
  atomic_store(&end.asked, false);
  atomic_store(&end.signal, 0);
  atomic_store(&end.dying, false);
  atomic_store(&end.done, 0);
  atomic_store(&end.keeps, 0);
  atomic_store(&end.keeps_ready, 0);
  if (main_thread.watched)
    watch_main(); /* whoever forked is main now */
}

/* ---- the ways out ---- */

/* The ender cannot do it: it is not there, or this is it, or it would wait for a call that this thread is in. */
static bool ends_here(void) {
  return !end.runs || pthread_equal(pthread_self(), end.thread) || ink_i_record_is_inside();
}

void ink_record_finish(void) {
  if (!ink_i_record_is_mine())
    return;
  const bool first = !atomic_flag_test_and_set(&end.taken);
  if (!ends_here()) {
    if (first)
      ask(false, false);
    while (!wait_until_done(LEAVE_PATIENCE_MS) && ink_i_session_waits())
      continue;
  } else if (first) {
    calls.end(false, 0, false);
    tell_done();
  }
  if (atomic_load(&end.dying))
    wait_to_die();
}

/* Another thread ends the recording, and this one is about to end the process. Once only kernels are waited for, what
 * is there has been taken. */
static void let_it_end(void) {
  const int64_t until_ms = ink_i_monotonic_ms() + LEAVE_PATIENCE_MS;
  while (!ends_here() && !wait_until_done(LOOK_EVERY_MS) && !ink_i_session_waits() && ink_i_monotonic_ms() < until_ms)
    continue;
}

static void keep(bool becomes) {
  if (!end.runs || !ink_i_record_is_mine() || ends_here())
    return;
  atomic_store(&end.becomes, becomes);
  const uint32_t mine = atomic_fetch_add(&end.keeps, 1) + 1;
  const int64_t until_ms = ink_i_monotonic_ms() + LEAVE_PATIENCE_MS;
  sem_post(&end.wake);
  uint32_t ready = atomic_load(&end.keeps_ready);
  for (; (int32_t)(ready - mine) < 0 && ink_i_monotonic_ms() < until_ms && !atomic_load(&end.asked);
       ready = atomic_load(&end.keeps_ready))
    wait_while(&end.keeps_ready, ready, until_ms);
  if (atomic_load(&end.asked))
    let_it_end();
}

void ink_record_before_exec(void) { keep(true); }
void ink_record_keep(void) { keep(false); }

void ink_record_leave(int signal) {
  if (!end.runs) { /* nothing was armed */
    ink_record_finish();
    return;
  }
  if (!ink_i_record_is_mine() || pthread_equal(pthread_self(), end.thread))
    return;
  if (!atomic_flag_test_and_set(&end.taken)) {
    atomic_store(&end.signal, signal);
    ask(true, false);
    wait_until_done(LEAVE_PATIENCE_MS);
  } else {
    let_it_end();
  }
  if (atomic_load(&end.dying) && atomic_load(&end.signal) != signal)
    wait_to_die();
}

/* A fault in a thread of ours: of our code, or, which is likelier, of memory that the program ruined and will fall over
 * itself. So that the program ends as it would, it has a while to do so; then the fault ends it. */
static void let_the_program_end_first(void) {
  const int64_t until_ms = ink_i_monotonic_ms() + SIGNAL_PATIENCE_MS;
  ink_i_session_give_up();
  while (atomic_load(&end.dying) || ink_i_monotonic_ms() < until_ms)
    usleep(1000);
}

void ink_record_signalled(int signal) {
  int none = 0;
  if (!end.runs || !ink_i_record_is_mine())
    return;
  if (pthread_equal(pthread_self(), end.thread)) { /* a fault of ours, or of a heap that the program ruined: */
    ink_i_session_give_up();                        /* what ends the process is none of it */
    tell_done();
    for (;;)
      pause();
  }
  if (ink_i_is_own_thread()) {
    let_the_program_end_first();
    return;
  }
  atomic_store(&end.dying, true);
  if (!atomic_compare_exchange_strong(&end.signal, &none, signal) && none != signal) {
    wait_to_die(); /* by another signal, which came first */
    return;
  }
  if (!atomic_flag_test_and_set(&end.taken))
    ask(true, true);
  wait_until_done(SIGNAL_PATIENCE_MS);
}
