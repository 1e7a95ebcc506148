/* SPDX-License-Identifier: MIT */
/* The model of early.cu. */
#include "early.h"
#include "truth.h"

static void range(truth_steps *s, int leave) {
  step_begin(s, "Early::Range");
  if (leave != 2)
    step_mark(s, "Early::Round");
  step_end(s, "Early::Range"); /* PROF_SCOPE ends it on the way out too */
}

static void thread(truth_steps *s, uint32_t block, uint32_t index) {
  const int leave = early_exit_of((int)block, (int)index);
  const int round = early_round_of((int)block, (int)index);
  if (leave == 0)
    return;
  step_mark(s, "Early::Enter");
  for (int i = 0; i < 5; i++) {
    if (i == 1) {
      step_event(s, "Early::Skipped");
      continue;
    }
    step_mark(s, "Early::Round");
    if (leave == 1 && i == round + 1)
      return;
    if (i == round)
      break;
  }
  range(s, leave);
  if (leave == 2)
    return;
  if (leave == 3) {
    step_mark(s, "Early::CaseOne");
    if (round == 2)
      return;
  }
  if (leave == 3 || leave == 4)
    step_mark(s, "Early::CaseTwo");
  if (leave == 4)
    step_mark(s, "Early::Last");
}

static const truth_launch launches[] = {
    {"early_kernel",
     "Early::Kernel",
     {EARLY_BLOCKS, 1, 1},
     {EARLY_THREADS, 1, 1},
     NULL,
     thread,
     false,
     0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "a warp a track", .per_warp = true},
    {.name = "ring of 4", .records = 4, .per_warp = true},
    {.name = "ring of 4, first", .records = 4, .per_warp = true, .keep_first = true},
    {.name = "4 tracks, again",
     .tracks = 4,
     .environment = {"INKMARK_SIM_SMS=1", "INKMARK_SIM_BLOCKS_PER_SM=1"}},
};

static const truth_kind kind = {.name = "early",
                                .launches = launches,
                                .launch_count = 1,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
