/* SPDX-License-Identifier: MIT */
/* The messages of one field of a protobuf file, packed or not, one after the other and never more than one of them
 * in memory: the packets of a Perfetto trace, also those that it packs by itself, and the planes of an XLA
 * profile. */
#ifndef INK_PACKET_STREAM_H
#define INK_PACKET_STREAM_H

#include "pb_scan.h"
#include "trace_bytes.h"

typedef struct packet_stream {
  const char *path;
  trace_bytes bytes;
  size_t most; /* bytes of a message; a longer one is damage */
  unsigned char *buffer;
  size_t at, filled, room;
  uint64_t before;        /* bytes of the unpacked file before the buffer */
  unsigned char *inner;   /* what a packed packet holds */
  size_t inner_at, inner_bytes;
  bool ended;
} packet_stream;

/* Close also after a failure. */
ink_status packet_stream_open(packet_stream *s, const char *path, size_t most, ink_error *error);
/* The next message of field 1, valid until the call after it; *whole is false at the end of the file. Other fields
 * are passed over. INK_ERROR_DAMAGED: no protobuf there, or the file ends in the middle. */
ink_status packet_stream_next(packet_stream *s, pb_message *out, bool *whole, ink_error *error);
/* What `field` of the message that came last holds is read before the file goes on: packets, packed with zlib or
 * zstd. *known is false where the library is not there. */
ink_status packet_stream_unpack(packet_stream *s, const pb_field *field, bool zstd, bool *known, ink_error *error);
uint64_t packet_stream_offset(const packet_stream *s);
void packet_stream_close(packet_stream *s);

#endif
