/* SPDX-License-Identifier: MIT */
/* Makes a whole capture of what a damaged or unfinished one still has: its good chunks, one after the other, as they
 * are, also those of types that this version does not know, and a fact that says what was missing. */
#include "capture_private.h"

#include <string.h>
#include <unistd.h>

static ink_status copy_chunks(const ink_capture *from, ink_writer *writer, ink_error *error) {
  ink_status status = INK_OK;
  for (size_t i = 0; i < from->good.count && status == INK_OK; i++) {
    ink_chunk_header header;
    memcpy(&header, from->bytes + from->good.items[i], sizeof header);
    if (header.type != INK_CHUNK_END)
      status = ink_i_writer_chunk(writer, header.type, NULL, 0,
                                  from->bytes + from->good.items[i] + sizeof header,
                                  (size_t)header.bytes, error);
  }
  return status;
}

/* A failure leaves no file: one that holds a part would pass for what there was. */
static ink_status write_to(const ink_capture *capture, const char *to, ink_error *error) {
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  ink_writer *writer = NULL;
  ink_status status = ink_writer_open(to, false, &writer, error);
  if (status != INK_OK)
    return status;
  status = copy_chunks(capture, writer, error);
  if (status == INK_OK && !facts->complete)
    status = ink_writer_fact(writer, "recovered", facts->note, error);
  if (status == INK_OK)
    status = ink_writer_close(writer, error);
  else
    ink_writer_abandon(writer);
  if (status != INK_OK)
    unlink(to);
  return status;
}

ink_status ink_capture_recover(const char *from, const char *to, ink_recovered *out, ink_error *error) {
  if (!from || !to)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no capture to recover");
  ink_capture *capture = NULL;
  ink_status status = ink_i_capture_open_chunks(from, &capture, error);
  if (status != INK_OK)
    return status;
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  ink_recovered done = {.tracks = ink_capture_track_count(capture), .chunks = capture->good.count,
                        .lost_bytes = facts->file_bytes - facts->used_bytes, .open_tracks = facts->open_tracks};
  memcpy(done.missing, facts->note, sizeof done.missing);
  if (!capture->good.count)
    status = ink_error_set(error, INK_ERROR_DAMAGED, "nothing of '%s' can be read: %s", from,
                           facts->note[0] ? facts->note : "it holds no whole chunk");
  if (status == INK_OK)
    status = write_to(capture, to, error);
  ink_capture_free(capture);
  if (status == INK_OK && out)
    *out = done;
  return status;
}
