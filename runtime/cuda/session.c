/* SPDX-License-Identifier: MIT */
/* A session: opens it, arms devices, runs the drain thread, and handles forks. session_end.c ends it. */
#include "cuda/arming_remarks.h"
#include "cuda/activity.h"
#include "cuda/stall_samples.h"
#include "cuda/device_buffer.h"
#include "cuda/device_choice.h"
#include "cuda/driver_api.h"
#include "cuda/driver_modules.h"
#include "cuda/clock_catch.h"
#include "cuda/host_scopes.h"
#include "cuda/driver_watch.h"
#include "cuda/idle_wait.h"
#include "cuda/own_threads.h"
#include "cuda/session_private.h"
#include "monotonic.h"
#include "shm/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t current_lock = PTHREAD_MUTEX_INITIALIZER;
static ink_session *current; /* for fork handlers, and to refuse a second one */

static int64_t realtime_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A CUDA runtime may call exit inside a call that we make with the lock, and so end the session. So a second locking
 * by the same thread must fail. */
static void make_lock(ink_session *s) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&s->lock, &kind);
  pthread_mutexattr_destroy(&kind);
}

/* ---- fork: the child keeps the device state that it inherits, and starts a capture of its own ----
 * A fork handler calls no CUDA function and waits for no lock. Handlers of the CUDA runtime may have run before ours and hold the
 * runtime's lock, while our drain thread waits for that lock and holds the session's. The preloaded fork() drains and
 * takes the session's lock before any handler runs. Without the preloaded fork(), a fork in the middle of a drain
 * leaves the child without a session. */

static bool fork_prepared; /* the session's lock is held by ink_i_session_fork_begin */
static bool fork_locked;   /* it is held, by whomever */

void ink_i_session_fork_begin(ink_session *s) {
  if (!ink_i_session_enter(s)) /* inside of a call that we make: the child has no session */
    return;
  ink_i_session_sweep(s);
  ink_i_session_on_devices(s, ink_i_session_drain_locked, NULL); /* what is closed belongs to the parent */
  fork_prepared = true;
}

void ink_i_session_fork_end(ink_session *s) {
  if (fork_prepared)
    pthread_mutex_unlock(&s->lock);
  fork_prepared = false;
}

static void before_fork(void) {
  ink_i_registry_lock();
  fork_locked = current && (fork_prepared || pthread_mutex_trylock(&current->lock) == 0);
}

static void after_fork_in_parent(void) {
  if (fork_locked && !fork_prepared)
    pthread_mutex_unlock(&current->lock);
  ink_i_registry_unlock();
}

bool ink_i_session_any_works(const ink_session *s) {
  for (int i = 0; i < INK_I_DEVICES_MAX; i++)
    if (s->devices[i].made && !s->devices[i].dead)
      return true;
  return false;
}

/* Waits by a clock that nobody sets: drains go on where the time of day is put back. */
static void make_wake(ink_session *s) {
  pthread_condattr_t kind;
  pthread_condattr_init(&kind);
  pthread_condattr_setclock(&kind, CLOCK_MONOTONIC);
  pthread_cond_init(&s->wake, &kind);
  pthread_condattr_destroy(&kind);
  sem_init(&s->left, 0, 0);
  sem_init(&s->waited, 0, 0);
}

static void after_fork_in_child(void) {
  ink_i_registry_after_fork();
  ink_i_own_threads_after_fork();
  ink_i_idle_after_fork();
  ink_i_watch_after_fork();
  ink_i_link_child();
  ink_i_host_after_fork();
  pthread_mutex_init(&current_lock, NULL);
  fork_prepared = false;
  if (!fork_locked) {
    ink_i_host_off();
    current = NULL;
    return;
  }
  ink_session *s = current;
  make_lock(s);
  make_wake(s);
  ink_writer_abandon(s->writer);
  ink_i_activity_after_fork(s->activity);
  ink_i_stalls_after_fork(s->stalls);
  ink_i_window_after_fork(&s->window);
  free(s->path);
  s->writer = NULL;
  s->path = NULL;
  s->tracks_written = 0;
  s->pid = getpid();
  s->forked = true;
  for (int i = 0; i < INK_I_DEVICES_MAX; i++) {
    ink_i_device *d = &s->devices[i];
    d->described = false;
    ink_i_instances_forget(d);
    d->caught_written = 0;
    if (!d->info.simulated) /* a GPU's driver does nothing in a child of a process that used it, and a call */
      d->dead = d->made;    /* might wait for a lock that another thread of the parent held */
    if (d->made)
      ink_i_drain_after_fork(d);
  }
  ink_i_table *tables;
  const size_t n = ink_i_registry_tables(&tables);
  for (size_t i = 0; i < n; i++)
    tables[i].written = false;
  s->thread_runs = s->thread_runs && ink_i_session_any_works(s); /* made below, last of all */
}

/* Threads do not survive a fork. The new thread calls the CUDA runtime. The runtime registered a fork handler at its
 * first call, before ours, so the runtime is in order by now. */
static void make_thread_in_child(void) {
  if (current && current->thread_runs)
    current->thread_runs = ink_i_make_thread(&current->thread, ink_i_drain_thread, current);
}

static void set_last_fork_handler(void) { pthread_atfork(NULL, NULL, make_thread_in_child); }

static void set_fork_handlers(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void ink_i_session_after_clone(void) {
  fork_prepared = false;
  /* Held by a thread that is not here, it was in the middle of something. */
  fork_locked = current && pthread_mutex_trylock(&current->lock) == 0;
  after_fork_in_child();
}

void ink_i_session_thread_after_clone(void) { make_thread_in_child(); }

bool ink_i_session_is_gone(const ink_session *s) { return current != s; }

ink_session *ink_i_session_current(void) {
  pthread_mutex_lock(&current_lock);
  ink_session *s = ink_i_session_is_given_up() ? NULL : current;
  pthread_mutex_unlock(&current_lock);
  return s;
}

void ink_i_session_forget(void) {
  pthread_mutex_lock(&current_lock);
  current = NULL;
  pthread_mutex_unlock(&current_lock);
}

/* ---- opening ---- */

ink_status ink_session_open(const ink_session_options *options, ink_session **out,
                            ink_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  ink_session *s = calloc(1, sizeof *s);
  if (!s)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a session");
  const ink_i_window_options when = {.start_off = options && options->start_off,
                                     .schedule = options ? options->schedule : NULL};
  ink_status status = ink_i_options_parse(options, &s->options, error);
  if (!status && (status = ink_i_window_make(&when, &s->window, error)))
    ink_i_options_free(&s->options);
  if (status) {
    free(s);
    return status;
  }
  pthread_once(&once, set_fork_handlers);
  make_lock(s);
  make_wake(s);
  s->pid = getpid();
  s->started_ns = realtime_ns();
  pthread_mutex_lock(&current_lock);
  const bool taken = current != NULL;
  if (!taken)
    current = s;
  pthread_mutex_unlock(&current_lock);
  if (taken) {
    ink_i_options_free(&s->options);
    free(s);
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a session is already open in this process");
  }
  if (options && options->activity)
    ink_i_session_start_activity(s);
  if (s->options.host_ranges && !ink_i_host_on())
    ink_i_remark(s, "out of memory for the host's ranges, which are not recorded");
  status = options && options->modules ? ink_i_watch_start(s, error) : INK_OK;
  if (status) {
    ink_session_close(s, NULL, NULL);
    return status;
  }
  *out = s;
  return INK_OK;
}

/* ---- arming ---- */

/* Copies the registered modules' descriptors, so that no CUDA call runs under the registry's lock. */
size_t ink_i_session_modules(ink_i_module **out) {
  ink_i_module *modules;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_modules(&modules);
  *out = malloc((n + 1) * sizeof **out);
  if (*out && n)
    memcpy(*out, modules, n * sizeof **out);
  ink_i_registry_unlock();
  return *out ? n : 0;
}

static void note_armed(const ink_module_desc *desc, int device) {
  ink_i_module *modules;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_modules(&modules);
  for (size_t i = 0; i < n; i++)
    if (modules[i].desc == desc)
      modules[i].armed |= 1ull << device;
  ink_i_registry_unlock();
}

static ink_status make_device(ink_session *s, int index, const ink_module_desc *module,
                              ink_error *error) {
  ink_i_device *d = &s->devices[index];
  if (d->made && !d->dead) {
    /* a CUDA runtime may be loading the module itself, with a lock of its own: the driver is called from here on */
    if (module == ink_i_driver_desc())
      d->cuda = module->cuda;
    return ink_i_device_add_kernels(d, &s->options, error);
  }
  if (d->made) { /* after a reset: its memory is gone with the context */
    ink_i_device_free(d, false);
  }
  const ink_status status = ink_i_device_make(d, index, &s->options, module, error);
  if (!status)
    ink_i_session_read_selftest(s, d);
  if (!status && atomic_load(&s->window.closed))
    return ink_i_window_apply(s, d, false, error);
  return status;
}

int ink_i_session_set_symbol(ink_i_device *d, const ink_module_desc *module, ink_buffer *buffer) {
  module->cuda->set_device(d->index);
  if (!INK_MODULE_HAS(module, set_buffer_in))
    return module->set_buffer(module->self, buffer);
  const int code = module->set_buffer_in(module->self, buffer, d->stream);
  return code ? code : module->cuda->stream_synchronize(d->stream);
}

static bool is_on(const ink_module_desc *module, int device) {
  return !module->only_device || module->only_device == (uint32_t)device + 1;
}

/* Points one module's symbol at the device's buffer. If the CUDA registration of the module is still to come
 * (-rdc=true: the last object of the link does it), the module is left for the next call. */
static void arm_module(ink_i_device *d, const ink_i_module *module) {
  if (!d->made || d->dead || (module->armed >> d->index & 1) || !is_on(module->desc, d->index))
    return;
  if (ink_i_session_set_symbol(d, module->desc, d->buffer) == 0)
    note_armed(module->desc, d->index);
  else
    module->desc->cuda->get_last_error();
}

/* How devices are called. If a device has a module of the driver's API, it is called through the driver. Otherwise it
 * is called through a file that nvcc compiled, with that file's CUDA runtime. */
typedef struct makers {
  const ink_module_desc *runtime;
  uint64_t by_driver; /* bits of devices */
} makers;

static makers makers_of(const ink_i_module *modules, size_t n) {
  makers found = {0};
  for (size_t i = 0; i < n; i++) {
    const ink_module_desc *desc = modules[i].desc;
    if (desc->only_device)
      found.by_driver |= 1ull << (desc->only_device - 1);
    else if (!found.runtime)
      found.runtime = desc;
  }
  return found;
}

static const ink_module_desc *maker_of(const makers *m, int device, int count) {
  if (m->by_driver >> device & 1)
    return ink_i_driver_desc();
  return device < count ? m->runtime : NULL;
}

/* A list of devices names a context's by its device. */
static bool is_chosen(const ink_session *s, uint64_t chosen, int device, int count) {
  if (device >= count && s->options.choice == INK_I_DEVICES_LISTED)
    device = ink_i_driver_ordinal(device);
  return chosen >> device & 1;
}

static ink_status arm_one(ink_session *s, int device, const ink_module_desc *by, ink_error *error) {
  const ink_status status = make_device(s, device, by, error);
  if (status)
    ink_i_remark(s, "%s", error->message);
  if (status == INK_ERROR_LIMIT && s->devices[device].made) { /* some kernels have no slot; all others are recorded */
    snprintf(s->not_armed, sizeof s->not_armed, "%s", error->message);
    return INK_OK;
  }
  if (status)
    return status;
  ink_i_remark_room(s, &s->devices[device]);
  if (s->options.flight) { /* who reads what the device leaves must know what it is */
    ink_i_remark_flight(s, &s->devices[device]);
    ink_i_session_writer(s, NULL);
  }
  return INK_OK;
}

static ink_status arm_locked(ink_session *s, ink_error *error) {
  ink_i_module *modules;
  const size_t n = ink_i_session_modules(&modules);
  const makers all = makers_of(modules, n);
  const ink_module_desc *any_module = all.runtime ? all.runtime : all.by_driver ? ink_i_driver_desc() : NULL;
  ink_status status = INK_OK;
  bool any = false;
  int count = 0;
  ink_i_remark_other_abi(s);
  if (!any_module)
    status = ink_error_set(error, INK_ERROR_NOT_FOUND, "%s", s->remark_count ? s->remarks[0] :
                           "no file with marks is in this process");
  else if (any_module->cuda->get_device_count(&count) != 0) {
    any_module->cuda->get_last_error();
    status = ink_error_set(error, INK_ERROR_CUDA, "no CUDA device is available to this process");
  }
  if (count && !ink_i_remark_absent(s, any_module->cuda, count))
    status = ink_error_set(error, INK_ERROR_NOT_FOUND, "%s", s->remarks[0]);
  const uint64_t chosen = any_module ? ink_i_choice_now(s, any_module->cuda, count) : 0;
  for (int i = 0; i < INK_I_DEVICES_MAX && count; i++) {
    const ink_module_desc *by = maker_of(&all, i, count);
    if (!by || !is_chosen(s, chosen, i, count))
      continue;
    ink_error why = {0};
    const ink_status one = arm_one(s, i, by, &why);
    if (one && !status && error)
      *error = why;
    if (one && !status)
      status = one;
    any = any || !one;
    for (size_t m = 0; m < n && !one; m++)
      arm_module(&s->devices[i], &modules[m]);
  }
  free(modules);
  return any ? INK_OK : status;
}

/* Chooses what to call: the driver if it knows contexts, else the API of a device that is armed, which needs no
 * allocation, else that of any file. */
static const ink_cuda_api *runtime_of(const ink_session *s) {
  const ink_cuda_api *cuda = ink_i_driver();
  for (int i = 0; i < INK_I_DEVICES_MAX && s && !cuda; i++)
    if (s->devices[i].made)
      cuda = s->devices[i].cuda;
  if (cuda || !s)
    return cuda;
  ink_i_module *modules;
  const size_t n = ink_i_session_modules(&modules);
  cuda = n ? modules[0].desc->cuda : NULL;
  free(modules);
  return cuda;
}

static _Thread_local unsigned in_calls;

bool ink_i_in_calls(void) { return in_calls > 0; }

void ink_i_calls_begin(ink_session *s, ink_i_calls *own) {
  in_calls++;
  const ink_cuda_api *cuda = runtime_of(s);
  *own = (ink_i_calls){.mode = 2 /* cudaStreamCaptureModeRelaxed */};
  own->has_device = cuda && cuda->get_device(&own->device) == 0;
  own->has_mode = cuda && cuda->exchange_capture_mode(&own->mode) == 0;
  if (cuda) {
    own->exchange_capture_mode = cuda->exchange_capture_mode;
    own->set_device = cuda->set_device;
    if (!own->has_device)
      cuda->get_last_error();
  }
  ink_i_activity_own_begin();
}

void ink_i_calls_end(ink_i_calls *own) {
  ink_i_activity_own_end();
  if (own->has_mode)
    own->exchange_capture_mode(&own->mode);
  if (own->has_device)
    own->set_device(own->device);
  in_calls--;
}

ink_status ink_i_session_on_devices(ink_session *s, ink_status (*what)(ink_session *, ink_error *),
                             ink_error *error) {
  ink_i_calls own;
  ink_i_calls_begin(s, &own);
  const ink_status status = what(s, error);
  ink_i_calls_end(&own);
  return status;
}

static void start_thread(ink_session *s) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, set_last_fork_handler);
  if (!s->thread_runs && s->options.drain_ms != UINT32_MAX)
    s->thread_runs = ink_i_make_thread(&s->thread, ink_i_drain_thread, s);
}

static void start_collecting(ink_session *s) {
  if (pthread_mutex_trylock(&s->lock)) /* an arming is at it, which starts the thread */
    return;
  start_thread(s);
  pthread_mutex_unlock(&s->lock);
}

void ink_i_session_start_activity(ink_session *s) {
  ink_i_activity *activity = s->activity ? NULL : ink_i_activity_start();
  if (!activity)
    return;
  s->activity = activity;
  start_collecting(s);
}

void ink_i_session_start_stalls(ink_session *s) {
  ink_i_stalls *stalls = s->stalls ? NULL : ink_i_stalls_start(s->activity);
  if (!stalls)
    return;
  s->stalls = stalls;
  start_collecting(s);
}

/* The caller may be a library that is being loaded, and hold the loader's lock. The drain thread may hold the
 * session's lock in a call of the CUDA runtime that needs the loader's lock. So nobody waits here for ever. */
static int lock_to_arm(ink_session *s) {
  enum { PATIENCE_S = 5 };
  return ink_i_lock_within(&s->lock, PATIENCE_S);
}

void ink_i_session_arm_late(ink_session *s) {
  if (atomic_exchange(&s->arm_wanted, false) && !ink_i_choice_waits(s))
    ink_i_session_on_devices(s, arm_locked, NULL);
}

ink_status ink_session_arm(ink_session *s, ink_error *error) {
  const int code = lock_to_arm(s);
  if (code == ETIMEDOUT) {
    atomic_store(&s->arm_wanted, true);
    return INK_OK;
  }
  if (code)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a file with marks was loaded while arming");
  if (s->stop) {
    pthread_mutex_unlock(&s->lock);
    return INK_OK;
  }
  const bool waits = ink_i_choice_waits(s);
  const ink_status status = waits ? INK_OK : ink_i_session_on_devices(s, arm_locked, error);
  if ((!status && !waits) || s->activity || s->stalls)
    start_thread(s);
  pthread_mutex_unlock(&s->lock);
  return status;
}

static ink_status add(ink_session *s, void *handle, bool library, const void *image, size_t bytes, bool *marked,
                      ink_error *error) {
  bool has_marks;
  if (!handle)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no module");
  const ink_status status = ink_i_modules_came(handle, library, image, bytes, &has_marks, error);
  if (status)
    return status;
  if (marked)
    *marked = has_marks;
  const int slot = ink_i_driver_slot_here();
  if (!has_marks || slot < 0)
    return INK_OK;
  ink_i_choice_use(s, slot);
  return ink_session_arm(s, error);
}

ink_status ink_session_add_module(ink_session *s, void *module, const void *image, size_t bytes, bool *marked,
                                  ink_error *error) {
  return add(s, module, false, image, bytes, marked, error);
}

ink_status ink_session_add_library(ink_session *s, void *library, const void *image, size_t bytes, bool *marked,
                                   ink_error *error) {
  return add(s, library, true, image, bytes, marked, error);
}

void ink_session_remove_module(ink_session *s, void *module) {
  (void)s; /* there is one */
  ink_i_modules_gone(module, false);
}

void ink_session_remove_library(ink_session *s, void *library) {
  (void)s;
  ink_i_modules_gone(library, true);
}

static ink_status make_one(ink_session *s, int device, ink_error *error) {
  ink_i_module *modules;
  const size_t n = ink_i_session_modules(&modules);
  const makers all = makers_of(modules, n);
  const ink_module_desc *by = all.runtime ? all.runtime : ink_i_driver_desc();
  const ink_status status =
      by ? make_device(s, device, by, error)
         : ink_error_set(error, INK_ERROR_NOT_FOUND,
                         "no file with marks is in this process, and no CUDA driver is loaded");
  free(modules);
  return status;
}

ink_status ink_session_buffer(ink_session *s, int device, prof_buffer *out, ink_error *error) {
  if (device < 0 || device >= INK_I_DEVICES_MAX)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "device %d is out of range", device);
  pthread_mutex_lock(&s->lock);
  ink_i_calls own;
  ink_i_calls_begin(s, &own);
  const ink_status status = make_one(s, device, error);
  ink_i_calls_end(&own);
  if (!status) {
    out->device = s->devices[device].buffer;
    start_thread(s);
  }
  pthread_mutex_unlock(&s->lock);
  return status;
}

/* ---- draining and ending ---- */

/* If the program had activity or samples on a device, they alone make a capture. */
ink_status ink_i_session_drain_activity(ink_session *s, bool last, ink_error *error) {
  bool wanted;
  ink_i_activity_flush(s->activity, last, &wanted);
  ink_i_stalls_flush(s->stalls, last, &wanted);
  ink_status status = wanted ? ink_i_session_writer(s, error) : INK_OK;
  if (!status && s->writer)
    status = ink_i_activity_write(s->activity, s->writer, error);
  if (!status && s->writer)
    status = ink_i_stalls_write(s->stalls, s->writer, error);
  return status;
}

/* If the program uses a device, ranges alone make a capture. */
ink_status ink_i_session_drain_host(ink_session *s, ink_error *error) {
  const bool wanted = ink_i_host_waiting() && (s->writer || ink_i_session_any_works(s));
  ink_status status = wanted ? ink_i_session_writer(s, error) : INK_OK;
  if (!status && s->writer)
    status = ink_i_host_drain(s->writer, error);
  return status;
}

void ink_i_session_note_failure(ink_session *s, ink_status status, const ink_error *why) {
  if (status == INK_ERROR_IO && !s->write_failure[0])
    memcpy(s->write_failure, why->message, sizeof s->write_failure);
  if (status == INK_ERROR_CUDA && !s->device_failure[0] && !s->forked)
    memcpy(s->device_failure, why->message, sizeof s->device_failure);
}

void ink_i_session_sweep(ink_session *s) {
  for (int i = 0; i < INK_I_DEVICES_MAX; i++)
    s->devices[i].sweep = s->devices[i].made;
}

ink_status ink_i_session_drain_locked(ink_session *s, ink_error *error) {
  ink_status status = INK_OK;
  for (int i = 0; i < INK_I_DEVICES_MAX; i++) {
    const ink_status one = ink_i_drain_device(s, &s->devices[i], status ? NULL : error);
    status = status ? status : one;
  }
  ink_error why = {0};
  ink_status more = ink_i_session_drain_host(s, &why);
  if (!more)
    more = ink_i_session_drain_activity(s, false, &why);
  ink_i_session_note_failure(s, more, &why);
  if (more && !status && error)
    *error = why;
  return status ? status : more;
}

ink_status ink_session_drain(ink_session *s, ink_error *error) {
  pthread_mutex_lock(&s->lock);
  ink_i_session_sweep(s);
  const ink_status status = ink_i_session_on_devices(s, ink_i_session_drain_locked, error);
  pthread_mutex_unlock(&s->lock);
  return status;
}

/* Keeps what was caught until there is a file, those of arming for a forked child's file too. */
void ink_i_session_keep_caught(ink_i_device *d, ink_i_caught *caught) {
  if (!caught)
    return;
  if (d->caught_count == INK_I_CAUGHT_MAX) { /* room for the newest */
    free(d->caught[1]);
    memmove(&d->caught[1], &d->caught[2], (INK_I_CAUGHT_MAX - 2) * sizeof *d->caught);
    d->caught_count--;
    d->caught_written -= d->caught_written > 1;
  }
  d->caught[d->caught_count++] = caught;
}

static ink_status calibrate_locked(ink_session *s, ink_error *error) {
  ink_status status = INK_OK;
  bool any = false;
  for (int i = 0; i < INK_I_DEVICES_MAX && !status; i++) {
    ink_i_device *d = &s->devices[i];
    if (!d->made || d->dead)
      continue;
    any = true;
    ink_i_session_keep_caught(d, ink_i_catch_edges(d, INK_EDGES_ON_REQUEST));
    ink_host_clock pair;
    status = ink_i_device_read_clock(d, &pair, error);
    if (!status && s->writer)
      status = ink_writer_host_clock(s->writer, &pair, error);
  }
  if (!any)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "no device is armed");
  return !status && s->writer ? ink_i_session_writer(s, error) : status;
}

ink_status ink_session_calibrate(ink_session *s, ink_error *error) {
  pthread_mutex_lock(&s->lock);
  const ink_status status = ink_i_session_on_devices(s, calibrate_locked, error);
  pthread_mutex_unlock(&s->lock);
  return status;
}
