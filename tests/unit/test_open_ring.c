/* SPDX-License-Identifier: MIT */
/* What open_ring.c finds in a ring, against a model that knows every word: random tracks of several SMs take
 * one ring after another, with every kind of record, and are looked at while they store, or after they were
 * stopped in the midst of a record. No word may be given that is not the track's own, in its place. */
#include "check.h"
#include "decode/open_ring.h"

#include <stdlib.h>
#include <string.h>

enum { RING_MOST = 256, WORDS_MOST = 4096, PENDING = 24, HISTORIES = 10000 };

static uint64_t state;
static uint64_t next(void) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static uint64_t below(uint64_t n) { return next() % n; }

typedef struct model {
  uint64_t ring[RING_MOST]; /* what a copy sees */
  uint32_t records;
  bool keep_first;
  /* The track: its words as executed, and which of them end a record. */
  uint64_t words[WORDS_MOST];
  bool ends[WORDS_MOST];
  uint32_t order[WORDS_MOST]; /* in which they are stored */
  bool called;
  uint64_t count, stored;   /* stored: issued so far */
  uint64_t pending[PENDING]; /* issued, not visible yet: word numbers */
  uint32_t pending_count;
  uint64_t open, clock, skew[4];
  uint32_t sm;
} model;

/* A head is stored last in its record. */
static void word(model *m, uint64_t w, bool end) {
  m->words[m->count] = w;
  m->order[m->count] = (uint32_t)m->count;
  m->ends[m->count++] = end;
}
static void escape(model *m, uint64_t w) {
  word(m, w, true);
  m->order[m->count - 1]--;
  m->order[m->count - 2]++;
}

/* Values that try to look like something: never written, a clock, a small number, any bits. */
static uint64_t payload(const model *m) {
  switch (below(5)) {
  case 0:
    return INK_UNWRITTEN;
  case 1:
    return m->clock + below(1000);
  case 2:
    return below(100);
  case 3:
    return (uint64_t)-(int64_t)below(100);
  default:
    return next();
  }
}

static void record(model *m, bool spread) {
  m->clock += 1 + below(spread ? 1 << 20 : 300);
  const uint32_t section = 1 + (uint32_t)below(30);
  const uint64_t hash = next() & INK_CLOCK_MASK, now = m->clock;
  const enum ink_kind single[] = {INK_KIND_MARK, INK_KIND_BEGIN, INK_KIND_END, INK_KIND_INSTANT};
  const uint32_t values[] = {INK_ESCAPE_VALUE_I64, INK_ESCAPE_VALUE_U64, INK_ESCAPE_VALUE_F64};
  const uint32_t async = INK_KIND_ASYNC_BEGIN + (uint32_t)below(2);
  const uint64_t kind = below(12);
  switch (m->called && kind != 0 && (kind < 2 || kind > 4) ? 2 + below(3) : kind) {
  case 0:
    word(m, payload(m), false);
    word(m, INK_HEAD(INK_KIND_ITER, 0, now), true);
    break;
  case 1:
    word(m, payload(m), false);
    word(m, INK_HEAD(async, section, now), true);
    break;
  case 2:
    word(m, payload(m), false);
    word(m, INK_HEAD(async, section, now), false);
    escape(m, INK_ESCAPE_WORD(INK_ESCAPE_TABLE, hash, now));
    break;
  case 3:
    word(m, INK_HEAD(single[below(4)], section, now), false);
    escape(m, INK_ESCAPE_WORD(INK_ESCAPE_TABLE, hash, now));
    break;
  case 4:
    word(m, payload(m), false);
    word(m, INK_HEAD(INK_KIND_INSTANT, section, now), false);
    escape(m, INK_ESCAPE_WORD(values[below(3)], hash, now));
    break;
  case 5:
    word(m, 1 + below(1 << 20), false);
    for (int i = 0; i < 3; i++)
      word(m, below(3) ? below(1 << 20) : INK_UNWRITTEN, false);
    word(m, INK_HEAD(INK_KIND_INSTANT, section, now), false);
    escape(m, INK_ESCAPE_WORD(INK_ESCAPE_SUM, hash, now));
    break;
  case 6:
    word(m, now - 2, false);
    word(m, now, false);
    word(m, 5000000 + now, false);
    word(m, INK_HEAD(INK_KIND_INSTANT, 0, now), false);
    escape(m, INK_ESCAPE_WORD(INK_ESCAPE_CLOCKS, 0, now));
    break;
  default:
    word(m, INK_HEAD(single[below(4)], section, now), true);
  }
}

/* A track on an SM, whose clock differs from the others', of up to 599 records. With `spread` its time may cross a
 * wrap of 48 bits. */
static void open_track(model *m, uint64_t since, bool long_only, bool may_spread) {
  const uint64_t marks = below(long_only ? 300 : below(2) ? 8 : 600);
  const bool spread = may_spread && below(2);
  m->sm = (uint32_t)below(4);
  m->count = m->stored = m->pending_count = 0;
  m->open = m->clock = m->skew[m->sm] + since;
  for (uint64_t i = 0; i < marks; i++)
    record(m, spread);
}

static void show(model *m, uint32_t which) {
  const uint64_t k = m->pending[which];
  if (!m->keep_first)
    m->ring[k & (m->records - 1)] = m->words[k];
  else if (k < m->records)
    m->ring[k] = m->words[k];
  memmove(m->pending + which, m->pending + which + 1,
          (--m->pending_count - which) * sizeof *m->pending);
}

/* Two stores to one address stay in their order. */
static bool may_show(const model *m, uint32_t which) {
  for (uint32_t i = 0; i < which; i++)
    if ((m->pending[i] & (m->records - 1)) == (m->pending[which] & (m->records - 1)))
      return false;
  return true;
}

static void settle(model *m) {
  while (m->pending_count)
    show(m, 0);
}

/* The words of a record that does not fit into a keep-first ring are not stored, nor is anything after it. */
static uint64_t storable(const model *m) {
  if (!m->keep_first || m->count <= m->records)
    return m->count;
  uint64_t end = m->records;
  while (end && !m->ends[end - 1])
    end--;
  return end;
}

static void store(model *m, uint64_t words) {
  for (uint64_t i = 0; i < words && m->stored < storable(m); i++) {
    if (m->pending_count == PENDING)
      show(m, 0);
    m->pending[m->pending_count++] = m->order[m->stored++];
    while (m->pending_count && below(3)) {
      const uint32_t which = (uint32_t)below(m->pending_count);
      if (!may_show(m, which))
        break;
      show(m, which);
    }
  }
}

/* The kernel stores up to `meanwhile` words while the ring is copied, in blocks in any order. */
static void copy(model *m, uint64_t *to, uint64_t meanwhile) {
  const uint32_t blocks = m->records < 16 ? m->records : 16, size = m->records / blocks;
  const uint32_t from = (uint32_t)below(blocks), step = 1 + 2 * (uint32_t)below(4);
  for (uint32_t i = 0; i < blocks; i++) {
    const uint32_t block = (from + i * step) % blocks; /* step is odd, blocks a power of two */
    if (meanwhile)
      store(m, below(meanwhile / blocks * 2 + 2));
    memcpy(to + block * size, m->ring + block * size, size * sizeof *to);
  }
}

typedef struct looked {
  ink_open_words found;
  uint64_t words[RING_MOST];
  uint64_t at;          /* the true index of the first word */
  uint64_t true_reached; /* of what was found so far */
  bool any;
} looked;

/* Where in the track the words are; UINT64_MAX: nowhere. */
static uint64_t place_of(const model *m, const looked *l) {
  const ink_open_words *f = &l->found;
  for (uint64_t at = f->first; at + f->count <= m->stored; at += m->records) {
    if (!memcmp(m->words + at, l->words, f->count * sizeof *l->words))
      return at;
    if (f->exact)
      break;
  }
  return UINT64_MAX;
}

static void check_found(const model *m, looked *l, uint64_t whole_before, bool stopped) {
  const ink_open_words *f = &l->found;
  if (!f->count) {
    if (f->newest && stopped)
      CHECK(l->any || whole_before == 0, "nothing newest, though %llu words were executed",
            (unsigned long long)whole_before);
    return;
  }
  l->at = place_of(m, l);
  CHECK(l->at != UINT64_MAX, "words that are not the track's: %llu from %llu of %llu, ring of %u",
        (unsigned long long)f->count, (unsigned long long)f->first, (unsigned long long)m->stored,
        m->records);
  if (l->at == UINT64_MAX)
    return;
  const uint64_t end = l->at + f->count;
  CHECK(m->ends[end - 1] && (!l->at || m->ends[l->at - 1]), "a part of a record: %llu to %llu, ring %u, %s %s, first %llu", (unsigned long long)l->at, (unsigned long long)end, m->records, m->keep_first ? "first" : "last", m->called ? "called" : "body", (unsigned long long)f->first);
  CHECK(l->at >= l->true_reached, "fresh words that were there before");
  if (f->joined)
    CHECK(l->at == l->true_reached, "joined, with a gap");
  if (f->newest && stopped)
    CHECK(end == whole_before, "the newest of %llu ends at %llu", (unsigned long long)whole_before,
          (unsigned long long)end);
  l->true_reached = end;
  l->any = true;
}

static uint64_t whole(const model *m, uint64_t words) {
  while (words && !m->ends[words - 1])
    words--;
  return words;
}

static ink_open_ring look_at(const model *m, const uint64_t *words, const looked *l) {
  return (ink_open_ring){.words = words, .records = m->records, .open_clock = m->open,
                         .clock_most = m->clock + 1000000, .sections = below(2) ? 30 : 0,
                         .keep_first = m->keep_first, .called = m->called,
                         .reached = l->found.reached,
                         .reached_clock = l->found.reached_clock,
                         .reached_exact = l->found.reached_exact};
}

static void find(const ink_open_ring *ring, looked *l) {
  ink_error error = {0};
  CHECK(ink_i_open_ring_find(ring, l->words, &l->found, &error) == INK_OK, "%s", error.message);
}

/* A ring that was wiped before its track, looked at again and again while the kernel stores, then after it was stopped. */
static void history_wiped(model *m) {
  static looked l;
  uint64_t first[RING_MOST], again[RING_MOST];
  l = (looked){0};
  memset(m->ring, 0xff, sizeof m->ring);
  open_track(m, 1000000, false, true);
  const uint64_t pace = 1 + below(m->records * 2);
  while (m->stored < storable(m) && below(20)) {
    store(m, below(pace));
    copy(m, first, below(2) ? 0 : pace / 4);
    settle(m); /* the first copy is whole on the host before the second begins */
    copy(m, again, below(2) ? 0 : pace / 4);
    ink_open_ring ring = look_at(m, first, &l);
    ring.again = again;
    ring.wiped = true;
    find(&ring, &l);
    check_found(m, &l, 0, false);
  }
  store(m, m->records + below(8));
  settle(m);
  ink_open_ring ring = look_at(m, m->ring, &l);
  ring.wiped = true;
  const uint64_t before = l.true_reached;
  find(&ring, &l);
  const uint64_t end = whole(m, m->stored);
  check_found(m, &l, end, true);
  /* All that is there but the oldest, which an unfinished record may have touched, and a newest one or two that
   * may be something else. */
  const bool wraps = (m->open ^ m->clock) & ~INK_CLOCK_MASK; /* numbers may look like heads: less is certain */
  uint64_t least = end - before;
  if (end + INK_RECORD_WORDS_MAX > m->records && !m->keep_first && least + 4 * INK_RECORD_WORDS_MAX > m->records)
    least = m->records > 4 * INK_RECORD_WORDS_MAX ? m->records - 4 * INK_RECORD_WORDS_MAX : 0;
  CHECK(wraps || l.found.count + 2 * INK_RECORD_WORDS_MAX >= least, "%llu of %llu words, ring of %u",
        (unsigned long long)l.found.count, (unsigned long long)(end - before), m->records);
  if (end + INK_RECORD_WORDS_MAX <= m->records)
    CHECK(wraps || (l.found.exact && (l.true_reached == end || !l.found.newest)), "not exact");
}

/* Tracks of other SMs had the ring, and nobody wiped it. `told`: the latest of their closings is known. */
static void history_reused(model *m, bool told) {
  static looked l;
  uint64_t stale = 0, since = 1000000;
  l = (looked){0};
  for (uint32_t i = 0; i < m->records; i++)
    m->ring[i] = INK_UNWRITTEN;
  m->keep_first = false;
  uint64_t upper[4], tracks = 1 + below(3);
  for (uint64_t i = 0; i < tracks; i++) {
    open_track(m, since, true, false);
    upper[i] = m->clock >> INK_TAG_SHIFT;
    store(m, m->count);
    settle(m);
    stale = m->clock > stale ? m->clock : stale;
    since += m->clock - m->open + below(10000);
  }
  open_track(m, since, false, true);
  store(m, below(m->count + 1));
  settle(m);
  for (uint64_t i = 0; i < tracks; i++)
    told = told && upper[i] == m->open >> INK_TAG_SHIFT;
  ink_open_ring ring = look_at(m, m->ring, &l);
  ring.stale_clock_most = told ? stale : UINT64_MAX;
  ring.clock_most = m->clock + 1000;
  find(&ring, &l);
  check_found(m, &l, whole(m, m->stored), l.found.count != 0);
  if (!told)
    CHECK(!l.found.count && !l.found.newest, "told what cannot be known");
}

int main(int argc, char **argv) {
  const uint64_t histories = argc > 1 ? strtoull(argv[1], NULL, 0) : HISTORIES;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  static model m;
  for (uint64_t i = 0; i < histories && check_failures < 20; i++) {
    const int before = check_failures;
    state = seed * 1000003 + i;
    m = (model){.records = UINT32_C(4) << below(7)};
    m.keep_first = below(5) == 0;
    m.called = below(3) == 0;
    for (int sm = 0; sm < 4; sm++)
      m.skew[sm] = below(4) ? below(1 << 26)
                            : (1 + below(1000)) * (INK_CLOCK_MASK + 1) - 1000000 - below(1 << 18);
    if (below(3))
      history_wiped(&m);
    else
      history_reused(&m, below(2));
    if (check_failures > before)
      fprintf(stderr, "history %llu\n", (unsigned long long)i);
  }
  return check_result("open_ring");
}
