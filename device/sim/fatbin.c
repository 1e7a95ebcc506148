/* SPDX-License-Identifier: MIT */
/* The fat binary reader. A container is a 16-byte header and entries, each with a header of its own
 * that says what it holds (PTX or machine code), for which target, and how it is packed. All sizes
 * are checked against what holds them before they are used. */
#include "fatbin.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lz4_block.h"

enum {
  CONTAINER_MAGIC_BYTES = 4,
  CONTAINER_HEADER_BYTES = 16, /* u32 magic, u16 version, u16 header bytes, u64 bytes after it */
  ENTRY_HEADER_BYTES = 64,     /* the fields below; newer compilers append more */
  ENTRY_KIND = 0,              /* u16 */
  ENTRY_HEADER_SIZE = 4,       /* u32 */
  ENTRY_STORED_BYTES = 8,      /* u64, padded */
  ENTRY_PACKED_BYTES = 16,     /* u32, without the padding; 0 when not packed */
  ENTRY_TARGET = 28,           /* u32, 75 for compute_75 */
  ENTRY_FLAGS = 40,            /* u64 */
  ENTRY_RAW_BYTES = 56,        /* u64, 0 when not packed */
  KIND_PTX = 1,
  MAX_NESTING = 4,
};
#define CONTAINER_MAGIC 0xba55ed50u
#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)
#define FLAG_PACKED_OTHER UINT64_C(0x1000) /* an older packing, seen in CUDA 10 and before */
#define MAX_PTX_BYTES (UINT64_C(1) << 30)

typedef struct ptx_entry {
  const unsigned char *stored;
  uint64_t stored_bytes, packed_bytes, raw_bytes, flags;
  int target;
} ptx_entry;

static uint16_t read_u16(const unsigned char *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint32_t read_u32(const unsigned char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint64_t read_u64(const unsigned char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

const char *fatbin_status_text(enum fatbin_status status) {
  switch (status) {
  case FATBIN_OK:
    return "ok";
  case FATBIN_NO_PTX:
    return "no PTX in the program: build with -gencode arch=compute_XX,code=compute_XX or "
           "-arch=compute_XX";
  case FATBIN_BAD:
    return "the program's fat binary is damaged";
  case FATBIN_PACKING:
    return "the program's PTX is packed in an unknown way: build with nvcc --no-compress";
  case FATBIN_NO_MEMORY:
    return "out of memory while PTX is unpacked";
  }
  return "unknown fat binary status";
}

/* True when `candidate` is the better choice for a device of that capability. */
static bool is_better(int candidate, int best, int capability) {
  const bool candidate_fits = candidate <= capability;
  const bool best_fits = best <= capability;
  if (candidate_fits != best_fits)
    return candidate_fits;
  return candidate > best;
}

static void consider(const unsigned char *entry, uint64_t header_bytes, int capability,
                     ptx_entry *best) {
  const uint32_t target = read_u32(entry + ENTRY_TARGET);
  if (target > 100000)
    return;
  if (best->stored && !is_better((int)target, best->target, capability))
    return;
  best->stored = entry + header_bytes;
  best->stored_bytes = read_u64(entry + ENTRY_STORED_BYTES);
  best->packed_bytes = read_u32(entry + ENTRY_PACKED_BYTES);
  best->raw_bytes = read_u64(entry + ENTRY_RAW_BYTES);
  best->flags = read_u64(entry + ENTRY_FLAGS);
  best->target = (int)target;
}

/* Walks one container; the linker puts containers into containers. */
static enum fatbin_status walk(const unsigned char *at, uint64_t bytes, int depth, int capability,
                               ptx_entry *best) {
  if (depth > MAX_NESTING || bytes < CONTAINER_HEADER_BYTES)
    return FATBIN_BAD;
  if (read_u32(at) != CONTAINER_MAGIC)
    return FATBIN_BAD;
  const uint64_t header_bytes = read_u16(at + 6);
  const uint64_t body_bytes = read_u64(at + 8);
  if (header_bytes < CONTAINER_HEADER_BYTES || header_bytes > bytes)
    return FATBIN_BAD;
  if (body_bytes > bytes - header_bytes)
    return FATBIN_BAD;
  at += header_bytes;

  for (uint64_t left = body_bytes; left;) {
    if (left < CONTAINER_MAGIC_BYTES)
      return FATBIN_BAD;
    uint64_t whole;
    if (read_u32(at) == CONTAINER_MAGIC) {
      const enum fatbin_status status = walk(at, left, depth + 1, capability, best);
      if (status)
        return status;
      whole = read_u16(at + 6) + read_u64(at + 8);
    } else {
      if (left < ENTRY_HEADER_BYTES)
        return FATBIN_BAD;
      const uint64_t entry_header = read_u32(at + ENTRY_HEADER_SIZE);
      const uint64_t stored = read_u64(at + ENTRY_STORED_BYTES);
      if (entry_header < ENTRY_HEADER_BYTES || entry_header > left)
        return FATBIN_BAD;
      if (stored > left - entry_header)
        return FATBIN_BAD;
      if (read_u16(at + ENTRY_KIND) == KIND_PTX)
        consider(at, entry_header, capability, best);
      whole = entry_header + stored;
    }
    at += whole;
    left -= whole;
  }
  return FATBIN_OK;
}

static enum fatbin_status unpack(const ptx_entry *entry, char **text) {
  const bool packed = (entry->flags & (FLAG_LZ4 | FLAG_ZSTD | FLAG_PACKED_OTHER)) != 0;
  const uint64_t raw_bytes = packed ? entry->raw_bytes : entry->stored_bytes;
  if (raw_bytes > MAX_PTX_BYTES)
    return FATBIN_BAD;
  if (packed && entry->packed_bytes > entry->stored_bytes)
    return FATBIN_BAD;

  unsigned char *raw = malloc((size_t)raw_bytes + 1);
  if (!raw)
    return FATBIN_NO_MEMORY;
  size_t done = 0;
  enum fatbin_status status = FATBIN_OK;
  if (!packed) {
    memcpy(raw, entry->stored, (size_t)raw_bytes);
    done = (size_t)raw_bytes;
  } else if (entry->flags & FLAG_ZSTD) {
    done = ZSTD_decompress(raw, (size_t)raw_bytes, entry->stored, (size_t)entry->packed_bytes);
    if (ZSTD_isError(done))
      status = FATBIN_BAD;
  } else if (entry->flags & FLAG_LZ4) {
    if (!lz4_block_unpack(entry->stored, (size_t)entry->packed_bytes, raw, (size_t)raw_bytes,
                          &done))
      status = FATBIN_BAD;
  } else {
    status = FATBIN_PACKING;
  }
  if (status) {
    free(raw);
    return status;
  }
  raw[done] = 0;
  *text = (char *)raw;
  return FATBIN_OK;
}

enum fatbin_status fatbin_find_ptx(const void *container, size_t bytes, int capability, char **text,
                                   int *target) {
  ptx_entry best = {0};
  enum fatbin_status status = walk(container, bytes, 0, capability, &best);
  if (status)
    return status;
  if (!best.stored)
    return FATBIN_NO_PTX;
  status = unpack(&best, text);
  if (!status && target)
    *target = best.target;
  return status;
}
