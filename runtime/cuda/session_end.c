/* SPDX-License-Identifier: MIT */
/* Ends a session: as a whole, for one device that is reset, or for a marked file that is unloaded. It takes the
 * closed tracks as far as calls of the CUDA runtime are still possible. */
#include "capture/capture_write.h"
#include "cuda/device_choice.h"
#include "cuda/activity.h"
#include "cuda/stall_samples.h"
#include "cuda/clock_catch.h"
#include "cuda/device_buffer.h"
#include "cuda/driver_api.h"
#include "cuda/driver_kernels.h"
#include "cuda/driver_modules.h"
#include "cuda/driver_watch.h"
#include "cuda/flight.h"
#include "cuda/host_scopes.h"
#include "cuda/idle_wait.h"
#include "cuda/passed_kernels.h"
#include "cuda/session_private.h"
#include "monotonic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_bool given_up;
void ink_i_session_give_up(void) { atomic_store(&given_up, true); }
bool ink_i_session_is_given_up(void) { return atomic_load(&given_up); }

bool ink_i_session_enter(ink_session *s) {
  if (pthread_mutex_lock(&s->lock))
    return false;
  const bool goes_on = !s->stop;
  if (!goes_on)
    pthread_mutex_unlock(&s->lock);
  return goes_on;
}

static atomic_bool waits;

bool ink_i_session_waits(void) { return atomic_load(&waits); }

static ink_status finish_clock(ink_session *s, ink_i_device *d, ink_error *error) {
  ink_host_clock pair;
  ink_status status = INK_OK;
  if (s->writer && !ink_i_device_read_clock(d, &pair, NULL))
    status = ink_writer_host_clock(s->writer, &pair, error);
  if (!status && s->writer) {
    ink_i_session_keep_caught(d, ink_i_catch_edges(d, INK_EDGES_AT_END));
    status = ink_i_session_writer(s, error);
  }
  return status;
}

/* Drains before it waits. So tracks that closed until now are kept, even if a kernel never ends and the user ends the
 * program. */
static ink_status finish_device(ink_session *s, ink_i_device *d, ink_error *error) {
  d->cuda->set_device(d->index);
  ink_status status = ink_i_drain_device(s, d, error);
  atomic_store(&waits, true);
  const int code = d->dead ? 0 : s->has_waited ? s->waited_codes[d - s->devices] : d->cuda->device_synchronize();
  atomic_store(&waits, false);
  if (code && !status)
    status = ink_i_cuda_failed(d, code, "wait for its kernels", error);
  d->sweep = true;
  const ink_status drained = ink_i_drain_device(s, d, status ? NULL : error);
  status = status ? status : drained;
  if (!status)
    status = ink_i_drain_open(s, d, true, error);
  return status ? status : finish_clock(s, d, error);
}

/* What ended the process, said once. */
static ink_status write_signal(ink_session *s, ink_error *error) {
  char number[32];
  const char *name = sigabbrev_np(s->ended_by);
  snprintf(number, sizeof number, name ? "signal %d (SIG%s)" : "signal %d", s->ended_by, name);
  const bool wanted = s->ended_by && s->writer;
  s->ended_by = wanted ? 0 : s->ended_by;
  return wanted ? ink_writer_fact(s->writer, "ended_by", number, error) : INK_OK;
}

static ink_status drain_all(ink_session *s, bool open, ink_error *error) {
  ink_status status = INK_OK;
  for (int i = 0; i < INK_I_DEVICES_MAX; i++) {
    ink_i_device *d = &s->devices[i];
    ink_status one = d->made && !d->dead ? ink_i_drain_device(s, d, status ? NULL : error) : INK_OK;
    if (!one && open)
      one = ink_i_drain_open(s, d, false, status ? NULL : error);
    status = status ? status : one;
  }
  return status;
}

/* If a drain leaves tracks on a device that goes away, they are lost. So it waits for room in the ring, as at the
 * end. */
static void take_all(ink_session *s, bool on) {
  s->takes_all = on;
  if (s->writer && !s->stop)
    ink_i_writer_patience(s->writer, on ? INK_I_LAST_PATIENCE_MS : INK_I_PATIENCE_MS);
}

/* The process may end, or become another program: its devices go with it. A --flight's area keeps what is open. */
void ink_i_session_keep(ink_session *s) {
  ink_i_calls own;
  if (!ink_i_session_enter(s))
    return;
  ink_i_calls_begin(s, &own);
  ink_i_session_sweep(s);
  take_all(s, true);
  drain_all(s, !s->options.flight, NULL);
  ink_i_session_drain_host(s, NULL);
  ink_i_session_drain_activity(s, true, NULL);
  if (s->writer)
    ink_writer_flush(s->writer, NULL);
  take_all(s, false);
  ink_i_calls_end(&own);
  pthread_mutex_unlock(&s->lock);
}

/* A signal ends the process soon, even if kernels run. So new tracks go to the file first, then everything else.
 * Calls that may wait for a kernel that hangs come last, for example the reading of a clock. */
static ink_status finish_at_once(ink_session *s, ink_error *error) {
  ink_status status = drain_all(s, false, error);
  ink_status more = ink_i_session_drain_host(s, status ? NULL : error);
  if (!more)
    more = write_signal(s, status ? NULL : error);
  if (!more && s->writer)
    more = ink_writer_flush(s->writer, status ? NULL : error);
  status = status ? status : more;
  ink_i_session_sweep(s);
  more = drain_all(s, true, status ? NULL : error);
  if (!more && s->writer)
    more = ink_writer_flush(s->writer, status ? NULL : error);
  status = status ? status : more;
  for (int i = 0; i < INK_I_DEVICES_MAX && !status; i++) {
    ink_i_device *d = &s->devices[i];
    if (!d->made || d->dead)
      continue;
    d->cuda->set_device(d->index);
    status = finish_clock(s, d, error);
  }
  return status;
}

void ink_i_session_wait_for_kernels(ink_session *s) {
  ink_i_activity_own_begin();
  for (int i = 0; i < INK_I_DEVICES_MAX; i++) {
    ink_i_device *d = &s->devices[i];
    if (!d->made || d->dead)
      continue;
    d->cuda->set_device(d->index);
    s->waited_codes[i] = d->cuda->device_synchronize();
  }
  ink_i_activity_own_end();
  sem_post(&s->waited);
}

/* If a program exits while a kernel hangs, it ends all the same. Another thread waits for the kernel, for a limited
 * time. Then this takes the closed tracks, makes no call that may wait for the kernel, and frees nothing. */
static bool kernels_end(ink_session *s) {
  enum { PATIENCE_MS = 30000 };
  const uint32_t patience_ms = s->options.hang_ms ? s->options.hang_ms : PATIENCE_MS;
  struct timespec until;
  int code;
  if (!s->stays || s->leaves || !s->thread_runs)
    return true;
  drain_all(s, false, NULL);
  ink_i_session_drain_host(s, NULL);
  if (s->writer)
    ink_writer_flush(s->writer, NULL);
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (time_t)(patience_ms / 1000) + 1;
  atomic_store(&waits, true);
  while ((code = sem_clockwait(&s->waited, CLOCK_MONOTONIC, &until)) != 0 && errno == EINTR)
    continue;
  atomic_store(&waits, false);
  s->has_waited = code == 0;
  s->leaves = !s->has_waited;
  if (s->leaves)
    ink_i_session_give_up(); /* marked files that go are not to wait either */
  return s->has_waited;
}

static ink_status finish_open(ink_session *s, ink_error *error) {
  ink_i_session_sweep(s);
  const ink_status status = drain_all(s, true, error);
  ink_status more = ink_i_session_drain_host(s, status ? NULL : error);
  if (!more && s->writer)
    more = ink_writer_flush(s->writer, status ? NULL : error);
  return status ? status : more;
}

static ink_status finish(ink_session *s, ink_error *error) {
  if (!s->at_once && !kernels_end(s))
    return finish_open(s, error);
  ink_status status = s->at_once ? finish_at_once(s, error) : INK_OK;
  for (int i = 0; i < INK_I_DEVICES_MAX && !s->at_once; i++) {
    ink_i_device *d = &s->devices[i];
    if (!d->made || d->dead)
      continue;
    const ink_status one = finish_device(s, d, status ? NULL : error);
    if (one == INK_ERROR_CUDA && s->forked && !s->writer)
      continue; /* a child that CUDA does not work in, as in none whose parent used it, and that did not try */
    status = status ? status : one;
  }
  ink_status more = ink_i_session_drain_host(s, status ? NULL : error);
  ink_i_stalls_stop(s->stalls);
  if (!more)
    more = ink_i_session_drain_activity(s, true, status ? NULL : error);
  if (!ink_i_watch_runs()) /* which has its subscriber */
    ink_i_activity_stop(s->activity);
  return status ? status : more;
}

static void list_passed(ink_session *s) {
  for (int i = 0; i < INK_I_DEVICES_MAX; i++)
    ink_i_passed_list(&s->devices[i], s->passed, sizeof s->passed);
}

/* ---- a marked file goes, a device is reset ---- */

/* If there is no other file, the device cannot be reached any more. So this takes the closed tracks now. */
static void leave_device(ink_session *s, ink_i_device *d) {
  ink_error why = {0};
  take_all(s, true);
  if (!d->dead)
    ink_i_session_note_failure(s, finish_device(s, d, &why), &why);
  take_all(s, false);
  list_passed(s);
  ink_i_device_free(d, !d->dead);
}

static bool is_used_by(const ink_i_device *d, const ink_module_desc *module) {
  return d->made && !module->only_device && (d->cuda == module->cuda || d->module == module);
}

/* Its kernels record no more, on any device. */
static void disarm_module(ink_session *s, const ink_i_module *module) {
  for (int i = 0; i < INK_I_DEVICES_MAX; i++) {
    ink_i_device *d = &s->devices[i];
    if (d->made && !d->dead && (module->armed >> i & 1) && ink_i_session_set_symbol(d, module->desc, NULL) != 0)
      module->desc->cuda->get_last_error();
  }
}

/* They may still run, or be launched, where the process exits while other threads go on. */
static void disarm_gone(ink_session *s, const ink_module_desc *gone) {
  ink_i_module *modules;
  const size_t n = ink_i_session_modules(&modules);
  for (size_t m = 0; m < n; m++)
    if (modules[m].desc == gone)
      disarm_module(s, &modules[m]);
  free(modules);
}

static int no_globaltimer(void *self, uint64_t *ns, void *stream) {
  (void)self, (void)ns, (void)stream;
  return 4; /* cudaErrorCudartUnloading */
}

/* The thread that unloads a marked file is inside a call of ours, whose caller holds the lock. So nothing can be read
 * from the device here. That caller goes on to use the device, which must not point into the file. */
static void outlive_module(ink_session *s, const ink_module_desc *gone, const ink_module_desc *other) {
  static const ink_module_desc nothing = {.bytes = offsetof(ink_module_desc, cuda), .file = "", .read_globaltimer = no_globaltimer};
  for (int i = 0; i < INK_I_DEVICES_MAX; i++) {
    ink_i_device *d = &s->devices[i];
    if (!is_used_by(d, gone))
      continue;
    if (other) {
      d->cuda = (d->module = other)->cuda;
      continue;
    }
    memcpy(&d->calls_kept, d->cuda, d->cuda->bytes < sizeof d->calls_kept ? d->cuda->bytes : sizeof d->calls_kept);
    d->cuda = &d->calls_kept;
    d->module = &nothing;
    d->dead = true; /* there is no way to it any more */
  }
}

void ink_i_session_module_goes(const ink_module_desc *gone) {
  if (ink_i_session_is_given_up())
    return;
  ink_session *s = ink_i_session_current();
  if (s && s->pid != getpid()) /* the parent's: no handler saw how this process was made */
    s = NULL;
  const int code = s ? pthread_mutex_lock(&s->lock) : ESRCH;
  const bool locked = !code;
  bool used = false;
  for (int i = 0; i < INK_I_DEVICES_MAX && locked; i++)
    used = used || is_used_by(&s->devices[i], gone);
  ink_i_calls own;
  /* Names of its kernels' instances go with it: what has closed is taken while they are there. */
  if (locked && !s->stop && ink_i_session_any_works(s)) {
    ink_i_session_on_devices(s, ink_i_session_drain_locked, NULL);
    if (!gone->only_device) {
      ink_i_calls_begin(s, &own);
      disarm_gone(s, gone);
      ink_i_calls_end(&own);
    }
  }
  for (int i = 0; i < INK_I_DEVICES_MAX && locked; i++)
    ink_i_instances_forget(&s->devices[i]);
  if (used)
    ink_i_calls_begin(s, &own);
  ink_i_registry_remove(gone);
  ink_i_module *modules;
  const size_t n = ink_i_session_modules(&modules);
  const ink_module_desc *other = NULL;
  uint64_t by_driver = 0; /* bits of devices that modules of the driver's API are on */
  for (size_t i = 0; i < n; i++)
    if (modules[i].desc->only_device)
      by_driver |= 1ull << (modules[i].desc->only_device - 1);
    else if (!other)
      other = modules[i].desc;
  for (int i = 0; i < INK_I_DEVICES_MAX && used; i++) {
    ink_i_device *d = &s->devices[i];
    if (!is_used_by(d, gone))
      continue;
    const ink_module_desc *next = other ? other : by_driver >> i & 1 ? ink_i_driver_desc() : NULL;
    if (!next)
      leave_device(s, d);
    else
      d->cuda = (d->module = next)->cuda;
  }
  free(modules);
  if (code == EDEADLK)
    outlive_module(s, gone, other);
  if (used)
    ink_i_calls_end(&own);
  if (locked)
    pthread_mutex_unlock(&s->lock);
}

/* Kernels still run there, and nobody waits for them. The driver waits for them or ends them, and frees the memory. */
static void leave_running(ink_session *s, ink_i_device *d) {
  ink_error why = {0};
  d->cuda->set_device(d->index);
  take_all(s, true);
  ink_status status = ink_i_drain_device(s, d, &why);
  if (!status)
    status = ink_i_drain_open(s, d, false, &why);
  ink_i_session_note_failure(s, status, &why);
  take_all(s, false);
  list_passed(s);
  ink_i_device_free(d, false);
}

static void context_goes(int slot, bool idle) {
  ink_session *s = ink_i_session_current();
  if (!s || s->pid != getpid() || !ink_i_session_enter(s))
    return;
  ink_i_device *d = &s->devices[slot];
  if (d->made) {
    ink_i_calls own;
    ink_i_calls_begin(s, &own);
    if (idle || d->dead)
      leave_device(s, d);
    else
      leave_running(s, d);
    ink_i_calls_end(&own);
  }
  pthread_mutex_unlock(&s->lock);
}

void ink_i_session_lets_context_go(ink_session *s, int slot) {
  if (slot < 0)
    return;
  const bool idle = !s->devices[slot].made || ink_i_idle_wait(1ull << slot); /* so that its kernels have their names */
  ink_i_modules_context_gone(slot);
  context_goes(slot, idle);
  ink_i_kernels_forget(slot); /* which the last drain launched */
  ink_i_choice_forget(s, slot);
  ink_i_driver_context_goes(slot);
}

void ink_i_session_table_goes(uint64_t hash48) {
  const uint32_t sections = ink_i_registry_table_gone(hash48);
  ink_session *s = sections ? ink_i_session_current() : NULL;
  if (!s || s->pid != getpid() || !ink_i_session_any_works(s) || !ink_i_session_enter(s))
    return;
  ink_i_calls own;
  ink_i_calls_begin(s, &own);
  ink_i_session_sweep(s); /* all counts are written, and tracks that are closed know their kernels */
  ink_error why = {0};
  ink_i_session_note_failure(s, ink_i_session_drain_locked(s, &why), &why);
  for (int i = 0; i < INK_I_DEVICES_MAX; i++)
    if (s->devices[i].made && !s->devices[i].dead)
      ink_i_device_drop_kernels(&s->devices[i], hash48, sections, NULL);
  ink_i_calls_end(&own);
  pthread_mutex_unlock(&s->lock);
}

int ink_i_session_reset_begin(ink_session *s, int device) {
  if (!ink_i_session_enter(s))
    return -1;
  ink_i_session_sweep(s);
  take_all(s, true);
  ink_i_session_on_devices(s, ink_i_session_drain_locked, NULL);
  take_all(s, false);
  list_passed(s);
  ink_i_module *modules;
  const size_t n = ink_i_session_modules(&modules);
  if (device < 0 && n && modules[0].desc->cuda->get_device(&device) != 0)
    modules[0].desc->cuda->get_last_error();
  free(modules);
  if (device < 0 || device >= INK_I_DEVICES_MAX) {
    pthread_mutex_unlock(&s->lock);
    return -1;
  }
  return device;
}

/* Of kernels that the reset ended. */
static void take_reset(ink_session *s, ink_i_device *d) {
  ink_i_flight_salvage(s, d, NULL);
  ink_i_flight_reset(d);
}

void ink_i_session_reset_end(ink_session *s, int device) {
  ink_i_module *modules;
  ink_i_registry_lock();
  for (size_t i = ink_i_registry_modules(&modules); i-- > 0;)
    modules[i].armed &= ~(1ull << device);
  ink_i_registry_unlock();
  s->devices[device].dead = s->devices[device].made;
  if (s->devices[device].made)
    take_reset(s, &s->devices[device]);
  pthread_mutex_unlock(&s->lock);
}

void ink_i_session_lets_device_go(ink_session *s, int device) {
  ink_i_modules_context_gone(device);
  device = ink_i_session_reset_begin(s, device);
  if (device < 0)
    return;
  ink_i_kernels_forget(device);
  ink_i_session_reset_end(s, device);
}

/* ---- the end ---- */

static ink_status disarm(ink_session *s, ink_error *error) {
  (void)error;
  ink_i_module *modules;
  const size_t n = ink_i_session_modules(&modules);
  for (size_t m = 0; m < n; m++)
    disarm_module(s, &modules[m]);
  free(modules);
  for (int i = 0; i < INK_I_DEVICES_MAX; i++)
    if (s->devices[i].made)
      ink_i_device_free(&s->devices[i], !s->devices[i].dead);
  ink_i_registry_lock();
  const size_t all = ink_i_registry_modules(&modules);
  for (size_t m = 0; m < all; m++)
    modules[m].armed = 0;
  ink_i_table *tables;
  const size_t table_count = ink_i_registry_tables(&tables);
  for (size_t t = 0; t < table_count; t++)
    tables[t].written = false;
  ink_i_registry_unlock();
  return INK_OK;
}

ink_status ink_session_close(ink_session *s, bool *written, ink_error *error) {
  char *path = NULL;
  const ink_status status = ink_i_session_close(s, &path, error);
  if (written)
    *written = path != NULL;
  free(path);
  return status;
}

bool ink_i_session_is_locked_here(ink_session *s) {
  const int code = ink_i_lock_within(&s->lock, 0); /* tells its owner before it looks at the time */
  if (!code)
    pthread_mutex_unlock(&s->lock);
  return code == EDEADLK;
}

/* Takes the lock to end the session. Returns EDEADLK if this thread holds it, inside a call that we make. Returns
 * ETIMEDOUT if another thread holds it and makes no progress: that thread may wait for this one. */
static int lock_to_end(ink_session *s) {
  enum { PATIENCE_S = 10 };
  int code = ETIMEDOUT;
  uint64_t before = s->tracks_written;
  for (int waited = 0; code == ETIMEDOUT && waited < PATIENCE_S; waited++) {
    code = ink_i_lock_within(&s->lock, 1);
    if (before != s->tracks_written)
      waited = 0;
    before = s->tracks_written;
  }
  return code;
}

/* Ends as much as possible without calling the CUDA runtime, because a thread is inside it. The capture has no end
 * then. The session stays allocated, because that thread may go on using it. */
static ink_status end_inside(ink_session *s, bool mine, char **path, ink_error *error) {
  ink_i_session_forget(); /* what goes from here on, a marked file, is not to wait for that thread */
  if (mine)
    s->stop = true;
  if (mine && s->writer) {
    ink_writer_flush(s->writer, NULL);
    ink_writer_abandon(s->writer);
    s->writer = NULL;
    *path = s->path;
    s->path = NULL;
  }
  return ink_error_set(error, INK_ERROR_CUDA,
                       "the program ended while %s was in a call of the CUDA runtime for the "
                       "recording; what was not written until then is not recorded",
                       mine ? "it" : "another thread");
}

ink_status ink_i_session_close(ink_session *s, char **path, ink_error *error) {
  const int code = lock_to_end(s);
  if (code) {
    ink_i_watch_abandon();
    return end_inside(s, code == EDEADLK, path, error);
  }
  s->stop = true;
  pthread_cond_signal(&s->wake);
  /* It is not inside of a drain, whose lock we have. Where the process leaves, its end is not waited for: a
   * thread that ends frees, and the thread below us may be in malloc. */
  const bool joins = s->thread_runs && !s->leaves;
  pthread_mutex_unlock(&s->lock);
  if (joins && !s->stays)
    pthread_join(s->thread, NULL);
  while (joins && s->stays && sem_wait(&s->left) != 0 && errno == EINTR)
    continue;
  pthread_mutex_lock(&s->lock);
  if (s->writer)
    ink_i_writer_patience(s->writer, INK_I_LAST_PATIENCE_MS);
  const bool made = ink_i_session_any_works(s); /* else no call: the CUDA runtime may be ending us as it starts */
  ink_error why = {0};
  ink_status status = made ? ink_i_session_on_devices(s, finish, &why) : finish(s, &why);
  ink_i_host_off();
  list_passed(s);
  ink_i_session_note_failure(s, status, &why);
  if (status && error)
    *error = why;
  *path = s->writer ? s->path : NULL;
  if (s->write_failure[0] && !status)
    status = ink_error_set(error, INK_ERROR_IO, "%s", s->write_failure);
  if (s->device_failure[0] && !status) /* of an earlier drain: nothing came from that device since */
    status = ink_error_set(error, INK_ERROR_CUDA, "%s", s->device_failure);
  const ink_status noted = write_signal(s, status ? NULL : error);
  status = status ? status : noted;
  char counts[64];
  if (s->writer && s->window.text[0] && ink_i_window_counts(&s->window, counts, sizeof counts))
    ink_writer_fact(s->writer, "window_launches", counts, NULL);
  if (s->writer && s->not_armed[0])
    ink_writer_fact(s->writer, "not_armed", s->not_armed, NULL);
  if (s->writer) {
    s->path = NULL;
    /* Where the failure cannot be said, the file is to have no end either. */
    if (s->write_failure[0] &&
        ink_writer_fact(s->writer, "write_failure", s->write_failure, NULL)) {
      ink_writer_abandon(s->writer);
    } else {
      const ink_status closed = ink_writer_close(s->writer, status ? NULL : error);
      status = status ? status : closed;
    }
  }
  s->writer = NULL;
  if (s->leaves) {
    pthread_mutex_unlock(&s->lock);
    return status;
  }
  if (joins && s->stays)
    pthread_join(s->thread, NULL);
  if (made)
    ink_i_session_on_devices(s, disarm, NULL);
  else
    disarm(s, NULL);
  ink_i_session_forget();
  pthread_mutex_unlock(&s->lock);
  if (ink_i_watch_stop()) /* who unloads waited for the lock until here; from here on nobody tells when they go */
    ink_i_modules_forget();
  if (s->stays)
    return status;
  ink_i_options_free(&s->options);
  ink_i_activity_free(s->activity);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->wake);
  for (int i = 0; i < INK_I_DEVICES_MAX; i++)
    free(s->selftests[i]);
  free(s->path);
  free(s);
  return status;
}
