/* SPDX-License-Identifier: MIT */
/* A thread that waits for devices, so that who unloads a module need not wait for ever. */
#include "cuda/idle_wait.h"

#include "cuda/driver_api.h"
#include "cuda/own_threads.h"
#include "cuda/session_private.h"

enum { PATIENCE_S = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool runs;       /* there is a thread */
static uint64_t wanted; /* slots that it waits for, or is to; 0: it has nothing to do */
static bool stuck;      /* somebody has waited for that in vain */

static void wait_for(uint64_t slots) {
  const ink_cuda_api *cuda = ink_i_driver();
  ink_i_calls own;
  if (!cuda)
    return;
  ink_i_calls_begin(NULL, &own); /* a session may end, and be freed, meanwhile */
  for (int slot = 0; slot < INK_I_DEVICES_MAX; slot++)
    if ((slots >> slot & 1) && cuda->set_device(slot) == 0)
      cuda->device_synchronize();
  ink_i_calls_end(&own);
}

static void *body(void *user) {
  (void)user;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!wanted)
      pthread_cond_wait(&changed, &lock);
    const uint64_t slots = wanted;
    pthread_mutex_unlock(&lock);
    wait_for(slots);
    pthread_mutex_lock(&lock);
    wanted = 0;
    stuck = false;
    pthread_cond_broadcast(&changed);
  }
  return NULL;
}

static bool prepare(void) {
  pthread_t thread;
  if (!runs && ink_i_make_thread(&thread, body, NULL)) {
    pthread_detach(thread);
    runs = true;
  }
  return runs;
}

void ink_i_idle_prepare(void) {
  pthread_mutex_lock(&lock);
  prepare();
  pthread_mutex_unlock(&lock);
}

/* True: the thread has nothing to do. */
static bool until_done(const struct timespec *until) {
  int code = 0;
  while (wanted && !stuck && !code)
    code = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, until);
  stuck = wanted != 0;
  return !wanted;
}

bool ink_i_idle_wait(uint64_t slots) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += PATIENCE_S;
  pthread_mutex_lock(&lock);
  bool done = until_done(&until) && prepare();
  if (done && slots) {
    wanted = slots;
    pthread_cond_broadcast(&changed);
    done = until_done(&until);
  }
  pthread_mutex_unlock(&lock);
  return done;
}

void ink_i_idle_after_fork(void) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&changed, NULL);
  runs = stuck = false;
  wanted = 0;
}
