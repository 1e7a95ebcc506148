/* SPDX-License-Identifier: MIT */
/* The model of nested.cu. */
#include "truth.h"

static void thread(truth_steps *s, uint32_t block, uint32_t index) {
  (void)index;
  for (int i = 0; i < 4; i++) {
    step_iter(s, i * 10);
    step_begin(s, "Nested::Outer");
    step_mark(s, "Nested::Work");
    for (int j = 0; j <= (int)block % 3; j++) {
      step_begin(s, "Nested::Middle");
      step_iter(s, j);
      step_mark(s, "Nested::Work");
      if (j != 1) {
        step_begin(s, "Nested::Inner");
        step_begin(s, "Nested::Inner");
        step_mark(s, "Nested::More");
        step_end(s, "Nested::Inner");
        step_end(s, "Nested::Inner");
        if (i != 2)
          step_mark(s, "Nested::Work");
      }
      step_end(s, "Nested::Middle");
      if (j != 1 && i == 2)
        break;
    }
    step_mark(s, "Nested::More");
    step_end(s, "Nested::Outer");
    if (i % 2 == 0)
      step_mark(s, "Nested::After");
  }
}

static bool upper_half(uint32_t block) {
  return block >= 6;
}

static const truth_launch launches[] = {
    {"nested_kernel", "Nested::Kernel", {3, 2, 2}, {8, 4, 3}, NULL, thread, false, 0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "a warp a track", .per_warp = true},
    {.name = "ring of 16", .records = 16},
    {.name = "ring of 32, first", .records = 32, .keep_first = true},
    {.name = "linear blocks", .blocks = "6-11", .block_in = upper_half},
    {.name = "two SMs", .environment = {"INKMARK_SIM_SMS=2"}},
};

static const truth_kind kind = {.name = "nested",
                                .launches = launches,
                                .launch_count = 1,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
