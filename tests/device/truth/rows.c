/* SPDX-License-Identifier: MIT */
/* The model of rows.cu. */
#include "rows.h"
#include "truth.h"

static void called(truth_steps *s, const char *section) {
  s->called = true;
  step_mark(s, section);
  s->called = false;
}

static void inlined(truth_steps *s) {
  step_begin(s, "Rows::Part");
  step_mark(s, "Rows::Work");
  step_end(s, "Rows::Part");
}

static void rows_thread(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)thread;
  step_first_row(s);
  step_mark(s, "Rows::First");
  step_begin(s, "Rows::Whole");
  for (int i = 0; i < rows_rounds((int)block); i++) {
    step_iter(s, i % 3 - 1);
    step_mark(s, "Rows::Again");
    if (i % 2)
      step_mark(s, "Rows::Odd");
    inlined(s);
    step_mark(s, "Rows::Load");
    called(s, "Called::Leaf");
    step_mark(s, "Rows::Strict");
    step_mark(s, "Rows::Again");
  }
  step_end(s, "Rows::Whole");
  for (int i = 0; i < 2; i++) {
    step_iter(s, 1000 + i);
    step_mark(s, "Rows::Load");
    called(s, "Called::Leaf");
    inlined(s);
  }
  step_iter(s, INT64_MIN);
  step_mark(s, "Rows::Tail");
}

static void wide_thread(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)thread;
  step_first_row(s);
  for (uint32_t i = 0; i < 3 + block; i++) {
    step_iter(s, i);
    step_mark(s, "Wide::S60");
    step_mark(s, "Wide::S2");
    step_mark(s, "Wide::Big");
  }
}

static void records_thread(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  for (int i = 0; i < 20; i++)
    step_mark(s, "Records::Step");
}

#define ROWS INK_ROWS(4, 11, 2, 0) /* 15 slots: 128 bytes */
#define WIDE INK_ROWS(5, 60, 0, 0)

static const truth_launch launches[] = {
    {"records_kernel", "Records::Other", {RECORDS_BLOCKS, 1, 1}, {ROWS_THREADS, 1, 1}, .thread = records_thread},
    {"rows_kernel", "Rows::Kernel", {ROWS_BLOCKS, 1, 1}, {ROWS_THREADS, 1, 1}, .thread = rows_thread, .rows = ROWS},
    {"wide_kernel", "Wide::Big", {WIDE_BLOCKS, 1, 1}, {ROWS_THREADS, 1, 1}, .thread = wide_thread, .rows = WIDE},
    {"records_kernel", "Records::Other", {RECORDS_BLOCKS, 1, 1}, {ROWS_THREADS, 1, 1}, .thread = records_thread},
    {"rows_kernel", "Rows::Kernel", {ROWS_BLOCKS, 1, 1}, {ROWS_THREADS, 1, 1}, .thread = rows_thread, .rows = ROWS},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "a warp a track", .per_warp = true, .tracks = 128},
    {.name = "ring of 4: no row fits", .records = 4},
    {.name = "ring of 8, first: no row fits", .records = 8, .keep_first = true},
    {.name = "ring of 16: one row", .records = 16},
    {.name = "ring of 16, first", .records = 16, .keep_first = true},
    {.name = "ring of 64", .records = 64},
    {.name = "ring of 64, first, warps", .records = 64, .keep_first = true, .per_warp = true, .tracks = 128},
    {.name = "8 tracks, used again", .tracks = 8, .environment = {"INKMARK_SIM_BLOCKS_PER_SM=1"}},
    {.name = "4 tracks, used again, ring of 32", .tracks = 4, .records = 32,
     .environment = {"INKMARK_SIM_BLOCKS_PER_SM=1", "INKMARK_SIM_SMS=2"}},
    {.name = "drift",
     .environment = {"INKMARK_SIM_DRIFT_PPM=500", "INKMARK_SIM_SEED=7", "INKMARK_SIM_SKEW_CYCLES=random:1000000000"}},
    {.name = "lower halves wrap", .environment = {"INKMARK_SIM_SKEW_CYCLES=4294965000"}},
    {.name = "wrap", .wraps = true},
    {.name = "wrap, ring of 32", .wraps = true, .records = 32},
};

static const truth_kind kind = {.name = "rows",
                                .launches = launches,
                                .launch_count = sizeof launches / sizeof *launches,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
