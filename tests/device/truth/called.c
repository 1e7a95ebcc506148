/* SPDX-License-Identifier: MIT */
/* The model of called.cu. */
#include "truth.h"

static void descend(truth_steps *s, uint32_t depth) {
  step_begin(s, "Called::Descend");
  step_value_u64(s, "Called::Depth", depth);
  if (depth == 0) {
    step_mark(s, "Called::Leaf");
  } else {
    descend(s, depth - 1);
    step_mark(s, "Called::Return");
    if (depth % 2)
      descend(s, depth - 1);
  }
  step_end(s, "Called::Descend");
}

static void repeated(truth_steps *s, int times) {
  for (int i = 0; i < times; i++) {
    step_iter(s, 100 + i);
    step_mark(s, "Called::Twice");
  }
  step_value_i64(s, "Called::Size", -times);
}

static void by_pointer(truth_steps *s) {
  step_begin(s, "Called::ByPointer");
  step_event(s, "Called::Aside");
  step_end(s, "Called::ByPointer");
}

static void thread(truth_steps *s, uint32_t block, uint32_t index) {
  (void)index;
  step_mark(s, "Called::Body");
  s->called = true;
  descend(s, block % 3 + 1);
  s->called = false;
  step_mark(s, "Called::Body");
  for (int i = 0; i < 2; i++) {
    step_iter(s, i);
    s->called = true;
    step_mark(s, "Called::Inlined");
    repeated(s, 2);
    step_mark(s, "Called::Inlined");
    s->called = false;
    step_mark(s, "Called::Body");
    s->called = true;
    if (i == 0)
      by_pointer(s);
    else
      repeated(s, 1);
    s->called = false;
  }
  step_begin(s, "Called::Sum");
  s->called = true;
  step_async_begin(s, "Called::Job", block + 3);
  step_mark(s, "Called::Inlined");
  step_mark(s, "Called::InLambda");
  s->called = false;
  step_async_end(s, "Called::Job", block + 3);
  step_end(s, "Called::Sum");
}

static const truth_launch launches[] = {
    {"called_kernel", "Called::Kernel", {4, 1, 1}, {64, 1, 1}, NULL, thread, false, 0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "a warp a track", .per_warp = true},
    {.name = "ring of 4", .records = 4},
    {.name = "ring of 4, first", .records = 4, .keep_first = true},
    {.name = "ring of 16, warps", .records = 16, .per_warp = true},
    {.name = "ring of 16, first", .records = 16, .keep_first = true},
    {.name = "ring of 32, first", .records = 32, .keep_first = true},
    {.name = "tracks again",
     .tracks = 2,
     .environment = {"INKMARK_SIM_SMS=1", "INKMARK_SIM_BLOCKS_PER_SM=1"}},
    {.name = "blocks share an SM", .environment = {"INKMARK_SIM_SMS=1", "INKMARK_SIM_BLOCKS_PER_SM=4"}},
    {.name = "missed", .tracks = 1, .must_miss = true},
    {.name = "wrap", .wraps = true},
};

static const truth_kind kind = {.name = "called",
                                .launches = launches,
                                .launch_count = 1,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs,
                                .holds = true};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
