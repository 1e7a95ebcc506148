/* SPDX-License-Identifier: MIT */
/* Trace event JSON as Perfetto packets. The file is read twice, see convert.h; what has no
 * counterpart is counted by its name. */
#include "convert_other.h"

#include "foreign_private.h"
#include "json_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES_MAX = 16, KEY_MAX = 256, DEPTH_MAX = 64 };

#define TRY(expression)                                                                            \
  do {                                                                                             \
    ink_status status_ = (expression);                                                             \
    if (status_ != INK_OK)                                                                         \
      return status_;                                                                              \
  } while (0)

typedef struct json_id { /* pid or tid: its text, and its number where it is one */
  char text[KEY_MAX];
  size_t length;
  int64_t number; /* -1: none */
} json_id;

typedef struct json_event {
  char phase;
  bool has_ts, bad_time;
  int64_t ts_ns, dur_ns;
  json_id pid, tid;
  char id[KEY_MAX], meta_name[KEY_MAX], meta_labels[KEY_MAX];
  struct {
    char key[64];
    double value;
  } series[SERIES_MAX];
  size_t series_count;
} json_event;

typedef struct json_reader {
  convert *c;
  convert_report *report;
  json_scan scan;
  ink_error *error;
  bool second;
  int64_t base_ns;
  json_event event;
  text_buffer name, category, args;
  const convert_progress *progress;
  uint64_t events;
} json_reader;

/* ---- values into debug annotations -------------------------------------------------------------
 */

static ink_status keep(text_buffer *b, const char *text, size_t length) {
  b->size = 0;
  char *p = text_buffer_room(b, length + 1);
  if (!p)
    return INK_ERROR_MEMORY;
  memcpy(p, text, length);
  p[length] = 0;
  b->size = length;
  return INK_OK;
}

static ink_status next_kept(json_reader *r, enum json_token *token) {
  r->scan.keep = true;
  return ink_json_next(&r->scan, token, r->error);
}

static char *put_number(char *p, const char *text, size_t length) {
  if (!strpbrk(text, ".eE")) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!errno && !*end)
      return pb_int(p, ARG_INT, value);
    errno = 0;
    unsigned long long large = strtoull(text, &end, 10);
    if (!errno && !*end && *text != '-')
      return pb_uint(p, ARG_UINT, large);
    return pb_bytes(p, ARG_STRING, text, length); /* more digits than 64 bits hold */
  }
  return pb_double(p, ARG_DOUBLE, strtod(text, NULL));
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
    TRY(next_kept(r, &token));
    if (token == JSON_ARRAY_END || token == JSON_OBJECT_END)
      return INK_OK;
    if (!array) {
      TRY(convert_intern(r->c, CONV_ARG, r->scan.text, r->scan.length, &iid));
      TRY(next_kept(r, &token));
    }
    *some = true;
    TRY(put_value(r, token, array ? ARG_ARRAY : ARG_DICT, iid, depth + 1));
  }
}

static ink_status put_value(json_reader *r, enum json_token token, uint32_t field, uint64_t name,
                            unsigned depth) {
  text_buffer *b = &r->args;
  char *p = text_buffer_room(b, r->scan.length + 64);
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
    p = pb_bytes(p, ARG_STRING, r->scan.text, r->scan.length);
  }
  b->size = (size_t)(pb_end(b->bytes + at, p) - b->bytes);
  return INK_OK;
}

/* ---- one event ---------------------------------------------------------------------------------
 */

static void take_id(json_reader *r, json_id *id) {
  const json_scan *s = &r->scan;
  id->length = s->length < KEY_MAX ? s->length : KEY_MAX - 1;
  memcpy(id->text, s->text, id->length);
  id->text[id->length] = 0;
  char *end;
  errno = 0;
  long long value = strtoll(id->text, &end, 10);
  id->number = !errno && end != id->text && !*end && value >= 0 ? value : -1;
}

static void copy_text(const json_reader *r, char *to, size_t size) {
  snprintf(to, size, "%.*s", (int)(r->scan.length < size ? r->scan.length : size - 1),
           r->scan.text);
}

/* Arguments: names of processes and threads in the first pass, everything in the second. */
static ink_status read_arguments(json_reader *r, enum json_token token) {
  json_event *e = &r->event;
  if (token != JSON_OBJECT) {
    if (r->second && token != JSON_LITERAL) {
      uint64_t iid;
      TRY(convert_intern(r->c, CONV_ARG, "args", 4, &iid));
      return put_value(r, token, EVENT_ARG, iid, 0);
    }
    return ink_json_skip(&r->scan, token, r->error);
  }
  for (;;) {
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return INK_OK;
    char key[64];
    uint64_t iid = 0;
    copy_text(r, key, sizeof key);
    if (r->second)
      TRY(convert_intern(r->c, CONV_ARG, r->scan.text, r->scan.length, &iid));
    bool wanted = r->second || !strcmp(key, "name") || !strcmp(key, "labels");
    r->scan.keep = wanted;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_STRING && !strcmp(key, "name"))
      copy_text(r, e->meta_name, sizeof e->meta_name);
    if (token == JSON_STRING && !strcmp(key, "labels"))
      copy_text(r, e->meta_labels, sizeof e->meta_labels);
    if (token == JSON_NUMBER && r->second && e->series_count < SERIES_MAX) {
      snprintf(e->series[e->series_count].key, sizeof key, "%s", key);
      e->series[e->series_count++].value = strtod(r->scan.text, NULL);
    }
    TRY(r->second ? put_value(r, token, EVENT_ARG, iid, 0)
                  : ink_json_skip(&r->scan, token, r->error));
  }
}

/* A member that we know nothing about becomes an argument, so that it is not lost. */
static ink_status read_other(json_reader *r, const char *key, enum json_token token) {
  uint64_t iid;
  if (!r->second)
    return ink_json_skip(&r->scan, token, r->error);
  TRY(convert_intern(r->c, CONV_ARG, key, strlen(key), &iid));
  return put_value(r, token, EVENT_ARG, iid, 0);
}

static ink_status read_member(json_reader *r) {
  json_event *e = &r->event;
  char key[KEY_MAX];
  enum json_token token;
  copy_text(r, key, sizeof key);
  TRY(next_kept(r, &token));
  bool plain = token == JSON_STRING || token == JSON_NUMBER;
  const char *text = r->scan.text;
  if (!strcmp(key, "args"))
    return read_arguments(r, token);
  if (!strcmp(key, "ph") && token == JSON_STRING) {
    e->phase = text[0];
  } else if (!strcmp(key, "name") && token == JSON_STRING) {
    r->report->cut_texts += r->second && r->scan.length == JSON_TEXT_MAX - 1;
    TRY(keep(&r->name, text, r->scan.length));
  } else if (!strcmp(key, "cat") && token == JSON_STRING) {
    TRY(keep(&r->category, text, r->scan.length));
  } else if (!strcmp(key, "pid") && plain) {
    take_id(r, &e->pid);
  } else if (!strcmp(key, "tid") && plain) {
    take_id(r, &e->tid);
  } else if (!strcmp(key, "ts") && plain) {
    e->has_ts = ink_us_to_ns(text, &e->ts_ns);
    e->bad_time |= !e->has_ts;
  } else if (!strcmp(key, "dur") && plain) {
    e->bad_time |= !ink_us_to_ns(text, &e->dur_ns) || e->dur_ns < 0;
  } else if (!strcmp(key, "id") && plain) {
    copy_text(r, e->id, sizeof e->id);
  } else if (!strcmp(key, "bp") || !strcmp(key, "s")) {
    /* which slice an arrow meets, how wide an instant is drawn: not data */
  } else {
    return read_other(r, key, token);
  }
  return ink_json_skip(&r->scan, token, r->error);
}

static uint64_t flow_id(const json_reader *r) {
  uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */
  const char *parts[] = {r->category.size ? r->category.bytes : "", "\t", r->event.id};
  for (size_t i = 0; i < 3; i++)
    for (const char *c = parts[i]; *c; c++)
      h = (h ^ (unsigned char)*c) * 0x100000001b3ull;
  return h | 1;
}

static ink_status find_track(json_reader *r, char part, uint32_t *out) {
  json_event *e = &r->event;
  uint32_t process;
  TRY(convert_process(r->c, e->pid.text, e->pid.length, e->pid.number, &process));
  return convert_track(r->c, process, e->tid.text, e->tid.length, part, e->tid.number, out);
}

static ink_status name_things(json_reader *r) {
  json_event *e = &r->event;
  uint32_t process, track;
  TRY(convert_process(r->c, e->pid.text, e->pid.length, e->pid.number, &process));
  conv_process *p = &r->c->processes[process];
  const char *what = r->name.size ? r->name.bytes : "";
  if (!strcmp(what, "process_name"))
    return convert_name(&p->name, e->meta_name);
  if (!strcmp(what, "process_labels"))
    return convert_name(&p->labels, e->meta_labels);
  if (!strcmp(what, "thread_name")) {
    TRY(find_track(r, 0, &track));
    return convert_name(&r->c->tracks[track].name, e->meta_name);
  }
  return convert_report_left(r->report, what, 1);
}

static ink_status first_pass(json_reader *r) {
  json_event *e = &r->event;
  uint32_t track;
  if (e->phase == 'M')
    return name_things(r);
  if (e->phase != 'X' && e->phase != 's' && e->phase != 'f' && e->phase != 't' && e->phase != 'i' &&
      e->phase != 'I')
    return INK_OK;
  TRY(find_track(r, 0, &track));
  if (e->phase == 'X') {
    r->report->slices++;
    return convert_note_slice(r->c, track, e->ts_ns, e->ts_ns + e->dur_ns);
  }
  if (e->phase == 's' || e->phase == 't')
    TRY(convert_note_flow(r->c, track, UINT32_MAX, e->ts_ns, flow_id(r), true));
  if (e->phase == 'f' || e->phase == 't')
    TRY(convert_note_flow(r->c, track, UINT32_MAX, e->ts_ns, flow_id(r), false));
  return INK_OK;
}

static ink_status put_counters(json_reader *r) {
  json_event *e = &r->event;
  uint32_t process;
  TRY(convert_process(r->c, e->pid.text, e->pid.length, e->pid.number, &process));
  for (size_t i = 0; i < e->series_count; i++) {
    char name[512];
    conv_event event = {.type = TYPE_COUNTER, .ns = e->ts_ns, .value = e->series[i].value};
    snprintf(name, sizeof name, "%.300s %s", r->name.size ? r->name.bytes : "", e->series[i].key);
    TRY(convert_counter(r->c, process, name, &event.track));
    convert_describe_late(r->c, event.track);
    TRY(convert_other(r->c, &event));
    r->report->counter_values++;
  }
  return INK_OK;
}

static ink_status put_async(json_reader *r, conv_event *event) {
  json_event *e = &r->event;
  char key[2 * KEY_MAX + 64];
  uint32_t process;
  TRY(convert_process(r->c, e->pid.text, e->pid.length, e->pid.number, &process));
  int n = snprintf(key, sizeof key, "%.200s %s", r->category.size ? r->category.bytes : "", e->id);
  TRY(convert_track(r->c, process, key, (size_t)n, 'a', 0, &event->track));
  conv_track *t = &r->c->tracks[event->track];
  if (!t->name)
    TRY(convert_name(&t->name, r->name.size ? r->name.bytes : key));
  convert_describe_late(r->c, event->track);
  r->report->asyncs++;
  return convert_other(r->c, event);
}

static ink_status second_pass(json_reader *r) {
  json_event *e = &r->event;
  conv_event event = {.ns = e->ts_ns, .args = r->args.size ? &r->args : NULL};
  if (e->phase == 'M' || e->phase == 's' || e->phase == 'f' || e->phase == 't')
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
  if (event.type != TYPE_END) {
    TRY(convert_intern(r->c, CONV_NAME, r->name.size ? r->name.bytes : "", r->name.size,
                       &event.name));
    if (r->category.size)
      TRY(convert_intern(r->c, CONV_CATEGORY, r->category.bytes, r->category.size,
                         &event.category));
  }
  if (strchr("benSF", e->phase))
    return put_async(r, &event);
  bool apart = e->phase == 'B' || e->phase == 'E';
  TRY(find_track(r, apart ? 'b' : 0, &event.track));
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
  json_event *e = &r->event;
  int64_t end;
  if (e->phase != 'M') {
    if (!e->has_ts || e->bad_time || __builtin_add_overflow(e->ts_ns, r->base_ns, &e->ts_ns) ||
        __builtin_add_overflow(e->ts_ns, e->dur_ns, &end) || end > INT64_MAX / 2 || e->ts_ns < 0) {
      r->report->bad_times += r->second;
      return INK_OK;
    }
  }
  return r->second ? second_pass(r) : first_pass(r);
}

static ink_status read_event(json_reader *r) {
  json_event *e = &r->event;
  e->phase = 0;
  e->has_ts = e->bad_time = false;
  e->ts_ns = e->dur_ns = 0;
  e->pid = e->tid = (json_id){.number = -1};
  e->id[0] = e->meta_name[0] = e->meta_labels[0] = 0;
  e->series_count = 0;
  r->name.size = r->category.size = r->args.size = 0;
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
      TRY(convert_tell(r->progress, r->second, ink_json_offset(&r->scan)));
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
    char key[KEY_MAX];
    copy_text(r, key, sizeof key);
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (!strcmp(key, "traceEvents") && token == JSON_ARRAY && !found) {
      found = true;
      TRY(read_events(r));
      continue;
    }
    if (!r->second && strcmp(key, "baseTimeNanoseconds"))
      TRY(convert_report_key(r->report, key));
    TRY(ink_json_skip(&r->scan, token, r->error));
  }
}

ink_status convert_json(convert *c, const char *path, int64_t base_ns, bool second,
                        const convert_progress *progress, convert_report *report,
                        ink_error *error) {
  json_reader *r = calloc(1, sizeof *r);
  if (!r)
    return INK_ERROR_MEMORY;
  r->c = c;
  r->report = report;
  r->error = error;
  r->second = second;
  r->base_ns = base_ns;
  r->progress = progress;
  ink_status status = ink_json_open(&r->scan, path, error);
  if (status == INK_OK)
    status = read_file(r);
  ink_json_close(&r->scan);
  free(r->name.bytes);
  free(r->category.bytes);
  free(r->args.bytes);
  free(r);
  return status;
}
