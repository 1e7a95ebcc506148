/* SPDX-License-Identifier: MIT */
/* Opens and closes the gates of a session's windows. Where a window begins or ends between two launches, the devices
 * are waited for: what was launched before and has not begun is not to be in it, what was launched in it is. */
#include "cuda/device_buffer.h"
#include "cuda/session_private.h"
#include "monotonic.h"

/* Without the session's lock: kernels may run for long, and are drained meanwhile. */
static void wait_for_devices(ink_session *s) {
  struct {
    const ink_cuda_api *cuda;
    int index;
  } made[INK_I_DEVICES_MAX];
  size_t n = 0;
  if (pthread_mutex_lock(&s->lock))
    return;
  for (int i = 0; i < INK_I_DEVICES_MAX; i++)
    if (s->devices[i].made && !s->devices[i].dead) {
      made[n].cuda = s->devices[i].cuda;
      made[n++].index = i;
    }
  ink_i_calls own;
  ink_i_calls_begin(s, &own);
  pthread_mutex_unlock(&s->lock);
  for (size_t i = 0; i < n; i++)
    if (made[i].cuda->set_device(made[i].index) || made[i].cuda->device_synchronize())
      made[i].cuda->get_last_error();
  ink_i_calls_end(&own);
}

static ink_status set_flags(ink_session *s, bool on, ink_error *error) {
  ink_status status = INK_OK;
  for (int i = 0; i < INK_I_DEVICES_MAX && !status; i++)
    if (s->devices[i].made && !s->devices[i].dead)
      status = ink_i_window_apply(s, &s->devices[i], on, error);
  return status;
}
static ink_status set_on(ink_session *s, ink_error *error) { return set_flags(s, true, error); }
static ink_status set_off(ink_session *s, ink_error *error) { return set_flags(s, false, error); }

ink_status ink_i_window_apply(ink_session *s, ink_i_device *d, bool on, ink_error *error) {
  (void)s;
  const uint32_t flags = on ? d->info.flags | INK_BUFFER_ON : d->info.flags & ~(uint32_t)INK_BUFFER_ON;
  return ink_i_device_set_flags(d, flags, error);
}

/* With the session's lock. */
static ink_status put_gate(ink_session *s, enum ink_i_gate gate, bool open, ink_error *error) {
  const unsigned before = atomic_load(&s->window.closed);
  const unsigned after = open ? before & ~(unsigned)gate : before | (unsigned)gate;
  atomic_store(&s->window.closed, after);
  return !before == !after ? INK_OK : after ? set_off(s, error) : set_on(s, error);
}

static bool changes(const ink_session *s, enum ink_i_gate gate, bool open) {
  const unsigned closed = atomic_load(&s->window.closed);
  return !closed != !(open ? closed & ~(unsigned)gate : closed | (unsigned)gate);
}

ink_status ink_i_window_turn(ink_session *s, enum ink_i_gate gate, bool open, bool waits, ink_error *error) {
  ink_status status = INK_OK;
  pthread_mutex_lock(&s->window.turning);
  if (waits && changes(s, gate, open))
    wait_for_devices(s);
  if (ink_i_session_enter(s)) {
    ink_i_calls own;
    ink_i_calls_begin(s, &own);
    status = put_gate(s, gate, open, error);
    ink_i_calls_end(&own);
    pthread_mutex_unlock(&s->lock);
  }
  pthread_mutex_unlock(&s->window.turning);
  return status;
}

int64_t ink_i_window_tick(ink_session *s, int64_t us) {
  int64_t changes_us;
  if (!s->window.by_time)
    return us;
  const int64_t since_ms = (ink_i_monotonic_ns() - s->window.began_ns) / 1000000;
  put_gate(s, INK_I_GATE_TIME, ink_i_window_has_time(&s->window, since_ms, &changes_us), NULL);
  return us < changes_us ? us : changes_us;
}

void ink_i_window_launch(ink_session *s) {
  ink_i_window *w = &s->window;
  const bool in = ink_i_window_has_launch(w, atomic_fetch_add(&w->launches_seen, 1));
  if (w->range_count && in == (bool)(atomic_load(&w->closed) & INK_I_GATE_LAUNCHES))
    ink_i_window_turn(s, INK_I_GATE_LAUNCHES, in, true, NULL);
  if (!atomic_load(&w->closed))
    atomic_fetch_add(&w->launches_inside, 1);
}

ink_status ink_session_step(ink_session *s, ink_error *error) {
  s = s ? s : ink_i_session_current();
  if (!s)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "no session is open in this process");
  const uint64_t step = atomic_fetch_add(&s->window.steps, 1) + 1;
  return s->window.active ? ink_i_window_turn(s, INK_I_GATE_STEPS, ink_i_window_has_step(&s->window, step), true, error)
                          : INK_OK;
}

ink_status ink_session_set_on(ink_session *s, bool on, ink_error *error) {
  return ink_i_window_turn(s, INK_I_GATE_PROGRAM, on, false, error);
}
