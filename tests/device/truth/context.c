/* SPDX-License-Identifier: MIT */
/* The model of context.cu. All of its marks lie in the ring of the kernel's body. */
#include "truth.h"

static void leaf(truth_steps *s) {
  step_mark(s, "Context::Leaf");
}

/* A mark without a track reads the clock and stores nothing, as the beginning of a sum does. */
static void unrecorded(truth_steps *s) {
  step_sum_begin(s, "Context::Kernel");
}

static void inlined(truth_steps *s, int n) {
  step_begin(s, "Context::Inner");
  for (int i = 0; i < n; i++) {
    step_mark(s, "Context::Load");
    leaf(s);
    step_mark(s, "Context::Store");
  }
  step_event(s, "Context::Inner");
  step_end(s, "Context::Inner");
}

/* What was summed is recorded at the next row, in the order of the slots: Other has an even number. */
static void sums_of(truth_steps *s, int count) {
  step_sum(s, "Context::Other", (uint64_t)count);
  step_sum(s, "Context::Sum", (uint64_t)count);
}

static void called(truth_steps *s, int n) {
  step_begin(s, "Context::Inner");
  for (int i = 0; i < n; i++) {
    if (i)
      sums_of(s, i);
    step_iter(s, i + 100);
    for (int j = 0; j <= i; j++) {
      step_sum_begin(s, "Context::Sum");
      step_sum_begin(s, "Context::Other");
      step_sum_end(s, "Context::Other");
      step_sum_end(s, "Context::Sum");
    }
    step_value_i64(s, "Context::Size", i);
    leaf(s);
    step_async_begin(s, "Context::Job", (uint64_t)i);
    step_async_end(s, "Context::Job", (uint64_t)i);
  }
  step_clocks(s);
  step_sum(s, "Context::Sum", (uint64_t)n); /* Third needs its slot */
  step_sum_begin(s, "Context::Third");
  step_sum_end(s, "Context::Third");
  step_end(s, "Context::Inner");
}

static void call_ends(truth_steps *s, int n) {
  step_sum(s, "Context::Other", (uint64_t)n);
  step_sum(s, "Context::Third", 1);
}

static void in_one_expression(truth_steps *s) {
  step_mark(s, "Context::Other");
  step_iter(s, 7);
  step_mark(s, "Second::Far");
  step_mark(s, "Context::Other");
  step_mark(s, "Second::Far");
  leaf(s);
  leaf(s);
  leaf(s);
  step_value_i64(s, "Context::Size", 5);
  step_event(s, "Context::Third");
  step_mark(s, "Context::Body");
}

static void handed_down(truth_steps *s, int through) {
  for (int i = 0; i < through; i++)
    step_mark(s, "Context::Inner");
  step_mark(s, "Context::Load");
  step_mark(s, "Context::Other");
  step_mark(s, "Context::Third");
  leaf(s);
  step_mark(s, "Context::Store");
  for (int i = 0; i < through; i++)
    step_mark(s, "Context::Inner");
}

static void thread(truth_steps *s, uint32_t block, uint32_t index) {
  (void)index;
  step_mark(s, "Context::Body");
  inlined(s, 2);
  step_mark(s, "Context::Body");
  for (int i = 0; i < 2; i++) {
    step_iter(s, i);
    called(s, i + 1);
    call_ends(s, i + 1);
    step_mark(s, "Context::Body");
  }
  leaf(s);
  leaf(s);
  called(s, 1);
  leaf(s);
  call_ends(s, 1); /* the expression does */
  step_mark(s, "Context::Body");
  step_mark(s, "Context::Other");
  leaf(s);
  leaf(s);
  step_mark(s, "Context::Store");
  inlined(s, 1);
  unrecorded(s); /* of the object that is not bound: its own mark is not even executed */
  step_mark(s, "Context::Object");
  leaf(s);
  if (block % 2)
    leaf(s);
  unrecorded(s);
  unrecorded(s);
  in_one_expression(s);
  in_one_expression(s);
  handed_down(s, 0);
  handed_down(s, 2);
  step_mark(s, "Context::Body");
}

static const truth_launch launches[] = {
    {"context_kernel", "Context::Kernel", {4, 1, 1}, {64, 1, 1}, NULL, thread, false, 0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "a warp a track", .per_warp = true},
    {.name = "ring of 4", .records = 4},
    {.name = "ring of 16, warps", .records = 16, .per_warp = true},
    {.name = "ring of 16, first", .records = 16, .keep_first = true},
    {.name = "ring of 64, first", .records = 64, .keep_first = true},
    {.name = "tracks again",
     .tracks = 2,
     .environment = {"INKMARK_SIM_SMS=1", "INKMARK_SIM_BLOCKS_PER_SM=1"}},
    {.name = "missed", .tracks = 1, .must_miss = true},
    {.name = "wrap", .wraps = true},
};

static const truth_kind kind = {.name = "context",
                                .launches = launches,
                                .launch_count = 1,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs,
                                .holds = true};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
