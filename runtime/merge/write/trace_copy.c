/* SPDX-License-Identifier: MIT */
/* Copies another profiler's trace, unpacked, from where it stands to any byte. */
#include "trace_copy.h"

#include <stdlib.h>

enum { COPY_BYTES = 256 * 1024 };

ink_status trace_copy_open(trace_copy *in, const char *path, ink_error *error) {
  *in = (trace_copy){0};
  ink_status status = trace_bytes_open(&in->bytes, path, error);
  in->buffer = malloc(COPY_BYTES);
  if (status == INK_OK && !in->buffer)
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  return status;
}

static ink_status refill(trace_copy *in, ink_error *error) {
  in->at = 0;
  return trace_bytes_read(&in->bytes, in->buffer, COPY_BYTES, &in->filled, error);
}

/* Bytes from where the copy stands, up to `most`: copied, or dropped where out is NULL. */
static void pass_on(trace_copy *in, ink_file *out, uint64_t most) {
  size_t n = in->filled - in->at;
  n = most < n ? (size_t)most : n;
  if (out)
    ink_file_write(out, in->buffer + in->at, n);
  in->at += n;
  in->position += n;
}

/* One step towards `to`: the next bytes, or what is done at the next edit. */
static void copy_some(trace_copy *in, ink_file *out, uint64_t to) {
  const json_edit *edit = in->edits.count ? in->edits.list : NULL;
  if (!edit || edit->at >= to || in->position < edit->at) {
    const uint64_t end = edit && edit->at < to ? edit->at : to;
    pass_on(in, out, end - in->position);
  } else if (in->position < edit->at + edit->drop) {
    pass_on(in, NULL, edit->at + edit->drop - in->position);
  } else {
    ink_file_text(out, edit->put);
    in->edits.list++;
    in->edits.count--;
  }
}

/* What comes at the very end of the file. */
static void put_rest(trace_copy *in, ink_file *out) {
  for (; in->edits.count && in->position >= in->edits.list->at + in->edits.list->drop; in->edits.count--)
    ink_file_text(out, in->edits.list++->put);
}

ink_status trace_copy_copy(trace_copy *in, ink_file *out, uint64_t to, const placement *place,
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
      if (!in->filled) {
        put_rest(in, out);
        return INK_OK;
      }
    }
    copy_some(in, out, to);
  }
  return INK_OK;
}

void trace_copy_close(trace_copy *in) {
  if (in->bytes.path)
    trace_bytes_close(&in->bytes);
  free(in->buffer);
  *in = (trace_copy){0};
}
