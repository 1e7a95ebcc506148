/* SPDX-License-Identifier: MIT */
/* The kernels of a JSON trace, one event at a time, so that memory does not grow with the file:
 * PyTorch's (Kineto) are complete events of category "kernel"; XLA's, whose events have no
 * category, those on the streams of processes named /device:GPU:N. */
#include "kineto.h"

#include "merge/try.h"
#include "number_text.h"
#include "output/track_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 20 };

/* An event of phase B that waits for its E. Only kernels are looked at again; others are kept while a kernel is
 * open, so that each E meets its own. */
typedef struct open_event {
  bool kernel, has_ts, has_device;
  uint32_t outer; /* as innermost */
  uint32_t name;
  int64_t begin_ns, correlation;
  ink_foreign_type type;
} open_event;

typedef struct reader {
  ink_foreign *foreign;
  const foreign_listener *listener; /* NULL: none */
  const foreign_reading *how;
  json_scan scan;
  trace_event event;
  ink_foreign_type type; /* what the event's arguments say of a kernel */
  int64_t correlation;
  bool has_device, copies; /* copies: the arguments are those of a copy or a memset */
  char meta_name[TRACE_ID_MAX], meta_labels[TRACE_ID_MAX];
  text_table threads; /* pid, tab, tid of those with events that begin and end apart */
  uint32_t *innermost;   /* [threads.count]: 1 + the index of the last open begin of that thread, 0: none */
  open_event *open;
  size_t thread_room, open_count, open_room;
  uint64_t open_kernels;
  text_table gpus, streams; /* XLA: pids of GPUs; pid, tab, tid of their streams */
  int32_t *gpu_devices;
  int64_t *stream_numbers;
  size_t gpu_room, stream_room;
  ink_error *error;
} reader;

/* ---- arguments ---------------------------------------------------------------------------------
 */

static ink_status read_three(reader *r, enum json_token token, uint32_t out[3]) {
  if (token != JSON_ARRAY)
    return ink_json_skip(&r->scan, token, r->error);
  for (size_t i = 0;; i++) {
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_ARRAY_END)
      return INK_OK;
    int64_t value;
    if (token == JSON_NUMBER && i < 3 && trace_integer(r->scan.text, &value) && value > 0 &&
        value <= INT32_MAX)
      out[i] = (uint32_t)value;
    TRY(ink_json_skip(&r->scan, token, r->error));
  }
}

static ink_status read_argument(reader *r, const char *key, enum json_token token) {
  ink_foreign_type *t = &r->type;
  const char *text = r->scan.text;
  int64_t value = 0;
  bool word = token == JSON_STRING;
  bool integer = (token == JSON_NUMBER || word) && trace_integer(text, &value);
  if (!strcmp(key, "grid"))
    return read_three(r, token, t->grid_dim);
  if (!strcmp(key, "block"))
    return read_three(r, token, t->block_dim);
  if (!strcmp(key, "device") && integer && value >= INT32_MIN && value <= INT32_MAX) {
    t->device = (int32_t)value;
    r->has_device = true;
  } else if (!strcmp(key, "stream") && integer) {
    t->stream = value;
  } else if ((!strcmp(key, "correlation") || !strcmp(key, "correlation_id")) && integer) {
    r->correlation = value;
  } else if (!strcmp(key, "kernel_details") && word) {
    foreign_xla_dimension(text, "grid:", t->grid_dim);
    foreign_xla_dimension(text, "block:", t->block_dim);
  } else if (!strcmp(key, "memcpy_details") || ink_i_same_letters(key, "memset_details")) {
    r->copies = true;
  } else if (!strcmp(key, "name") && word) {
    trace_text(&r->scan, r->meta_name, sizeof r->meta_name);
  } else if (!strcmp(key, "labels") && word) {
    trace_text(&r->scan, r->meta_labels, sizeof r->meta_labels);
  }
  return ink_json_skip(&r->scan, token, r->error);
}

/* Of events that can be neither kernels nor names the arguments are passed over. */
static ink_status read_arguments(reader *r, enum json_token token) {
  const trace_event *e = &r->event;
  bool skipped = (e->phase && !strchr("XMB", e->phase)) ||
                 (e->has_category && e->category.size && !foreign_is_kernel(e->category.bytes) &&
                  e->phase && e->phase != 'M');
  if (token != JSON_OBJECT || skipped)
    return ink_json_skip(&r->scan, token, r->error);
  for (;;) {
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return INK_OK;
    char key[KEY_MAX];
    trace_text(&r->scan, key, sizeof key);
    TRY(ink_json_next(&r->scan, &token, r->error));
    TRY(read_argument(r, key, token));
  }
}

/* ---- XLA: which processes are GPUs and which of their threads are streams ---------------------
 */

static ink_status note_gpu(reader *r) {
  static const char mark[] = "/device:GPU:";
  const char *at = strstr(r->meta_name, mark);
  int64_t device;
  uint32_t index;
  bool fresh;
  if (!at || !trace_integer(at + strlen(mark), &device) || device < 0 || device > INT32_MAX)
    return INK_OK;
  TRY(text_table_add(&r->gpus, r->event.pid.text, r->event.pid.length, &index, &fresh));
  void *devices = r->gpu_devices;
  ink_status status = ink_grow(&devices, index, &r->gpu_room, sizeof *r->gpu_devices);
  r->gpu_devices = devices;
  if (status == INK_OK)
    r->gpu_devices[index] = (int32_t)device;
  return status;
}

static size_t stream_key(const reader *r, char *key, size_t size) {
  int n = snprintf(key, size, "%s\t%s", r->event.pid.text, r->event.tid.text);
  return (size_t)n < size ? (size_t)n : size - 1;
}

/* "Stream #13(Compute)": the number counts, the thread's id is another in newer traces. */
static ink_status note_stream(reader *r) {
  char key[2 * TRACE_ID_MAX];
  uint32_t index;
  TRY(text_table_add(&r->streams, key, stream_key(r, key, sizeof key), &index, NULL));
  void *numbers = r->stream_numbers;
  ink_status status = ink_grow(&numbers, index, &r->stream_room, sizeof *r->stream_numbers);
  r->stream_numbers = numbers;
  if (status == INK_OK)
    r->stream_numbers[index] = strtoll(r->meta_name + strlen("Stream #"), NULL, 10);
  return status;
}

static ink_status note_name(reader *r) {
  const trace_event *e = &r->event;
  if (!e->has_name)
    return INK_OK;
  if (!strcmp(e->name.bytes, "process_name"))
    return note_gpu(r);
  if (strcmp(e->name.bytes, "thread_name") || strncmp(r->meta_name, "Stream #", 8))
    return INK_OK;
  return note_stream(r);
}

static bool is_xla_kernel(reader *r) {
  const trace_event *e = &r->event;
  char key[2 * TRACE_ID_MAX];
  if (!r->gpus.count || !r->streams.count || r->copies || !e->has_name ||
      !strncmp(e->name.bytes, "Memcpy", 6) || !strncmp(e->name.bytes, "Memset", 6))
    return false;
  uint32_t gpu = text_table_find(&r->gpus, e->pid.text, e->pid.length);
  uint32_t stream = text_table_find(&r->streams, key, stream_key(r, key, sizeof key));
  if (gpu == UINT32_MAX || stream == UINT32_MAX)
    return false;
  r->foreign->facts.kind = INK_FOREIGN_XLA;
  if (!r->has_device)
    r->type.device = r->gpu_devices[gpu];
  r->has_device = true;
  if (r->type.stream == INT64_MIN)
    r->type.stream = r->stream_numbers[stream];
  return true;
}

/* ---- events ------------------------------------------------------------------------------------
 */

static bool is_kernel(reader *r) {
  const trace_event *e = &r->event;
  if (e->phase != 'X' && e->phase != 'B')
    return false;
  if (e->has_category && e->category.size)
    return foreign_is_kernel(e->category.bytes);
  return is_xla_kernel(r);
}

static ink_status add_kernel(reader *r, uint32_t name, bool timed, int64_t begin_ns, int64_t end_ns,
                             int64_t correlation) {
  ink_foreign *f = r->foreign;
  const trace_event *e = &r->event;
  ink_foreign_type *t = &r->type;
  const ink_foreign_kernel k = {.begin_ns = begin_ns, .end_ns = end_ns, .correlation = correlation};
  if (!timed || end_ns < begin_ns) {
    f->facts.kernels_left_out++;
    return INK_OK;
  }
  t->name = name;
  if (!r->has_device)
    t->device = e->pid.is_number && e->pid.number >= 0 && e->pid.number < INT32_MAX
                    ? (int32_t)e->pid.number
                    : 0;
  if (t->stream == INT64_MIN)
    t->stream = e->tid.is_number ? e->tid.number : 0;
  if (!t->grid_dim[0] || !t->grid_dim[1] || !t->grid_dim[2] || !t->block_dim[0] ||
      !t->block_dim[1] || !t->block_dim[2]) {
    memset(t->grid_dim, 0, sizeof t->grid_dim);
    memset(t->block_dim, 0, sizeof t->block_dim);
  }
  TRY(ink_foreign_place(f, t, &e->pid, &e->tid));
  return ink_foreign_add(f, t, &k);
}

static ink_status take_kernel(reader *r) {
  const trace_event *e = &r->event;
  int64_t end_ns = 0;
  const bool timed = e->has_ts && e->has_dur && e->dur_ns >= 0 && e->has_name &&
                     !__builtin_add_overflow(e->ts_ns, e->dur_ns, &end_ns);
  uint32_t name = UINT32_MAX;
  if (timed)
    TRY(ink_foreign_intern(r->foreign, e->name.bytes, e->name.size, &name));
  return add_kernel(r, name, timed, e->ts_ns, end_ns, r->correlation);
}

/* ---- kernels whose begin and end are two events ---- */

static ink_status thread_of(reader *r, uint32_t *out) {
  char key[2 * TRACE_ID_MAX];
  bool fresh;
  TRY(text_table_add(&r->threads, key, stream_key(r, key, sizeof key), out, &fresh));
  void *innermost = r->innermost;
  const ink_status status = ink_grow(&innermost, *out, &r->thread_room, sizeof *r->innermost);
  r->innermost = innermost;
  if (status == INK_OK && fresh)
    r->innermost[*out] = 0;
  return status;
}

static ink_status take_begin(reader *r, bool kernel) {
  const trace_event *e = &r->event;
  uint32_t thread;
  open_event begun = {.kernel = kernel, .has_ts = e->has_ts, .has_device = r->has_device,
                      .begin_ns = e->ts_ns, .correlation = r->correlation, .type = r->type};
  if (kernel)
    TRY(ink_foreign_intern(r->foreign, e->has_name ? e->name.bytes : "", e->has_name ? e->name.size : 0,
                           &begun.name));
  TRY(thread_of(r, &thread));
  void *open = r->open;
  const ink_status status = ink_grow(&open, r->open_count, &r->open_room, sizeof *r->open);
  r->open = open;
  if (status != INK_OK)
    return status;
  begun.outer = r->innermost[thread];
  r->open_kernels += kernel;
  r->open[r->open_count++] = begun;
  r->innermost[thread] = (uint32_t)r->open_count;
  return INK_OK;
}

static ink_status take_end(reader *r) {
  const trace_event *e = &r->event;
  uint32_t thread;
  TRY(thread_of(r, &thread));
  if (!r->innermost[thread])
    return INK_OK; /* an end without its begin */
  const open_event begun = r->open[r->innermost[thread] - 1];
  r->innermost[thread] = begun.outer;
  if (!begun.kernel)
    return INK_OK;
  if (--r->open_kernels == 0) { /* what is open around it need not be known */
    memset(r->innermost, 0, r->threads.count * sizeof *r->innermost);
    r->open_count = 0;
  }
  r->type = begun.type;
  r->has_device = begun.has_device;
  return add_kernel(r, begun.name, begun.has_ts && e->has_ts, begun.begin_ns, e->ts_ns,
                    begun.correlation);
}

static ink_status end_event(reader *r) {
  r->foreign->facts.events++;
  if (r->event.has_category)
    foreign_note_category(r->foreign, r->event.category.bytes);
  if (r->event.phase == 'M')
    TRY(note_name(r));
  const bool kernel = is_kernel(r);
  if (r->event.phase == 'B' && (kernel || r->open_kernels))
    TRY(take_begin(r, kernel));
  else if (r->event.phase == 'E' && r->open_kernels)
    TRY(take_end(r));
  else if (kernel)
    TRY(take_kernel(r));
  const foreign_listener *to = r->listener;
  return to ? to->event(to->user, &r->event, r->meta_name, r->meta_labels) : INK_OK;
}

static ink_status read_event(reader *r) {
  trace_event_clear(&r->event);
  r->type = (ink_foreign_type){
      .name = UINT32_MAX, .short_name = UINT32_MAX, .mangled = UINT32_MAX, .stream = INT64_MIN};
  r->correlation = -1;
  r->has_device = r->copies = false;
  r->meta_name[0] = r->meta_labels[0] = 0;
  for (;;) {
    enum json_token token;
    bool taken;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return end_event(r);
    enum trace_key key = trace_event_key(&r->scan);
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (key == TRACE_ARGS) {
      r->event.members++;
      TRY(read_arguments(r, token));
      continue;
    }
    TRY(trace_event_member(&r->event, key, token, &r->scan, &taken));
    TRY(ink_json_skip(&r->scan, token, r->error));
  }
}

static ink_status tell(const reader *r) {
  const foreign_reading *how = r->how;
  return how && how->progress
             ? how->progress(how->user, r->scan.bytes.taken, 2 * r->scan.bytes.size)
             : INK_OK;
}

static ink_status read_events(reader *r) {
  for (;;) {
    enum json_token token;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_ARRAY_END) {
      r->foreign->events_end = ink_json_offset(&r->scan) - !r->scan.unclosed;
      return INK_OK;
    }
    TRY(token == JSON_OBJECT ? read_event(r) : ink_json_skip(&r->scan, token, r->error));
    if (!(r->foreign->facts.events & 0xfff))
      TRY(tell(r));
  }
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static ink_status read_object(reader *r, bool *found) {
  for (;;) {
    enum json_token token;
    char key[TRACE_ID_MAX];
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return INK_OK;
    trace_text(&r->scan, key, sizeof key);
    bool base = !strcmp(key, "baseTimeNanoseconds");
    TRY(ink_json_next(&r->scan, &token, r->error));
    int64_t value;
    if (!strcmp(key, "traceEvents") && !*found && token == JSON_ARRAY) {
      *found = true;
      TRY(read_events(r));
      continue;
    }
    if (base && (token == JSON_NUMBER || token == JSON_STRING) &&
        trace_integer(r->scan.text, &value) && value >= 0 && value < INT64_C(1) << 62) {
      r->foreign->facts.base_ns = value;
      r->foreign->facts.base_known = true;
    }
    if (!base && r->listener)
      TRY(r->listener->key(r->listener->user, key));
    TRY(ink_json_skip(&r->scan, token, r->error));
  }
}

static ink_status read_file(reader *r) {
  enum json_token token;
  bool found = false;
  TRY(ink_json_next(&r->scan, &token, r->error));
  if (token == JSON_ARRAY) {
    found = true;
    TRY(read_events(r));
  } else if (token == JSON_OBJECT) {
    TRY(read_object(r, &found));
  }
  if (!found)
    return ink_error_set(r->error, INK_ERROR_FORMAT, "'%s' has no \"traceEvents\": not a trace",
                         r->scan.path);
  return ink_json_next(&r->scan, &token, r->error); /* nothing may follow */
}

/* Times beyond what Unix time with a base can be are left out rather than wrapped. */
static void add_base(ink_foreign *f) {
  if (!f->facts.base_known)
    f->facts.base_known = foreign_are_dates(f);
  size_t kept = 0;
  int64_t base = f->facts.base_ns;
  for (size_t i = 0; i < f->kernel_count; i++) {
    ink_foreign_kernel k = f->kernels[i];
    if (__builtin_add_overflow(k.begin_ns, base, &k.begin_ns) ||
        __builtin_add_overflow(k.end_ns, base, &k.end_ns) || k.end_ns > INT64_MAX / 2 ||
        k.begin_ns < -(INT64_MAX / 2)) {
      f->facts.kernels_left_out++;
      continue;
    }
    f->kernels[kept++] = k;
  }
  f->kernel_count = kept;
}

ink_status ink_kineto_read(ink_foreign *f, const char *path, const foreign_reading *how, ink_error *error) {
  ink_error own = {0};
  reader *r = calloc(1, sizeof *r);
  if (!r)
    return INK_ERROR_MEMORY;
  *r = (reader){.foreign = f, .listener = how ? how->listener : NULL, .how = how, .error = error ? error : &own};
  f->facts.kind = INK_FOREIGN_KINETO;
  ink_status status = ink_json_open(&r->scan, path, r->error);
  if (status == INK_OK)
    status = read_file(r);
  if (status == INK_OK)
    add_base(f);
  f->facts.bytes = ink_json_offset(&r->scan);
  f->edits = ink_json_take_edits(&r->scan);
  f->packed_bytes = r->scan.bytes.size;
  ink_json_close(&r->scan);
  trace_event_free(&r->event);
  text_table_free(&r->gpus);
  text_table_free(&r->streams);
  text_table_free(&r->threads);
  free(r->innermost);
  free(r->open);
  free(r->gpu_devices);
  free(r->stream_numbers);
  free(r);
  return status;
}
