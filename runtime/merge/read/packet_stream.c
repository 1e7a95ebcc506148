/* SPDX-License-Identifier: MIT */
/* Takes a protobuf file apart into the messages of its first field. Memory grows with what was read, never with
 * what a length says. */
#include "packet_stream.h"

#include "merge/try.h"

#include <stdlib.h>

enum { CHUNK_BYTES = 256 * 1024, LONGEST_HEAD = 20, UNPACKED_TIMES = 1032 /* as far as zlib can pack */ };

uint64_t packet_stream_offset(const packet_stream *s) {
  return s->before + s->at;
}

static ink_status damaged(const packet_stream *s, const char *what, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED, "'%s' is damaged at byte %llu: %s", s->path,
                       (unsigned long long)packet_stream_offset(s), what);
}

static ink_status ends_early(const packet_stream *s, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED, "'%s' ends in the middle, after %llu bytes", s->path,
                       (unsigned long long)(s->before + s->filled));
}

ink_status packet_stream_open(packet_stream *s, const char *path, size_t most, ink_error *error) {
  *s = (packet_stream){.path = path, .most = most};
  const ink_status status = trace_bytes_open(&s->bytes, path, error);
  s->buffer = malloc(CHUNK_BYTES);
  s->room = s->buffer ? CHUNK_BYTES : 0;
  return status == INK_OK && !s->buffer ? INK_ERROR_MEMORY : status;
}

void packet_stream_close(packet_stream *s) {
  if (s->bytes.path)
    trace_bytes_close(&s->bytes);
  free(s->buffer);
  free(s->inner);
  *s = (packet_stream){0};
}

/* At least `size` bytes from s->at on in the buffer, or all that there are. */
static ink_status want(packet_stream *s, size_t size, ink_error *error) {
  while (s->filled - s->at < size && !s->ended) {
    if (s->at) {
      memmove(s->buffer, s->buffer + s->at, s->filled - s->at);
      s->before += s->at;
      s->filled -= s->at;
      s->at = 0;
    }
    if (s->filled == s->room) {
      unsigned char *more = realloc(s->buffer, 2 * s->room);
      if (!more)
        return INK_ERROR_MEMORY;
      s->buffer = more;
      s->room *= 2;
    }
    size_t got = 0;
    TRY(trace_bytes_read(&s->bytes, s->buffer + s->filled, s->room - s->filled, &got, error));
    s->filled += got;
    s->ended = !got;
  }
  return INK_OK;
}

/* The tag and length of the next field of the file; where it is no message of field 1, its end is passed. */
static ink_status read_head(packet_stream *s, bool *message, size_t *size, ink_error *error) {
  uint64_t tag = 0, value = 0;
  TRY(want(s, LONGEST_HEAD, error));
  pb_message head = {s->buffer + s->at, s->buffer + s->filled};
  if (!pb_scan_varint(&head, &tag) || !(tag >> 3))
    return s->ended && head.at == head.end ? ends_early(s, error) : damaged(s, "no protobuf", error);
  bool good = true;
  *message = (tag & 7) == PB_BYTES;
  if (*message || (tag & 7) == PB_VARINT)
    good = pb_scan_varint(&head, &value);
  else if ((tag & 7) == PB_FIXED64 || (tag & 7) == PB_FIXED32)
    good = pb_scan_fixed(&head, (tag & 7) == PB_FIXED64 ? 8 : 4, &value);
  else
    return damaged(s, "no protobuf", error);
  if (!good)
    return s->ended ? ends_early(s, error) : damaged(s, "no protobuf", error);
  if (*message && value > s->most)
    return damaged(s, "a length that no packet has", error);
  s->at = (size_t)(head.at - s->buffer);
  *size = *message ? (size_t)value : 0;
  if (!*message || tag >> 3 == 1)
    return INK_OK;
  TRY(want(s, *size, error));
  if (s->filled - s->at < *size)
    return ends_early(s, error);
  s->at += *size;
  *message = false;
  return INK_OK;
}

/* The next packet of a packed one. */
static bool next_inside(packet_stream *s, pb_message *out, ink_status *status, ink_error *error) {
  pb_message rest = {s->inner + s->inner_at, s->inner + s->inner_bytes};
  pb_field f;
  *status = INK_OK;
  while (pb_scan(&rest, &f)) {
    s->inner_at = (size_t)(rest.at - s->inner);
    if (f.number != 1 || f.wire != PB_BYTES)
      continue;
    *out = pb_inside(&f);
    return true;
  }
  if (s->inner && rest.at != rest.end)
    *status = damaged(s, "a packed packet holds no protobuf", error);
  free(s->inner);
  s->inner = NULL;
  s->inner_at = s->inner_bytes = 0;
  return false;
}

ink_status packet_stream_next(packet_stream *s, pb_message *out, bool *whole, ink_error *error) {
  ink_status status = INK_OK;
  *whole = true;
  if (s->inner && next_inside(s, out, &status, error))
    return INK_OK;
  for (bool message = false; status == INK_OK && !message;) {
    size_t size = 0;
    TRY(want(s, 1, error));
    *whole = s->at < s->filled;
    if (!*whole)
      return INK_OK;
    TRY(read_head(s, &message, &size, error));
    if (!message)
      continue;
    TRY(want(s, size, error));
    if (s->filled - s->at < size)
      return ends_early(s, error);
    *out = (pb_message){s->buffer + s->at, s->buffer + s->at + size};
    s->at += size;
  }
  return status;
}

/* `most`: bytes that it may unpack to. */
static ink_status run_unpacker(packet_stream *s, unpack *u, const unsigned char *in, size_t left, size_t most, ink_error *error) {
  size_t room = 0;
  for (enum unpacked result = UNPACK_MORE; result != UNPACK_ENDED;) {
    if (s->inner_bytes == room) {
      const size_t more = room ? 2 * room : 4096;
      unsigned char *inner = room >= most ? NULL : realloc(s->inner, more);
      if (!inner)
        return room >= most ? damaged(s, "a packed packet that is too long", error) : INK_ERROR_MEMORY;
      s->inner = inner;
      room = more;
    }
    unsigned char *out = s->inner + s->inner_bytes;
    size_t free_bytes = room - s->inner_bytes;
    const size_t before = left;
    result = unpack_run(u, &in, &left, &out, &free_bytes);
    const bool stuck = left == before && out == s->inner + s->inner_bytes;
    s->inner_bytes = (size_t)(out - s->inner);
    if (result == UNPACK_NO_MEMORY)
      return INK_ERROR_MEMORY;
    if (result == UNPACK_DAMAGED || (result == UNPACK_MORE && stuck))
      return damaged(s, "a packed packet that cannot be unpacked", error);
  }
  return INK_OK;
}

ink_status packet_stream_unpack(packet_stream *s, const pb_field *field, bool zstd, bool *known, ink_error *error) {
  ink_status status = INK_OK;
  if (s->inner) /* packed within packed is not in the format */
    return damaged(s, "a packed packet in another", error);
  unpack *u = unpack_new(zstd ? UNPACK_ZSTD : UNPACK_ZLIB, &status);
  *known = status != INK_ERROR_UNSUPPORTED;
  if (!u)
    return *known ? status : INK_OK;
  const bool is_less = !zstd && field->size < s->most / UNPACKED_TIMES; /* runs of zstd pack further */
  status = run_unpacker(s, u, field->bytes, field->size, is_less ? (field->size + 1) * UNPACKED_TIMES : s->most, error);
  unpack_free(u);
  return status;
}
