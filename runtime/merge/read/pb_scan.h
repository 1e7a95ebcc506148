/* SPDX-License-Identifier: MIT */
/* Reads protobuf from bytes that need not be any: no field goes beyond its message.
 * Encoding: https://protobuf.dev/programming-guides/encoding/ */
#ifndef INK_PB_SCAN_H
#define INK_PB_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

typedef struct pb_message { /* what is left of one */
  const unsigned char *at, *end;
} pb_message;

typedef struct pb_field {
  uint32_t number;
  enum pb_wire wire;
  uint64_t value;            /* of a varint or a fixed word */
  const unsigned char *bytes; /* of PB_BYTES */
  size_t size;
} pb_field;

static inline bool pb_scan_varint(pb_message *m, uint64_t *out) {
  uint64_t value = 0;
  for (unsigned shift = 0; m->at < m->end && shift < 64; shift += 7) {
    const unsigned char c = *m->at++;
    value |= (uint64_t)(c & 0x7f) << shift;
    if (c < 0x80) {
      *out = value;
      return true;
    }
  }
  return false;
}

static inline bool pb_scan_fixed(pb_message *m, size_t size, uint64_t *out) {
  if ((size_t)(m->end - m->at) < size)
    return false;
  *out = 0;
  memcpy(out, m->at, size); /* little-endian hosts only, as the capture format */
  m->at += size;
  return true;
}

/* The next field. False at the end, and where the bytes are none: then *m is not at its end. */
static inline bool pb_scan(pb_message *m, pb_field *f) {
  const unsigned char *start = m->at;
  uint64_t tag, size;
  bool good = m->at < m->end && pb_scan_varint(m, &tag) && tag >> 3 && tag >> 3 < 1u << 29;
  if (good) {
    *f = (pb_field){.number = (uint32_t)(tag >> 3), .wire = (enum pb_wire)(tag & 7)};
    switch (tag & 7) {
    case PB_VARINT:
      good = pb_scan_varint(m, &f->value);
      break;
    case PB_FIXED64:
      good = pb_scan_fixed(m, 8, &f->value);
      break;
    case PB_FIXED32:
      good = pb_scan_fixed(m, 4, &f->value);
      break;
    case PB_BYTES:
      good = pb_scan_varint(m, &size) && size <= (size_t)(m->end - m->at);
      if (good) {
        f->bytes = m->at;
        f->size = (size_t)size;
        m->at += size;
      }
      break;
    default: /* groups, which no schema since 2008 has */
      good = false;
    }
  }
  if (!good)
    m->at = start;
  return good;
}

static inline pb_message pb_inside(const pb_field *f) { /* nothing where it is no message */
  return (pb_message){f->bytes, f->bytes ? f->bytes + f->size : f->bytes};
}

#endif
