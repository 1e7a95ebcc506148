/* SPDX-License-Identifier: MIT */
/* The model of chosen.cu. */
#include "truth.h"

static bool elected(uint32_t block, uint32_t thread) {
  return thread % 32 == 7 + block;
}
static bool everyone(uint32_t block, uint32_t thread) {
  (void)thread;
  return block == 2;
}
static bool late(uint32_t block, uint32_t thread) {
  (void)block;
  return thread == 33;
}

static void help(truth_steps *s) {
  s->called = true;
  step_mark(s, "Chosen::Helped");
  s->called = false;
}

static void elected_thread(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  help(s);
  step_mark(s, "Chosen::Work");
}

static void everyone_thread(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  for (uint32_t i = 0; i <= thread % 3; i++)
    step_mark(s, "Chosen::Work");
}

static void late_thread(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  if (thread >= 48 || thread % 2 == 0)
    return;
  step_event(s, "Chosen::Work");
  help(s);
}

#define SHAPE                                                                                      \
  {4, 1, 1}, {                                                                                     \
    64, 1, 1                                                                                       \
  }

static const truth_launch launches[] = {
    {"elected_kernel", "Chosen::Elected", SHAPE, elected, elected_thread, false, 0},
    {"everyone_kernel", "Chosen::Everyone", SHAPE, everyone, everyone_thread, false, 0},
    {"late_kernel", "Chosen::Late", SHAPE, late, late_thread, false, 0},
};

static bool some_blocks(uint32_t block) {
  return block == 2;
}

static const truth_run runs[] = {
    {.name = "whole", .tracks = 128},
    {.name = "a warp a track", .tracks = 128, .per_warp = true},
    {.name = "warps", .tracks = 128, .per_warp = true, .warps = "1", .warp_bits = 2},
    {.name = "a block", .blocks = "2", .block_in = some_blocks, .tracks = 128},
    {.name = "few tracks", .tracks = 16, .must_miss = true},
    {.name = "few tracks, first", .tracks = 16, .keep_first = true, .must_miss = true},
};

static const truth_kind kind = {.name = "chosen",
                                .launches = launches,
                                .launch_count = sizeof launches / sizeof *launches,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs,
                                .holds = true};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
