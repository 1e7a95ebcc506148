/* SPDX-License-Identifier: MIT */
/* Copies another profiler's trace, unpacked, from where it stands to any byte. */
#include "other_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

enum { COPY_BYTES = 256 * 1024 };

ink_status other_file_open(other_file *in, const char *path, ink_error *error) {
  struct stat st;
  *in = (other_file){.path = path};
  in->file = gzopen(path, "rb");
  in->buffer = malloc(COPY_BYTES);
  if (!in->file || !in->buffer)
    return ink_error_set(error, in->file ? INK_ERROR_MEMORY : INK_ERROR_IO,
                         in->file ? "out of memory" : "cannot open '%s'", path);
  gzbuffer(in->file, COPY_BYTES);
  in->packed_bytes = !stat(path, &st) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
  return INK_OK;
}

static ink_status refill(other_file *in, ink_error *error) {
  int n = gzread(in->file, in->buffer, COPY_BYTES);
  if (n < 0)
    return ink_error_set(error, INK_ERROR_IO, "cannot read '%s' beyond byte %llu", in->path,
                         (unsigned long long)in->position);
  in->at = 0;
  in->filled = (size_t)n;
  return INK_OK;
}

ink_status other_file_copy(other_file *in, ink_file *out, uint64_t to, const placement *place,
                           ink_error *error) {
  const ink_merged_options *o = &place->options;
  while (in->position < to) {
    if (in->at == in->filled) {
      ink_status status = refill(in, error);
      if (status == INK_OK && o->progress)
        status = o->progress(o->user, (uint64_t)gzoffset(in->file), in->packed_bytes);
      if (status == INK_OK)
        status = ink_file_check(out, error);
      if (status != INK_OK)
        return status;
      if (!in->filled && to != UINT64_MAX)
        return ink_error_set(error, INK_ERROR_IO, "'%s' changed while it was read", in->path);
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
  if (in->file)
    gzclose(in->file);
  free(in->buffer);
  *in = (other_file){0};
}
