/* SPDX-License-Identifier: MIT */
/* Private: the clock that nobody sets, and waiting by it. */
#ifndef INK_MONOTONIC_H
#define INK_MONOTONIC_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Safe in signal handlers. */
static inline int64_t ink_i_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t ink_i_monotonic_ms(void) { return ink_i_monotonic_ns() / 1000000; }

#ifdef _GNU_SOURCE
/* Takes a lock, or gives up after so many seconds: ETIMEDOUT. A clock that is set meanwhile changes nothing. */
static inline int ink_i_lock_within(pthread_mutex_t *lock, int seconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += seconds;
  return pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until);
}
#endif

#endif
