/* SPDX-License-Identifier: MIT */
/* Tables against numbers added up by hand, and quantiles against sorted values. */
#include "check.h"
#include "inkmark/table.h"
#include "quantile.h"
#include "synth.h"

#include <inttypes.h>
#include <math.h>

static ink_capture *capture;
static ink_clock_map *map;

static void open_capture(const char *path) {
  ink_error error;
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
}

static void close_capture(const char *path) {
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
}

static ink_table *make(enum ink_group_by by, const char *regex) {
  ink_table *table = NULL;
  ink_error error;
  ink_table_options options = {.size = sizeof options, .by = by, .kernel_regex = regex,
                               .launch = UINT32_MAX};
  NEED(ink_table_make(capture, map, &options, &table, &error), error);
  return table;
}

static const ink_table_row *find(const ink_table *table, uint32_t section, int64_t group) {
  const ink_table_row *rows;
  size_t n = ink_table_rows(table, &rows);
  uint32_t index = section == INK_SECTION_UNKNOWN ? section : section - 1;
  for (size_t i = 0; i < n; i++)
    if (rows[i].section == index && rows[i].group == group)
      return &rows[i];
  static const ink_table_row none;
  CHECK(false, "no row of section %u in group %" PRId64, section, group);
  return &none;
}

/* Each quantile is that which its name says: 200 slices, each over 1 % longer than the one before. */
static void quantiles_of_rows(void) {
  enum { SLICES = 200 };
  const char *path = synth_path("quantiles");
  ink_writer *writer = synth_writer(path, 1024, 64, false);
  synth_track t;
  synth_track_init(&t, 1024, 64, false);
  uint64_t lengths[SLICES], length = 100000, c = 1000;
  synth_open(&t, c, 5000);
  for (int i = 0; i < SLICES; i++) {
    lengths[i] = length;
    length += length / 60;
  }
  for (int i = 0; i < SLICES; i++) /* 7 and 200 have no common divisor: every one comes, in another order */
    synth_record(&t, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, c += lengths[i * 7 % SLICES]);
  synth_close(&t, c + 7, 5000 + c);
  synth_put(writer, &t);
  synth_track_free(&t);
  synth_finish(writer);
  open_capture(path);
  ink_table *table = make(INK_BY_SECTION, NULL);
  const ink_table_row *r = find(table, SYNTH_LINE_SEARCH, 0);
  const struct {
    const char *name;
    uint64_t cycles, rank;
    double ns;
  } all[] = {{"min", r->min_cycles, 1, r->min_ns}, {"p1", r->p1_cycles, 2, r->p1_ns}, {"median", r->median_cycles, 100, r->median_ns},
             {"p99", r->p99_cycles, 198, r->p99_ns}, {"max", r->max_cycles, 200, r->max_ns}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const double wanted = (double)lengths[all[i].rank - 1], off = fabs((double)all[i].cycles - wanted);
    CHECK(off <= wanted / 128, "%s: %" PRIu64 ", not %.0f", all[i].name, all[i].cycles, wanted);
    CHECK(fabs(all[i].ns / (double)all[i].cycles - r->total_ns / (double)r->total_cycles) < 1e-6, "%s: %g ns", all[i].name, all[i].ns);
  }
  ink_table_free(table);
  close_capture(path);
}

/* Two blocks on SMs of 1 GHz and 2 GHz. The body, in cycles from the opening:
 *   0 ..10 ITER 0 (10 unmarked)  ..110+d LineSearch  (Gradient called, 20 of it)
 *   BEGIN Update after 5 (unmarked)  30 of Hessian inside, 10 of nothing  END
 *   ITER 1 after 5 (unmarked)  ..200 LineSearch  ..close 15 (unmarked)
 * d is 0 in block 0 and 60 in block 1. */
static void put_block(ink_writer *writer, uint32_t block, uint64_t d) {
  synth_track t;
  synth_track_init(&t, 64, 64, false);
  uint64_t c = 1000000 * (block + 1), g = 7000000, open = c;
  t.header.grid_dim[0] = 2;
  t.header.block_index[0] = block;
  t.header.ticket = block;
  t.header.grid_id = 3;
  t.header.sm_open = t.header.sm_close = block;
  synth_open(&t, c, g);
  t.header.open_clock0 = t.header.open_clock1; /* so that the pair is exact */
  synth_record(&t, 0, INK_KIND_ITER, 0, 0, c += 10);
  synth_record(&t, 1, INK_KIND_MARK, SYNTH_GRADIENT, 0, c + 20);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, c += 100 + d);
  synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_UPDATE, 0, c += 5);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, c += 30);
  synth_record(&t, 0, INK_KIND_END, SYNTH_UPDATE, 0, c += 10);
  synth_record(&t, 0, INK_KIND_ITER, 0, 1, c += 5);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, c += 200);
  uint64_t sum[4] = {4, 44, 2, 20};
  synth_sum(&t, 1, sum, SYNTH_OTHER_HASH, c);
  synth_close(&t, c += 15, 0);
  /* The globaltimer is exact here: 1 cycle = 1 ns or 0.5 ns. */
  t.header.close_clock1 = t.header.close_clock0 += 10000000 * (block + 1) - (c - open);
  t.header.close_global_ns = g + 10000000;
  synth_put(writer, &t);
  synth_track_free(&t);
}

static void by_hand(void) {
  const char *path = synth_path("hand");
  ink_error error;
  ink_writer *writer = synth_writer(path, 64, 64, false);
  put_block(writer, 0, 0);
  put_block(writer, 1, 60);
  ink_kernel_counts counts = {.key = INK_KERNEL_KEY(SYNTH_HASH, 1), .missed = 7, .tracks = 3,
                              .marks = 30};
  NEED(ink_writer_counts(writer, &counts, 1, 0, 0, 0, &error), error);
  synth_finish(writer);
  open_capture(path);

  ink_table *table = make(INK_BY_SECTION, NULL);
  const ink_table_row *rows;
  size_t n = ink_table_rows(table, &rows);
  CHECK(n == 6, "%zu rows", n);
  CHECK(n && rows[n - 1].section == INK_SECTION_UNKNOWN, "(unmarked) comes last");
  double total = 30000000; /* both tracks */
  const ink_table_row *r = find(table, SYNTH_LINE_SEARCH, 0);
  CHECK(r->count == 4 && r->total_cycles == 660 && r->min_cycles == 100 && r->max_cycles == 200,
        "LineSearch: %" PRIu64 " in %" PRIu64, r->total_cycles, r->count);
  CHECK(r->median_cycles == 160 && r->p99_cycles == 200, "nearest rank: %" PRIu64 " %" PRIu64,
        r->median_cycles, r->p99_cycles);
  CHECK(fabs(r->total_ns - (300 + 180)) < 0.01, "block 1 is twice as fast: %f ns", r->total_ns);
  CHECK(fabs(r->min_ns - 80) < 0.01 && fabs(r->max_ns - 200) < 0.01, "%f %f", r->min_ns, r->max_ns);
  CHECK(fabs(r->share - 660 / total) < 1e-12, "share %g", r->share);
  CHECK(fabs(r->imbalance - 360.0 / 330) < 1e-9, "imbalance %g", r->imbalance);
  CHECK(r->depth == 0 && !r->called && !r->summed && !r->cut, "flags");
  CHECK(r->self_known && r->self_cycles == 660 - 40, "Gradient is not LineSearch's own: %" PRIu64, r->self_cycles);
  CHECK(fabs(r->self_ns - 480.0 * 620 / 660) < 0.01, "at the row's mean rate: %f", r->self_ns);
  CHECK(r->max_track == 0 && r->max_iteration == 1, "the first of the longest: %" PRIu64, r->max_track);
  r = find(table, SYNTH_HESSIAN, 0);
  CHECK(r->count == 2 && r->total_cycles == 60 && r->depth == 1, "nested");
  r = find(table, SYNTH_UPDATE, 0);
  CHECK(r->count == 2 && r->total_cycles == 80 && r->depth == 0, "range");
  CHECK(r->self_known && r->self_cycles == 20, "without Hessian: %" PRIu64, r->self_cycles);
  r = find(table, SYNTH_GRADIENT, 0);
  CHECK(r->count == 2 && r->total_cycles == 40 && r->called && r->depth == 1, "called");
  r = find(table, 7, 0); /* Alpha of the other table */
  CHECK(r->count == 8 && r->total_cycles == 88 && r->min_cycles == 2 && r->max_cycles == 20 &&
            r->summed && r->median_cycles == 0, "sums add up");
  uint64_t unmarked = (uint64_t)total - 660 - 80;
  r = find(table, INK_SECTION_UNKNOWN, 0);
  CHECK(r->total_cycles == unmarked, "unmarked %" PRIu64 ", not %" PRIu64, r->total_cycles,
        unmarked);
  const ink_kernel_total *totals;
  CHECK(ink_table_kernels(table, &totals) == 1, "kernels");
  CHECK(totals[0].tracks == 2 && totals[0].launches == 1 && totals[0].missed == 7 &&
            totals[0].tracks_lost == 1 && totals[0].marks_lost == 12 &&
            totals[0].marks_executed == 18 && totals[0].marks_kept == 18 &&
            totals[0].marks_dropped == 0 && totals[0].tracks_partial == 0, "kernel's counts");
  CHECK(totals[0].iterations == 4, "%" PRIu64 " of the marks are ITERs", totals[0].iterations);
  CHECK(totals[0].total_cycles == (uint64_t)total && totals[0].unmarked_cycles == unmarked &&
            totals[0].unknown_cycles == 0 && fabs(totals[0].total_ns - 20000000) < 0.01,
        "kernel's time: %f ns", totals[0].total_ns);
  const ink_section_index *unseen;
  n = ink_table_unseen(table, 0, &unseen);
  CHECK(n == 1 && unseen[0] == SYNTH_LAST - 1, "%zu unseen; the kernel's own name is none", n);
  CHECK(ink_table_unseen(table, 99, &unseen) == 0, "no such kernel");
  uint64_t problems;
  const ink_problem *problem;
  CHECK(ink_table_problems(table, &problem, &problems) == 0 && problems == 0, "problems");
  ink_table_free(table);

  table = make(INK_BY_ITERATION, NULL);
  CHECK(find(table, SYNTH_LINE_SEARCH, 0)->total_cycles == 260, "row 0");
  CHECK(find(table, SYNTH_LINE_SEARCH, 1)->total_cycles == 400, "row 1");
  CHECK(fabs(find(table, SYNTH_LINE_SEARCH, 0)->imbalance - 160.0 / 130) < 1e-9, "of row 0");
  CHECK(find(table, SYNTH_HESSIAN, 0)->total_cycles == 60, "a range is in the row around it");
  CHECK(find(table, SYNTH_GRADIENT, 0)->total_cycles == 40, "so is a called function");
  CHECK(find(table, SYNTH_LINE_SEARCH, 1)->passes == 2 && find(table, INK_SECTION_UNKNOWN, 0)->passes == 2 &&
            find(table, INK_SECTION_UNKNOWN, INK_ROW_NONE)->passes == 0, "both blocks passed row 1 once");
  CHECK(!find(table, SYNTH_UPDATE, 0)->self_known, "self by iteration is not known");
  CHECK(find(table, 7, 1)->count == 8, "a sum is in the row where it was stored");
  CHECK(find(table, INK_SECTION_UNKNOWN, INK_ROW_NONE)->total_cycles == 20, "before any row");
  CHECK(find(table, INK_SECTION_UNKNOWN, 0)->total_cycles == 20, "gaps of row 0");
  ink_table_free(table);

  table = make(INK_BY_BLOCK, NULL);
  CHECK(find(table, SYNTH_LINE_SEARCH, 0)->total_cycles == 300, "block 0");
  CHECK(find(table, SYNTH_LINE_SEARCH, 1)->total_cycles == 360, "block 1");
  CHECK(fabs(find(table, SYNTH_LINE_SEARCH, 1)->total_ns - 180) < 0.01, "block 1's ns");
  ink_table_free(table);
  table = make(INK_BY_SM, "^Step$");
  CHECK(find(table, SYNTH_LINE_SEARCH, 1)->total_cycles == 360, "SM 1");
  ink_table_free(table);
  table = make(INK_BY_LAUNCH, "^St");
  CHECK(find(table, SYNTH_LINE_SEARCH, 0)->total_cycles == 660, "launch 0");
  ink_table_free(table);
  table = make(INK_BY_SECTION, "Other");
  CHECK(ink_table_rows(table, &rows) == 0 && ink_table_kernels(table, &totals) == 0, "no kernel");
  ink_table_free(table);
  close_capture(path);
}

/* Ranges of a section inside each other: in a called function that calls itself, and MARKs of the body in a
 * range of their own name, one by one and among others. */
static void recursion(bool timed) {
  const char *path = synth_path("recursion");
  ink_writer *writer = synth_writer(path, 256, 64, false);
  for (uint32_t block = 0; block < 2; block++) {
    synth_track t;
    synth_track_init(&t, 256, 64, false);
    t.header.grid_dim[0] = 2;
    t.header.block_index[0] = block;
    t.header.ticket = block;
    synth_open(&t, 1000, 5000);
    uint64_t c = 1000;
    synth_record(&t, 1, INK_KIND_BEGIN, SYNTH_GRADIENT, 0, c += 10);
    synth_record(&t, 1, INK_KIND_BEGIN, SYNTH_GRADIENT, 0, c += 20);
    synth_record(&t, 1, INK_KIND_BEGIN, SYNTH_UPDATE, 0, c += 30);
    synth_record(&t, 1, INK_KIND_BEGIN, SYNTH_GRADIENT, 0, c += 40);
    synth_record(&t, 1, INK_KIND_MARK, SYNTH_UPDATE, 0, c += 5);
    synth_record(&t, 1, INK_KIND_END, SYNTH_GRADIENT, 0, c += 10);
    synth_record(&t, 1, INK_KIND_END, SYNTH_UPDATE, 0, c += 10);
    synth_record(&t, 1, INK_KIND_END, SYNTH_GRADIENT, 0, c += 10);
    synth_record(&t, 1, INK_KIND_END, SYNTH_GRADIENT, 0, c += 10);
    synth_record(&t, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, c += 5); /* 150 in all */
    synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_HESSIAN, 0, c);
    synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_LAST, 0, c);
    for (int i = 0; i < 40; i++)
      synth_record(&t, 0, INK_KIND_MARK, i % 10 == 9 ? SYNTH_LAST : i % 10 == 4 ? SYNTH_HESSIAN : SYNTH_UPDATE, 0,
                   c += 2);
    synth_record(&t, 0, INK_KIND_END, SYNTH_LAST, 0, c);
    synth_record(&t, 0, INK_KIND_END, SYNTH_HESSIAN, 0, c);
    synth_close(&t, c, timed && block ? 5500 : 5230);
    synth_put(writer, &t);
    synth_track_free(&t);
  }
  synth_finish(writer);
  open_capture(path);
  ink_table *table = make(INK_BY_SECTION, NULL);
  const ink_table_row *r = find(table, SYNTH_GRADIENT, 0);
  CHECK(r->count == 6 && r->nested == 4 && r->total_cycles == 2 * 135 && r->min_cycles == 15 &&
            r->median_cycles == 105 && r->max_cycles == 135,
        "Gradient: %" PRIu64 " of %" PRIu64 " nested, %" PRIu64 " cycles, %" PRIu64 " %" PRIu64 " %" PRIu64,
        r->nested, r->count, r->total_cycles, r->min_cycles, r->median_cycles, r->max_cycles);
  CHECK(fabs(r->share - 135.0 / 230) < 1e-9 && r->imbalance == 1, "share %g", r->share);
  CHECK(r->self_known && r->self_cycles == 2 * (20 + 10 + 30 + 10 + 10), "Gradient's own: %" PRIu64,
        r->self_cycles);
  CHECK(r->inside_count == 2 && r->inside[0] == SYNTH_UPDATE - 1 && r->inside[1] == SYNTH_LINE_SEARCH - 1 &&
            !r->twice,
        "Gradient lies in %u", r->inside_count);
  r = find(table, SYNTH_UPDATE, 0);
  CHECK(r->count == 2 * 34 && r->nested == 2 && r->total_cycles == 2 * (65 + 64), "Update: %" PRIu64 " %" PRIu64,
        r->nested, r->total_cycles);
  CHECK(r->inside_count == 2 && r->inside[0] == SYNTH_GRADIENT - 1 && r->inside[1] == SYNTH_LAST - 1,
        "Update lies in %u", r->inside_count);
  CHECK(r->self_known && r->self_cycles == 2 * (65 - 15 + 5 + 64), "Update's own: %" PRIu64, r->self_cycles);
  CHECK(find(table, SYNTH_LINE_SEARCH, 0)->self_cycles == 2 * 15, "LineSearch's own");
  r = find(table, SYNTH_LAST, 0);
  CHECK(r->count == 2 * 5 && r->nested == 8 && r->total_cycles == 2 * 80, "Last: %" PRIu64 " %" PRIu64,
        r->nested, r->total_cycles);
  CHECK(r->inside_count == 1 && r->inside[0] == SYNTH_HESSIAN - 1, "Last lies in %u", r->inside_count);
  r = find(table, SYNTH_HESSIAN, 0);
  CHECK(r->count == 2 * 5 && r->nested == 8 && r->total_cycles == 2 * 80 && r->inside_count == 2 &&
            r->inside[0] == SYNTH_LAST - 1 && r->inside[1] == INK_SECTION_UNKNOWN,
        "Hessian: %" PRIu64 " %" PRIu64 ", lies in %u", r->nested, r->total_cycles, r->inside_count);
  CHECK(find(table, SYNTH_LINE_SEARCH, 0)->inside_count == 1 &&
            find(table, SYNTH_LINE_SEARCH, 0)->inside[0] == INK_SECTION_UNKNOWN, "in the body");
  ink_table_free(table);
  close_capture(path);
}

static ink_status stop(void *user, uint64_t done, uint64_t total) {
  (void)done;
  CHECK(total == 2, "progress is told of %" PRIu64 " tracks", total);
  ++*(int *)user;
  return INK_ERROR_STOPPED;
}

static void refusals(void) {
  const char *path = synth_path("refuse");
  ink_writer *writer = synth_writer(path, 64, 64, false);
  put_block(writer, 0, 0);
  put_block(writer, 1, 0);
  synth_finish(writer);
  open_capture(path);
  ink_table *table = NULL;
  ink_error error = {0};
  ink_table_options options = {.size = sizeof options, .kernel_regex = "a(", .launch = UINT32_MAX};
  CHECK(ink_table_make(capture, map, &options, &table, &error) == INK_ERROR_ARGUMENT && !table &&
            strstr(error.message, "'a('"), "%s", error.message);
  options.kernel_regex = NULL;
  options.launch = 1;
  CHECK(ink_table_make(capture, map, &options, &table, &error) == INK_ERROR_NOT_FOUND && !table,
        "%s", error.message);
  int calls = 0;
  options.launch = 0;
  options.progress = stop;
  options.user = &calls;
  CHECK(ink_table_make(capture, map, &options, &table, &error) == INK_ERROR_STOPPED && calls == 1,
        "%s", error.message);
  close_capture(path);
}

/* A ring that was overwritten: what is not known is neither a section nor unmarked. */
static void partial(void) {
  const char *path = synth_path("partial");
  ink_writer *writer = synth_writer(path, 8, 4, false);
  synth_track t;
  synth_track_init(&t, 8, 4, false);
  synth_open(&t, 1000, 5000);
  for (uint64_t i = 1; i <= 20; i++)
    synth_record(&t, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, 1000 + i * 10);
  synth_close(&t, 1207, 6000);
  synth_put(writer, &t);
  synth_track_free(&t);
  synth_finish(writer);
  open_capture(path);
  ink_table *table = make(INK_BY_SECTION, NULL);
  const ink_table_row *r = find(table, SYNTH_LINE_SEARCH, 0);
  CHECK(r->count == 7 && r->cut == 1 && r->total_cycles == 70, "8 kept, the begin of one is lost");
  const ink_kernel_total *totals;
  ink_table_kernels(table, &totals);
  CHECK(totals[0].marks_executed == 20 && totals[0].marks_kept == 8 &&
            totals[0].marks_dropped == 12 && totals[0].tracks_partial == 1, "counts");
  CHECK(totals[0].unknown_cycles == 130 && totals[0].unmarked_cycles == 7 &&
            totals[0].total_cycles == 207, "%" PRIu64 " unknown, %" PRIu64 " unmarked",
        totals[0].unknown_cycles, totals[0].unmarked_cycles);
  ink_table_free(table);
  close_capture(path);
}

/* One launch's tracks: so many blocks, each LineSearch for `cycles`, but the first for `first`. */
static void put_launch(ink_writer *writer, int32_t device, uint64_t grid, uint32_t blocks, uint64_t first,
                       uint64_t cycles) {
  static uint64_t ticket;
  for (uint32_t block = 0; block < blocks; block++) {
    synth_track t;
    ink_error error;
    const uint64_t open = 1000 + grid * 1000000;
    synth_track_init(&t, 64, 4, false);
    t.header.grid_id = grid;
    t.header.grid_dim[0] = blocks;
    t.header.block_index[0] = t.header.sm_open = t.header.sm_close = block;
    t.header.ticket = ticket++;
    synth_open(&t, open, open);
    synth_record(&t, 0, INK_KIND_ITER, 0, block, open);
    synth_record(&t, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, open + (block ? cycles : first));
    synth_close(&t, open + (block ? cycles : first), open + (block ? cycles : first));
    NEED(ink_writer_track(writer, device, &t.header, t.rings[0], t.rings[1], &error), error);
    synth_track_free(&t);
  }
}

/* Imbalance is within a launch; launches of other lengths and other devices do not make it. */
static void uneven(void) {
  const char *path = synth_path("uneven");
  ink_writer *writer = synth_writer(path, 64, 4, false);
  for (uint64_t grid = 1; grid <= 9; grid++)
    put_launch(writer, 0, grid, 4, 10, 10);
  put_launch(writer, 0, 10, 4, 1000, 1000);
  synth_finish(writer);
  open_capture(path);
  ink_table *table = make(INK_BY_SECTION, NULL);
  const ink_table_row *r = find(table, SYNTH_LINE_SEARCH, 0);
  CHECK(r->imbalance == 1 && r->count == 40 && r->tracks == 40, "ten even launches: %g", r->imbalance);
  ink_stored_track track;
  ink_capture_track(capture, r->max_track, &track);
  CHECK(r->max_cycles == 1000 && track.launch == 9 && r->max_iteration == 0, "in launch %u", track.launch);
  ink_table_free(table);
  close_capture(path);

  writer = synth_writer(path, 64, 4, false);
  put_launch(writer, 0, 1, 4, 40, 20); /* 40 of a mean of 25 */
  put_launch(writer, 0, 2, 2, 300, 100); /* 300 of a mean of 200, four times the total */
  synth_finish(writer);
  open_capture(path);
  table = make(INK_BY_SECTION, NULL);
  r = find(table, SYNTH_LINE_SEARCH, 0);
  CHECK(fabs(r->imbalance - (1.6 * 100 + 1.5 * 400) / 500) < 1e-9, "weighted by the total: %g", r->imbalance);
  ink_table_free(table);
  close_capture(path);
}

/* What ran on another device is another part, but by device. */
static void devices(void) {
  const char *path = synth_path("devices");
  ink_error error;
  ink_writer *writer = synth_writer(path, 64, 4, false);
  const ink_device_info second = {.index = 1, .simulated = 1, .sm_count = 4, .track_count = 64,
                                  .records_per_track = 64, .aux_records_per_track = 4, .flags = INK_BUFFER_ON,
                                  .name = "another"};
  const ink_kernel_counts counts = {.device = 1, .key = INK_KERNEL_KEY(SYNTH_HASH, 1), .missed = 3};
  NEED(ink_writer_device(writer, &second, &error), error);
  NEED(ink_writer_counts(writer, &counts, 1, 0, 0, 1, &error), error);
  put_launch(writer, 0, 1, 2, 10, 10);
  put_launch(writer, 1, 1, 2, 50, 50);
  synth_finish(writer);
  open_capture(path);
  ink_table *table = make(INK_BY_SECTION, NULL);
  const ink_table_row *rows;
  const ink_kernel_total *totals;
  size_t n = ink_table_rows(table, &rows);
  CHECK(ink_table_kernels(table, &totals) == 2 && totals[0].device == 0 && totals[1].device == 1 &&
            totals[0].total_cycles == 20 && totals[1].total_cycles == 100, "a part for each device");
  CHECK(totals[0].missed == 3 && totals[1].missed == 0, "what is the kernel's is told once");
  CHECK(n == 2 && rows[0].part == 0 && rows[1].part == 1 && rows[1].total_cycles == 100 && rows[1].imbalance == 1,
        "%zu rows", n);
  ink_table_free(table);
  table = make(INK_BY_DEVICE, NULL);
  CHECK(ink_table_kernels(table, &totals) == 1 && totals[0].total_cycles == 120, "one part by device");
  CHECK(find(table, SYNTH_LINE_SEARCH, 1)->total_cycles == 100, "device 1");
  ink_table_free(table);
  close_capture(path);
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

/* Of sorted values: each bin has no fewer than lie well inside of it, no more than lie inside of it or near. */
static void check_bins(const ink_quantile *sketch, const uint64_t *values, size_t n) {
  uint64_t bins[INK_HISTOGRAM_BINS], all = 0;
  const double low = values[0] ? (double)values[0] : 1, high = (double)values[n - 1], near = n <= INK_QUANTILE_EXACT ? 1e-9 : 1.0 / 64;
  ink_quantile_bins(sketch, values[0], values[n - 1], bins, INK_HISTOGRAM_BINS);
  for (size_t i = 0; i < INK_HISTOGRAM_BINS; i++) {
    const double from = low * pow(high / low, (double)i / INK_HISTOGRAM_BINS), to = low * pow(high / low, ((double)i + 1) / INK_HISTOGRAM_BINS);
    uint64_t least = 0, most = 0;
    for (size_t v = 0; v < n; v++) {
      const double value = values[v] ? (double)values[v] : 1;
      least += value > from * (1 + near) && value < to * (1 - near);
      most += value >= from * (1 - near) && value <= to * (1 + near);
    }
    CHECK(bins[i] >= least && bins[i] <= most, "bin %zu of %zu values: %" PRIu64 ", not %" PRIu64 " to %" PRIu64, i, n, bins[i], least, most);
    all += bins[i];
  }
  CHECK(all == n, "%" PRIu64 " in bins, not %zu", all, n);
}

static void quantiles(void) {
  static uint64_t values[100000];
  uint64_t random = 9;
  for (int shape = 0; shape < 5; shape++)
    for (size_t n = 1; n <= 100000; n = n < 40 ? n + 1 : n * 5 / 2) {
      ink_quantile sketch = {0};
      for (size_t i = 0; i < n; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        values[i] = shape == 0 ? random >> 44 : shape == 1 ? random >> (random % 60) :
                    shape == 2 ? 77 : shape == 3 ? random % 300 : random;
        CHECK(ink_quantile_add(&sketch, values[i]), "memory");
      }
      qsort(values, n, sizeof *values, compare);
      for (int q = 0; q <= 100; q += q == 98 ? 1 : 7) {
        size_t rank = (size_t)ceil(q / 100.0 * (double)n);
        uint64_t exact = values[rank ? rank - 1 : 0], got = ink_quantile_get(&sketch, q / 100.0);
        double off = fabs((double)got - (double)exact);
        CHECK(n <= INK_QUANTILE_EXACT ? got == exact : off <= (double)exact / 128,
              "shape %d, %zu values, %d %%: %" PRIu64 ", not %" PRIu64, shape, n, q, got, exact);
      }
      check_bins(&sketch, values, n);
      ink_quantile_free(&sketch);
    }
}

/* A range that begins at the very moment at which another one ends is not beside it, whichever is told first. */
static void equal_moments(void) {
  static const uint64_t ranges[][2] = {{1500, 1900}, {1000, 1500}, {1900, 2000}}; /* by key */
  static const struct {
    uint64_t clock, key;
    uint32_t kind;
  } events[] = {{1000, 1, INK_KIND_ASYNC_BEGIN}, {1500, 1, INK_KIND_ASYNC_END}, {1500, 0, INK_KIND_ASYNC_BEGIN},
                {1900, 0, INK_KIND_ASYNC_END}, {1900, 2, INK_KIND_ASYNC_BEGIN}, {2000, 2, INK_KIND_ASYNC_END},
                {2001, 7, INK_KIND_ASYNC_BEGIN}, {2002, 8, INK_KIND_ASYNC_BEGIN}, {2003, 9, INK_KIND_ASYNC_END}}; /* of no pair */
  const char *path = synth_path("moments");
  ink_writer *writer = synth_writer(path, 64, 4, false);
  synth_track t;
  synth_track_init(&t, 64, 4, false);
  synth_open(&t, 900, 900);
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    const uint64_t words[] = {events[i].key, INK_HEAD(events[i].kind, SYNTH_HESSIAN, events[i].clock),
                              INK_ESCAPE_WORD(INK_ESCAPE_BLOCK, SYNTH_HASH, events[i].clock)};
    synth_words(&t, 0, words, 3);
  }
  synth_close(&t, 2100, 2100);
  synth_put(writer, &t);
  synth_track_free(&t);
  synth_finish(writer);
  open_capture(path);
  ink_table *table = make(INK_BY_SECTION, NULL);
  const ink_crossing_total *crossings;
  const size_t n = ink_table_crossings(table, &crossings);
  CHECK(n == 1 && crossings[0].count == sizeof ranges / sizeof *ranges, "%zu, %" PRIu64, n, n ? crossings[0].count : 0);
  CHECK(n && crossings[0].without_end == 2 && crossings[0].without_begin == 1, "%" PRIu64 " without an end, %" PRIu64 " without a begin",
        crossings[0].without_end, crossings[0].without_begin);
  CHECK(n && crossings[0].min_cycles == 100 && crossings[0].median_cycles == 400 && crossings[0].max_cycles == 500 &&
            crossings[0].min_ns < crossings[0].median_ns && crossings[0].median_ns < crossings[0].max_ns,
        "cycles");
  CHECK(n && crossings[0].most_in_flight == 1, "%" PRIu64 " at a time", crossings[0].most_in_flight);
  CHECK(n && fabs(crossings[0].mean_in_flight - 1) < 1e-9, "%g on average", crossings[0].mean_in_flight);
  ink_table_free(table);
  close_capture(path);
}

/* Blocks whose second warp waits, in Hessian; roles[block]: of that warp, 0 none. The finding's text. */
static void waits_of(const uint32_t *roles, uint32_t blocks, char *text, size_t bytes) {
  const char *path = synth_path("roles");
  ink_writer *writer = synth_writer(path, 64, 4, false);
  for (uint32_t i = 0; i < 2 * blocks; i++) {
    synth_track t;
    synth_track_init(&t, 64, 4, false);
    t.header.grid_dim[0] = blocks;
    t.header.block_dim[0] = 64;
    t.header.block_index[0] = i / 2;
    t.header.thread = 32 * (i % 2);
    t.header.ticket = i;
    t.header.role = i % 2 && roles[i / 2] ? INK_KERNEL_KEY(SYNTH_HASH, roles[i / 2]) : 0;
    synth_open(&t, 1000, 1000);
    synth_record(&t, 0, INK_KIND_MARK, SYNTH_GRADIENT, 0, i % 2 ? 1100 : 1250);
    if (i % 2 == 0) { /* of the outer range 40 cycles are its own */
      synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_LINE_SEARCH, 0, 1250);
      synth_record(&t, 0, INK_KIND_BEGIN, SYNTH_UPDATE, 0, 1280);
      synth_record(&t, 0, INK_KIND_END, SYNTH_UPDATE, 0, 1580);
      synth_record(&t, 0, INK_KIND_END, SYNTH_LINE_SEARCH, 0, 1590);
    }
    synth_record(&t, 0, INK_KIND_MARK, SYNTH_HESSIAN, 0, 1900);
    synth_close(&t, 1900, 1900);
    synth_put(writer, &t);
    synth_track_free(&t);
  }
  synth_finish(writer);
  open_capture(path);
  ink_table *table = NULL;
  ink_error error;
  const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX, .findings = true, .waits_regex = "Hessian"};
  NEED(ink_table_make(capture, map, &options, &table, &error), error);
  const ink_finding *findings;
  const size_t n = ink_table_findings(table, &findings);
  CHECK(n == 1 && !strcmp(findings[0].id, "wait"), "%zu findings", n);
  snprintf(text, bytes, "%.479s", n ? findings[0].text : "");
  ink_table_free(table);
  close_capture(path);
}

/* A warp has a role's name only where all of its tracks have it. And where the other one works most, by sections' own time. */
static void roles_told(void) {
  static const uint32_t all[] = {SYNTH_UPDATE, SYNTH_UPDATE, SYNTH_UPDATE};
  static const uint32_t mixed[][3] = {{SYNTH_UPDATE, SYNTH_LAST, SYNTH_LAST}, {SYNTH_UPDATE, SYNTH_UPDATE, SYNTH_LAST},
                                      {SYNTH_UPDATE, 0, SYNTH_UPDATE},        {0, SYNTH_UPDATE, SYNTH_UPDATE},
                                      {SYNTH_UPDATE, SYNTH_LAST, SYNTH_UPDATE}};
  char text[480];
  waits_of(all, 3, text, sizeof text);
  CHECK(strstr(text, "warp 0 holds the others: UpdateConstraint (warp 1) waits 88.9 % of its time"), "%s", text);
  CHECK(strstr(text, "; it works most in UpdateConstraint (33.3 %) and Gradient (27.8 %)"), "%s", text);
  for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
    waits_of(mixed[i], 3, text, sizeof text);
    CHECK(strstr(text, "the others: warp 1 waits"), "%zu: %s", i, text);
  }
}

int main(void) {
  by_hand();
  quantiles_of_rows();
  equal_moments();
  roles_told();
  recursion(false);
  recursion(true);
  refusals();
  partial();
  uneven();
  devices();
  quantiles();
  return check_result("table");
}
