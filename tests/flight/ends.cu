// SPDX-License-Identifier: MIT
// Kernels that do not end as they should, and one that runs for long: ends trap | second | illegal | exit | range |
// mark. "second": a launch that is fine stands before the trap. "range" and "mark" spin for ever in block 3.
#include <inkmark/mark.cuh>

#include <cstdio>
#include <cstring>

PROF_SECTIONS(Ends, Kern, Load, Wait, Check, Store)

enum { GOES_ON, TRAPS, READS_NOTHING, LEAVES, SPINS_IN_RANGE, SPINS };

__global__ void kern(float *data, int fate, int block, volatile int *never) {
  PROF_KERNEL(Kern);
  const bool chosen = (int)blockIdx.x == block;
  float x = data[threadIdx.x];
  PROF_MARK(Load, x);
  if (chosen && fate == TRAPS)
    __trap();
  if (chosen && fate == READS_NOTHING)
    x += *(volatile float *)0x7000000000000000ull;
  if (chosen && fate == LEAVES)
    asm volatile("exit;");
  PROF_BEGIN(Wait);
  while (chosen && fate == SPINS_IN_RANGE && !*never)
    continue;
  PROF_END(Wait);
  while (chosen && fate == SPINS && !*never)
    continue;
  PROF_MARK(Check, x);
  data[threadIdx.x] = x;
  PROF_MARK(Store);
}

int main(int argc, char **argv) {
  static const char *const words[] = {"good", "trap", "illegal", "exit", "range", "mark"};
  const char *word = argc > 1 ? argv[1] : "good";
  const bool second = !strcmp(word, "second");
  int fate = second ? TRAPS : GOES_ON, *never;
  for (int i = 0; i < 6; i++)
    if (!strcmp(word, words[i]))
      fate = i;
  float *data;
  cudaMalloc(&data, 4096);
  cudaMemset(data, 0, 4096);
  cudaMalloc(&never, sizeof *never);
  cudaMemset(never, 0, sizeof *never);
  if (second) {
    kern<<<4, 32>>>(data, GOES_ON, -1, never);
    cudaDeviceSynchronize();
  }
  puts("launches");
  fflush(stdout);
  kern<<<8, 32>>>(data, fate, fate == SPINS || fate == SPINS_IN_RANGE ? 3 : 2, never);
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
