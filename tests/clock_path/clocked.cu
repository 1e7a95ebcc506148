// SPDX-License-Identifier: MIT
// A marked program whose blocks mostly sleep, so that much time passes in few instructions:
//   clocked LAUNCHES BLOCKS ROUNDS REST_NS CLOCKS SHORT_SM PAUSE_MS
// CLOCKS 1: a clock triple in each round. SHORT_SM: one SM that sees a single block without rounds,
// -1: none. PAUSE_MS pass between launches.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <stdio.h>
#include <stdlib.h>

PROF_SECTIONS(Clocked, Run, Rest, Work)

__device__ unsigned short_blocks;

__global__ void run(int launch, int rounds, unsigned rest_ns, int clocks, int short_sm,
                    unsigned *out) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if ((int)sm == short_sm) {
    if (threadIdx.x || atomicAdd(&short_blocks, 1u))
      return;
    rounds = 0;
  }
  PROF_KERNEL(Run);
  unsigned x = (unsigned)launch * 2654435761u + blockIdx.x * 40503u + 1u;
  for (int i = 0; i < rounds; i++) {
    PROF_ITER(i);
    x = x * 1664525u + 1013904223u;
    __nanosleep(rest_ns / 2 + (x >> 8) % rest_ns);
    PROF_MARK(Rest, x);
    for (unsigned k = 0; k < x >> 28; k++)
      x ^= x << 13 ^ k;
    PROF_MARK(Work, x);
    if (clocks)
      PROF_CLOCKS();
  }
  out[blockIdx.x] = x;
}

__global__ void pause(int ms) {
  for (int i = 0; i < ms; i++)
    __nanosleep(1000000);
}

static void check(cudaError_t code, const char *what) {
  if (code != cudaSuccess) {
    fprintf(stderr, "clocked: %s: %s\n", what, cudaGetErrorString(code));
    exit(1);
  }
}

int main(int argc, char **argv) {
  int n[8];
  if (argc != 8)
    return 2;
  for (int i = 1; i < argc; i++)
    n[i] = atoi(argv[i]);
  unsigned *out;
  check(cudaMalloc(&out, (size_t)n[2] * sizeof *out), "cudaMalloc");
  for (int i = 0; i < n[1]; i++) {
    run<<<n[2], 32>>>(i, n[3], (unsigned)n[4], n[5], n[6], out);
    if (n[7])
      pause<<<1, 1>>>(n[7]);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  return 0;
}
