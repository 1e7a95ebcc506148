/* SPDX-License-Identifier: MIT */
/* A program may submit a host function and then wait for what that function does, without calling
 * the runtime again. Where one is queued and no call has come for a while, this thread runs the
 * stream up to it. It starts with the first host function; programs without any never have it. */
#include <pthread.h>
#include <time.h>

#include "cudart.h"

#define LOOK_EVERY_NS 50000000
#define IDLE_LOOKS 4 /* looks without a call in between before it acts */

static bool started;

static void *watch(void *unused) {
  (void)unused;
  uint64_t calls_before = 0;
  int idle = 0;
  for (;;) {
    nanosleep(&(struct timespec){0, LOOK_EVERY_NS}, NULL);
    rt_lock();
    rt_op *op = rt_first_host_call();
    idle = op && rt_calls() == calls_before ? idle + 1 : 0;
    calls_before = rt_calls();
    if (idle >= IDLE_LOOKS)
      rt_wait(op->gpu, op);
    rt_unlock();
  }
  return NULL;
}

void rt_watch_host_calls(void) {
  if (started)
    return;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  started = !pthread_create(&thread, &attributes, watch, NULL);
  pthread_attr_destroy(&attributes);
  if (!started)
    rt_refuse("cannot start a thread for host functions");
}

void rt_watch_after_fork(void) {
  started = false; /* threads are not copied */
  if (rt_first_host_call())
    rt_watch_host_calls();
}
