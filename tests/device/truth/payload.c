/* SPDX-License-Identifier: MIT */
/* The model of payload.cu. */
#include "truth.h"

static void numbers(truth_steps *s, int x) {
  step_value_i64(s, "Payload::Number", x);
  step_value_u64(s, "Payload::Number", (uint32_t)x);
  step_value_i64(s, "Payload::Number", (short)x);
  step_value_u64(s, "Payload::Number", (unsigned char)x);
  step_value_i64(s, "Payload::Number", (long long)x << 40);
  step_value_u64(s, "Payload::Number", ~0ull - (unsigned long long)x);
  step_value_f64(s, "Payload::Number", (double)((float)x * 0.1f));
  step_value_f64(s, "Payload::Number", (double)x * 0.1);
  step_value_f64(s, "Payload::Number", x); /* small enough for a half */
  step_value_u64(s, "Payload::Number", x > 0);
}

static void sum(truth_steps *s, const char *section) {
  step_sum_begin(s, section);
  step_sum_end(s, section);
}

/* Slots are written in the order of section id modulo 8: Row is 6, Probe 5. */
static void flush(truth_steps *s, int probes, int rows) {
  if (probes)
    step_sum(s, "Payload::Probe", (uint64_t)probes);
  if (rows)
    step_sum(s, "Payload::Row", (uint64_t)rows);
}

static int round_of(truth_steps *s, int x, int i, int *probes, int *rows) {
  *probes = *rows = 0;
  step_async_begin(s, "Payload::Copy", (uint64_t)i);
  step_async_begin(s, "Payload::Copy", (uint64_t)i);
  step_async_begin(s, "Payload::Wait", ~0ull);
  for (int j = 0; j < (x % 5 + 5) % 5 + i; j++) {
    sum(s, "Payload::Probe");
    ++*probes;
    for (int k = 0; k <= (j * 3 + 1) % 4; k++)
      x = (int)((unsigned)x * 3u + (unsigned)j);
    if (j % 2) {
      sum(s, "Payload::Row");
      ++*rows;
      x = (int)((unsigned)x - 4u);
    }
  }
  step_mark(s, "Payload::Row");
  step_async_end(s, "Payload::Copy", (uint64_t)i);
  if (i)
    step_async_end(s, "Payload::Wait", ~0ull);
  step_async_end(s, "Payload::Copy", (uint64_t)i);
  step_event(s, "Payload::Last");
  return x;
}

static void thread(truth_steps *s, uint32_t block, uint32_t index) {
  static const int in[] = {7, 12, 100, 3};
  int x = in[block], probes = 0, rows = 0;
  (void)index;
  numbers(s, x);
  step_clocks(s);
  for (int i = 0; i < 3; i++) {
    flush(s, probes, rows);
    step_iter(s, (long long)i - (1ll << 40));
    x = round_of(s, x, i, &probes, &rows);
  }
  step_async_end(s, "Payload::Wait", ~0ull);
  /* Other and Copy have the same slot, each sends the other's count away; 3 modulo 8 comes before
   * the slots of Probe and Row when all are written at the end. */
  sum(s, "Payload::Other");
  step_sum(s, "Payload::Other", 1);
  sum(s, "Payload::Copy");
  step_sum(s, "Payload::Copy", 1);
  sum(s, "Payload::Other");
  step_sum(s, "Payload::Other", 1);
  sum(s, "Payload::Copy");
  step_clocks(s);
  step_sum(s, "Payload::Copy", 1);
  flush(s, probes, rows);
}

static const truth_launch launches[] = {
    {"payload_kernel", "Payload::Kernel", {4, 1, 1}, {64, 1, 1}, NULL, thread, false, 0},
};

static const truth_run runs[] = {
    {.name = "whole"},
    {.name = "a warp a track", .per_warp = true},
    {.name = "ring of 4", .records = 4},
    {.name = "ring of 4, first", .records = 4, .keep_first = true},
    {.name = "ring of 8", .records = 8},
    {.name = "ring of 8, first", .records = 8, .keep_first = true},
    {.name = "ring of 64", .records = 64},
    {.name = "ring of 64, first", .records = 64, .keep_first = true},
    {.name = "ring of 65536", .records = 65536, .tracks = 4},
    {.name = "wrap", .wraps = true},
    {.name = "wrap, ring of 16", .wraps = true, .records = 16},
};

static const truth_kind kind = {.name = "payload",
                                .launches = launches,
                                .launch_count = 1,
                                .runs = runs,
                                .run_count = sizeof runs / sizeof *runs,
                                .holds = true};

int main(int argc, char **argv) {
  return truth_main(argc, argv, &kind);
}
