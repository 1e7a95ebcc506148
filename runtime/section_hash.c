/* SPDX-License-Identifier: MIT */
/* FNV-1a over "name:sections", folded to 48 bits. */
#include "section_hash.h"

static uint64_t mix(uint64_t hash, const char *text) {
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash;
}

uint64_t ink_section_hash48(const char *name, const char *sections) {
  uint64_t hash = mix(mix(mix(0xcbf29ce484222325u, name), ":"), sections);
  return (hash >> 48 ^ hash) & 0xffffffffffffu;
}
