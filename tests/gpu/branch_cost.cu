// SPDX-License-Identifier: MIT
// What marks cost a block of 32 warps of which one records: the kernel's own cycles without marks, with
// marks as they are, and with each behind a branch that a whole warp takes or does not. One line a form:
// NAME CYCLES, of the slowest of the block's warps, median of 15 launches.
#include "inkmark/mark.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

PROF_SECTIONS(BranchCost, Plain, Branched, A)

constexpr int threads = 1024, launches = 15, rounds = 256;

__device__ __forceinline__ void keep_slowest(long long begin, long long *slowest) {
  atomicMax((unsigned long long *)slowest, (unsigned long long)(clock64() - begin));
}

#define WORK(x) x = x * 1664525u + 1013904223u; x ^= x >> 7;
#define LOOP(mark)                                                                                 \
  unsigned x = threadIdx.x;                                                                        \
  _Pragma("unroll 1") for (int i = 0; i < rounds; i++) {                                           \
    WORK(x) mark; WORK(x) mark; WORK(x) mark; WORK(x) mark;                                        \
  }                                                                                                \
  out[threadIdx.x] = x;

__global__ void unmarked(unsigned *out, long long *slowest, bool) {
  const long long begin = clock64();
  LOOP((void)0)
  keep_slowest(begin, slowest);
}
__global__ void plain(unsigned *out, long long *slowest, bool) {
  PROF_KERNEL(Plain);
  const long long begin = clock64();
  LOOP(PROF_MARK(A, x))
  keep_slowest(begin, slowest);
}
__global__ void branched(unsigned *out, long long *slowest, bool armed) {
  PROF_KERNEL(Branched);
  const bool warp_records = __any_sync(0xffffffffu, threadIdx.x == 0 && armed);
  const long long begin = clock64();
  LOOP(do { if (warp_records) PROF_MARK(A, x); } while (0))
  keep_slowest(begin, slowest);
}

template <class Kernel> static void time(const char *name, Kernel kernel, bool armed) {
  unsigned *out;
  long long *slowest, host;
  std::vector<long long> cycles;
  cudaMalloc(&out, threads * sizeof *out);
  cudaMalloc(&slowest, sizeof *slowest);
  for (int i = 0; i < launches; i++) {
    cudaMemset(slowest, 0, sizeof *slowest);
    kernel<<<1, threads>>>(out, slowest, armed);
    if (cudaMemcpy(&host, slowest, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess)
      exit(1);
    cycles.push_back(host);
  }
  std::sort(cycles.begin(), cycles.end());
  printf("%s %lld\n", name, cycles[launches / 2]);
  cudaFree(out);
  cudaFree(slowest);
}

int main() {
  // what `inkmark record` sets: a warp that would record must take the branch then, and only then
  const bool armed = getenv("INKMARK_RECORD") != nullptr;
  time("unmarked", unmarked, armed);
  time("marked", plain, armed);
  time("behind_branch", branched, armed);
  return 0;
}
