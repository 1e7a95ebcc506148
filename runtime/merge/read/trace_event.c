/* SPDX-License-Identifier: MIT */
/* The members of an event of a JSON trace. */
#include "trace_event.h"

#include "number_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Rounded to the ns beyond three decimals. */
bool ink_us_to_ns(const char *text, int64_t *out) {
  const int64_t limit = INT64_C(4611686018427387904);
  const char *p = text + (*text == '-');
  int64_t ns = 0;
  int decimals = -1;
  for (; *p; p++) {
    if (*p == '.' && decimals < 0) {
      decimals = 0;
    } else if (*p == 'e' || *p == 'E') {
      double us = ink_i_to_double(text, NULL);
      if (!(us > -4.6e15 && us < 4.6e15))
        return false;
      *out = (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
      return true;
    } else if (*p < '0' || *p > '9') {
      return false;
    } else if (decimals < 3) {
      if (ns > (limit - 9) / 10)
        return false;
      ns = ns * 10 + (*p - '0');
      decimals += decimals >= 0;
    } else if (decimals++ == 3) {
      ns += *p >= '5';
    }
  }
  for (int d = decimals < 0 ? 0 : decimals; d < 3; d++) {
    if (ns > limit / 10)
      return false;
    ns *= 10;
  }
  *out = *text == '-' ? -ns : ns;
  return true;
}

bool trace_integer(const char *text, int64_t *out) {
  const char *p = text + (*text == '-');
  uint64_t value = 0;
  int digits = 0;
  for (; *p >= '0' && *p <= '9' && digits < 18; digits++)
    value = value * 10 + (uint64_t)(*p++ - '0');
  if (digits && !*p) {
    *out = *text == '-' ? -(int64_t)value : (int64_t)value;
    return true;
  }
  char *end;
  errno = 0;
  long long longer = strtoll(text, &end, 10);
  if (errno || end == text || *end)
    return false;
  *out = longer;
  return true;
}

void trace_text(const json_scan *s, char *to, size_t size) {
  size_t n = s->length < size ? s->length : size - 1;
  memcpy(to, s->text, n);
  to[n] = 0;
}

void trace_event_clear(trace_event *e) {
  e->phase = 0;
  e->has_name = e->has_category = e->has_ts = e->has_dur = e->bad_time = false;
  e->ts_ns = e->dur_ns = 0;
  e->pid.length = e->tid.length = 0;
  e->pid.is_number = e->tid.is_number = false;
  e->pid.is_string = e->tid.is_string = false;
  e->pid.text[0] = e->tid.text[0] = e->id[0] = 0;
  e->name.size = e->category.size = 0;
  e->members = 0;
}

void trace_event_free(trace_event *e) {
  free(e->name.bytes);
  free(e->category.bytes);
  e->name = e->category = (text_buffer){0};
}

static bool is(const json_scan *s, const char *key) {
  return !memcmp(s->text, key, s->length);
}

enum trace_key trace_event_key(const json_scan *s) {
  switch (s->length) {
  case 1:
    return is(s, "s") ? TRACE_DRAWING : TRACE_OTHER;
  case 2:
    return is(s, "ph")   ? TRACE_PHASE
           : is(s, "ts") ? TRACE_TS
           : is(s, "id") ? TRACE_ID
           : is(s, "bp") ? TRACE_DRAWING
                         : TRACE_OTHER;
  case 3:
    return is(s, "pid")   ? TRACE_PID
           : is(s, "tid") ? TRACE_TID
           : is(s, "dur") ? TRACE_DUR
           : is(s, "cat") ? TRACE_CATEGORY
                          : TRACE_OTHER;
  case 4:
    return is(s, "args") ? TRACE_ARGS : is(s, "name") ? TRACE_NAME : TRACE_OTHER;
  default:
    return TRACE_OTHER;
  }
}

static ink_status keep(text_buffer *b, const json_scan *s) {
  b->size = 0;
  char *p = text_buffer_room(b, s->length + 1);
  if (!p)
    return INK_ERROR_MEMORY;
  memcpy(p, s->text, s->length + 1);
  b->size = s->length;
  return INK_OK;
}

static void take_id(const json_scan *s, enum json_token token, trace_id *id) {
  trace_text(s, id->text, sizeof id->text);
  id->length = s->length < TRACE_ID_MAX ? s->length : TRACE_ID_MAX - 1;
  id->is_number = trace_integer(id->text, &id->number);
  id->is_string = token == JSON_STRING;
}

ink_status trace_event_member(trace_event *e, enum trace_key key, enum json_token token,
                              const json_scan *s, bool *taken) {
  bool text = token == JSON_STRING, plain = text || token == JSON_NUMBER;
  bool needs_text = key == TRACE_PHASE || key == TRACE_CATEGORY || key == TRACE_NAME;
  e->members++;
  *taken = key == TRACE_DRAWING || (key != TRACE_OTHER && (needs_text ? text : plain));
  if (!*taken)
    return INK_OK;
  switch (key) {
  case TRACE_PHASE:
    e->phase = s->text[0];
    return INK_OK;
  case TRACE_CATEGORY:
    e->has_category = true;
    return keep(&e->category, s);
  case TRACE_NAME:
    e->has_name = true;
    return keep(&e->name, s);
  case TRACE_PID:
    take_id(s, token, &e->pid);
    return INK_OK;
  case TRACE_TID:
    take_id(s, token, &e->tid);
    return INK_OK;
  case TRACE_TS:
    e->has_ts = ink_us_to_ns(s->text, &e->ts_ns);
    e->bad_time |= !e->has_ts;
    return INK_OK;
  case TRACE_DUR:
    e->has_dur = ink_us_to_ns(s->text, &e->dur_ns);
    e->bad_time |= !e->has_dur || e->dur_ns < 0;
    return INK_OK;
  case TRACE_ID:
    trace_text(s, e->id, sizeof e->id);
    return INK_OK;
  case TRACE_OTHER:
  case TRACE_ARGS:
  case TRACE_DRAWING:
    break;
  }
  return INK_OK;
}
