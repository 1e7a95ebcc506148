/* SPDX-License-Identifier: MIT */
/* Just enough protobuf to read back what we wrote, for tests. */
#ifndef PB_READ_H
#define PB_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct pb_field {
  uint32_t number;
  uint64_t value;       /* of a varint or a fixed word */
  const uint8_t *bytes; /* NULL: none */
  size_t size;
} pb_field;

static inline bool pb_read_varint(const uint8_t **p, const uint8_t *end, uint64_t *out) {
  uint64_t value = 0;
  for (unsigned shift = 0; *p < end && shift < 70; shift += 7) {
    uint8_t c = *(*p)++;
    value |= (uint64_t)(c & 0x7f) << shift % 64;
    if (!(c & 0x80)) {
      *out = value;
      return true;
    }
  }
  return false;
}

/* The next field; false at the end, and where the bytes are no field, with *p before the end. */
static inline bool pb_next(const uint8_t **p, const uint8_t *end, pb_field *out) {
  const uint8_t *start = *p;
  uint64_t tag, size;
  *out = (pb_field){0};
  if (*p == end)
    return false;
  if (pb_read_varint(p, end, &tag)) {
    out->number = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0:
      if (pb_read_varint(p, end, &out->value))
        return true;
      break;
    case 1:
      if (end - *p >= 8) {
        memcpy(&out->value, *p, 8);
        *p += 8;
        return true;
      }
      break;
    case 2:
      if (pb_read_varint(p, end, &size) && size <= (uint64_t)(end - *p)) {
        out->bytes = *p;
        out->size = (size_t)size;
        *p += size;
        return true;
      }
      break;
    default:
      break;
    }
  }
  *p = start;
  return false;
}

#endif
