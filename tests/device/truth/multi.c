/* SPDX-License-Identifier: MIT */
/* The model of multi.cu. */
#include "truth.h"

static uint64_t bits_of(uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  uint32_t x = ((5 ^ 0x10) + 5 + 5) ^ 0x10;
  return (x + 5) * 3; /* the same in every thread */
}

static void touch(truth_steps *s) {
  s->called = true;
  step_mark(s, "First::Touched");
  step_value_f64(s, "First::Touched", 1.5);
  s->called = false;
}

static void first(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  step_mark(s, "First::Load");
  touch(s);
}

static void bare(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  touch(s);
}

static void second(truth_steps *s, uint32_t block, uint32_t thread) {
  step_mark(s, "Second::Load");
  step_begin(s, "First::Load");
  touch(s);
  step_async_begin(s, "First::Touched", bits_of(block, thread));
  step_async_end(s, "First::Touched", bits_of(block, thread));
  step_end(s, "First::Load");
  step_mark(s, "Second::Store");
}

static void typed_unsigned(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  step_mark(s, "Second::Store");
  step_value_u64(s, "Second::Load", 2);
}

static void typed_float(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  step_mark(s, "Second::Store");
  step_value_f64(s, "Second::Load", 2);
}

#define SHAPE {3, 1, 1}, {64, 1, 1}, NULL

static const truth_launch launches[] = {
    {"bare_kernel", NULL, SHAPE, bare, false, 0},
    {"first_kernel", "First::FirstKernel", SHAPE, first, false, 0},
    {"bare_kernel", NULL, SHAPE, bare, false, 0},
    {"second_kernel", "Second::SecondKernel", SHAPE, second, false, 0},
    {"typed_kernel<Ij", "Second::TypedKernel", SHAPE, typed_unsigned, false, 0},
    {"typed_kernel<If", "Second::TypedKernel", SHAPE, typed_float, false, 0},
    {"leaving_kernel", "First::Leaves", SHAPE, first, true, 0},
    {"bare_kernel", NULL, SHAPE, bare, false, 0},
    {"first_kernel", "First::FirstKernel", SHAPE, first, false, 0},
};

static bool middle(uint32_t block) {
  return block == 1;
}

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "one SM", .environment = {"INKMARK_SIM_SMS=1", "INKMARK_SIM_BLOCKS_PER_SM=1"}},
    {.name = "one SM, a warp a track",
     .per_warp = true,
     .environment = {"INKMARK_SIM_SMS=1", "INKMARK_SIM_BLOCKS_PER_SM=1"}},
    {.name = "one block",
     .blocks = "1",
     .block_in = middle,
     .environment = {"INKMARK_SIM_SMS=1", "INKMARK_SIM_BLOCKS_PER_SM=1"}},
    {.name = "kernels", .kernels = "^(First|Typed)Kernel$"},
    {.name = "ring of 4", .records = 4},
    {.name = "ring of 4, first", .records = 4, .keep_first = true},
};

static const truth_kind kind = {.name = "multi",
                                .launches = launches,
                                .launch_count = sizeof launches / sizeof *launches,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
