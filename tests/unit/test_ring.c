/* SPDX-License-Identifier: MIT */
/* The ring between a recorded process and the writer: every chunk that was put comes out as it was, and
 * whatever stands in the shared pages, nothing else does and nothing is read or written outside of them. */
#include "check.h"
#include "shm/ring.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DATA = 4096 * 32, CHUNK_ROOM = DATA + 4096 };

typedef struct pair {
  void *map;
  ink_i_ring ring;
  ink_i_ring_reader reader;
  unsigned char *chunk;
} pair;

/* The map lies between two pages that nobody may touch. */
static pair make(void) {
  pair p = {0};
  const size_t whole = DATA + INK_I_RING_DATA_AT, page = INK_I_RING_PAGE;
  const uint64_t id[2] = {1, 2};
  unsigned char *all = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED || mprotect(all + page, whole, PROT_READ | PROT_WRITE))
    exit(1);
  p.map = all + page;
  p.chunk = malloc(CHUNK_ROOM);
  ink_i_ring_prepare(p.map, DATA, id);
  ink_i_ring_attach(&p.ring, p.map, DATA);
  ink_i_ring_read_from(&p.reader, p.map, DATA);
  return p;
}

static void discard(pair *p) {
  munmap((char *)p->map - INK_I_RING_PAGE, DATA + INK_I_RING_DATA_AT + 2 * INK_I_RING_PAGE);
  ink_i_ring_reader_free(&p->reader);
  free(p->chunk);
}

static bool put(pair *p, uint32_t type, size_t bytes, unsigned char fill) {
  memset(p->chunk + sizeof(ink_chunk_header), fill, bytes);
  return ink_i_ring_put(&p->ring, p->chunk, type, bytes);
}

/* The next chunk is this one. */
static bool is_next(pair *p, bool last, uint32_t type, size_t bytes, unsigned char fill) {
  uint32_t got;
  size_t size;
  if (ink_i_ring_take(&p->reader, last, &got, &size) != INK_OK || got != type || size != bytes)
    return false;
  for (size_t i = 0; i < bytes; i++)
    if (p->reader.chunk[sizeof(ink_chunk_header) + i] != fill)
      return false;
  return true;
}

static bool is_empty(pair *p, bool last) {
  uint32_t type;
  size_t size;
  return ink_i_ring_take(&p->reader, last, &type, &size) == INK_ERROR_EMPTY;
}

/* Sizes that make every chunk end, and every header wrap, somewhere else. */
static void wraps(void) {
  pair p = make();
  for (uint32_t i = 0; i < 2000; i++) {
    const size_t bytes = (i * 977) % 9000;
    CHECK(put(&p, INK_CHUNK_TRACKS, bytes, (unsigned char)i), "%u", i);
    CHECK(put(&p, INK_CHUNK_FACT, i % 17, (unsigned char)~i), "%u", i);
    CHECK(is_next(&p, false, INK_CHUNK_TRACKS, bytes, (unsigned char)i), "%u", i);
    CHECK(is_next(&p, false, INK_CHUNK_FACT, i % 17, (unsigned char)~i), "%u", i);
    CHECK(is_empty(&p, false), "%u", i);
  }
  CHECK(p.reader.damaged == 0 && p.reader.missing == 0 && p.ring.lost == 0, "none was lost");
  discard(&p);
}

/* Nothing waits: what does not fit is counted, tracks leave the reserve, and room comes back. */
static void full(void) {
  pair p = make();
  uint64_t n = 0, facts = 0;
  while (put(&p, INK_CHUNK_TRACKS, 1000, (unsigned char)n))
    n++;
  CHECK(n == (DATA - INK_I_RING_RESERVE) / 1032 && p.ring.lost == 1, "%" PRIu64, n);
  CHECK(ink_i_ring_room(&p.ring, INK_CHUNK_TRACKS) < 1032, "for tracks");
  CHECK(ink_i_ring_room(&p.ring, INK_CHUNK_COUNTS) >= INK_I_RING_RESERVE, "for counts");
  while (put(&p, INK_CHUNK_FACT, 100, 7))
    facts++;
  CHECK(facts >= INK_I_RING_RESERVE / 136 && atomic_load(&p.ring.header->lost) == 2, "%" PRIu64, facts);
  CHECK(!put(&p, INK_CHUNK_FACT, DATA + 8, 1), "larger than the ring");
  for (uint64_t i = 0; i < n; i++)
    CHECK(is_next(&p, false, INK_CHUNK_TRACKS, 1000, (unsigned char)i), "%" PRIu64, i);
  for (uint64_t i = 0; i < facts; i++)
    CHECK(is_next(&p, false, INK_CHUNK_FACT, 100, 7), "%" PRIu64, i);
  CHECK(put(&p, INK_CHUNK_TRACKS, 1000, 99), "room came back");
  CHECK(is_next(&p, false, INK_CHUNK_TRACKS, 1000, 99) && is_empty(&p, true), "the last");
  CHECK(p.reader.missing == 0 && p.reader.damaged == 0, "lost ones leave no gap");
  discard(&p);
}

/* A program that dies in the middle of a put: what is behind the head is not there. */
static void torn(void) {
  pair p = make();
  put(&p, INK_CHUNK_FACT, 100, 1);
  const uint64_t head = atomic_load(&p.ring.header->head);
  put(&p, INK_CHUNK_FACT, 100, 2);
  atomic_store(&p.ring.header->head, head);
  CHECK(is_next(&p, true, INK_CHUNK_FACT, 100, 1) && is_empty(&p, true), "only the first");
  CHECK(p.reader.damaged == 0, "no damage");
  discard(&p);
}

/* The program's heap is ruined and the ring with it. */
static void scribbled(void) {
  pair p = make();
  for (unsigned i = 0; i < 20; i++)
    put(&p, INK_CHUNK_FACT, 100, (unsigned char)i);
  p.ring.data[3 * 136 + 50] ^= 1;       /* a payload */
  p.ring.data[7 * 136 + 8] ^= 0x40;     /* a size */
  memset(p.ring.data + 10 * 136 + 20, 0xee, 300); /* three chunks */
  unsigned seen = 0;
  for (unsigned i = 0; i < 20; i++)
    if (i != 3 && i != 7 && i != 10 && i != 11 && i != 12) {
      CHECK(is_next(&p, false, INK_CHUNK_FACT, 100, (unsigned char)i), "%u", i);
      seen++;
    }
  CHECK(is_empty(&p, false) && seen == 15 && p.reader.damaged >= 3, "%" PRIu64, p.reader.damaged);
  put(&p, INK_CHUNK_FACT, 100, 77);
  CHECK(is_next(&p, false, INK_CHUNK_FACT, 100, 77), "it goes on");
  discard(&p);
}

/* A head that cannot be: nothing is taken while the program lives, what is whole once it is gone. */
static void ruined_head(void) {
  static const uint64_t heads[] = {UINT64_MAX, 3, DATA * 2 + 8, 1u << 31, UINT64_MAX - 7};
  for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
    pair p = make();
    for (unsigned i = 0; i < 2000; i++) { /* more than one lap */
      put(&p, INK_CHUNK_FACT, 100, (unsigned char)i);
      if (i < 1990)
        CHECK(is_next(&p, false, INK_CHUNK_FACT, 100, (unsigned char)i), "%u", i);
    }
    atomic_store(&p.ring.header->head, heads[h] == 3 ? p.ring.head + 3 : heads[h]);
    memset(&p.ring.header->magic, 0xff, 40);
    CHECK(is_empty(&p, false), "head %" PRIu64, heads[h]);
    for (unsigned i = 1990; i < 2000; i++)
      CHECK(is_next(&p, true, INK_CHUNK_FACT, 100, (unsigned char)i), "%u, head %" PRIu64, i, heads[h]);
    CHECK(is_empty(&p, true), "an old lap is not taken again");
    discard(&p);
  }
  pair p = make(); /* and the program that lives puts it right with its next chunk */
  put(&p, INK_CHUNK_FACT, 100, 1);
  atomic_store(&p.ring.header->head, UINT64_MAX);
  CHECK(is_empty(&p, false), "ruined");
  put(&p, INK_CHUNK_FACT, 100, 2);
  CHECK(is_next(&p, false, INK_CHUNK_FACT, 100, 1) && is_next(&p, false, INK_CHUNK_FACT, 100, 2), "mended");
  discard(&p);
}

/* A tail that cannot be only makes the program believe that there is no room. */
static void ruined_tail(void) {
  pair p = make();
  static const uint64_t tails[] = {UINT64_MAX / 2, 1u << 20, 8};
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
    atomic_store(&p.ring.header->tail, tails[i]);
    CHECK(!put(&p, INK_CHUNK_FACT, 100, 1), "tail %" PRIu64, tails[i]);
  }
  CHECK(is_empty(&p, false), "nothing came");
  discard(&p);
}

/* Lengths of every size, with right checksums, in front of the head. */
static void hostile_lengths(void) {
  for (unsigned shift = 0; shift < 64; shift++) {
    pair p = make();
    put(&p, INK_CHUNK_FACT, 100, 5);
    put(&p, INK_CHUNK_FACT, 100, 6);
    ink_chunk_header header;
    memcpy(&header, p.ring.data, sizeof header);
    unsigned char seal[sizeof header + 8];
    header.bytes = (UINT64_C(1) << shift) + 101;
    ink_i_chunk_seal(seal, INK_CHUNK_FACT, 0, 0);
    memcpy(seal + 8, &header.bytes, 8);
    memcpy(p.ring.data, seal, sizeof header);
    CHECK(is_next(&p, false, INK_CHUNK_FACT, 100, 6) && is_empty(&p, false), "2^%u", shift);
    discard(&p);
  }
}

int main(void) {
  wraps();
  full();
  torn();
  scribbled();
  ruined_head();
  ruined_tail();
  hostile_lengths();
  return check_result("ring");
}
