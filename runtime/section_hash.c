/* SPDX-License-Identifier: MIT */
/* FNV-1a over "name:sections", folded to 48 bits. */
#include "section_hash.h"

#include "fnv.h"

uint64_t ink_section_hash48(const char *name, const char *sections) {
  uint64_t hash = ink_fnv_text(ink_fnv_text(ink_fnv_text(INK_FNV_BEGIN, name), ":"), sections);
  return (hash >> 48 ^ hash) & 0xffffffffffffu;
}
