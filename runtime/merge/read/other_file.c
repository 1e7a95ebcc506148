/* SPDX-License-Identifier: MIT */
/* Copies another profiler's trace, unpacked, from where it stands to any byte. */
#include "other_file.h"

#include <stdlib.h>

enum { COPY_BYTES = 256 * 1024 };

ink_status other_file_open(other_file *in, const char *path, ink_error *error) {
  *in = (other_file){0};
  ink_status status = trace_bytes_open(&in->bytes, path, error);
  in->buffer = malloc(COPY_BYTES);
  if (status == INK_OK && !in->buffer)
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  return status;
}

static ink_status refill(other_file *in, ink_error *error) {
  in->at = 0;
  return trace_bytes_read(&in->bytes, in->buffer, COPY_BYTES, &in->filled, error);
}

ink_status other_file_copy(other_file *in, ink_file *out, uint64_t to, const placement *place,
                           ink_error *error) {
  const ink_merged_options *o = &place->options;
  while (in->position < to) {
    if (in->at == in->filled) {
      ink_status status = refill(in, error);
      if (status == INK_OK && o->progress)
        status = o->progress(o->user, in->bytes.size + in->bytes.taken, 2 * in->bytes.size);
      if (status == INK_OK)
        status = ink_file_check(out, error);
      if (status != INK_OK)
        return status;
      if (!in->filled && to != UINT64_MAX)
        return ink_error_set(error, INK_ERROR_IO, "'%s' changed while it was read", in->bytes.path);
      if (!in->filled)
        return INK_OK;
    }
    size_t n = in->filled - in->at;
    n = to - in->position < n ? (size_t)(to - in->position) : n;
    ink_file_write(out, in->buffer + in->at, n);
    in->at += n;
    in->position += n;
  }
  return INK_OK;
}

void other_file_close(other_file *in) {
  if (in->bytes.path)
    trace_bytes_close(&in->bytes);
  free(in->buffer);
  *in = (other_file){0};
}
