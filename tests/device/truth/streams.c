/* SPDX-License-Identifier: MIT */
/* The model of streams.cu: four slow launches, two quick ones and three replays of a graph of two.
 */
#include "truth.h"

static void slow(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  for (int i = 0; i < 8; i++) {
    step_iter(s, i);
    step_mark(s, "Streams::Step");
  }
  step_mark(s, "Streams::Tail");
}

static void quick(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  step_mark(s, "Streams::Step");
}

#define SLOW                                                                                       \
  { "slow_kernel", "Streams::Slow", {6, 1, 1}, {32, 1, 1}, NULL, slow, false, 0 }
#define QUICK                                                                                      \
  { "quick_kernel", "Streams::Quick", {2, 1, 1}, {32, 1, 1}, NULL, quick, false, 0 }

static const truth_launch launches[] = {SLOW,  SLOW,  SLOW,  SLOW,  QUICK, QUICK,
                                        QUICK, QUICK, QUICK, QUICK, QUICK, QUICK};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "ring of 4", .records = 4},
    {.name = "16 tracks, again", .tracks = 16, .environment = {"INKMARK_SIM_BLOCKS_PER_SM=2"}},
    {.name = "4 tracks, missed", .tracks = 4, .must_miss = true},
    {.name = "8 tracks, first", .tracks = 8, .keep_first = true, .must_miss = true},
    {.name = "seed", .environment = {"INKMARK_SIM_SEED=11", "INKMARK_SIM_DRIFT_PPM=2000"}},
};

static const truth_kind kind = {.name = "streams",
                                .launches = launches,
                                .launch_count = sizeof launches / sizeof *launches,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs,
                                .holds = true,
                                .overlaps = true};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
