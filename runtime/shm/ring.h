/* SPDX-License-Identifier: MIT */
/* Private: the ring in shared memory between a recorded process, which puts chunks of docs/format.md
 * into it, and the writer process, which takes them out. Neither ever waits for the other. */
#ifndef INK_SHM_RING_H
#define INK_SHM_RING_H

#include "capture/capture_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define INK_I_RING_MAGIC UINT64_C(0x676e6972206b6e69) /* "ink ring" */
enum {
  INK_I_RING_VERSION = 1,
  INK_I_RING_PAGE = 4096,
  INK_I_RING_DATA_AT = 2 * INK_I_RING_PAGE,
  INK_I_FAMILY_MAX = 1000,
  /* What tracks leave free: counts, facts and the end are small and say what was lost. */
  INK_I_RING_RESERVE = 64 << 10,
  INK_I_RING_LEAST = 1 << 20, /* of data */
  /* In a ring only: what the process says to `inkmark record`; word NUL text NUL. Never in a file. */
  INK_CHUNK_REPORT = 0x52505254
};

/* The first page. Positions count bytes since the start and never wrap; position p is byte p modulo
 * data_bytes. Each side keeps what it relies on in memory of its own: what stands here may be ruined. */
typedef struct ink_i_ring_header {
  uint64_t magic;
  uint32_t version, reserved;
  uint64_t id[2];             /* random */
  uint64_t data_bytes;
  _Alignas(64) _Atomic uint64_t head; /* of the program: behind the last whole chunk */
  _Atomic uint64_t lost;      /* chunks that found no room */
  _Alignas(64) _Atomic uint64_t tail; /* of the writer: everything before it was copied out */
} ink_i_ring_header;
INK_STATIC_ASSERT(sizeof(ink_i_ring_header) <= INK_I_RING_PAGE, "the header is one page");

/* The second page, which forked children inherit and the first they do not: a child says here that it
 * is there, so that the writer stays for it, before it has a ring. */
typedef struct ink_i_ring_family {
  _Atomic uint32_t count;     /* of children so far; the newest stands at (count - 1) % MAX */
  _Atomic int32_t pids[INK_I_FAMILY_MAX];
} ink_i_ring_family;
INK_STATIC_ASSERT(sizeof(ink_i_ring_family) <= INK_I_RING_PAGE, "the family is one page");

/* ---- the program's side ---- */

typedef struct ink_i_ring {
  ink_i_ring_header *header;
  unsigned char *data;
  uint64_t data_bytes, head, sequence, lost;
  pthread_mutex_t lock; /* zeroes are an unlocked one: what a child finds in a page that was wiped */
} ink_i_ring;

/* `map` was filled by ink_i_ring_prepare and has `data_bytes` behind its two pages. */
void ink_i_ring_attach(ink_i_ring *ring, void *map, uint64_t data_bytes);
/* How many bytes of chunks fit now, for TRACKS or anything else. */
uint64_t ink_i_ring_room(ink_i_ring *ring, uint32_t type);
/* Where the reader is. */
uint64_t ink_i_ring_tail(const ink_i_ring *ring);
/* From any thread. Fills in the header of a chunk whose payload stands behind room for it, pads and puts it. The buffer
 * holds the padding too. False: no room; it is counted. */
bool ink_i_ring_put(ink_i_ring *ring, unsigned char *chunk, uint32_t type, size_t payload_bytes);

/* ---- the writer's side ---- */

void ink_i_ring_prepare(void *map, uint64_t data_bytes, const uint64_t id[2]);

/* Believes nothing in the shared pages: a chunk is copied out, then checked, and counts only if it is
 * whole. */
typedef struct ink_i_ring_reader {
  ink_i_ring_header *header;
  const unsigned char *data;
  uint64_t data_bytes, tail, expected;
  uint64_t damaged;           /* places where no chunk could be read */
  uint64_t missing;           /* chunks that were put and are not there */
  unsigned char *chunk;       /* the last one taken, with its header; the reader's own memory */
  size_t capacity;
} ink_i_ring_reader;

void ink_i_ring_read_from(ink_i_ring_reader *reader, void *map, uint64_t data_bytes);
void ink_i_ring_reader_free(ink_i_ring_reader *reader);
/* Takes the next chunk into reader->chunk: INK_OK, its type and payload size. INK_ERROR_EMPTY: there is
 * none. INK_ERROR_MEMORY: it stays where it is. `last`: the program is gone; where its head is ruined,
 * what can be recognised is taken all the same. */
ink_status ink_i_ring_take(ink_i_ring_reader *reader, bool last, uint32_t *type, size_t *payload_bytes);

#endif
