/* SPDX-License-Identifier: MIT */
/* The model of straight.cu, and cycles counted by hand. */
#include "truth.h"

#include <stdio.h>

static void straight(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  step_mark(s, "Straight::First");
  step_mark(s, "Straight::Second");
  step_mark(s, "Straight::Third");
  step_mark(s, "Straight::Fourth");
}

static void counted(truth_steps *s, uint32_t block, uint32_t thread) {
  step_mark(s, "Straight::First");
  step_mark(s, "Straight::First");
  straight(s, block, thread);
}

static void looped(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  for (int i = 0; i < 4; i++) {
    step_mark(s, "Straight::First");
    step_mark(s, "Straight::Second");
    step_mark(s, "Straight::Third");
  }
}

/* By hand, with the latencies that device/sim/ptx_decode.c states, for one warp alone on its SM (an
 * instruction issues when the one before is done). Second's span is what a mark itself costs; the
 * others have these instructions more:
 *   Third    add 4, mul.lo 4, bar.warp.sync 4, div 30                  = 42
 *   Fourth   st.shared 4, ld.shared 24, bar.sync 10 (nobody to wait for) = 38 */
static bool counted_by_hand(const truth_log *log) {
  const truth_grid *grid = truth_log_grid(log, "counted_kernel", 0);
  const uint32_t block[3] = {0, 0, 0};
  size_t n = 0;
  const truth_read *reads =
      grid ? truth_log_thread(log, grid->device, grid->grid, block, 0, &n) : NULL;
  if (n != 12) /* the opening and closing triples, six marks */
    return false;
  const uint64_t second = reads[6].value - reads[5].value;
  const uint64_t third = reads[7].value - reads[6].value;
  const uint64_t fourth = reads[8].value - reads[7].value;
  if (third == second + 42 && fourth == second + 38)
    return true;
  fprintf(stderr, "spans of %llu, %llu and %llu cycles\n", (unsigned long long)second,
          (unsigned long long)third, (unsigned long long)fourth);
  return false;
}

/* By hand again, in a loop: in round n, Third's span has these instructions more than Second's:
 *   mov 4, the count of words 4, then n times add 4, sub 4, setp 4, bra 8 = 8 + 20 n */
static bool looped_by_hand(const truth_log *log) {
  const truth_grid *grid = truth_log_grid(log, "looped_kernel", 0);
  const uint32_t block[3] = {0, 0, 0};
  size_t n = 0;
  const truth_read *reads =
      grid ? truth_log_thread(log, grid->device, grid->grid, block, 0, &n) : NULL;
  bool good = n == 18; /* the opening and closing triples, four times three marks */
  for (uint64_t round = 1; good && round <= 4; round++) {
    const truth_read *first = &reads[3 * round];
    const uint64_t second = first[1].value - first[0].value;
    const uint64_t third = first[2].value - first[1].value;
    good = third == second + 8 + 20 * round;
    if (!good)
      fprintf(stderr, "round %llu: %llu and %llu cycles\n", (unsigned long long)round,
              (unsigned long long)second, (unsigned long long)third);
  }
  return good;
}

static bool by_hand(const truth_log *log) {
  return counted_by_hand(log) && looped_by_hand(log);
}

static const truth_launch launches[] = {
    {"counted_kernel", "Straight::Counted", {1, 1, 1}, {32, 1, 1}, NULL, counted, false, 0},
    {"looped_kernel", "Straight::Looped", {1, 1, 1}, {32, 1, 1}, NULL, looped, false, 0},
    {"straight_kernel", "Straight::Kernel", {4, 1, 1}, {32, 1, 1}, NULL, straight, false, 0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "ring of 4", .records = 4},
    {.name = "ring of 4, first", .records = 4, .keep_first = true},
    {.name = "wrap", .wraps = true},
    {.name = "kernels", .kernels = "Counted"},
};

static const truth_kind kind = {.name = "straight",
                                .launches = launches,
                                .launch_count = 3,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs,
                                .holds = true,
                                .extra = by_hand};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
