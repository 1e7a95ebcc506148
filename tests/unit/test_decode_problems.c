/* SPDX-License-Identifier: MIT */
/* Tracks with something wrong: the decoder says exactly what, and goes on with the rest. */
#include "check.h"
#include "inkmark/decode.h"
#include "synth.h"

#include <inttypes.h>

typedef struct seen {
  char problems[8][160];
  size_t problem_count;
  ink_slice slices[64];
  size_t slice_count;
  ink_async asyncs[16];
  size_t async_count;
  ink_decoded_track track;
} seen;

static ink_status on_problem(void *user, const ink_problem *problem) {
  seen *s = user;
  if (s->problem_count < 8)
    memcpy(s->problems[s->problem_count], problem->text, sizeof problem->text);
  s->problem_count++;
  return INK_OK;
}
static ink_status on_slice(void *user, const ink_slice *slice) {
  seen *s = user;
  if (s->slice_count < 64)
    s->slices[s->slice_count++] = *slice;
  return INK_OK;
}
static ink_status on_async(void *user, const ink_async *async) {
  seen *s = user;
  if (s->async_count < 16)
    s->asyncs[s->async_count++] = *async;
  return INK_OK;
}
static ink_status on_end(void *user, const ink_decoded_track *track) {
  ((seen *)user)->track = *track;
  return INK_OK;
}

static synth_track begin(void) {
  synth_track track;
  synth_track_init(&track, 64, 64, false);
  synth_open(&track, 1000, 5000);
  synth_close(&track, 2000, 6000);
  return track;
}

static seen decode(synth_track *track) {
  const char *path = synth_path("problems");
  ink_writer *writer = synth_writer(path, 64, 64, track->keep_first);
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  synth_put(writer, track);
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  seen s = {0};
  ink_sink sink = {.user = &s, .slice = on_slice, .async = on_async, .problem = on_problem,
                   .track_end = on_end};
  NEED(ink_decode(capture, map, UINT32_MAX, &sink, &error), error);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  synth_track_free(track);
  remove(path);
  return s;
}

static void expect(const seen *s, const char *what, size_t count, const char *const *texts) {
  CHECK(s->problem_count == count, "%s: %zu problems, the first '%s'", what, s->problem_count,
        s->problems[0]);
  CHECK(s->track.problems == s->problem_count, "%s: the track counts %u", what, s->track.problems);
  for (size_t i = 0; i < count && i < s->problem_count; i++)
    CHECK(!strcmp(s->problems[i], texts[i]), "%s: '%s', not '%s'", what, s->problems[i], texts[i]);
}

#define EXPECT(s, what, ...)                                                                       \
  do {                                                                                             \
    const char *const texts[] = {__VA_ARGS__};                                                     \
    expect(s, what, sizeof texts / sizeof *texts, texts);                                          \
  } while (0)

static void ranges(void) {
  synth_track t = begin();
  synth_record(&t, 0, INK_KIND_END, SYNTH_GRADIENT, 0, 1100);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_UPDATE, 0, 1200);
  seen s = decode(&t);
  EXPECT(&s, "stray end", "END of 'Gradient' without its BEGIN");
  CHECK(s.slice_count == 1 && s.slices[0].begin_cycles == 1000 && s.slices[0].end_cycles == 1200,
        "the mark after it");

  t = begin();
  synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_LINE_SEARCH, 0, 1100);
  synth_record(&t, 0, INK_KIND_END, SYNTH_GRADIENT, 0, 1200);
  s = decode(&t);
  EXPECT(&s, "wrong name", "END of 'Gradient' closes 'LineSearch'");
  CHECK(s.slice_count == 1 && s.slices[0].section == SYNTH_LINE_SEARCH - 1, "keeps its name");

  t = begin();
  synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_GRADIENT, 0, 1100);
  synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_HESSIAN, 0, 1200);
  synth_record(&t, 0, INK_KIND_END, SYNTH_GRADIENT, 0, 1300);
  s = decode(&t);
  EXPECT(&s, "left open inside", "'Hessian' is still open at the END of 'Gradient'");
  CHECK(s.slice_count == 2 && s.slices[0].cut == 2 && s.slices[0].end_cycles == 1300 &&
            s.slices[1].cut == 0 && s.slices[1].begin_cycles == 1100, "both slices");

  t = begin();
  synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_GRADIENT, 0, 1100);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 1200);
  s = decode(&t);
  EXPECT(&s, "never ended", "range 'Gradient' never ended");
  CHECK(s.slice_count == 2 && s.slices[1].cut == 2 && s.slices[1].end_cycles == 2000 &&
            s.slices[1].depth == 0 && s.slices[0].depth == 1, "until the close");

  t = begin();
  synth_record(&t, 1, INK_KIND_BEGIN, SYNTH_GRADIENT, 0, 1100);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 1200);
  synth_record(&t, 1, INK_KIND_END, SYNTH_GRADIENT, 0, 1300);
  s = decode(&t);
  EXPECT(&s, "across", "range 'Gradient' of a called function is open across the body's marks");
  CHECK(s.slice_count == 2 && s.slices[1].begin_cycles == 1200 && s.slices[1].cut == 1, "nests");
}

static void clocks(void) {
  synth_track t = begin();
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 1300);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_GRADIENT, 0, 1288);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_LAST, 0, 1400);
  seen s = decode(&t);
  EXPECT(&s, "back", "clock goes back by 12 cycles");
  CHECK(s.slice_count == 3 && s.slices[1].begin_cycles == 1300 && s.slices[1].end_cycles == 1300 &&
            s.slices[2].end_cycles == 1400, "goes on");

  t = begin();
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 2007);
  s = decode(&t);
  EXPECT(&s, "late", "clock is 7 cycles after the close");

  t = begin();
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 990);
  s = decode(&t);
  EXPECT(&s, "early", "clock goes back by 10 cycles");

  t = begin();
  synth_close(&t, 900, 6000);
  s = decode(&t);
  EXPECT(&s, "closed first", "closed 100 cycles before it was opened");

  t = begin();
  t.header.sm_close = 3;
  s = decode(&t);
  EXPECT(&s, "moved", "moved from SM 0 to SM 3, whose clocks cannot be compared");
}

static void counts(void) {
  synth_track t = begin();
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 1100);
  t.header.extra = 1;
  seen s = decode(&t);
  EXPECT(&s, "one too many", "1 marks kept and none dropped, 0 executed");

  t = begin();
  synth_record(&t, 0, INK_KIND_ITER, 0, 3, 1100);
  t.header.extra = 0;
  s = decode(&t);
  EXPECT(&s, "one too few", "1 marks kept and none dropped, 2 executed");
  CHECK(s.track.marks_kept + s.track.marks_dropped == s.track.marks_executed, "still adds up");

  t = begin();
  t.header.aux_extra = 4;
  s = decode(&t);
  EXPECT(&s, "payload", "0 words executed, of which 4 are payload");

  t = begin();
  for (uint64_t i = 0; i < 100; i++)
    synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 1100 + i);
  t.header.extra = 60; /* claims 40 marks, but 64 are kept */
  s = decode(&t);
  EXPECT(&s, "too many kept", "64 marks kept, 40 executed, but 36 words dropped");
}

/* So few marks in so many dropped words is impossible: none has more than six. */
static void long_marks(void) {
  synth_track t = begin();
  for (uint64_t i = 0; i < 164; i++)
    synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 1100 + i);
  t.header.extra = 164 - 64 - 16;
  seen s = decode(&t);
  EXPECT(&s, "too few dropped", "64 marks kept, 80 executed, but 100 words dropped");
}

static void words(void) {
  synth_track t = begin();
  uint64_t strange = INK_ESCAPE_WORD(40, 0, 1150);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 1100);
  synth_words(&t, 0, &strange, 1);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_GRADIENT, 0, 1200);
  seen s = decode(&t);
  EXPECT(&s, "unknown", "an unknown kind of record; 2 older words cannot be read");
  CHECK(s.slice_count == 1 && s.slices[0].end_cycles == 1200 && s.slices[0].cut == 1,
        "what is newer is decoded");
  CHECK(s.track.partial_before_cycles == 1200, "and only that is whole");

  t = begin();
  synth_record(&t, 0, INK_KIND_MARK, 7, 0, 1100);
  synth_record(&t, 0, INK_KIND_MARK, 0, 0, 1200);
  s = decode(&t);
  EXPECT(&s, "ids", "section 7 is not in table 'Solver', which has 6", "section 0 is not in table 'Solver', which has 6");
  CHECK(s.slice_count == 2 && s.slices[0].section == INK_SECTION_UNKNOWN, "still a slice");

  t = begin();
  t.table_hash48 = 0x777;
  synth_record(&t, 0, INK_KIND_MARK, 1, 0, 1100);
  s = decode(&t);
  EXPECT(&s, "table", "section 1 of the unknown table 000000000777");

  t = begin();
  t.header.kernel = 5; /* a slot that no counts name */
  synth_record(&t, 0, INK_KIND_MARK, 1, 0, 1100);
  synth_record(&t, 0, INK_KIND_MARK, 2, 0, 1200);
  s = decode(&t);
  EXPECT(&s, "kernel", "the kernel's section table is unknown");
  CHECK(s.slice_count == 2, "once is enough, the slices are there");
}

static void asyncs(void) {
  synth_track t = begin();
  synth_record(&t, 0, INK_KIND_ASYNC_BEGIN, 3, 8, 1100);
  synth_record(&t, 0, INK_KIND_ASYNC_BEGIN, 3, 8, 1200);
  synth_record(&t, 1, INK_KIND_ASYNC_END, 3, 8, 1300);
  synth_record(&t, 0, INK_KIND_ASYNC_END, 3, 9, 1400);
  seen s = decode(&t);
  EXPECT(&s, "asyncs", "async end of 'UpdateConstraint' with key 9 without its begin",
         "async range 'UpdateConstraint' with key 8 never ended");
  CHECK(s.async_count == 3, "%zu", s.async_count);
  CHECK(s.asyncs[0].begin_cycles == 1100 && s.asyncs[0].end_cycles == 1300 &&
            s.asyncs[0].called == 1, "first begun, first ended, over both rings");
  CHECK(s.asyncs[1].cut == 1 && s.asyncs[1].key == 9, "no begin");
  CHECK(s.asyncs[2].cut == 2 && s.asyncs[2].begin_cycles == 1200 && s.asyncs[2].end_cycles == 2000,
        "no end");
}

int main(void) {
  ranges();
  clocks();
  counts();
  words();
  long_marks();
  asyncs();
  return check_result("decode_problems");
}
