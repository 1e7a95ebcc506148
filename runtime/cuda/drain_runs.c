/* SPDX-License-Identifier: MIT */
/* Chooses the strided copies of a drain by one model of what a call, a row and a byte cost. */
#include "cuda/drain_runs.h"

static uint64_t copy_cost(uint64_t rows, uint64_t width) {
  return width ? INK_I_CALL_BYTES + rows * (width + INK_I_ROW_BYTES) : 0;
}

static uint64_t joint_cost(const ink_i_run *run, size_t ring_bytes) {
  return copy_cost(run->rows, (uint64_t)ring_bytes + run->aux_width);
}

static uint64_t split_cost(const ink_i_run *run) {
  return copy_cost(run->rows, run->ring_width) + copy_cost(run->rows, run->aux_width);
}

static bool is_joint(const ink_i_run *run, size_t ring_bytes) {
  return run->aux_width && joint_cost(run, ring_bytes) <= split_cost(run);
}

static uint64_t cost(const ink_i_run *run, size_t ring_bytes, size_t header_bytes) {
  return (is_joint(run, ring_bytes) ? joint_cost(run, ring_bytes) : split_cost(run)) +
         copy_cost(run->rows, header_bytes);
}

size_t ink_i_run_pitch(const ink_i_run *run, size_t ring_bytes) {
  return run->joint ? ring_bytes + run->aux_width : run->ring_width;
}

size_t ink_i_run_headers_at(const ink_i_run *run, size_t ring_bytes) {
  const size_t at = run->rows * ink_i_run_pitch(run, ring_bytes);
  return run->joint ? at : at + (size_t)run->rows * run->aux_width;
}

size_t ink_i_run_bytes(const ink_i_run *run, size_t ring_bytes, size_t header_bytes) {
  return ink_i_run_headers_at(run, ring_bytes) + run->rows * header_bytes;
}

static ink_i_run of_one(const ink_i_wanted *w, size_t ring_bytes) {
  ink_i_run run = {.first = w->slot, .rows = 1, .wanted = 1, .ring_width = w->ring_bytes,
                   .aux_width = w->aux_bytes};
  run.joint = is_joint(&run, ring_bytes);
  return run;
}

ink_i_run ink_i_run_choose(const ink_i_wanted *wanted, uint32_t n, size_t ring_bytes, size_t header_bytes,
                           size_t most_bytes) {
  ink_i_run run = of_one(&wanted[0], ring_bytes);
  for (uint32_t i = 1; i < n; i++) {
    const ink_i_run one = of_one(&wanted[i], ring_bytes);
    ink_i_run longer = run;
    longer.rows = wanted[i].slot - run.first + 1;
    longer.wanted++;
    if (one.ring_width > longer.ring_width)
      longer.ring_width = one.ring_width;
    if (one.aux_width > longer.aux_width)
      longer.aux_width = one.aux_width;
    longer.joint = is_joint(&longer, ring_bytes);
    if (cost(&longer, ring_bytes, header_bytes) >
            cost(&run, ring_bytes, header_bytes) + cost(&one, ring_bytes, header_bytes) ||
        ink_i_run_bytes(&longer, ring_bytes, header_bytes) > most_bytes)
      break;
    run = longer;
  }
  return run;
}
