/* SPDX-License-Identifier: MIT */
/* The model of relocated.cu and the two files that it is linked with. */
#include "truth.h"

static void helper(truth_steps *s, uint32_t times) {
  s->called = true;
  step_begin(s, "Helper::Turn");
  for (uint32_t i = 0; i < times; i++)
    step_mark(s, "Helper::Helped");
  step_mark(s, "Helper::Before");
  step_end(s, "Helper::Turn");
  s->called = false;
}

static void main_thread(truth_steps *s, uint32_t block, uint32_t index) {
  (void)index;
  step_mark(s, "Shared::Before");
  helper(s, block % 3);
  step_mark(s, "Shared::After");
  helper(s, 1);
}

static void other_thread(truth_steps *s, uint32_t block, uint32_t index) {
  (void)block;
  (void)index;
  helper(s, 2);
  step_mark(s, "Shared::After");
}

static const truth_launch launches[] = {
    {"main_kernel", "Shared::Main", {4, 1, 1}, {32, 1, 1}, NULL, main_thread, false, 0},
    {"other_kernel", "Shared::Other", {4, 1, 1}, {32, 1, 1}, NULL, other_thread, false, 0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "ring of 4", .records = 4},
    {.name = "ring of 4, first", .records = 4, .keep_first = true},
    {.name = "kernels", .kernels = "Other"},
    {.name = "seed", .environment = {"INKMARK_SIM_SEED=3", "INKMARK_SIM_DRIFT_PPM=100"}},
};

static const truth_kind kind = {.name = "relocated",
                                .launches = launches,
                                .launch_count = 2,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
