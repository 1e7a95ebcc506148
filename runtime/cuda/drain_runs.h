/* SPDX-License-Identifier: MIT */
/* Private: which parts of a buffer one strided copy takes, so that a drain makes few calls and copies
 * little in vain. Calls nothing. */
#ifndef INK_CUDA_DRAIN_RUNS_H
#define INK_CUDA_DRAIN_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The price of a copy, in bytes: of the call, which takes a lock of the driver for 1 to 3 us, and of each
 * of its rows. Estimates for PCIe; no GPU was measured. */
#define INK_I_CALL_BYTES 32768u
#define INK_I_ROW_BYTES 64u

/* What is wanted of one slot. */
typedef struct ink_i_wanted {
  uint32_t slot, ring_bytes, aux_bytes; /* of its ring and of that of called functions, from their starts */
} ink_i_wanted;

/* Slots first to first + rows - 1, of which `wanted` are wanted. A row of the copy is the first
 * ring_width bytes of a ring; where `joint`, it is all of the ring and the first aux_width of the other,
 * which lies behind it; else those are another copy. */
typedef struct ink_i_run {
  uint32_t first, rows, wanted;
  uint32_t ring_width, aux_width;
  bool joint;
} ink_i_run;

/* The run that begins with the first of n (at least 1) wanted slots, in ascending order: as many of them
 * as are cheaper together than one by one. With the headers that are read again it takes no more than
 * most_bytes on the host, unless it is one slot. */
ink_i_run ink_i_run_choose(const ink_i_wanted *wanted, uint32_t n, size_t ring_bytes, size_t header_bytes,
                           size_t most_bytes);
/* What a run takes on the host: the rings, then, at ink_i_run_aux_at, the other rings, then the headers. */
size_t ink_i_run_bytes(const ink_i_run *run, size_t ring_bytes, size_t header_bytes);
size_t ink_i_run_pitch(const ink_i_run *run, size_t ring_bytes);
size_t ink_i_run_headers_at(const ink_i_run *run, size_t ring_bytes);

#endif
