/* SPDX-License-Identifier: MIT */
/* The model of explicit.cu: which of its launches record, and what. */
#include "truth.h"

static void help(truth_steps *s) {
  s->called = true;
  step_mark(s, "Explicit::Helped");
  s->called = false;
}

static void by_argument(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  for (int i = 0; i < 3; i++) {
    step_iter(s, i);
    help(s);
    step_mark(s, "Explicit::Work");
  }
}

static void by_symbol(truth_steps *s, uint32_t block, uint32_t thread) {
  (void)block;
  (void)thread;
  help(s);
  step_mark(s, "Explicit::Work");
}

#define SHAPE {4, 1, 1}, {64, 1, 1}, NULL

static const truth_launch launches[] = {
    {"argument_kernel", "Explicit::ByArgument", SHAPE, by_argument, false, 0},
    {"argument_kernel", NULL, SHAPE, by_argument, false, 0}, /* no buffer */
    {"argument_kernel", NULL, SHAPE, by_argument, false, 0}, /* off */
    {"argument_kernel", "Explicit::ByArgument", SHAPE, by_argument, false, 0},
    {"symbol_kernel", NULL, SHAPE, by_symbol, false, 0}, /* not armed */
    {"symbol_kernel", "Explicit::BySymbol", SHAPE, by_symbol, false, 0},
    {"symbol_kernel", NULL, SHAPE, by_symbol, false, 0}, /* closed */
};

static const truth_run runs[] = {{.name = "own session"}};

static const truth_kind kind = {.name = "explicit",
                                .launches = launches,
                                .launch_count = sizeof launches / sizeof *launches,
                                .runs = runs,
                                .run_count = 1,
                                .own_session = true};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
