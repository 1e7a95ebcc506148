/* SPDX-License-Identifier: MIT */
/* FNV-1a in 64 bits, over one piece of bytes after another: begin with HASH_BEGIN. */
#ifndef INKMARK_CLI_HASH_H
#define INKMARK_CLI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_on(uint64_t hash, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
  return hash;
}

#endif
