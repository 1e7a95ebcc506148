/* SPDX-License-Identifier: MIT */
/* The kernels of a PyTorch (Kineto) trace: complete events of category "kernel", one event at a
 * time, so that memory does not grow with the file. */
#include "foreign_private.h"
#include "json_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct event {
  ink_foreign_kernel kernel;
  bool complete, is_kernel, has_begin, has_length, has_device;
  int64_t pid, tid, length_ns;
  bool has_pid, has_tid;
} event;

typedef struct reader {
  ink_foreign *foreign;
  json_scan scan;
  ink_error *error;
} reader;

#define TRY(expression)                                                                            \
  do {                                                                                             \
    ink_status status_ = (expression);                                                             \
    if (status_ != INK_OK)                                                                         \
      return status_;                                                                              \
  } while (0)

/* Microseconds as text to ns, exact to the ns (rounded beyond). False: no number, or beyond +-146
 * years. */
bool ink_us_to_ns(const char *text, int64_t *out) {
  const int64_t limit = INT64_C(4611686018427387904);
  bool minus = *text == '-';
  const char *p = text + minus;
  if (strpbrk(p, "eE")) {
    double us = strtod(text, NULL);
    if (!(us > -4.6e15 && us < 4.6e15))
      return false;
    *out = (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
    return true;
  }
  int64_t ns = 0;
  int decimals = -1;
  for (; *p; p++) {
    if (*p == '.' && decimals < 0) {
      decimals = 0;
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
  *out = minus ? -ns : ns;
  return true;
}

/* An integer, also where the file has it as a string. */
static bool text_integer(const char *text, int64_t *out) {
  char *end;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end)
    return false;
  *out = value;
  return true;
}

static ink_status read_three(reader *r, enum json_token token, uint32_t out[3]) {
  if (token != JSON_ARRAY)
    return ink_json_skip(&r->scan, token, r->error);
  for (size_t i = 0;; i++) {
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_ARRAY_END)
      return INK_OK;
    int64_t value;
    if (token == JSON_NUMBER && i < 3 && text_integer(r->scan.text, &value) && value > 0 &&
        value <= INT32_MAX)
      out[i] = (uint32_t)value;
    TRY(ink_json_skip(&r->scan, token, r->error));
  }
}

/* The key just read; "" for one too long to be any that is looked for. */
static void take_key(const reader *r, char *key, size_t size) {
  size_t length = r->scan.length < size ? r->scan.length : 0;
  memcpy(key, r->scan.text, length);
  key[length] = 0;
}

static ink_status read_arguments(reader *r, enum json_token token, event *e) {
  if (token != JSON_OBJECT)
    return ink_json_skip(&r->scan, token, r->error);
  for (;;) {
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return INK_OK;
    char key[16];
    take_key(r, key, sizeof key);
    r->scan.keep = true;
    TRY(ink_json_next(&r->scan, &token, r->error));
    int64_t value = 0;
    bool integer =
        (token == JSON_NUMBER || token == JSON_STRING) && text_integer(r->scan.text, &value);
    if (!strcmp(key, "grid")) {
      TRY(read_three(r, token, e->kernel.grid_dim));
    } else if (!strcmp(key, "block")) {
      TRY(read_three(r, token, e->kernel.block_dim));
    } else {
      if (!strcmp(key, "device") && integer && value >= INT32_MIN && value <= INT32_MAX) {
        e->kernel.device = (int32_t)value;
        e->has_device = true;
      } else if (!strcmp(key, "stream") && integer) {
        e->kernel.stream = value;
      } else if (!strcmp(key, "correlation") && integer) {
        e->kernel.correlation = value;
      }
      TRY(ink_json_skip(&r->scan, token, r->error));
    }
  }
}

static ink_status read_member(reader *r, const char *key, event *e) {
  enum json_token token;
  r->scan.keep = true;
  TRY(ink_json_next(&r->scan, &token, r->error));
  const char *text = r->scan.text;
  bool word = token == JSON_STRING, number = token == JSON_NUMBER;
  if (!strcmp(key, "args"))
    return read_arguments(r, token, e);
  if (!strcmp(key, "ph"))
    e->complete = word && !strcmp(text, "X");
  else if (!strcmp(key, "cat"))
    e->is_kernel = word && !strcasecmp(text, "kernel"); /* "Kernel" before 2022 */
  else if (!strcmp(key, "name") && word)
    TRY(ink_foreign_intern(r->foreign, text, r->scan.length, &e->kernel.name));
  else if (!strcmp(key, "ts"))
    e->has_begin = (number || word) && ink_us_to_ns(text, &e->kernel.begin_ns);
  else if (!strcmp(key, "dur"))
    e->has_length = (number || word) && ink_us_to_ns(text, &e->length_ns);
  else if (!strcmp(key, "pid"))
    e->has_pid = (number || word) && text_integer(text, &e->pid);
  else if (!strcmp(key, "tid"))
    e->has_tid = (number || word) && text_integer(text, &e->tid);
  return ink_json_skip(&r->scan, token, r->error);
}

static ink_status end_event(reader *r, event *e) {
  ink_foreign *f = r->foreign;
  f->facts.events++;
  if (!e->complete || !e->is_kernel)
    return INK_OK;
  ink_foreign_kernel *k = &e->kernel;
  if (!e->has_begin || !e->has_length || e->length_ns < 0 || k->name == UINT32_MAX) {
    f->facts.kernels_left_out++;
    return INK_OK;
  }
  if (!e->has_device)
    k->device = e->has_pid && e->pid >= 0 && e->pid < INT32_MAX ? (int32_t)e->pid : 0;
  if (k->stream == INT64_MIN)
    k->stream = e->has_tid ? e->tid : 0;
  if (!k->grid_dim[0] || !k->grid_dim[1] || !k->grid_dim[2] || !k->block_dim[0] ||
      !k->block_dim[1] || !k->block_dim[2]) {
    memset(k->grid_dim, 0, sizeof k->grid_dim);
    memset(k->block_dim, 0, sizeof k->block_dim);
  }
  if (__builtin_add_overflow(k->begin_ns, e->length_ns, &k->end_ns)) {
    f->facts.kernels_left_out++;
    return INK_OK;
  }
  return ink_foreign_add(f, k);
}

static ink_status read_event(reader *r) {
  event e = {.kernel = {.name = UINT32_MAX,
                        .short_name = UINT32_MAX,
                        .mangled = UINT32_MAX,
                        .stream = INT64_MIN,
                        .correlation = -1}};
  for (;;) {
    enum json_token token;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return end_event(r, &e);
    char key[8];
    take_key(r, key, sizeof key);
    TRY(read_member(r, key, &e));
  }
}

static ink_status read_events(reader *r) {
  for (;;) {
    enum json_token token;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_ARRAY_END) {
      r->foreign->events_end = ink_json_offset(&r->scan) - 1;
      return INK_OK;
    }
    TRY(token == JSON_OBJECT ? read_event(r) : ink_json_skip(&r->scan, token, r->error));
  }
}

static ink_status read_object(reader *r, bool *found) {
  for (;;) {
    enum json_token token;
    TRY(ink_json_next(&r->scan, &token, r->error));
    if (token == JSON_OBJECT_END)
      return INK_OK;
    bool base = !strcmp(r->scan.text, "baseTimeNanoseconds");
    bool events = !strcmp(r->scan.text, "traceEvents") && !*found;
    r->scan.keep = base;
    TRY(ink_json_next(&r->scan, &token, r->error));
    int64_t value;
    if (events && token == JSON_ARRAY) {
      *found = true;
      TRY(read_events(r));
      continue;
    }
    if (base && (token == JSON_NUMBER || token == JSON_STRING) &&
        text_integer(r->scan.text, &value) && value >= 0 && value < INT64_C(1) << 62) {
      r->foreign->facts.base_ns = value;
      r->foreign->facts.base_known = true;
    }
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

ink_status ink_kineto_read(ink_foreign *f, const char *path, ink_error *error) {
  ink_error own = {0};
  reader *r = calloc(1, sizeof *r);
  if (!r)
    return INK_ERROR_MEMORY;
  *r = (reader){.foreign = f, .error = error ? error : &own};
  ink_status status = ink_json_open(&r->scan, path, r->error);
  if (status == INK_OK)
    status = read_file(r);
  if (status == INK_OK)
    add_base(f);
  f->facts.bytes = ink_json_offset(&r->scan);
  ink_json_close(&r->scan);
  free(r);
  return status;
}
