/* SPDX-License-Identifier: MIT */
/* What windows are asked for, and which launch, step and time is in one. */
#include "cuda/window.h"

#include "monotonic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_number(const char **at, uint64_t *out) {
  char *end;
  if (**at < '0' || **at > '9')
    return false;
  *out = strtoull(*at, &end, 10);
  *at = end;
  return true;
}

static ink_status parse_launches(const char *list, ink_i_window *w, ink_error *error) {
  const char *at = list;
  bool more = true;
  while (more) {
    uint64_t first, last;
    if (w->range_count == INK_I_WINDOW_RANGES_MAX)
      return ink_error_set(error, INK_ERROR_ARGUMENT, "launches '%s': more than %d ranges", list, INK_I_WINDOW_RANGES_MAX);
    if (!read_number(&at, &first))
      goto bad;
    last = first;
    if (*at == '-' && (at++, !read_number(&at, &last)))
      goto bad;
    if (last < first || (*at && *at != ','))
      goto bad;
    w->launches[w->range_count].first = first;
    w->launches[w->range_count++].last = last;
    more = *at == ',';
    at += more;
  }
  return INK_OK;
bad:
  return ink_error_set(error, INK_ERROR_ARGUMENT, "launches '%s' is not a list like 0,7,100-120", list);
}

static ink_status parse_schedule(const char *text, ink_i_window *w, ink_error *error) {
  static const char *const names[] = {"wait", "warmup", "active", "repeat"};
  uint32_t *const values[] = {&w->wait, &w->warmup, &w->active, &w->repeat};
  const char *at = text;
  bool more = true;
  while (more) {
    size_t which = 0;
    uint64_t number = 0;
    while (which < 4 && (strncmp(at, names[which], strlen(names[which])) != 0 || at[strlen(names[which])] != '='))
      which++;
    if (which == 4)
      goto bad;
    at += strlen(names[which]) + 1;
    if (!read_number(&at, &number) || number > UINT32_MAX / 4 || (*at && *at != ','))
      goto bad;
    *values[which] = (uint32_t)number;
    more = *at == ',';
    at += more;
  }
  if (w->active)
    return INK_OK;
bad:
  return ink_error_set(error, INK_ERROR_ARGUMENT,
                       "schedule '%s' is not like wait=1,warmup=1,active=3,repeat=2, with active at least 1", text);
}

static void say(ink_i_window *w, const char *what, const char *value) {
  const size_t used = strlen(w->text);
  snprintf(w->text + used, sizeof w->text - used, "%s%s %s", used ? ", " : "", what, value);
}

static void say_ms(ink_i_window *w, const char *what, uint32_t ms) {
  char text[32];
  snprintf(text, sizeof text, "%" PRIu32 "ms", ms);
  say(w, what, text);
}

ink_status ink_i_window_make(const ink_i_window_options *o, ink_i_window *w, ink_error *error) {
  *w = (ink_i_window){.start_off = o->start_off, .delay_ms = o->delay_ms, .duration_ms = o->duration_ms,
                      .by_range = o->range && *o->range, .by_time = o->delay_ms || o->duration_ms, .began_ns = ink_i_monotonic_ns()};
  pthread_mutex_init(&w->turning, NULL);
  ink_status status = o->launches && *o->launches ? parse_launches(o->launches, w, error) : INK_OK;
  if (!status && o->schedule && *o->schedule)
    status = parse_schedule(o->schedule, w, error);
  if (status)
    return status;
  if (w->range_count)
    say(w, "launches", o->launches);
  if (w->active)
    say(w, "schedule", o->schedule);
  if (w->by_range)
    say(w, "range", o->range);
  if (o->start_off)
    say(w, "on start", "off");
  if (o->delay_ms)
    say_ms(w, "delay", o->delay_ms);
  if (o->duration_ms)
    say_ms(w, "duration", o->duration_ms);
  int64_t changes_us;
  const unsigned closed = (o->start_off ? INK_I_GATE_PROGRAM : 0u) | (w->range_count ? INK_I_GATE_LAUNCHES : 0u) |
                          (w->by_range && !w->active ? INK_I_GATE_RANGE : 0u) |
                          (w->active && !ink_i_window_has_step(w, 0) ? INK_I_GATE_STEPS : 0u) |
                          (w->by_time && !ink_i_window_has_time(w, 0, &changes_us) ? INK_I_GATE_TIME : 0u);
  atomic_store(&w->closed, closed);
  return INK_OK;
}

void ink_i_window_after_fork(ink_i_window *w) { pthread_mutex_init(&w->turning, NULL); }

bool ink_i_window_has_launch(const ink_i_window *w, uint64_t launch) {
  for (uint32_t i = 0; i < w->range_count; i++)
    if (launch >= w->launches[i].first && launch <= w->launches[i].last)
      return true;
  return !w->range_count;
}

bool ink_i_window_has_step(const ink_i_window *w, uint64_t step) {
  const uint64_t before = (uint64_t)w->wait + w->warmup, cycle = before + w->active;
  return !w->active || (step % cycle >= before && (!w->repeat || step / cycle < w->repeat));
}

bool ink_i_window_has_time(const ink_i_window *w, int64_t since_ms, int64_t *changes_us) {
  const int64_t begin = w->delay_ms, end = w->duration_ms ? begin + w->duration_ms : INT64_MAX;
  const int64_t next = since_ms < begin ? begin : since_ms < end ? end : INT64_MAX;
  *changes_us = !w->by_time || next == INT64_MAX ? INT64_MAX : (next - since_ms) * 1000;
  return !w->by_time || (since_ms >= begin && since_ms < end);
}

bool ink_i_window_counts(const ink_i_window *w, char *text, size_t bytes) {
  const uint64_t seen = atomic_load(&w->launches_seen);
  snprintf(text, bytes, "%" PRIu64 " of %" PRIu64, atomic_load(&w->launches_inside), seen);
  return seen > 0;
}
