// SPDX-License-Identifier: MIT
// A random history of launches: blocks that mark in all ways, rings that wrap, tracks that are used again, threads
// that leave by `exit`, and at the end nothing special, a trap, an illegal address, or a block that spins for ever.
// histories SEED LAUNCHES END [ROUNDS]; ROUNDS: of one long launch in addition.
#include <inkmark/mark.cuh>

#include <cstdio>
#include <cstdlib>
#include <cstring>

PROF_SECTIONS(Histories, Kern, A, B, C, D, R)

enum { GOES_ON, LEAVES, TRAPS, TOUCHES_NOTHING_OF_OURS, SPINS };

__host__ __device__ unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

__device__ __noinline__ void helper(unsigned h, int *out) {
  PROF_BEGIN(R);
  if (h & 1)
    PROF_VALUE(A, h & 2 ? -1ll : (long long)h);
  *out += 1;
  PROF_END(R);
}

__global__ void kern(unsigned seed, int rounds, unsigned fate_block, int fate, int fate_round, int *out,
                     volatile int *never) {
  PROF_KERNEL(Kern);
  const int mine = rounds > 1000 ? rounds : (int)(mix(seed + blockIdx.x) % (unsigned)(rounds + 1));
  for (int i = 0; i < mine || (fate != GOES_ON && blockIdx.x == fate_block && i <= fate_round); i++) {
    const unsigned h = mix(seed ^ mix(blockIdx.x * 977u + (unsigned)i));
    if (blockIdx.x == fate_block && i == fate_round) {
      if (fate == LEAVES)
        asm volatile("exit;");
      if (fate == TRAPS)
        asm volatile("trap;");
      if (fate == TOUCHES_NOTHING_OF_OURS)
        *(volatile int *)(0x7000000000000000ull + h) = 1;
      while (fate == SPINS && !*never)
        continue;
    }
    switch (h % 9) {
    case 0: PROF_MARK(A); break;
    case 1: PROF_MARK(B); break;
    case 2: PROF_ITER(h & 16 ? -1 : i); PROF_MARK(C); break;
    case 3: PROF_BEGIN(D); out[blockIdx.x] += (int)h; PROF_END(D); break;
    case 4: PROF_VALUE(A, h & 16 ? -1 : (int)h); break;
    case 5: PROF_ASYNC_BEGIN(C, h & 16 ? ~0ull : h); break;
    case 6: PROF_ASYNC_END(C, h); break;
    case 7: helper(h, out + blockIdx.x); break;
    default: PROF_EVENT(B);
    }
  }
}

int main(int argc, char **argv) {
  const unsigned seed = (unsigned)atoi(argv[1]);
  const int launches = atoi(argv[2]), long_rounds = argc > 4 ? atoi(argv[4]) : 0;
  const char *end = argv[3];
  int *out, *never;
  cudaMalloc(&out, 4096);
  cudaMalloc(&never, 4);
  cudaMemset(never, 0, 4);
  unsigned x = seed;
  for (int i = 0; i < launches; i++) {
    x = mix(x + 1);
    const int blocks = 1 + (int)(x % 12), rounds = (int)(x >> 8) % 40;
    const bool leaves = x >> 28 == 1;
    kern<<<blocks, 32>>>(x, rounds, (x >> 4) % (unsigned)blocks, leaves ? LEAVES : GOES_ON, (int)(x >> 20) % 10, out,
                         never);
    if (x >> 30 == 0)
      cudaDeviceSynchronize();
  }
  if (long_rounds)
    kern<<<3, 32>>>(x, long_rounds, 0, GOES_ON, 0, out, never);
  cudaDeviceSynchronize();
  puts("last");
  fflush(stdout);
  const int fate = !strcmp(end, "trap") ? TRAPS
                   : !strcmp(end, "illegal") ? TOUCHES_NOTHING_OF_OURS
                   : !strcmp(end, "spin") ? SPINS : GOES_ON;
  kern<<<6, 32>>>(x ^ 5, 30, x % 6, fate, (int)(x >> 8) % 30, out, never);
  const cudaError_t error = cudaDeviceSynchronize();
  puts(cudaGetErrorString(error));
  return 0;
}
