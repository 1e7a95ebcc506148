/* SPDX-License-Identifier: MIT */
/* A track that came in pieces is decoded like one that came whole; where pieces are missing, what spans the gap is
 * marked as cut or unknown, and nothing else differs. Random tracks of both rings, cut at random records. */
#include "check.h"
#include "inkmark/decode.h"
#include "synth.h"

#include <inttypes.h>

enum { WORDS = 4096, SLICES = 4096, TRACKS = 300 };

static uint64_t state;
static uint64_t below(uint64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % n;
}

typedef struct seen {
  ink_slice slices[SLICES];
  size_t count;
  uint64_t problems;
  ink_decoded_track track;
} seen;

static ink_status on_slice(void *user, const ink_slice *slice) {
  seen *s = user;
  if (s->count < SLICES)
    s->slices[s->count++] = *slice;
  return INK_OK;
}
static ink_status on_problem(void *user, const ink_problem *problem) {
  seen *s = user;
  if (!s->problems++ && getenv("VERBOSE"))
    fprintf(stderr, "%s\n", problem->text);
  return INK_OK;
}
static ink_status on_end(void *user, const ink_decoded_track *track) {
  ((seen *)user)->track = *track;
  return INK_OK;
}

/* The words of one track, as executed, and which of them end a record. */
typedef struct made {
  ink_track header;
  uint64_t words[2][WORDS];
  bool ends[2][WORDS];
  uint64_t count[2];
} made;

static void put(made *m, int ring, uint64_t word, bool end) {
  m->words[ring][m->count[ring]] = word;
  m->ends[ring][m->count[ring]++] = end;
}

static uint64_t make(made *m, uint64_t base) {
  *m = (made){0};
  uint64_t now = base;
  uint32_t stack[2][8], depth[2] = {0, 0};
  const uint64_t records = 10 + below(400);
  for (uint64_t i = 0; i < records || depth[0] || depth[1]; i++) {
    /* Functions return before the body marks again. */
    const int ring = depth[1] ? 1 : i < records && below(3) == 0;
    const uint32_t section = 2 + (uint32_t)below(4);
    now += 1 + below(1000);
    const uint64_t kind = i < records ? below(6) : 3;
    if (kind == 0 && depth[ring] < 8) {
      stack[ring][depth[ring]++] = section;
      put(m, ring, INK_HEAD(INK_KIND_BEGIN, section, now), true);
    } else if (kind == 3 && depth[ring]) {
      put(m, ring, INK_HEAD(INK_KIND_END, stack[ring][--depth[ring]], now), true);
    } else if (kind == 1) {
      put(m, ring, below(1000), false);
      put(m, ring, INK_HEAD(INK_KIND_ITER, 0, now), true);
      m->header.extra += !ring;
      m->header.aux_extra += ring != 0;
    } else if (kind == 2) { /* names its table: the second word is the same each time */
      put(m, ring, INK_HEAD(INK_KIND_MARK, section, now), false);
      put(m, ring, INK_ESCAPE_WORD(INK_ESCAPE_TABLE, SYNTH_HASH, now), true);
      m->header.extra += !ring;
      m->header.aux_extra += ring != 0;
    } else if (i < records) {
      put(m, ring, INK_HEAD(INK_KIND_MARK, section, now), true);
    } else if (!depth[ring]) {
      break;
    }
  }
  m->header.state = INK_TRACK_CLOSED;
  for (int i = 0; i < 3; i++)
    m->header.grid_dim[i] = m->header.block_dim[i] = 1;
  m->header.open_clock0 = m->header.open_clock1 = m->header.open_global_ns = base - 1000;
  m->header.close_clock0 = m->header.close_clock1 = m->header.close_global_ns = now + 100;
  m->header.words = m->count[0];
  m->header.aux_words = m->count[1];
  return now;
}

static ink_writer *begin(const char *path, uint32_t records, const made *m) {
  ink_writer *writer = synth_writer(path, records, records, false);
  (void)m;
  return writer;
}

static seen *finish(ink_writer *writer, const char *path) {
  static seen both[2];
  static int which;
  seen *s = &both[which ^= 1];
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  *s = (seen){0};
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  CHECK(ink_capture_track_count(capture) == 1, "%" PRIu64 " tracks", ink_capture_track_count(capture));
  NEED(ink_clock_map_make(capture, &map, &error), error);
  const ink_sink sink = {.user = s, .slice = on_slice, .problem = on_problem, .track_end = on_end};
  NEED(ink_decode(capture, map, UINT32_MAX, &sink, &error), error);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
  return s;
}

static const seen *whole(const made *m) {
  const char *path = synth_path("whole");
  ink_writer *writer = begin(path, WORDS, m);
  ink_error error;
  NEED(ink_writer_track(writer, 0, &m->header, m->words[0], m->words[1], &error), error);
  return finish(writer, path);
}

/* Where the next piece ends: behind a whole record. */
static uint64_t next_cut(const made *m, int ring, uint64_t from) {
  uint64_t at = from + 1 + below(60);
  while (at < m->count[ring] && !m->ends[ring][at - 1])
    at++;
  return at < m->count[ring] ? at : m->count[ring];
}

/* What is left of a track that closed: `lose` of ten parts are missing; with `shifted` their indices are the least
 * that they can be, as after a ring was lapped. */
static const seen *in_parts(made *m, uint64_t lose, bool shifted, bool closed, bool *lost) {
  const char *path = synth_path("parts");
  const uint32_t ring_words = 64;
  ink_writer *writer = begin(path, ring_words, m);
  ink_error error;
  *lost = false;
  ink_track open = m->header;
  open.state = INK_TRACK_OPEN;
  open.extra = open.aux_extra = 0;
  uint64_t at[2], shift[2] = {0, 0};
  for (int ring = 0; ring < 2; ring++)
    at[ring] = m->count[ring] ? next_cut(m, ring, 0) : 0;
  open.words = at[0];
  open.aux_words = at[1];
  open.close_global_ns = m->header.close_global_ns;
  NEED(ink_writer_open_track(writer, 0, &open, m->words[0], at[0], m->words[1], at[1], &error), error);
  for (int ring = 0; ring < 2; ring++)
    while (at[ring] < m->count[ring]) {
      const uint64_t end = next_cut(m, ring, at[ring]);
      ink_part part = {.ring = (uint32_t)ring, .open_clock0 = open.open_clock0, .first = at[ring] - shift[ring],
                       .words = m->words[ring] + at[ring], .count = end - at[ring]};
      const bool missing = below(10) < lose && end - at[ring] < m->count[ring];
      if (missing && shifted && end < m->count[ring]) { /* the next one says that it does not know how much */
        const uint64_t less = end - at[ring];
        shift[ring] += less;
        at[ring] = end;
        part.flags = INK_PART_LOST;
        part.first = at[ring] - shift[ring];
        const uint64_t next = next_cut(m, ring, at[ring]);
        part.words = m->words[ring] + at[ring];
        part.count = next - at[ring];
        at[ring] = next;
        NEED(ink_writer_part(writer, &part, &error), error);
        *lost = true;
        continue;
      }
      if (!missing)
        NEED(ink_writer_part(writer, &part, &error), error);
      *lost |= missing;
      at[ring] = end;
    }
  if (closed) {
    uint64_t rings[2][64];
    for (int ring = 0; ring < 2; ring++)
      for (uint64_t i = m->count[ring] > ring_words ? m->count[ring] - ring_words : 0; i < m->count[ring]; i++)
        rings[ring][i % ring_words] = m->words[ring][i];
    NEED(ink_writer_track(writer, 0, &m->header, rings[0], rings[1], &error), error);
  }
  return finish(writer, path);
}

static bool alike(const ink_slice *a, const ink_slice *b) {
  return a->section == b->section && a->kind == b->kind && a->called == b->called &&
         a->begin_cycles == b->begin_cycles && a->end_cycles == b->end_cycles && a->cut == b->cut &&
         a->row == b->row && a->depth == b->depth;
}

static void compare(const seen *all, const seen *parts, bool exact, const char *what, uint64_t n) {
  const ink_decoded_track *t = &parts->track;
  CHECK(t->marks_kept + t->marks_dropped == t->marks_executed, "%s %" PRIu64 ": counts", what, n);
  CHECK(!parts->problems, "%s %" PRIu64 ": %" PRIu64 " problems", what, n, parts->problems);
  if (exact) {
    CHECK(parts->count == all->count, "%s %" PRIu64 ": %zu slices of %zu", what, n, parts->count, all->count);
    for (size_t i = 0; i < parts->count && i < all->count; i++)
      CHECK(alike(&parts->slices[i], &all->slices[i]), "%s %" PRIu64 ": slice %zu", what, n, i);
    return;
  }
  for (size_t i = 0; i < parts->count; i++) {
    const ink_slice *s = &parts->slices[i];
    bool found = s->cut != 0;
    for (size_t k = 0; k < all->count && !found; k++) {
      const ink_slice *w = &all->slices[k];
      found = s->section == w->section && s->kind == w->kind && s->called == w->called &&
              s->begin_cycles == w->begin_cycles && s->end_cycles == w->end_cycles &&
              (s->row == w->row || s->row == INK_ROW_UNKNOWN);
    }
    CHECK(found, "%s %" PRIu64 ": slice %zu (section %u, row %" PRId64 ") is not in the whole track", what, n, i,
          s->section, s->row);
  }
}

int main(void) {
  static made m;
  for (uint64_t i = 0; i < TRACKS && check_failures < 20; i++) {
    bool lost;
    state = i * 1000003 + 17;
    const uint64_t base = i % 3 ? 1000000 : 5 * (INK_CLOCK_MASK + 1) - below(200000); /* over a wrap */
    make(&m, base);
    const seen *all = whole(&m);
    CHECK(!all->problems, "track %" PRIu64 " has problems", i);
    compare(all, in_parts(&m, 0, false, true, &lost), true, "closed", i);
    const uint64_t marks = all->track.marks_executed;
    all = whole(&m);
    const seen *gaps = in_parts(&m, 3, false, true, &lost);
    compare(all, gaps, false, "with gaps", i);
    CHECK(gaps->track.marks_executed == marks, "marks executed");
    all = whole(&m);
    gaps = in_parts(&m, 3, true, true, &lost);
    compare(all, gaps, false, "lapped", i);
    CHECK(gaps->track.marks_executed == marks, "marks executed");
    all = whole(&m);
    const seen *open = in_parts(&m, 0, false, false, &lost);
    compare(all, open, false, "open", i);
    CHECK(open->track.marks_executed == marks, "marks of an open track: %" PRIu64 " of %" PRIu64,
          open->track.marks_executed, marks);
    all = whole(&m);
    compare(all, in_parts(&m, 4, true, false, &lost), false, "open and lapped", i);
  }
  return check_result("capture_parts");
}
