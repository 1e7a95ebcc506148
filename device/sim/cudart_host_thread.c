/* SPDX-License-Identifier: MIT */
/* The simulator's own thread, which takes no signals. A program may submit a host function and then
 * wait for what that function does, without calling the runtime again: where one is queued and no
 * call has come for a while, this thread runs the stream up to it. It starts with a host function and
 * ends where none is queued any more, so that a process whose main ended by pthread_exit ends with its
 * own last thread. With INKMARK_SIM_ASYNC=1 it starts with any work and runs everything, as a GPU
 * would: then what is done when depends on the host's speed. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "cudart.h"

#define LOOK_EVERY_NS 50000000
#define IDLE_LOOKS 4 /* looks without a call in between before it acts */

static bool started;

static void *watch(void *unused) {
  (void)unused;
  uint64_t calls_before = 0;
  int idle = 0;
  bool wanted = true;
  while (wanted) {
    nanosleep(&(struct timespec){0, LOOK_EVERY_NS}, NULL);
    rt_lock();
    rt_op *op = rt_first_host_call();
    wanted = started = op != NULL;
    idle = op && rt_calls() == calls_before ? idle + 1 : 0;
    calls_before = rt_calls();
    if (idle >= IDLE_LOOKS)
      rt_wait(op->gpu, op);
    rt_unlock();
  }
  return NULL;
}

static void *work(void *unused) {
  (void)unused;
  rt_lock();
  while (rt_first_op()) {
    if (rt_turn())
      rt_give_way();
    else
      rt_wait_for_others();
  }
  started = false;
  rt_unlock();
  return NULL;
}

static void start_thread(void *(*run)(void *)) {
  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t all, before;
  if (started)
    return;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  started = !pthread_create(&thread, &attributes, run, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (!started)
    rt_refuse("cannot start the simulator's thread");
}

void rt_watch_host_calls(void) {
  start_thread(watch);
}

void rt_work_on(void) {
  start_thread(work);
}

/* Threads are not copied. */
void rt_watch_after_fork(void) {
  started = false;
  if (rt.async && rt_first_op())
    rt_work_on();
  else if (rt_first_host_call())
    rt_watch_host_calls();
}
