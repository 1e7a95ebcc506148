/* SPDX-License-Identifier: MIT */
/* Opens a trace of another profiler: tells what it is, has it read, sorts what came. */
#include "foreign_private.h"
#include "kineto.h"

#include "capture/capture_format.h"
#include "number_text.h"

#include <stdio.h>
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

static bool ends_with(const char *path, const char *ending) {
  const size_t length = strlen(path), n = strlen(ending);
  return length > n && ink_i_same_letters(path + length - n, ending);
}

/* Messages of field 1: of a Perfetto trace packets, of an XSpace planes, whose field 2 is a name. Text that begins
 * with a line break looks the same at first, but has no control characters. */
static bool is_protobuf(const char *head, size_t n) {
  bool text = true;
  for (size_t i = 0; i < n && text; i++)
    text = (unsigned char)head[i] >= ' ' || strchr("\n\r\t", head[i] ? head[i] : 1);
  return n > 2 && head[0] == 0x0a && !text;
}

static bool has_plane(const char *head, size_t n) {
  static const char *const names[] = {"/device:", "/host:", "Task Environment", "/mosaic"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (memmem(head, n, names[i], strlen(names[i])))
      return true;
  return false;
}

/* What such a file is, if it is anything that one could take for a trace, and what to do with it. */
static const char *known_as(const char *path, const char *head, size_t n) {
  if (n >= 8 && !memcmp(head, INK_FILE_MAGIC, 8))
    return "a capture of inkmark's own";
  if (ends_with(path, ".nsys-rep") || ends_with(path, ".qdrep"))
    return "an Nsight Systems report: 'nsys export --type sqlite' makes of it what is read";
  if (ends_with(path, ".ncu-rep"))
    return "an Nsight Compute report, which has counters and no times of launches: 'nsys profile' records those";
  if (n >= 262 && !memcmp(head + 257, "ustar", 5))
    return "a tar archive: unpack it first";
  if (n >= 6 && !memcmp(head, "7z\xbc\xaf\x27\x1c", 6))
    return "a 7z archive: unpack it first";
  return NULL;
}

static ink_status not_a_trace(const char *path, const char *head, size_t n, ink_error *error) {
  const char *known = known_as(path, head, n);
  if (known)
    return ink_error_set(error, INK_ERROR_FORMAT,
                         "'%s' is %s; read are PyTorch's and XLA's traces, Perfetto traces and Nsight "
                         "Systems SQLite exports",
                         path, known);
  return ink_error_set(error, INK_ERROR_FORMAT,
                       "'%s' is neither a JSON or Perfetto trace nor an Nsight Systems SQLite export", path);
}

static ink_status read_by_kind(ink_foreign *f, const char *path, const foreign_reading *how,
                               ink_error *error) {
  char head[HEAD_BYTES];
  size_t n = 0;
  trace_bytes in;
  ink_status status = trace_bytes_open(&in, path, error);
  for (size_t got = 1; status == INK_OK && got && n < sizeof head; n += got)
    status = trace_bytes_read(&in, head + n, sizeof head - n, &got, error);
  const bool packed = in.layer_count > 0;
  trace_bytes_close(&in);
  if (status != INK_OK && !n)
    return status; /* the beginning of a file that is cut off tells what it is */
  if (!n)
    return ink_error_set(error, INK_ERROR_EMPTY, "'%s' is empty", path);
  if (n >= 16 && !memcmp(head, "SQLite format 3", 16)) {
    if (packed)
      return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                           "'%s' is a packed SQLite file: unpack it first", path);
    f->facts.kind = INK_FOREIGN_NSIGHT;
    return ink_nsight_read(f, path, error);
  }
  if (is_protobuf(head, n) && !known_as(path, head, n))
    return ends_with(path, ".xplane.pb") || has_plane(head, n) ? ink_xplane_read(f, path, how, error)
                                                               : ink_perfetto_read(f, path, how, error);
  size_t at = n >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0; /* a byte order mark */
  while (at < n && head[at] && strchr(" \t\r\n", head[at]))
    at++;
  if (at < n && head[at] != '{' && head[at] != '[')
    return not_a_trace(path, head, n, error);
  return ink_kineto_read(f, path, how, error);
}

static ink_status no_kernels(const ink_foreign *f, const char *path, ink_error *error) {
  char seen[FOREIGN_CATEGORIES * 48] = "";
  size_t n = 0;
  for (size_t i = 0; i < f->category_count; i++)
    n += (size_t)snprintf(seen + n, sizeof seen - n, "%s'%s'", i ? ", " : "", f->categories[i]);
  if (f->packets.lost)
    return ink_error_set(error, INK_ERROR_EMPTY,
                         "'%s' holds no GPU kernels that can be used: %llu of its events refer to names that are not in "
                         "it, as where the beginning of a trace is lost",
                         path, (unsigned long long)f->packets.lost);
  if (f->facts.kernels_left_out)
    return ink_error_set(error, INK_ERROR_EMPTY,
                         "'%s' holds no GPU kernels that can be used: %llu have no name or no times", path,
                         (unsigned long long)f->facts.kernels_left_out);
  return ink_error_set(error, INK_ERROR_EMPTY, "'%s' holds no GPU kernels that can be used%s%s%s", path,
                       !n                                     ? ""
                       : f->facts.kind == INK_FOREIGN_XPLANE ? ": its planes are "
                                                             : ": the categories of its events are ",
                       seen,
                       f->category_count == FOREIGN_CATEGORIES ? ", ..." : "");
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
    status = no_kernels(f, path, error);
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
