/* SPDX-License-Identifier: MIT */
/* Runs of slices as varints, in chunks. Where a track has too many short runs, they become one. */
#include "slice_log.h"

#include "output/pb_write.h"
#include "output/track_events.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, CHUNK_FIRST = 128, ENTRY_MOST = 30 };
enum { RUNS_FEW = 64, SLICES_A_RUN = 16 }; /* when runs are put together */

typedef struct slice_chunk {
  struct slice_chunk *next;
  uint32_t used;       /* of the bytes behind it */
  uint16_t room, size; /* size: number of its size, each twice the one before */
} slice_chunk;

typedef struct slice_block {
  struct slice_block *next;
} slice_block;

typedef struct slice_run {
  slice_chunk *first, *last;
  slice_time end; /* its last slice */
  uint32_t next;  /* run of the same track, number + 1 */
} slice_run;

typedef struct slice_cursor {
  const slice_chunk *chunk;
  const char *at;
  slice_time slice;
} slice_cursor;

static slice_chunk *new_chunk(slice_log *log, unsigned size) {
  uint32_t bytes = (uint32_t)CHUNK_FIRST << size;
  slice_chunk *chunk = log->free_chunks[size];
  if (chunk) {
    log->free_chunks[size] = chunk->next;
  } else {
    if (log->block_left < bytes) {
      slice_block *block = malloc(BLOCK_BYTES);
      if (!block)
        return NULL;
      block->next = log->blocks;
      log->blocks = block;
      log->block_left = BLOCK_BYTES - sizeof *block;
    }
    chunk = (slice_chunk *)((char *)log->blocks + BLOCK_BYTES - log->block_left);
    log->block_left -= bytes;
  }
  *chunk = (slice_chunk){.room = (uint16_t)(bytes - sizeof *chunk), .size = (uint16_t)size};
  return chunk;
}

static void free_chunks(slice_log *log, slice_chunk *chunk) {
  while (chunk) {
    slice_chunk *next = chunk->next;
    chunk->next = log->free_chunks[chunk->size];
    log->free_chunks[chunk->size] = chunk;
    chunk = next;
  }
}

static char *bytes_of(const slice_chunk *chunk) {
  return (char *)(uintptr_t)chunk + sizeof *chunk;
}

static bool comes_before(const slice_time *a, const slice_time *b) {
  if (a->begin_ns != b->begin_ns)
    return a->begin_ns < b->begin_ns;
  if (a->end_ns != b->end_ns)
    return a->end_ns > b->end_ns;
  return a->index < b->index;
}

static ink_status new_run(slice_log *log, slice_runs *runs) {
  slice_chunk *chunk = new_chunk(log, 0);
  uint32_t number = log->free_run;
  if (!chunk)
    return INK_ERROR_MEMORY;
  if (number) {
    log->free_run = log->runs[number - 1].next;
  } else {
    void *all = log->runs;
    ink_status status = ink_grow(&all, log->run_count, &log->run_room, sizeof *log->runs);
    log->runs = all;
    if (status != INK_OK || log->run_count >= UINT32_MAX - 1)
      return INK_ERROR_MEMORY;
    number = (uint32_t)++log->run_count;
  }
  log->runs[number - 1] = (slice_run){.first = chunk, .last = chunk, .next = runs->first};
  runs->first = number;
  runs->count++;
  if (runs->open_count < SLICE_RUNS_OPEN)
    runs->open_count++;
  memmove(runs->open + 1, runs->open, (runs->open_count - 1) * sizeof *runs->open);
  runs->open[0] = number - 1;
  return INK_OK;
}

static uint64_t zigzag(int64_t value) {
  return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static ink_status append(slice_log *log, slice_run *run, const slice_time *slice) {
  slice_chunk *chunk = run->last;
  if (chunk->room - chunk->used < ENTRY_MOST) {
    unsigned size = chunk->size + 1u;
    chunk = new_chunk(log, size < SLICE_SIZES ? size : SLICE_SIZES - 1);
    if (!chunk)
      return INK_ERROR_MEMORY;
    run->last = run->last->next = chunk;
  }
  char *start = bytes_of(chunk), *p = start + chunk->used;
  p = pb_varint_wide(p, (uint64_t)slice->begin_ns - (uint64_t)run->end.begin_ns);
  p = pb_varint_wide(p, (uint64_t)slice->end_ns - (uint64_t)slice->begin_ns);
  p = pb_varint_wide(p, zigzag((int64_t)slice->index - (int64_t)run->end.index));
  chunk->used = (uint32_t)(p - start);
  run->end = *slice;
  return INK_OK;
}

/* All runs of a track become one. */
static ink_status put_together(slice_log *log, slice_runs *runs) {
  slice_reader reader = {0};
  slice_runs whole = {.slices = runs->slices};
  slice_time slice;
  ink_status status = slice_reader_start(&reader, log, runs);
  if (status == INK_OK)
    status = new_run(log, &whole);
  while (status == INK_OK && slice_reader_next(&reader, &slice))
    status = append(log, &log->runs[whole.open[0]], &slice);
  slice_reader_free(&reader);
  if (status != INK_OK)
    return status;
  for (uint32_t run = runs->first; run;) {
    slice_run *r = &log->runs[run - 1];
    uint32_t next = r->next;
    free_chunks(log, r->first);
    r->next = log->free_run;
    log->free_run = run;
    run = next;
  }
  *runs = whole;
  return INK_OK;
}

ink_status slice_log_add(slice_log *log, slice_runs *runs, const slice_time *slice) {
  uint32_t i = 0;
  ink_status status = INK_OK;
  while (i < runs->open_count && !comes_before(&log->runs[runs->open[i]].end, slice))
    i++;
  if (i == runs->open_count) {
    if (runs->count >= RUNS_FEW && runs->count >= runs->slices / SLICES_A_RUN)
      status = put_together(log, runs);
    if (status == INK_OK)
      status = new_run(log, runs);
    if (status != INK_OK)
      return status;
  } else if (i) {
    uint32_t run = runs->open[i];
    memmove(runs->open + 1, runs->open, i * sizeof *runs->open);
    runs->open[0] = run;
  }
  runs->slices++;
  return append(log, &log->runs[runs->open[0]], slice);
}

void slice_log_free(slice_log *log) {
  while (log->blocks) {
    slice_block *next = log->blocks->next;
    free(log->blocks);
    log->blocks = next;
  }
  free(log->runs);
  *log = (slice_log){0};
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static const char *get_varint(const char *p, uint64_t *out) {
  uint64_t value = 0;
  unsigned shift = 0;
  unsigned char c;
  do {
    c = (unsigned char)*p++;
    value |= (uint64_t)(c & 0x7f) << shift;
    shift += 7;
  } while (c & 0x80);
  *out = value;
  return p;
}

static bool advance(slice_cursor *c) {
  uint64_t begin, length, index;
  while (c->chunk && c->at == bytes_of(c->chunk) + c->chunk->used) {
    c->chunk = c->chunk->next;
    c->at = c->chunk ? bytes_of(c->chunk) : NULL;
  }
  if (!c->chunk)
    return false;
  c->at = get_varint(c->at, &begin);
  c->at = get_varint(c->at, &length);
  c->at = get_varint(c->at, &index);
  c->slice.begin_ns = (int64_t)((uint64_t)c->slice.begin_ns + begin);
  c->slice.end_ns = (int64_t)((uint64_t)c->slice.begin_ns + length);
  c->slice.index += (uint32_t)(index >> 1 ^ -(index & 1));
  return true;
}

static void sift_down(slice_reader *r, size_t i) {
  slice_cursor moved = r->heap[i];
  for (;;) {
    size_t child = 2 * i + 1;
    if (child + 1 < r->count && comes_before(&r->heap[child + 1].slice, &r->heap[child].slice))
      child++;
    if (child >= r->count || !comes_before(&r->heap[child].slice, &moved.slice))
      break;
    r->heap[i] = r->heap[child];
    i = child;
  }
  r->heap[i] = moved;
}

ink_status slice_reader_start(slice_reader *r, const slice_log *log, const slice_runs *runs) {
  r->count = 0;
  if (runs->count > r->room) {
    slice_cursor *heap = realloc(r->heap, runs->count * sizeof *heap);
    if (!heap)
      return INK_ERROR_MEMORY;
    r->heap = heap;
    r->room = runs->count;
  }
  for (uint32_t run = runs->first; run; run = log->runs[run - 1].next) {
    const slice_chunk *chunk = log->runs[run - 1].first;
    slice_cursor *c = &r->heap[r->count];
    *c = (slice_cursor){.chunk = chunk, .at = bytes_of(chunk)};
    r->count += advance(c);
  }
  for (size_t i = r->count / 2; i--;)
    sift_down(r, i);
  return INK_OK;
}

bool slice_reader_next(slice_reader *r, slice_time *out) {
  if (!r->count)
    return false;
  *out = r->heap[0].slice;
  if (!advance(&r->heap[0]))
    r->heap[0] = r->heap[--r->count];
  if (r->count > 1)
    sift_down(r, 0);
  return true;
}

void slice_reader_free(slice_reader *r) {
  free(r->heap);
  *r = (slice_reader){0};
}
