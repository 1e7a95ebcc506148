/* SPDX-License-Identifier: MIT */
/* The windows of `inkmark record`: launches as the preloaded library sees them, and cudaProfilerStart. */
#include "cuda/driver_api.h"
#include "cuda/host_scopes.h"
#include "cuda/record_state.h"
#include "cuda/record_window.h"
#include "cuda/session_private.h"
#include "monotonic.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER; /* one launch at a time, where they are counted */
/* Ranges of several threads may lie over each other: the window is as long as all of them. */
static pthread_mutex_t ranging = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local unsigned depth; /* a CUDA runtime launches through the driver */

static bool is_set(const char *name) {
  const char *text = secure_getenv(name);
  return text && *text;
}

static bool has_window(void) {
  static _Atomic int known; /* 1 no, 2 yes */
  if (!known)
    known = 1 + (is_set("INKMARK_LAUNCHES") || is_set("INKMARK_ON_START") || is_set("INKMARK_SCHEDULE") ||
                 is_set("INKMARK_RANGE") || is_set("INKMARK_DELAY_MS") || is_set("INKMARK_DURATION_MS"));
  return known == 2;
}

bool ink_record_counts_launches(void) {
  static _Atomic int known;
  if (!known)
    known = 1 + (has_window() || is_set("INKMARK_NVTX"));
  return known == 2;
}

static uint32_t milliseconds(const char *name) {
  const char *text = secure_getenv(name);
  return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

ink_status ink_i_record_window_make(ink_session *s, ink_error *error) {
  const char *on_start = secure_getenv("INKMARK_ON_START");
  const ink_i_window_options options = {
      .start_off = on_start && !strcmp(on_start, "off"), .launches = secure_getenv("INKMARK_LAUNCHES"),
      .schedule = secure_getenv("INKMARK_SCHEDULE"), .delay_ms = milliseconds("INKMARK_DELAY_MS"),
      .duration_ms = milliseconds("INKMARK_DURATION_MS"), .range = secure_getenv("INKMARK_RANGE")};
  return ink_i_window_make(&options, &s->window, error);
}

void ink_i_record_window_after_fork(void) {
  pthread_mutex_init(&launching, NULL);
  pthread_mutex_init(&ranging, NULL);
}

bool ink_record_launch_begin(ink_record_launch *launch) {
  ink_session *s = ink_record_counts_launches() && !ink_i_in_calls() ? ink_i_record_session() : NULL;
  if (!s)
    return false;
  if (depth++)
    return true;
  if (has_window()) {
    pthread_mutex_lock(&launching);
    ink_i_window_launch(s);
  }
  launch->inside = !atomic_load(&s->window.closed);
  launch->begin_ns = ink_i_monotonic_ns();
  return true;
}

void ink_record_launch_end(bool worked, bool *wants) {
  *wants = false;
  if (--depth)
    return;
  if (has_window())
    pthread_mutex_unlock(&launching);
  *wants = worked && ink_i_host_is_on();
}

void ink_record_launched(const ink_record_launch *launch, const char *function, int device) {
  ink_host_event event = {.ns = launch->begin_ns, .id = (uint64_t)ink_i_monotonic_ns(), .name = ink_i_host_id(function),
                          .flags = (launch->is_graph ? INK_HOST_GRAPH : 0u) | (launch->inside ? 0u : INK_HOST_OUTSIDE),
                          .device = device >= 0 ? device : ink_i_driver_slot_here()};
  memcpy(event.grid_dim, launch->grid_dim, sizeof event.grid_dim);
  memcpy(event.block_dim, launch->block_dim, sizeof event.block_dim);
  ink_i_host_launched(&event);
}

void ink_record_profiler(bool starts) {
  ink_session *s = ink_i_in_calls() ? NULL : ink_i_record_session();
  if (!s || !s->window.start_off)
    return;
  if (starts)
    atomic_fetch_add(&s->window.starts, 1);
  ink_i_window_turn(s, INK_I_GATE_PROGRAM, starts, true, NULL);
}

void ink_record_range(bool begins) {
  static unsigned open;
  ink_session *s = ink_i_in_calls() ? NULL : ink_i_record_session();
  if (!s || !s->window.by_range)
    return;
  atomic_fetch_add(&s->window.ranges, begins);
  if (s->window.active) {
    if (!begins)
      ink_session_step(s, NULL);
    return;
  }
  pthread_mutex_lock(&ranging);
  if (begins ? !open++ : open && !--open)
    ink_i_window_turn(s, INK_I_GATE_RANGE, begins, true, NULL);
  pthread_mutex_unlock(&ranging);
}

void ink_i_record_window_remarks(const ink_session *s, void (*say)(const char *what, const char *text)) {
  const ink_i_window *w = &s->window;
  if (w->start_off && !atomic_load(&w->starts))
    say("remark", "recording was off from the start, and no cudaProfilerStart or cuProfilerStart was seen");
  if (w->range_count && !atomic_load(&w->launches_seen))
    say("remark", "no launch was seen to be counted, so --launches recorded nothing");
  if (w->by_range && !atomic_load(&w->ranges))
    say("remark", "no NVTX range of the name that --range gives was seen");
  if (w->active && !w->by_range && !atomic_load(&w->steps))
    say("remark", "the program never called ink_session_step, so --schedule stayed in its first step");
}
