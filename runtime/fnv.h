/* SPDX-License-Identifier: MIT */
/* FNV-1a in 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/), over one text after another: begin with INK_FNV_BEGIN. */
#ifndef INK_FNV_H
#define INK_FNV_H

#include <stddef.h>
#include <stdint.h>

#define INK_FNV_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t ink_fnv(uint64_t hash, const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static inline uint64_t ink_fnv_text(uint64_t hash, const char *text) {
  for (; *text; text++)
    hash = ink_fnv(hash, text, 1);
  return hash;
}

#endif
