/* SPDX-License-Identifier: MIT */
/* The join at its thresholds: traces and launches that lie on either side of one. tests/merge/join_blind.c has the random
 * ones. */
#include "check.h"
#include "merge/read/foreign_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST = 1000, BASE = 1700000000 };

static ink_foreign *theirs;
static ink_join_launch launches[MOST];
static size_t count;
static const ink_joined *joined;
static const ink_join_clock *clocks;
static ink_join *join;

static void begin(bool base_known) {
  theirs = calloc(1, sizeof *theirs);
  theirs->facts.base_known = base_known;
  count = 0;
}

/* A kernel of theirs, in microseconds since BASE seconds; ids 0: it has none. */
static size_t kernel(double begin_us, double length_us, int64_t stream, int64_t correlation, uint64_t grid_id) {
  ink_foreign_type type = {.short_name = UINT32_MAX, .mangled = UINT32_MAX, .stream = stream, .grid_dim = {64, 1, 1},
                           .block_dim = {128, 1, 1}};
  if (ink_foreign_intern(theirs, "step(float*)", 12, &type.name))
    exit(1);
  const int64_t at = INT64_C(1000000000) * BASE + llround(begin_us * 1000);
  const ink_foreign_kernel k = {.begin_ns = at, .end_ns = at + llround(length_us * 1000), .correlation = correlation ? correlation : -1,
                                .grid_id = grid_id};
  if (ink_foreign_add(theirs, &type, &k))
    exit(1);
  return theirs->kernel_count - 1;
}

static size_t launch(double begin_us, double length_us, int64_t correlation, uint64_t grid_id) {
  const int64_t at = INT64_C(1000000000) * BASE + llround(begin_us * 1000);
  launches[count] = (ink_join_launch){.name = "step", .grid_id = grid_id, .correlation = correlation, .grid_dim = {64, 1, 1},
                                      .block_dim = {128, 1, 1}, .begin_ns = at, .end_ns = at + llround(length_us * 1000)};
  return count++;
}

static void make(void) {
  ink_error error;
  NEED(ink_join_make(launches, count, theirs, &join, &error), error);
  CHECK(ink_join_launches(join, &joined) == count, "launches");
  CHECK(ink_join_clocks(join, &clocks) == 1, "clocks");
}

static void end(void) {
  ink_join_free(join);
  ink_foreign_free(theirs);
}

static double jitter(size_t i) { return (double)((i * 7919 + 13) % 97) / 10; } /* 0 to 9.6 us, no period */

/* Two streams run the same kernel at the same time, and each fourth time only one does: by time alone each launch of two could
 * be either, and with ids nothing is uncertain. The other clock is 3 s ahead. */
static void ids_leave_no_doubt(bool with_ids) {
  const double ahead = 3e6;
  begin(true);
  double at = 0;
  for (size_t i = 0; i < 80; i++) {
    at += 500 + 100 * jitter(i); /* no period */
    const bool two = i % 4 != 3;
    kernel(at + ahead, 20, 7, with_ids ? (int64_t)(2 * i + 1) : 0, 0);
    launch(at + 1, 18, with_ids ? (int64_t)(2 * i + 1) : 0, 0);
    if (two) {
      kernel(at + ahead, 20, 8, with_ids ? (int64_t)(2 * i + 2) : 0, 0);
      launch(at + 1, 18, with_ids ? (int64_t)(2 * i + 2) : 0, 0);
    }
  }
  make();
  CHECK(clocks[0].joined == count && !clocks[0].note[0], "%" PRIu64 " joined: %s", clocks[0].joined, clocks[0].note);
  CHECK(llabs(clocks[0].offset_ns - llround(ahead * 1000)) < 1100, "%" PRId64 " ns ahead", clocks[0].offset_ns);
  for (size_t i = 0; i < count; i++) {
    const bool two = (i && launches[i - 1].begin_ns == launches[i].begin_ns) ||
                     (i + 1 < count && launches[i + 1].begin_ns == launches[i].begin_ns);
    CHECK(joined[i].method == (with_ids ? INK_JOIN_CORRELATION : INK_JOIN_NAME), "launch %zu by %d", i, (int)joined[i].method);
    CHECK(!with_ids || theirs->kernels[joined[i].kernel].correlation == launches[i].correlation, "launch %zu has another's kernel", i);
    CHECK(joined[i].uncertain == (two && !with_ids), "launch %zu of %d is %suncertain", i, 1 + two, joined[i].uncertain ? "" : "not ");
  }
  end();
}

/* Grid ids say which kernel is whose, however far the clocks are apart; where many are those of far launches, they are not believed. */
static void grid_ids(bool wrong) {
  begin(true);
  double at = 0;
  for (size_t i = 0; i < 60; i++) {
    at += 500 + 100 * jitter(i);
    kernel(at + 3e6, 20, 7, 0, i + 1);
    launch(at + 1, 18, 0, 1 + (wrong && i < 12 ? i + 40 : wrong && i >= 40 && i < 52 ? i - 40 : i));
  }
  make();
  CHECK(clocks[0].grid_ids_trusted == !wrong, "%s ids: %s", wrong ? "wrong" : "right", clocks[0].note);
  for (size_t i = 0; i < count; i++)
    CHECK(joined[i].kernel == i && joined[i].method == (wrong ? INK_JOIN_NAME : INK_JOIN_GRID_ID), "launch %zu: kernel %zu by %d", i,
          joined[i].kernel, (int)joined[i].method);
  end();
}

/* Two streams whose kernels overlap, of which one begins later each time: the launches that lie in both go to the ones that
 * they lie in as all others do. */
static void by_how_they_lie(void) {
  begin(true);
  double at = 0;
  size_t wanted[MOST];
  for (size_t i = 0; i < 60; i++) {
    at += 500 + 100 * jitter(i);
    const size_t first = kernel(at, 20, 7, 0, 0), second = kernel(at + 3, 20, 8, 0, 0);
    if (i % 2) /* in whichever order they came */
      wanted[launch(at + 1, 16, 0, 0)] = first, wanted[launch(at + 4, 16, 0, 0)] = second;
    else
      wanted[launch(at + 1.1, 16, 0, 0)] = first, wanted[launch(at + 4.1, 16, 0, 0)] = second;
  }
  make();
  for (size_t i = 0; i < count; i++)
    CHECK(joined[i].kernel == wanted[i] && !joined[i].uncertain, "launch %zu: kernel %zu, not %zu, %scertain", i, joined[i].kernel,
          wanted[i], joined[i].uncertain ? "un" : "");
  end();
}

/* How sure a pair is depends on the nearest other kernel, on whichever side it lies: `side` 1 after, -1 before, 0 none. */
static double confidence_beside(int side) {
  begin(true);
  size_t asked = 0;
  double at = 0;
  for (size_t i = 0; i < 41; i++) {
    at += 500 + 100 * jitter(i); /* no period */
    if (i == 20 && side < 0) /* in the order of time, as readers give them */
      kernel(at - 7, 6, 7, 0, 0);
    kernel(at, 6, 7, 0, 0);
    if (i == 20 && side > 0)
      kernel(at + 7, 6, 7, 0, 0);
    const size_t l = launch(at + (i == 20 ? 1 : 1.2 * jitter(i + 7) - 5), 4, 0, 0); /* most stick out of theirs by some us */
    asked = i == 20 ? l : asked;
  }
  make();
  CHECK(joined[asked].kernel != SIZE_MAX, "not joined");
  const double confidence = joined[asked].confidence;
  end();
  return confidence;
}

/* A file without a base: two launches fit at two places of the trace, so nothing is joined; at one place only they are. */
static void two_launches(bool twice) {
  begin(false);
  for (int part = 0; part < 1 + twice; part++) {
    kernel(50000 * part, 20, 7, 0, 0);
    kernel(50000 * part + 777, 20, 7, 0, 0);
  }
  launch(1000, 19, 0, 0);
  launch(1777, 19, 0, 0);
  make();
  CHECK(clocks[0].joined == (twice ? 0 : 2), "%" PRIu64 " joined, at %d places: %s", clocks[0].joined, 1 + twice, clocks[0].note);
  end();
}

/* The other profiler was on for a part of the recording: what it saw is joined, however little of the whole that is. */
static void seen_in_part(void) {
  begin(true);
  for (size_t i = 0; i < 600; i++) {
    const double at = 300 * (double)i + 9 * jitter(i);
    if (i >= 300 && i < 330)
      kernel(at, 20, 7, 0, 0);
    launch(at + 1, 18, 0, 0);
  }
  make();
  CHECK(clocks[0].joined == 30, "%" PRIu64 " joined: %s", clocks[0].joined, clocks[0].note);
  end();
}

/* Grid ids that do not agree with time are held against what time alone gives: only where that puts over a quarter more
 * launches inside of kernels are they refused. */
static void ids_against_time(size_t elsewhere, bool refused) {
  begin(true);
  for (size_t i = 0; i < 100; i++) {
    const double at = 100 * (double)i + jitter(i);
    kernel(at, 10, 7, 0, i + 1);
    const bool extra = i < elsewhere, outside = i < 25;
    if (extra)
      kernel(at + 40, 10, 7, 0, 0);
    launch(at + 1 + (extra || outside ? 40 : 0), 8, 0, i + 1);
  }
  make();
  CHECK(clocks[0].grid_ids_trusted == !refused, "%zu launches lie in another kernel: ids are %s: %s", elsewhere,
        clocks[0].grid_ids_trusted ? "used" : "refused", clocks[0].note);
  end();
}

/* Ids of the next launch, in a loop of two kernels: why they are not used is said, and then what time alone leaves open. */
static void ids_of_the_next(void) {
  begin(true);
  for (size_t i = 0; i < 60; i++) {
    const double at = 100 * (double)i + (i % 2 ? 30 : 0);
    kernel(at, 10, 7, 0, i + 2);
    launch(at + 1, 8, 0, i + 1);
  }
  make();
  CHECK(!strcmp(clocks[0].note, "grid ids do not agree (30 launches lie inside, by time 60), so they were not used; another offset fits almost as well, "
                                "so the join may be a period off"), "%s", clocks[0].note);
  end();
}

/* The first 16 of 120 launches have the ids of later kernels, in which they do not lie. Time puts all inside, but is believed only where
 * it is sure: not where two streams always run the kernel at the same time. */
static void ids_against_unsure_time(bool sure) {
  begin(true);
  double at = 0;
  for (size_t i = 0; i < 120; i++) {
    at += sure || i % 2 == 0 ? 100 + jitter(i) : 0;
    kernel(at, 20, sure ? 7 : 7 + (int64_t)(i % 2), 0, i + 1);
    launch(at + 1, 18, 0, i < 16 ? i + 3 : i + 1);
  }
  make();
  CHECK(clocks[0].grid_ids_trusted == !sure, "ids are %s where time is %ssure: %s", clocks[0].grid_ids_trusted ? "used" : "refused", sure ? "" : "not ",
        clocks[0].note);
  end();
}

/* Launches of another run fit a busy trace at many places, and at none of them well. */
static void another_run(void) {
  begin(true);
  for (size_t i = 0; i < 300; i++)
    kernel(33 * (double)i + jitter(i), 20, 7, 0, 0);
  for (size_t i = 0; i < 12; i++)
    launch(3000 + 47 * (double)i + 3 * jitter(5 * i + 1), 12, 0, 0);
  make();
  CHECK(!clocks[0].joined && !strcmp(clocks[0].note, "the launches fit at many offsets equally well"), "%" PRIu64 " joined: %s", clocks[0].joined, clocks[0].note);
  end();
}

int main(void) {
  ids_of_the_next();
  ids_against_unsure_time(true);
  ids_against_unsure_time(false);
  another_run();
  ids_leave_no_doubt(true);
  ids_leave_no_doubt(false);
  by_how_they_lie();
  grid_ids(false);
  grid_ids(true);
  const double alone = confidence_beside(0), before = confidence_beside(-1), after = confidence_beside(1);
  CHECK(alone == 1 && before < 0.995 && after < 0.995 && before > 0 && after > 0 && fabs(before - after) < 0.1, "%g alone, %g and %g beside another", alone, before,
        after);
  two_launches(false);
  two_launches(true);
  seen_in_part();
  ids_against_time(6, false);
  ids_against_time(60, true);
  return check_result("join");
}
