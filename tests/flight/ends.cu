// SPDX-License-Identifier: MIT
// Kernels that do not end as they should: ends trap | second | illegal | exit | range | mark | rows | resets. "second": a
// launch that is fine stands before the trap. "range" and "mark" spin for ever in block 3, "rows" in two warps of 80.
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

// In its last iteration of 8 warp 1 of block 3 stays in the range, warp 0 of block 5 in front of it.
__global__ void rows(volatile int *never) {
  PROF_KERNEL(Kern);
  const int warp = threadIdx.x / 32;
  for (int i = 0; i < 8; i++) {
    PROF_ITER(i);
    PROF_MARK(Load);
    while (i == 7 && blockIdx.x == 5 && warp == 0 && !*never)
      continue;
    PROF_BEGIN(Wait);
    while (i == 7 && blockIdx.x == 3 && warp == 1 && !*never)
      continue;
    PROF_END(Wait);
  }
}

// Block 3 stays in the range; where each of the blocks has come to is said before.
__global__ void stays(volatile int *never, volatile int *begun) {
  PROF_KERNEL(Kern);
  PROF_MARK(Load);
  PROF_BEGIN(Wait);
  begun[blockIdx.x] = 1;
  while (blockIdx.x == 3 && !*never)
    continue;
  PROF_END(Wait);
}

// The device is reset more often than the writer process has room for areas, then a kernel hangs.
static int resets() {
  for (int i = 0; i <= 70; i++) {
    int *words;
    if (cudaMallocManaged(&words, 16 * sizeof *words))
      return 1;
    memset(words, 0, 16 * sizeof *words);
    volatile int *begun = words + 1;
    words[0] = i < 70; // "never": all but the last end
    stays<<<8, 32>>>(words, begun);
    if (i < 70 && (cudaDeviceSynchronize() || cudaDeviceReset()))
      return 1;
    for (int b = 0; i == 70 && b < 8;)
      b += begun[b];
  }
  puts("stays");
  fflush(stdout);
  return cudaDeviceSynchronize();
}

int main(int argc, char **argv) {
  static const char *const words[] = {"good", "trap", "illegal", "exit", "range", "mark"};
  const char *word = argc > 1 ? argv[1] : "good";
  if (!strcmp(word, "resets"))
    return resets();
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
  if (!strcmp(word, "rows"))
    rows<<<40, 64>>>(never);
  else
    kern<<<8, 32>>>(data, fate, fate == SPINS || fate == SPINS_IN_RANGE ? 3 : 2, never);
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
