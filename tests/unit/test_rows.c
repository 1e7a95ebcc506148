/* SPDX-License-Identifier: MIT */
/* Tracks of rows on the host: what the decoder makes of rows that are whole, too long, damaged or of shapes that cannot
 * be; and what open_rows.c finds in a ring while a model of a kernel stores to it. */
#include "check.h"
#include "decode/open_ring.h"
#include "inkmark/decode.h"
#include "synth.h"

#include <inttypes.h>

static uint64_t state = 7;
static uint64_t next(void) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static uint64_t below(uint64_t n) { return next() % n; }

/* ---- decoding ------------------------------------------------------------------------------- */

enum { RECORDS = 64, ROW_WORDS = 8 }; /* 12 slots: of the table's 6 sections, of ranges of the first 2, 1 left, the check's */
#define ROWS INK_ROWS(3, 6, 2, 1)

typedef struct seen {
  uint32_t slices, problems[INK_PROBLEM_PASSED_AGAIN + 1];
  uint64_t executed, kept, rows, begun, cycles[8][8]; /* begun: records that begin a row; [row][section]: of the last slice */
  char text[160];
} seen;

static ink_status on_slice(void *user, const ink_slice *slice) {
  seen *s = user;
  s->slices++;
  if (slice->row >= 0 && slice->row < 8 && slice->section < 8)
    s->cycles[slice->row][slice->section] = slice->end_cycles - slice->begin_cycles;
  return INK_OK;
}
static ink_status on_record(void *user, uint64_t head, uint64_t cycles, ink_section_index section, int64_t row, uint8_t called) {
  seen *s = user;
  (void)cycles, (void)section, (void)row, (void)called;
  s->begun += (head & ~INK_CLOCK_MASK) == INK_HEAD(INK_KIND_ITER, 0, 0);
  return INK_OK;
}
static ink_status on_problem(void *user, const ink_problem *problem) {
  seen *s = user;
  s->problems[problem->kind]++;
  memcpy(s->text, problem->text, sizeof s->text);
  return INK_OK;
}
static ink_status on_end(void *user, const ink_decoded_track *track) {
  seen *s = user;
  s->executed = track->marks_executed;
  s->kept = track->marks_kept;
  s->rows = track->rows_executed;
  return INK_OK;
}

static seen decode(const synth_track *track) {
  const char *path = synth_path("rows");
  ink_error error;
  ink_writer *writer = synth_writer(path, RECORDS, RECORDS, track->keep_first);
  NEED(ink_writer_track(writer, 0, &track->header, track->rings[0], track->rings[1], &error), error);
  NEED(ink_writer_close(writer, &error), error);
  ink_capture *capture;
  ink_clock_map *map;
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  seen s = {0};
  const ink_sink sink = {.user = &s, .slice = on_slice, .record = on_record, .problem = on_problem, .track_end = on_end};
  NEED(ink_decode(capture, map, UINT32_MAX, &sink, &error), error);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
  return s;
}

static void start(synth_track *track, bool keep_first) {
  synth_track_init(track, RECORDS, RECORDS, keep_first);
  track->header.flags = ROWS << INK_TRACK_ROWS_SHIFT;
  synth_open(track, 1000, 1000);
}

/* A row's slots: number and delta in turn, 0 ends. */
static void put_row(synth_track *track, int64_t row, uint64_t clock, const uint32_t *slots) {
  uint64_t words[ROW_WORDS] = {(uint64_t)row, clock};
  for (; *slots; slots += 2) {
    const uint32_t slot = slots[0] - 1, low = slot == 10 ? slots[1] : (uint32_t)(clock + slots[1]);
    memcpy((unsigned char *)(words + 2) + 4 * slot, &low, sizeof low);
  }
  synth_words(track, 0, words, ROW_WORDS);
}

/* What is in front of the first row has no number, and begins none: but only where it is the first of its track that there is. */
static void in_front(void) {
  for (int rows = 7; rows < 11; rows++) /* 8 are kept */
    for (int at = 0; at < 3; at++) {
      synth_track t;
      start(&t, false);
      for (int i = 0; i < rows; i++)
        put_row(&t, i == at ? INT64_MIN : i, 1100 + 100 * (uint64_t)i, (const uint32_t[]){3, 9, 0});
      synth_close(&t, 4000, 4000);
      const seen s = decode(&t);
      const uint64_t want = rows > 8 ? 8 : (uint64_t)rows - (at == 0);
      CHECK(s.begun == want, "%d rows, number %d without a number: %" PRIu64 " begin", rows, at, s.begun);
      synth_track_free(&t);
    }
}

static void whole(void) {
  synth_track t;
  start(&t, false);
  put_row(&t, INT64_MIN, 1001, (const uint32_t[]){3, 9, 0});
  put_row(&t, 5, 1100, (const uint32_t[]){4, 30, 3, 20, 7, 5, 8, 40, 0}); /* by clock: range 1 of 5 to 40, 20, 30 */
  put_row(&t, 6, 1200, (const uint32_t[]){4, 7, 11, 2, 0});               /* 2 passes again */
  synth_close(&t, 1300, 1300);
  seen s = decode(&t);
  CHECK(s.slices == 5 && s.executed == 3 && s.kept == 3 && s.rows == 3, "%u slices, %" PRIu64 " rows", s.slices, s.rows);
  CHECK(s.cycles[5][2] == 15 && s.cycles[5][3] == 10 && s.cycles[5][0] == 35 && s.cycles[6][3] == 7, "times by clock");
  CHECK(s.problems[INK_PROBLEM_PASSED_AGAIN] == 1 && strstr(s.text, "2 marks were passed again"), "%s", s.text);
  synth_track_free(&t);
  for (int first = 0; first < 2; first++) {
    start(&t, first);
    for (uint32_t i = 0; i < 20; i++)
      put_row(&t, i % 8, 1100 + 100 * i, (const uint32_t[]){3, 9 + i, 0});
    synth_close(&t, 4000, 4000);
    s = decode(&t);
    CHECK(s.slices == 8 && s.executed == 20 && s.kept == 8, "%u slices of %" PRIu64 " rows", s.slices, s.kept);
    CHECK(s.cycles[0][2] == (first ? 9 : 25), "row 0: %" PRIu64, s.cycles[0][2]);
    for (int i = 0; i <= INK_PROBLEM_PASSED_AGAIN; i++)
      CHECK(!s.problems[i], "problem %d: %s", i, s.text);
    synth_track_free(&t);
  }
}

static void too_long(void) {
  synth_track t;
  start(&t, false);
  put_row(&t, 0, 1100, (const uint32_t[]){3, 9, 0});
  put_row(&t, 1, 1200, (const uint32_t[]){3, 9, 0});
  put_row(&t, 2, (UINT64_C(3) << 32) + 1200, (const uint32_t[]){3, 9, 0});
  synth_close(&t, (UINT64_C(3) << 32) + 2000, 1300);
  const seen s = decode(&t);
  CHECK(s.slices == 2 && s.cycles[0][2] == 9 && s.cycles[2][2] == 9, "%u slices", s.slices);
  CHECK(s.problems[INK_PROBLEM_LONG_ROW] == 1 && strstr(s.text, "1 rows lasted 2^32 cycles or longer"), "%s", s.text);
  synth_track_free(&t);
}

/* Any words, any shape: nothing is read outside of them, and what is wrong is said. */
static void damaged(void) {
  uint32_t said = 0;
  for (int i = 0; i < 300; i++) {
    synth_track t;
    start(&t, below(2));
    t.header.flags = (uint32_t)(below(3) ? ROWS ^ UINT32_C(1) << below(17) : next() & ((1u << INK_ROWS_BITS) - 1))
                     << INK_TRACK_ROWS_SHIFT;
    t.header.words = below(3 * RECORDS);
    t.header.extra = below(2) ? t.header.words / ROW_WORDS * (ROW_WORDS - 1) : below(200);
    for (uint32_t w = 0; w < RECORDS; w++)
      t.rings[0][w] = below(2) ? next() : 1000 + below(100);
    synth_close(&t, 1000 + below(1u << below(32)), 2000);
    const seen s = decode(&t);
    for (int k = 0; k <= INK_PROBLEM_PASSED_AGAIN; k++)
      said += s.problems[k];
    synth_track_free(&t);
  }
  CHECK(said > 100, "%u problems", said);
}

/* ---- open tracks ---------------------------------------------------------------------------- */

enum { OPEN_WORDS = 4, OPEN_ROWS = 200 };

static bool is_written(const uint64_t *ring, uint32_t records, const uint64_t (*rows)[2], uint64_t row) {
  return ring[row * OPEN_WORDS % records + 1] == rows[row][1];
}

/* Rows come one by one, each clears its slots first; now and then the ring is looked at. What is found must be rows of the
 * track, in their order, each once, the newest not among them; of a kernel that ended, with the newest. */
static void open_rows(void) {
  uint64_t looks = 0, found_rows = 0, lost = 0;
  for (int history = 0; history < 2000; history++) {
    const uint32_t records = UINT32_C(8) << below(4);
    uint64_t ring[64], copy[64], to[64], rows[OPEN_ROWS][2], clock = 1000 + below(1000);
    memset(ring, 0xff, sizeof ring);
    ink_open_ring in = {.records = records, .open_clock = clock, .clock_most = UINT64_MAX, .wiped = true,
                        .rows = INK_ROWS(2, 4, 0, 0)};
    uint64_t expected = 0;
    const uint64_t total = below(OPEN_ROWS), often = 1 + below(20);
    for (uint64_t row = 0; row < total; row++) {
      clock += 1 + below(50);
      rows[row][0] = below(3) ? row : next();
      rows[row][1] = clock;
      uint64_t *at = ring + row * OPEN_WORDS % records;
      at[2] = at[3] = 0;
      const bool halfway = below(2), last = row + 1 == total;
      if (!halfway)
        memcpy(at, rows[row], sizeof rows[row]);
      if (last || !below(often)) {
        memcpy(copy, ring, sizeof copy);
        const bool ended = last && below(2);
        in.words = copy;
        in.again = ended ? NULL : ring;
        ink_open_words out;
        ink_error error;
        NEED(ink_i_open_ring_find(&in, to, &out, &error), error);
        looks++;
        const uint64_t newest = halfway ? row : row + 1; /* rows that have a head */
        CHECK(out.count % OPEN_WORDS == 0 && out.count <= records, "%" PRIu64 " words", out.count);
        uint64_t first = 0; /* told by its clock */
        while (out.count && first < newest && rows[first][1] != to[1])
          first++;
        for (uint64_t i = 0; i < out.count / OPEN_WORDS; i++)
          CHECK(first + i < newest && !memcmp(to + i * OPEN_WORDS, rows[first + i], sizeof rows[0]) &&
                    is_written(ring, records, rows, first + i),
                "row %" PRIu64 " is not the track's", first + i);
        CHECK(!out.count || first >= expected, "row %" PRIu64 " comes again", first);
        CHECK(!out.exact || !out.count || out.first == first * OPEN_WORDS, "at %" PRIu64 ", said exactly %" PRIu64,
              first * OPEN_WORDS, out.first);
        CHECK(!out.count || out.first <= first * OPEN_WORDS, "at %" PRIu64 " at least, is %" PRIu64, out.first, first * OPEN_WORDS);
        CHECK(!out.count || !out.joined || first == expected, "rows %" PRIu64 " to %" PRIu64 " are missing", expected, first);
        if (out.count) {
          lost += first - expected;
          expected = first + out.count / OPEN_WORDS;
          found_rows += out.count / OPEN_WORDS;
          CHECK(expected <= (ended ? newest : newest - 1), "the newest row of a kernel that goes on");
        }
        if (ended && !halfway && newest && records / OPEN_WORDS > 1)
          CHECK(expected == newest && out.newest, "%" PRIu64 " of %" PRIu64 " rows of a kernel that ended", expected, newest);
        in.reached = out.reached;
        in.reached_clock = out.reached_clock;
        in.reached_exact = out.reached_exact;
      }
      if (halfway)
        memcpy(at, rows[row], sizeof rows[row]);
    }
  }
  CHECK(looks > 5000 && found_rows > 20000 && lost > 1000, "%" PRIu64 " looks, %" PRIu64 " rows, %" PRIu64 " lost", looks,
        found_rows, lost);
}

int main(void) {
  in_front();
  whole();
  too_long();
  damaged();
  open_rows();
  return check_result("rows");
}
