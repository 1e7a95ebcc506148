/* SPDX-License-Identifier: MIT */
/* Opens a trace of another profiler: tells what it is, has it read, sorts what came. */
#include "foreign_private.h"
#include "kineto.h"

#include "capture/capture_format.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 512 };

static int by_begin(const void *left, const void *right) {
  const ink_foreign_kernel *a = left, *b = right;
  if (a->type->device != b->type->device)
    return a->type->device < b->type->device ? -1 : 1;
  if (a->begin_ns != b->begin_ns)
    return a->begin_ns < b->begin_ns ? -1 : 1;
  if (a->end_ns != b->end_ns)
    return a->end_ns < b->end_ns ? -1 : 1;
  return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

/* What such a file is, if it is anything that one could take for a trace. */
static const char *known_as(const char *path, const char *head, size_t n) {
  size_t length = strlen(path);
  const char *dot = strrchr(path, '.');
  if (n >= 8 && !memcmp(head, INK_FILE_MAGIC, 8))
    return "a capture of inkmark's own";
  if ((n > 2 && head[0] == 0x0a && head[1] != '{' && head[1] != '[' && head[1] != '\n' &&
       head[1] != ' ') ||
      (dot && (!strcmp(dot, ".pftrace") || !strcmp(dot, ".perfetto-trace"))))
    return "a Perfetto trace, which is not read";
  if ((length > 9 && !strcmp(path + length - 9, ".nsys-rep")) || (dot && !strcmp(dot, ".qdrep")))
    return "an Nsight Systems report: 'nsys export --type sqlite' makes of it what is read";
  if (length > 10 && !strcmp(path + length - 10, ".xplane.pb"))
    return "an XLA profile in protobuf: the .trace.json.gz beside it is read";
  return NULL;
}

static ink_status not_a_trace(const char *path, const char *head, size_t n, ink_error *error) {
  const char *known = known_as(path, head, n);
  if (known)
    return ink_error_set(error, INK_ERROR_FORMAT,
                         "'%s' is %s; read are PyTorch's and XLA's JSON traces and Nsight Systems "
                         "SQLite exports",
                         path, known);
  return ink_error_set(error, INK_ERROR_FORMAT,
                       "'%s' is neither a JSON trace nor an Nsight Systems SQLite export", path);
}

static ink_status read_json(ink_foreign *f, const char *path, const foreign_reading *how,
                            ink_error *error) {
  convert_notes *notes = NULL;
  if (how && how->notes) {
    notes = calloc(1, sizeof *notes);
    if (!notes)
      return INK_ERROR_MEMORY;
    notes->lowest_ns = INT64_MAX;
    notes->highest_ns = INT64_MIN;
  }
  ink_status status = ink_kineto_read(f, notes, path, how, error);
  if (status == INK_OK && notes && convert_notes_fit(notes, f->facts.base_ns)) {
    f->notes = notes;
    notes = NULL;
  }
  foreign_free_notes(notes);
  return status;
}

static ink_status read_by_kind(ink_foreign *f, const char *path, const foreign_reading *how,
                               ink_error *error) {
  char head[HEAD_BYTES];
  size_t n = 0;
  trace_bytes in;
  ink_status status = trace_bytes_open(&in, path, error);
  for (size_t got = 1; status == INK_OK && got && n < sizeof head; n += got)
    status = trace_bytes_read(&in, head + n, sizeof head - n, &got, error);
  enum trace_packing packing = in.packing;
  trace_bytes_close(&in);
  if (status != INK_OK && !n)
    return status; /* the beginning of a file that is cut off tells what it is */
  if (!n)
    return ink_error_set(error, INK_ERROR_EMPTY, "'%s' is empty", path);
  if (n >= 16 && !memcmp(head, "SQLite format 3", 16)) {
    if (packing != TRACE_PLAIN)
      return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                           "'%s' is a packed SQLite file: unpack it first", path);
    f->facts.kind = INK_FOREIGN_NSIGHT;
    return ink_nsight_read(f, path, error);
  }
  size_t at = 0;
  while (at < n && head[at] && strchr(" \t\r\n", head[at]))
    at++;
  if (at < n && head[at] != '{' && head[at] != '[')
    return not_a_trace(path, head, n, error);
  return read_json(f, path, how, error);
}

ink_status foreign_open(const char *path, const foreign_reading *how, ink_foreign **out,
                        ink_error *error) {
  ink_foreign *f = calloc(1, sizeof *f);
  if (!f)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  ink_status status = read_by_kind(f, path, how, error);
  if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  if (status == INK_OK && !f->kernel_count)
    status =
        ink_error_set(error, INK_ERROR_EMPTY, "'%s' holds no GPU kernels that can be used", path);
  if (status != INK_OK) {
    ink_foreign_free(f);
    return status;
  }
  size_t i = 1; /* sorting takes as much memory again: not where there is nothing to sort */
  while (i < f->kernel_count && by_begin(&f->kernels[i - 1], &f->kernels[i]) <= 0)
    i++;
  if (i < f->kernel_count)
    qsort(f->kernels, f->kernel_count, sizeof *f->kernels, by_begin);
  *out = f;
  return INK_OK;
}

ink_status ink_foreign_open(const char *path, ink_foreign **out, ink_error *error) {
  return foreign_open(path, NULL, out, error);
}
