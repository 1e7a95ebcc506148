// SPDX-License-Identifier: MIT
// Threads that leave a kernel early, each its own way: the track closes on every way out. Loops
// that break and go on, a switch that falls through.
#include "truth.cuh"

#include "early.h"

PROF_SECTIONS(Early, Kernel, Enter, Round, Skipped, Range, CaseOne, CaseTwo, Last)

__global__ void early_kernel(const int *exits, const int *rounds, int *out) {
  PROF_KERNEL(Kernel);
  const int at = blockIdx.x * EARLY_THREADS + threadIdx.x;
  const int leave = exits[at], round = rounds[at];
  if (leave == 0)
    return;
  PROF_MARK(Enter);
  int x = at;
  for (int i = 0; i < 5; i++) {
    if (i == 1) {
      PROF_EVENT(Skipped);
      continue;
    }
    x = x * 3 + i;
    PROF_MARK(Round);
    if (leave == 1 && i == round + 1) {
      out[at] = x;
      return;
    }
    if (i == round)
      break;
  }
  {
    PROF_SCOPE(Range);
    x ^= 0x55;
    if (leave == 2) {
      out[at] = x;
      return;
    }
    PROF_MARK(Round);
  }
  switch (leave) {
  case 3:
    x += 7;
    PROF_MARK(CaseOne);
    if (round == 2) {
      out[at] = x;
      return;
    }
  case 4: // falls through
    x -= 2;
    PROF_MARK(CaseTwo);
  default:
    break;
  }
  out[at] = x;
  if (leave == 4)
    PROF_MARK(Last);
}

static int on_host(int block, int thread) {
  const int leave = early_exit_of(block, thread), round = early_round_of(block, thread);
  int x = block * EARLY_THREADS + thread;
  if (leave == 0)
    return 0;
  for (int i = 0; i < 5; i++) {
    if (i == 1)
      continue;
    x = x * 3 + i;
    if (leave == 1 && i == round + 1)
      return x;
    if (i == round)
      break;
  }
  x ^= 0x55;
  if (leave == 3)
    x += 7;
  if ((leave == 3 && round != 2) || leave == 4)
    x -= 2;
  return x;
}

int main() {
  const size_t n = EARLY_BLOCKS * EARLY_THREADS;
  std::vector<int> exits, rounds, expected;
  for (size_t i = 0; i < n; i++) {
    exits.push_back(early_exit_of((int)i / EARLY_THREADS, (int)i % EARLY_THREADS));
    rounds.push_back(early_round_of((int)i / EARLY_THREADS, (int)i % EARLY_THREADS));
    expected.push_back(on_host((int)i / EARLY_THREADS, (int)i % EARLY_THREADS));
  }
  int *device_exits = device_zeros<int>(n), *device_rounds = device_zeros<int>(n);
  int *out = device_zeros<int>(n);
  CUDA(cudaMemcpy(device_exits, exits.data(), n * 4, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(device_rounds, rounds.data(), n * 4, cudaMemcpyHostToDevice));
  early_kernel<<<EARLY_BLOCKS, EARLY_THREADS>>>(device_exits, device_rounds, out);
  CUDA(cudaGetLastError());
  std::vector<int> values = from_device(out, n);
  print_bits("early", values);
  return values == expected ? 0 : 1;
}
