/* SPDX-License-Identifier: MIT */
/* The model of divergent.cu. */
#include "truth.h"

static void thread(truth_steps *s, uint32_t block, uint32_t index) {
  const uint32_t lane = index % 32, warp = index / 32;
  step_mark(s, (lane + block) % 2 == 0 ? "Divergent::Even" : "Divergent::Odd");
  for (uint32_t i = 0; i < (lane * 5 + block + warp) % 7; i++) {
    step_iter(s, i);
    step_mark(s, i % 3 == 2 ? "Divergent::Third" : "Divergent::Spin");
  }
  step_mark(s, "Divergent::Both");
  if (warp == 1)
    step_mark(s, "Divergent::Warp");
}

static const truth_launch launches[] = {
    {"divergent_kernel", "Divergent::Kernel", {5, 1, 1}, {96, 1, 1}, NULL, thread, false, 0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "a warp a track", .per_warp = true},
    {.name = "ring of 8", .records = 8, .per_warp = true},
    {.name = "ring of 8, first", .records = 8, .per_warp = true, .keep_first = true},
};

static const truth_kind kind = {.name = "divergent",
                                .launches = launches,
                                .launch_count = 1,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
