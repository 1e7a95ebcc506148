/* SPDX-License-Identifier: MIT */
/* The runtime's one lock, its start (configuration, then the injection library), the devices, and
 * how it speaks and ends. The lock is fair: who asks first gets it first, so a thread that copies
 * gets in between two quanta of a thread that runs kernels. A thread that holds it or stands in
 * line takes no signal, so a handler may call the runtime, wait for another thread that does, or
 * exit, also while a kernel runs. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cudart.h"

#define QUANTUM_NS 2000000 /* a copy does not wait for a kernel on a GPU */

rt_state rt;

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  uint64_t next_ticket, serving;
  struct timespec since;
} lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  atomic_bool done;
  bool begun;
  pthread_t by;
} start = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Thread_local rt_thread self;

static uint64_t calls;

static struct {
  char *text;
  size_t bytes, capacity;
} printed; /* what kernels printed since the last flush */

rt_thread *rt_self(void) {
  return &self;
}

uint64_t rt_calls(void) {
  return calls;
}

int rt_capability(void) {
  return rt.capability;
}

/* ---- the lock ---- */

/* All but those that a fault of the thread itself raises. */
static void hold_signals(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t held;
  sigfillset(&held);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&held, faults[i]);
  pthread_sigmask(SIG_BLOCK, &held, &self.signals);
}

static void take_signals(void) {
  const sigset_t before = self.signals; /* a handler that runs now may take the lock itself */
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void rt_lock(void) {
  hold_signals();
  pthread_mutex_lock(&lock.mutex);
  const uint64_t ticket = lock.next_ticket++;
  while (lock.serving != ticket)
    pthread_cond_wait(&lock.changed, &lock.mutex);
  clock_gettime(CLOCK_MONOTONIC, &lock.since);
  pthread_mutex_unlock(&lock.mutex);
}

void rt_unlock(void) {
  pthread_mutex_lock(&lock.mutex);
  lock.serving++;
  pthread_cond_broadcast(&lock.changed);
  pthread_mutex_unlock(&lock.mutex);
  take_signals();
}

void rt_yield(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t held_ns =
      (now.tv_sec - lock.since.tv_sec) * INT64_C(1000000000) + (now.tv_nsec - lock.since.tv_nsec);
  if (held_ns < QUANTUM_NS)
    return;
  rt_flush_print();
  rt_unlock();
  rt_lock();
}

void rt_give_way(void) {
  pthread_mutex_lock(&lock.mutex);
  const bool wanted = lock.next_ticket != lock.serving + 1;
  pthread_mutex_unlock(&lock.mutex);
  if (wanted) {
    rt_unlock();
    rt_lock();
  }
}

void rt_wait_for_others(void) {
  rt_flush_print();
  pthread_mutex_lock(&lock.mutex);
  lock.serving++;
  pthread_cond_broadcast(&lock.changed);
  /* woken by whoever gives the lock back next; the timeout covers one that never takes it */
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 2000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&lock.changed, &lock.mutex, &until);
  pthread_mutex_unlock(&lock.mutex);
  take_signals();
  rt_lock();
}

/* A fork copies whoever holds the lock; so the forking thread holds it itself meanwhile. */
static void before_fork(void) {
  rt_lock();
}

static void after_fork_parent(void) {
  rt_unlock();
}

static void after_fork_child(void) {
  /* those who waited in line do not exist here */
  pthread_mutex_init(&lock.mutex, NULL);
  pthread_cond_init(&lock.changed, NULL);
  lock.next_ticket = lock.serving = 0;
  pthread_mutex_init(&start.mutex, NULL);
  pthread_cond_init(&start.changed, NULL);
  rt_engine_after_fork();
  rt_watch_after_fork();
  take_signals();
}

/* ---- speaking and ending ---- */

static void say(const char *format, va_list arguments) {
  char line[1024];
  vsnprintf(line, sizeof line, format, arguments);
  fprintf(stderr, "inkmark-sim: %s\n", line);
}

void rt_say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

void rt_refuse(const char *format, ...) {
  rt_flush_print();
  fflush(stdout);
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  fflush(stderr);
  sim_end(RT_EXIT_UNSUPPORTED);
}

static void take_print(void *user, const char *text, size_t bytes) {
  (void)user;
  if (bytes > printed.capacity - printed.bytes) {
    const size_t capacity = (printed.bytes + bytes) * 2;
    char *grown = realloc(printed.text, capacity);
    if (!grown)
      return;
    printed.text = grown;
    printed.capacity = capacity;
  }
  memcpy(printed.text + printed.bytes, text, bytes);
  printed.bytes += bytes;
}

void rt_flush_print(void) {
  if (!printed.bytes)
    return;
  fwrite(printed.text, 1, printed.bytes, stdout);
  printed.bytes = 0;
}

cudaError_t rt_error_of(const sim_error *error) {
  switch (error->kind) {
  case SIM_OK:
    return cudaSuccess;
  case SIM_UNSUPPORTED:
  case SIM_BAD_PTX:
    rt_refuse("%s", error->text);
  case SIM_BAD_LAUNCH:
    return cudaErrorInvalidConfiguration;
  case SIM_NO_MEMORY:
    return cudaErrorMemoryAllocation;
  case SIM_ILLEGAL_ADDRESS:
    return cudaErrorIllegalAddress;
  case SIM_MISALIGNED:
    return cudaErrorMisalignedAddress;
  case SIM_ASSERT:
    return cudaErrorAssert;
  case SIM_TRAP:
  case SIM_DEADLOCK:
  case SIM_TIMEOUT:
    return cudaErrorLaunchFailure;
  }
  return cudaErrorUnknown;
}

/* ---- start ---- */

static long long number_from_environment(const char *name, long long fallback, long long least,
                                         long long most) {
  const char *text = secure_getenv(name);
  if (!text || !*text)
    return fallback;
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (errno || *end || value < least || value > most)
    rt_refuse("%s=%s: a number from %lld to %lld is wanted", name, text, least, most);
  return value;
}

/* "75", "7.5" and "12.0" are all understood. */
static int capability_from_environment(void) {
  const char *text = secure_getenv("INKMARK_SIM_CAPABILITY");
  if (!text || !*text)
    return 75;
  char digits[8];
  size_t n = 0;
  for (const char *at = text; *at; at++) {
    if (*at == '.' && at[1] && !at[2])
      continue;
    if (*at < '0' || *at > '9' || n + 1 >= sizeof digits) {
      n = 0;
      break;
    }
    digits[n++] = *at;
  }
  digits[n] = 0;
  const int capability = n ? atoi(digits) : 0;
  if (capability < 50 || capability > 999)
    rt_refuse("INKMARK_SIM_CAPABILITY=%s: a compute capability such as 75 or 9.0 is wanted", text);
  return capability;
}

static void read_configuration(void) {
  sim_config_from_environment(&rt.config);
  rt.capability = capability_from_environment();
  rt.memory_bytes = (size_t)number_from_environment("INKMARK_SIM_MEMORY_MB", 4096, 1, 1 << 20)
                    << 20;
  rt.stats = number_from_environment("INKMARK_SIM_STATS", 0, 0, 1) != 0;
  rt.async = number_from_environment("INKMARK_SIM_ASYNC", 0, 0, 1) != 0;
  for (int i = 0; i < RT_MAX_DEVICES; i++)
    rt.gpus[i].index = i;
  sim_set_print(take_print, NULL);
  pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* The injection library is called once, by the first thread, and may call the runtime itself;
 * other threads wait until it is done. */
static void initialise(void) {
  pthread_mutex_lock(&start.mutex);
  if (start.begun) {
    if (!pthread_equal(start.by, pthread_self()))
      while (!start.done)
        pthread_cond_wait(&start.changed, &start.mutex);
    pthread_mutex_unlock(&start.mutex);
    return;
  }
  start.begun = true;
  start.by = pthread_self();
  pthread_mutex_unlock(&start.mutex);

  read_configuration();
  rt_inject();

  pthread_mutex_lock(&start.mutex);
  start.done = true;
  pthread_cond_broadcast(&start.changed);
  pthread_mutex_unlock(&start.mutex);
}

cudaError_t rt_enter(void) {
  if (!start.done)
    initialise();
  rt_lock();
  self.uses_runtime = true;
  calls += self.has_launched;
  rt_observe_enter();
  if (self.in_host_call)
    return cudaErrorNotPermitted;
  return rt.gpus[self.device].sticky;
}

cudaError_t rt_leave(cudaError_t error) {
  rt_flush_print();
  rt_observe_leave(error);
  rt_unlock();
  if (error)
    self.last = error;
  return error;
}

/* ---- devices ---- */

void rt_gpu_open(rt_gpu *gpu) {
  if (gpu->opened)
    return;
  sim_error error = {0};
  gpu->device = sim_device_open(gpu->index, &rt.config, &error);
  if (!gpu->device)
    rt_refuse("cannot open device %d: %s", gpu->index, error.text);
  gpu->opened = true;
  gpu->limits[cudaLimitStackSize] = 1024;
  gpu->limits[cudaLimitPrintfFifoSize] = 1 << 20;
  gpu->limits[cudaLimitMallocHeapSize] = 8 << 20;
  gpu->limits[cudaLimitDevRuntimeSyncDepth] = 2;
  gpu->limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
  gpu->limits[cudaLimitMaxL2FetchGranularity] = 64;
  rt_memory_opened(gpu);
  rt_observe_open(gpu->index);
}

rt_gpu *rt_gpu_at(int index) {
  if (index < 0 || index >= rt.config.devices)
    return NULL;
  rt_gpu_open(&rt.gpus[index]);
  return &rt.gpus[index];
}

rt_gpu *rt_current(void) {
  return rt_gpu_at(self.device);
}
