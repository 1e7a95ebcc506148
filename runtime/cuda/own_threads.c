/* SPDX-License-Identifier: MIT */
/* Threads of the recording: made so that the program does not notice them, and counted, so that a
 * program whose last thread ends does not live on because of them. */
#include "cuda/own_threads.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_long running;

typedef struct thread_start {
  void *(*body)(void *);
  void *user;
} thread_start;

static void *run(void *from) {
  const thread_start start = *(thread_start *)from;
  free(from);
  void *result = start.body(start.user);
  atomic_fetch_sub(&running, 1);
  return result;
}

void ink_i_hold_signals(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  sigset_t all;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&all, faults[i]);
  pthread_sigmask(SIG_BLOCK, &all, before);
}

void ink_i_release_signals(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

bool ink_i_make_thread(pthread_t *thread, void *(*body)(void *), void *user) {
  thread_start *start = malloc(sizeof *start);
  sigset_t before;
  if (!start)
    return false;
  *start = (thread_start){body, user};
  ink_i_hold_signals(&before);
  const bool made = pthread_create(thread, NULL, run, start) == 0;
  ink_i_release_signals(&before);
  if (made)
    atomic_fetch_add(&running, 1);
  else
    free(start);
  return made;
}

long ink_i_own_threads(void) { return atomic_load(&running); }
void ink_i_own_threads_after_fork(void) { atomic_store(&running, 0); }
