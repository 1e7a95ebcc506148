/* SPDX-License-Identifier: MIT */
/* The model of count.cu: what is executed on top of the preset counts. */
#include "count.h"
#include "truth.h"

static void thread(truth_steps *s, uint32_t block, uint32_t index) {
  (void)block;
  (void)index;
  for (int i = 0; i < COUNT_ROUNDS; i++) {
    step_iter(s, i);
    s->called = true;
    step_mark(s, "Count::Helped");
    s->called = false;
    step_mark(s, "Count::Work");
  }
}

static const truth_launch launches[] = {
    {"count_kernel", "Count::Kernel", {4, 1, 1}, {32, 1, 1}, NULL, thread, false, 0},
};

/* keep last only: a full ring that keeps the first stores nothing more, whatever is counted. */
static const truth_run runs[] = {
    {.name = "ring of 4", .records = 4},
    {.name = "ring of 16", .records = 16},
    {.name = "ring of 64", .records = 64},
    {.name = "4 tracks, again",
     .records = 16,
     .tracks = 4,
     .environment = {"INKMARK_SIM_SMS=1", "INKMARK_SIM_BLOCKS_PER_SM=1"}},
};

static const truth_kind kind = {.name = "count",
                                .launches = launches,
                                .launch_count = 1,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs,
                                .words_start = COUNT_START,
                                .aux_words_start = COUNT_START_CALLED};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
