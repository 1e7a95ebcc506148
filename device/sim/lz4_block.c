/* SPDX-License-Identifier: MIT */
/* A bounded reader of the LZ4 block format (its public description: sequences of a token, literals,
 * a two-byte distance and a match of at least four bytes; the last sequence has literals only). */
#include "lz4_block.h"

#include <string.h>

typedef struct cursor {
  const unsigned char *at, *end;
} cursor;

/* A length of 15 goes on in bytes that are added up, up to the first that is not 255. */
static bool read_length(cursor *in, size_t *length) {
  if (*length != 15)
    return true;
  unsigned char more;
  do {
    if (in->at == in->end)
      return false;
    more = *in->at++;
    *length += more;
  } while (more == 255);
  return true;
}

bool lz4_block_unpack(const unsigned char *packed, size_t packed_bytes, unsigned char *out,
                      size_t capacity, size_t *out_bytes) {
  cursor in = {packed, packed + packed_bytes};
  size_t done = 0;

  while (in.at != in.end) {
    const unsigned char token = *in.at++;
    size_t literals = token >> 4;
    if (!read_length(&in, &literals))
      return false;
    if (literals > (size_t)(in.end - in.at) || literals > capacity - done)
      return false;
    if (literals)
      memcpy(out + done, in.at, literals);
    in.at += literals;
    done += literals;
    if (in.at == in.end)
      break;

    if (in.end - in.at < 2)
      return false;
    const size_t distance = (size_t)in.at[0] | (size_t)in.at[1] << 8;
    in.at += 2;
    size_t match = token & 15;
    if (!read_length(&in, &match))
      return false;
    match += 4;
    if (!distance || distance > done || match > capacity - done)
      return false;
    /* byte by byte: a match may overlap what it writes, that is how runs are packed */
    for (size_t i = 0; i < match; i++, done++)
      out[done] = out[done - distance];
  }
  *out_bytes = done;
  return true;
}
