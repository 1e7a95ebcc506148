/* SPDX-License-Identifier: MIT */
/* Captures made byte by byte, with right checksums around wrong contents. */
#ifndef INKMARK_TESTS_CRAFT_H
#define INKMARK_TESTS_CRAFT_H

#include "capture/capture_format.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct craft {
  unsigned char bytes[1 << 16];
  size_t size;
  uint64_t sequence;
} craft;

static inline void craft_start(craft *c, uint16_t major, uint16_t minor) {
  ink_file_header header = {.endian = INK_FILE_ENDIAN, .major = major, .minor = minor,
                            .header_bytes = sizeof header};
  memcpy(header.magic, INK_FILE_MAGIC, sizeof header.magic);
  header.crc = (uint32_t)crc32_z(0, (void *)&header, offsetof(ink_file_header, crc));
  memset(c, 0, sizeof *c);
  memcpy(c->bytes, &header, sizeof header);
  c->size = sizeof header;
}

/* `claimed`: what the header says the payload's size is. */
static inline void craft_chunk_claiming(craft *c, uint32_t type, const void *payload, size_t bytes,
                                        uint64_t claimed) {
  ink_chunk_header header = {.sync = INK_CHUNK_SYNC, .type = type, .bytes = claimed,
                             .sequence = c->sequence++};
  unsigned char *at = c->bytes + c->size + sizeof header;
  memcpy(at, payload, bytes); /* the rest is zero already */
  header.payload_crc = (uint32_t)crc32_z(0, at, (size_t)ink_pad8(bytes));
  header.header_crc = (uint32_t)crc32_z(0, (void *)&header, offsetof(ink_chunk_header, header_crc));
  memcpy(c->bytes + c->size, &header, sizeof header);
  c->size += sizeof header + (size_t)ink_pad8(bytes);
}

static inline void craft_chunk(craft *c, uint32_t type, const void *payload, size_t bytes) {
  craft_chunk_claiming(c, type, payload, bytes, bytes);
}

#endif
