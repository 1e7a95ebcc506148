/* SPDX-License-Identifier: MIT */
/* Just enough protobuf to write Perfetto packets into a buffer: varints, fixed words, strings and
 * nested messages. Encoding: https://protobuf.dev/programming-guides/encoding/ */
#ifndef INK_PB_WRITE_H
#define INK_PB_WRITE_H

#include "text_scan.h"

#include <stdint.h>
#include <string.h>

static inline char *pb_varint(char *p, uint64_t value) {
  while (value >= 0x80) {
    *p++ = (char)(value | 0x80);
    value >>= 7;
  }
  *p++ = (char)value;
  return p;
}

/* Seven bits to a byte, of the lower 56. */
static inline uint64_t pb_sevens(uint64_t value) {
  value = (value & 0xfffffff) | (value & 0xfffffff0000000) << 4;
  value = (value & 0x3fff00003fff) | (value & 0xfffc0000fffc000) << 2;
  return (value & 0x7f007f007f007f) | (value & 0x3f803f803f803f80) << 1;
}

/* pb_varint without a branch for each byte: ten bytes from p on may be overwritten. */
static inline char *pb_varint_wide(char *p, uint64_t value) {
  if (value < 0x80) {
    *p = (char)value;
    return p + 1;
  }
  uint64_t bytes = pb_sevens(value);
  if (value >> 56) {
    bytes |= 0x8080808080808080;
    memcpy(p, &bytes, 8);
    return pb_varint(p + 8, value >> 56);
  }
  const unsigned more = (63 - (unsigned)__builtin_clzll(value)) / 7; /* bytes with another behind them */
  bytes |= 0x8080808080808080 & ((1ull << 8 * more) - 1);
  memcpy(p, &bytes, 8);
  return p + more + 1;
}

static inline char *pb_uint(char *p, uint32_t field, uint64_t value) {
  return pb_varint(pb_varint(p, (uint64_t)field << 3), value);
}

static inline char *pb_uint_wide(char *p, uint32_t field, uint64_t value) {
  return pb_varint_wide(pb_varint(p, (uint64_t)field << 3), value);
}

static inline char *pb_int(char *p, uint32_t field, int64_t value) {
  return pb_uint(p, field, (uint64_t)value);
}

static inline char *pb_double(char *p, uint32_t field, double value) {
  p = pb_varint(p, (uint64_t)field << 3 | 1);
  memcpy(p, &value, 8); /* little-endian hosts only, as the capture format */
  return p + 8;
}

static inline char *pb_fixed64(char *p, uint32_t field, uint64_t value) {
  p = pb_varint(p, (uint64_t)field << 3 | 1);
  memcpy(p, &value, 8); /* little-endian, as above */
  return p + 8;
}

static inline char *pb_bytes(char *p, uint32_t field, const void *bytes, size_t size) {
  p = pb_varint(pb_varint(p, (uint64_t)field << 3 | 2), size);
  memcpy(p, bytes, size);
  return p + size;
}

/* Text from outside: always UTF-8, as proto3 has it, and at most `most` bytes. */
static inline char *pb_text(char *p, uint32_t field, const char *text, size_t size, size_t most) {
  const size_t length = ink_i_text_repair(NULL, most, text, size);
  p = pb_varint(pb_varint(p, (uint64_t)field << 3 | 2), length);
  return p + ink_i_text_repair(p, length, text, size);
}

/* Text of ours. */
static inline char *pb_string(char *p, uint32_t field, const char *text) {
  return pb_bytes(p, field, text, strlen(text));
}

/* A nested message: the returned pointer is where its fields go, pb_end puts the length before
 * them. One byte is kept for the length; a longer message is moved. */
static inline char *pb_begin(char *p, uint32_t field) {
  return pb_varint(p, (uint64_t)field << 3 | 2) + 1;
}

static inline char *pb_end(char *fields, char *p) {
  size_t size = (size_t)(p - fields);
  if (size < 0x80) {
    fields[-1] = (char)size;
    return p;
  }
  size_t length_bytes = 1;
  for (size_t rest = size >> 7; rest; rest >>= 7)
    length_bytes++;
  memmove(fields + length_bytes - 1, fields, size);
  pb_varint(fields - 1, size);
  return p + length_bytes - 1;
}

#endif
