/* SPDX-License-Identifier: MIT */
/* The thread that drains: by the clock, and between that by a look at how many tracks were claimed, more often
 * the faster they are. */
#include "cuda/drain_parts.h"
#include "cuda/activity.h"
#include "monotonic.h"

#include <errno.h>
#include <time.h>

enum {
  LOOK_LEAST_US = 1000,  /* at most 1,000 looks a second while kernels record */
  LOOK_MOST_US = 20000,  /* 50 while none does */
  LOOKS_MOST_MS = 1000,  /* above this period the clock alone drains */
  FULL_PART = 4          /* drained when this part of the tracks was claimed since the last time */
};

/* With the lock; false: woken, the session ends. */
static bool wait_us(ink_session *s, int64_t us) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (time_t)(us / 1000000);
  until.tv_nsec += (long)(us % 1000000) * 1000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  return pthread_cond_timedwait(&s->wake, &s->lock, &until) == ETIMEDOUT && !s->stop;
}

int64_t ink_i_look_again_us(int64_t us, uint64_t claimed, uint32_t tracks, int64_t most_us) {
  int64_t next = us * 2;
  if (claimed) {
    const uint64_t part = (uint64_t)tracks / FULL_PART / 2;
    next = (int64_t)((uint64_t)us * part / claimed);
  }
  return next < LOOK_LEAST_US ? LOOK_LEAST_US : next > most_us ? most_us : next;
}

/* Whether a drain is due: the buffer fills, or what filled it has stopped. */
static bool look(ink_i_device *d, int64_t us, int64_t most_us, int64_t *next_us) {
  uint64_t claims = 0;
  if (!d->made || d->dead)
    return false;
  d->cuda->set_device(d->index);
  if (ink_i_counts_read_claims(d, &claims))
    return true; /* the drain says what it is */
  const uint64_t claimed = claims - d->looked, waiting = claims - d->claims;
  const int64_t next = ink_i_look_again_us(us, claimed, d->info.track_count, most_us);
  *next_us = next < *next_us ? next : *next_us;
  d->looked = claims;
  return waiting >= d->info.track_count / FULL_PART + 1 || (waiting && !claimed);
}

/* The capture mode is a thread's own, and this thread is ours: set once for each CUDA runtime there is. */
static void relax(const ink_session *s, const ink_cuda_api **relaxed) {
  int mode = 2; /* cudaStreamCaptureModeRelaxed */
  const ink_cuda_api *cuda = NULL;
  for (int i = 0; i < INK_I_DEVICES_MAX && !cuda; i++)
    cuda = s->devices[i].made ? s->devices[i].cuda : NULL;
  if (cuda && cuda != *relaxed && cuda->exchange_capture_mode(&mode) == 0)
    *relaxed = cuda;
}

void *ink_i_drain_thread(void *user) {
  ink_session *s = user;
  const int64_t period_us = (int64_t)s->options.drain_ms * 1000;
  const bool looks = s->options.drain_ms <= LOOKS_MOST_MS;
  const int64_t most_us = !looks || period_us < LOOK_MOST_US ? period_us : LOOK_MOST_US;
  int64_t us = looks ? LOOK_LEAST_US : most_us, drained_us = ink_i_monotonic_ns() / 1000;
  const ink_cuda_api *relaxed = NULL;
  pthread_mutex_lock(&s->lock);
  while (!s->stop) {
    if (!wait_us(s, us))
      continue;
    const int64_t turns_us = ink_i_window_tick(s, INT64_MAX);
    int64_t next_us = most_us;
    bool due = ink_i_monotonic_ns() / 1000 - drained_us >= period_us;
    ink_i_session_arm_late(s);
    relax(s, &relaxed);
    ink_i_activity_own_begin();
    for (int i = 0; i < INK_I_DEVICES_MAX && looks; i++)
      due = look(&s->devices[i], us, most_us, &next_us) || due;
    const int64_t before_us = ink_i_monotonic_ns() / 1000;
    if (due)
      ink_i_session_drain_locked(s, NULL);
    ink_i_activity_own_end();
    const int64_t took_us = ink_i_monotonic_ns() / 1000 - before_us;
    drained_us = due ? before_us : drained_us;
    us = due && took_us > next_us ? took_us : next_us; /* draining takes half of a core at most */
    us = us < turns_us ? us : turns_us;
  }
  pthread_mutex_unlock(&s->lock);
  sem_post(&s->left);
  if (s->stays && !s->leaves)
    ink_i_session_wait_for_kernels(s);
  return NULL;
}
