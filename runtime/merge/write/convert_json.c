/* SPDX-License-Identifier: MIT */
/* Trace event JSON as Perfetto packets: the second pass, see convert.h and convert_notes.h. What
 * has no counterpart is counted by its name. */
#include "convert_notes.h"
#include "merge/try.h"
#include "number_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES_MAX = 16, DEPTH_MAX = 64, SERIES_NAME_MAX = 64 };

typedef struct json_reader {
  convert *c;
  convert_report *report;
  json_scan scan;
  ink_error *error;
  trace_event event;
  struct {
    char key[SERIES_NAME_MAX];
    double value;
  } series[SERIES_MAX]; /* the numbers among the arguments: of a counter */
  size_t series_count;
  text_buffer args;
  const convert_progress *progress;
  uint64_t events;
} json_reader;

/* ---- values into debug annotations -------------------------------------------------------------
 */

/* Exact where the digits fit into 53 bits and the power of ten into a double, which both are then;
 * strtod does the rest. */
static double read_double(const char *text, size_t length) {
  static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char *p = text + (*text == '-');
  uint64_t digits = 0;
  int decimals = -1;
  if (length > 16)
    return ink_i_to_double(text, NULL);
  for (; *p; p++) {
    if (*p == '.' && decimals < 0) {
      decimals = 0;
    } else if (*p >= '0' && *p <= '9') {
      digits = digits * 10 + (uint64_t)(*p - '0');
      decimals += decimals >= 0;
    } else {
      return ink_i_to_double(text, NULL);
    }
  }
  double value = (double)digits / powers[decimals < 0 ? 0 : decimals];
  return *text == '-' ? -value : value;
}

static char *put_number(char *p, const char *text, size_t length) {
  int64_t value;
  if (trace_integer(text, &value))
    return pb_int(p, ARG_INT, value);
  if (strpbrk(text, ".eE"))
    return pb_double(p, ARG_DOUBLE, read_double(text, length));
  char *end;
  errno = 0;
  unsigned long long large = strtoull(text, &end, 10);
  if (!errno && !*end && *text != '-')
    return pb_uint(p, ARG_UINT, large);
  return pb_bytes(p, ARG_STRING, text, length); /* more digits than 64 bits hold */
}

static ink_status put_value(json_reader *r, enum json_token token, uint32_t field, uint64_t name,
                            unsigned depth);

/* The members of an object or an array behind its bracket. */
static ink_status put_members(json_reader *r, enum json_token opened, unsigned depth, bool *some) {
  bool array = opened == JSON_ARRAY;
  *some = false;
  for (;;) {
    enum json_token token;
    uint64_t iid = 0;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_ARRAY_END || token == JSON_OBJECT_END)
      return INK_OK;
    if (!array) {
      TRY(convert_intern(r->c, CONV_ARG, r->scan.text, r->scan.length, &iid));
      TRY(ink_json_next(&r->scan, &token, r->error));
    }
    *some = true;
    TRY(put_value(r, token, array ? ARG_ARRAY : ARG_DICT, iid, depth + 1));
  }
}

static ink_status put_value(json_reader *r, enum json_token token, uint32_t field, uint64_t name,
                            unsigned depth) {
  text_buffer *b = &r->args;
  char *p = text_buffer_room(b, 3 * r->scan.length + 64);
  if (!p)
    return INK_ERROR_MEMORY;
  char *fields = pb_begin(p, field);
  size_t at = (size_t)(fields - b->bytes);
  p = name ? pb_uint(fields, ARG_NAME_IID, name) : fields;
  if (token == JSON_OBJECT || token == JSON_ARRAY) {
    bool some = false;
    b->size = (size_t)(p - b->bytes);
    if (depth < DEPTH_MAX) {
      TRY(put_members(r, token, depth, &some));
    } else {
      TRY(ink_json_skip(&r->scan, token, r->error));
      r->report->too_deep++;
    }
    p = text_buffer_room(b, 32);
    if (!p)
      return INK_ERROR_MEMORY;
    if (!some)
      p = pb_string(p, ARG_STRING, token == JSON_ARRAY ? "[]" : "{}");
  } else if (token == JSON_NUMBER) {
    p = put_number(p, r->scan.text, r->scan.length);
  } else if (token == JSON_LITERAL && (*r->scan.text == 't' || *r->scan.text == 'f')) {
    p = pb_uint(p, ARG_BOOL, *r->scan.text == 't');
  } else { /* also null and NaN, by their name */
    r->report->cut_texts += r->scan.length == JSON_TEXT_MAX - 1;
    p = pb_text(p, ARG_STRING, r->scan.text, r->scan.length, SIZE_MAX);
  }
  b->size = (size_t)(pb_end(b->bytes + at, p) - b->bytes);
  return INK_OK;
}

/* ---- one event ---------------------------------------------------------------------------------
 */

static void take_series(json_reader *r, const char *key) {
  if (r->series_count == SERIES_MAX)
    return;
  memcpy(r->series[r->series_count].key, key, SERIES_NAME_MAX);
  r->series[r->series_count++].value = read_double(r->scan.text, r->scan.length);
}

static ink_status read_arguments(json_reader *r, enum json_token token) {
  uint64_t iid;
  char key[SERIES_NAME_MAX] = "";
  bool counter = r->event.phase == 'C' || !r->event.phase;
  if (token != JSON_OBJECT) {
    if (token == JSON_LITERAL)
      return INK_OK;
    TRY(convert_intern(r->c, CONV_ARG, "args", 4, &iid));
    return put_value(r, token, EVENT_ARG, iid, 0);
  }
  for (;;) {
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return INK_OK;
    TRY(convert_intern(r->c, CONV_ARG, r->scan.text, r->scan.length, &iid));
    if (counter)
      trace_text(&r->scan, key, sizeof key);
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (counter && token == JSON_NUMBER)
      take_series(r, key);
    TRY(put_value(r, token, EVENT_ARG, iid, 0));
  }
}

/* A member that we know nothing about becomes an argument, so that it is not lost. */
static ink_status read_other(json_reader *r, const char *name, enum json_token token) {
  uint64_t iid;
  TRY(convert_intern(r->c, CONV_ARG, name, strlen(name), &iid));
  return put_value(r, token, EVENT_ARG, iid, 0);
}

static ink_status read_member(json_reader *r) {
  char name[TRACE_ID_MAX] = "";
  enum json_token token;
  bool taken;
  enum trace_key key = trace_event_key(&r->scan);
  trace_text(&r->scan, name, key == TRACE_OTHER ? sizeof name : 8);
  TRY(ink_json_next(&r->scan, &token, r->error));
  if (key == TRACE_ARGS) {
    r->event.members++;
    return read_arguments(r, token);
  }
  r->report->cut_texts += key == TRACE_NAME && r->scan.length == JSON_TEXT_MAX - 1;
  TRY(trace_event_member(&r->event, key, token, &r->scan, &taken));
  return taken ? ink_json_skip(&r->scan, token, r->error) : read_other(r, name, token);
}

static ink_status find_process(json_reader *r, uint32_t *out) {
  const trace_id *pid = &r->event.pid;
  return convert_process(r->c, pid->text, pid->length, pid->is_number ? pid->number : -1, out);
}

static const char *name_of(const json_reader *r) {
  return r->event.name.size ? r->event.name.bytes : "";
}

static ink_status put_counters(json_reader *r) {
  const trace_event *e = &r->event;
  uint32_t process;
  TRY(find_process(r, &process));
  for (size_t i = 0; i < r->series_count; i++) {
    char name[512];
    conv_event event = {
        .type = TYPE_COUNTER, .ns = e->ts_ns + r->c->base_ns, .value = r->series[i].value};
    snprintf(name, sizeof name, "%.300s %s", name_of(r), r->series[i].key);
    TRY(convert_counter(r->c, process, name, &event.track));
    convert_describe_late(r->c, event.track);
    TRY(convert_other(r->c, &event));
    r->report->counter_values++;
  }
  return INK_OK;
}

static ink_status put_async(json_reader *r, conv_event *event) {
  const trace_event *e = &r->event;
  char key[2 * TRACE_ID_MAX + 64];
  uint32_t process;
  TRY(find_process(r, &process));
  int n = snprintf(key, sizeof key, "%.200s %s", e->category.size ? e->category.bytes : "", e->id);
  TRY(convert_track(r->c, process, key, (size_t)n, 'a', 0, &event->track));
  conv_track *t = &r->c->tracks[event->track];
  if (!t->name)
    TRY(convert_name(&t->name, e->name.size ? e->name.bytes : key));
  convert_describe_late(r->c, event->track);
  r->report->asyncs++;
  return convert_other(r->c, event);
}

static ink_status name_event(json_reader *r, conv_event *event) {
  const trace_event *e = &r->event;
  TRY(convert_intern(r->c, CONV_NAME, name_of(r), e->name.size, &event->name));
  if (!e->category.size)
    return INK_OK;
  return convert_intern(r->c, CONV_CATEGORY, e->category.bytes, e->category.size, &event->category);
}

static ink_status put_event(json_reader *r) {
  const trace_event *e = &r->event;
  conv_event event = {.ns = e->ts_ns + r->c->base_ns,
                      .end_ns = e->ts_ns + e->dur_ns + r->c->base_ns,
                      .args = r->args.size ? &r->args : NULL};
  if (e->phase == 's' || e->phase == 'f' || e->phase == 't')
    return INK_OK;
  if (e->phase == 'C')
    return put_counters(r);
  if (!e->phase || !strchr("XiIBEbenSF", e->phase)) {
    char what[32];
    snprintf(what, sizeof what, "events of kind '%c'", e->phase ? e->phase : '?');
    return convert_report_left(r->report, what, 1);
  }
  event.type = strchr("BXbS", e->phase)  ? TYPE_BEGIN
               : strchr("iIn", e->phase) ? TYPE_INSTANT
                                         : TYPE_END;
  if (event.type != TYPE_END)
    TRY(name_event(r, &event));
  if (strchr("benSF", e->phase))
    return put_async(r, &event);
  bool apart = e->phase == 'B' || e->phase == 'E';
  TRY(convert_event_track(r->c, e, apart ? 'b' : 0, &event.track));
  if (e->phase == 'X')
    return convert_slice(r->c, &event);
  if (apart && !r->c->tracks[event.track].name)
    TRY(convert_name(&r->c->tracks[event.track].name, "begin and end events"));
  convert_describe_late(r->c, event.track);
  r->report->instants += event.type == TYPE_INSTANT;
  r->report->slices += e->phase == 'B';
  return convert_other(r->c, &event);
}

static ink_status end_event(json_reader *r) {
  const trace_event *e = &r->event;
  if (e->phase == 'M' || convert_is_nothing(e))
    return INK_OK;
  if (!convert_time_fits(e, r->c->base_ns)) {
    r->report->bad_times++;
    return INK_OK;
  }
  return put_event(r);
}

static ink_status read_event(json_reader *r) {
  trace_event_clear(&r->event);
  r->series_count = 0;
  r->args.size = 0;
  for (;;) {
    enum json_token token;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return end_event(r);
    TRY(read_member(r));
  }
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static ink_status read_events(json_reader *r) {
  for (;;) {
    enum json_token token;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_ARRAY_END)
      return INK_OK;
    if (token == JSON_OBJECT)
      TRY(read_event(r));
    else
      TRY(ink_json_skip(&r->scan, token, r->error));
    if (!(++r->events & 0xfff)) {
      TRY(ink_file_check(r->c->out->file, r->error));
      TRY(convert_tell(r->progress, true, r->scan.bytes.taken));
    }
  }
}

static ink_status read_file(json_reader *r) {
  enum json_token token;
  bool found = false;
  TRY(ink_json_next(&r->scan, &token, r->error));
  if (token == JSON_ARRAY)
    return read_events(r);
  if (token != JSON_OBJECT)
    return INK_ERROR_FORMAT;
  for (;;) {
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return INK_OK;
    bool events = !strcmp(r->scan.text, "traceEvents") && !found;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (events && token == JSON_ARRAY) {
      found = true;
      TRY(read_events(r));
      continue;
    }
    TRY(ink_json_skip(&r->scan, token, r->error));
  }
}

ink_status convert_json(convert *c, const char *path, const convert_progress *progress,
                        convert_report *report, ink_error *error) {
  json_reader *r = calloc(1, sizeof *r);
  if (!r)
    return INK_ERROR_MEMORY;
  r->c = c;
  r->report = report;
  r->error = error;
  r->progress = progress;
  ink_status status = ink_json_open(&r->scan, path, error);
  if (status == INK_OK)
    status = read_file(r);
  if (status == INK_OK && c->noted_sum != c->written_sum)
    status = INK_ERROR_IO; /* the file changed between the passes */
  ink_json_close(&r->scan);
  trace_event_free(&r->event);
  free(r->args.bytes);
  free(r);
  return status;
}
