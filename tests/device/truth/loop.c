/* SPDX-License-Identifier: MIT */
/* The model of loop.cu, and the kind that tries every way to record: ring sizes, kept ends, tracks
 * used again, missed entries, filters, granularities, clocks that drift, jump and wrap. */
#include "loop.h"
#include "truth.h"

static void thread(truth_steps *s, uint32_t block, uint32_t index) {
  (void)index;
  for (int i = 0; i < loop_rounds((int)block); i++) {
    step_iter(s, i % 4 - 1);
    step_mark(s, "Loop::Outer");
    for (int j = 0; j < loop_inner((int)block, i); j++)
      step_mark(s, "Loop::Inner");
    if (i % 2)
      step_event(s, "Loop::Odd");
  }
  step_mark(s, "Loop::Tail");
}

static bool some_blocks(uint32_t block) {
  return block == 0 || (block >= 5 && block <= 7);
}
static bool last_block(uint32_t block) {
  return block == LOOP_BLOCKS - 1;
}
static bool no_block(uint32_t block) {
  return block > LOOP_BLOCKS;
}

static const truth_launch launches[] = {
    {"loop_kernel", "Loop::Kernel", {LOOP_BLOCKS, 1, 1}, {LOOP_THREADS, 1, 1}, NULL, thread, false, 0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "a warp a track", .per_warp = true},
    {.name = "ring of 4", .records = 4},
    {.name = "ring of 4, first", .records = 4, .keep_first = true},
    {.name = "ring of 8, first, warps", .records = 8, .keep_first = true, .per_warp = true},
    {.name = "ring of 64", .records = 64},
    {.name = "ring of 64, first", .records = 64, .keep_first = true},
    {.name = "ring of 65536", .records = 65536, .tracks = 16},
    {.name = "ring of 65536, first", .records = 65536, .tracks = 16, .keep_first = true},
    {.name = "4 tracks, in use", .tracks = 4, .must_miss = true},
    {.name = "4 tracks, first", .tracks = 4, .keep_first = true, .must_miss = true},
    {.name = "8 tracks, again", .tracks = 8, .environment = {"INKMARK_SIM_BLOCKS_PER_SM=1"}},
    {.name = "4 tracks, again, ring of 4",
     .tracks = 4,
     .records = 4,
     .environment = {"INKMARK_SIM_BLOCKS_PER_SM=1", "INKMARK_SIM_SMS=2"}},
    {.name = "1 track", .tracks = 1, .must_miss = true},
    {.name = "blocks", .blocks = "0,5-7", .block_in = some_blocks},
    {.name = "last block", .blocks = "11", .block_in = last_block, .per_warp = true},
    {.name = "no block", .blocks = "100", .block_in = no_block},
    {.name = "warps", .per_warp = true, .warps = "1", .warp_bits = 2},
    {.name = "warp 0", .per_warp = true, .warps = "0,3-9", .warp_bits = 0x3f9},
    {.name = "kernels", .kernels = "^Ker.*l$"},
    {.name = "no kernel", .kernels = "^Other$"},
    {.name = "one SM", .environment = {"INKMARK_SIM_SMS=1"}},
    {.name = "drift",
     .environment = {"INKMARK_SIM_DRIFT_PPM=500", "INKMARK_SIM_SEED=7",
                     "INKMARK_SIM_SKEW_CYCLES=random:1000000000",
                     "INKMARK_SIM_TIMER_STEP_NS=1000"}},
    {.name = "rate", .environment = {"INKMARK_SIM_RATES=1@2000=700000000,*@4000=1410000000"}},
    {.name = "wrap", .wraps = true},
    {.name = "wrap, ring of 8", .wraps = true, .records = 8},
    {.name = "wrap, ring of 16, first", .wraps = true, .records = 16, .keep_first = true},
};

static const truth_kind kind = {.name = "loop",
                                .launches = launches,
                                .launch_count = 1,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
