/* SPDX-License-Identifier: MIT */
/* Threads of the recording: made so that the program does not notice them, and counted, so that a
 * program whose last thread ends does not live on because of them. */
#include "cuda/own_threads.h"

#include "held_signals.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_long running;
/* Which these are, 0: none. Not a thread's own variable: the tables by which those are found may be what was ruined. */
enum { OWN_MAX = 16 };
static _Atomic(pthread_t) own[OWN_MAX];

static void exchange(pthread_t from, pthread_t to) {
  for (int i = 0; i < OWN_MAX; i++) {
    pthread_t there = from;
    if (atomic_compare_exchange_strong(&own[i], &there, to))
      return;
  }
}

typedef struct thread_start {
  void *(*body)(void *);
  void *user;
  sem_t begun;
} thread_start;

static void *run(void *from) {
  thread_start *given = from;
  void *(*body)(void *) = given->body, *user = given->user;
  exchange(0, pthread_self());
  sem_post(&given->begun); /* it is gone from here on */
  void *result = body(user);
  exchange(pthread_self(), 0);
  atomic_fetch_sub(&running, 1);
  return result;
}

bool ink_i_make_thread(pthread_t *thread, void *(*body)(void *), void *user) {
  thread_start start = {.body = body, .user = user};
  ink_i_held before;
  if (sem_init(&start.begun, 0, 0) != 0)
    return false;
  ink_i_hold_signals(&before);
  const bool made = pthread_create(thread, NULL, run, &start) == 0;
  if (made) {
    atomic_fetch_add(&running, 1);
    /* A new thread makes system calls that no other does: they are over before the program, which may
     * filter its calls from its first moment on, runs. */
    while (sem_wait(&start.begun) != 0 && errno == EINTR) {
    }
  }
  ink_i_release_signals(&before);
  sem_destroy(&start.begun);
  return made;
}

bool ink_i_is_own_thread(void) {
  for (int i = 0; i < OWN_MAX; i++)
    if (atomic_load(&own[i]) == pthread_self())
      return true;
  return false;
}
long ink_i_own_threads(void) { return atomic_load(&running); }
void ink_i_own_threads_after_fork(void) {
  atomic_store(&running, 0);
  for (int i = 0; i < OWN_MAX; i++)
    atomic_store(&own[i], 0);
}
