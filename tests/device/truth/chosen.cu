// SPDX-License-Identifier: MIT
// The kernel chooses who records, with PROF_KERNEL_IF: an elected lane, every lane of one block, a
// lane that no static rule would name; with marks in called functions where one lane of a warp
// records.
#include "truth.cuh"

PROF_SECTIONS(Chosen, Elected, Everyone, Late, Work, Helped)

constexpr int blocks = 4, threads = 64;

__device__ __noinline__ unsigned help(unsigned x) {
  x = x * 31 + 7;
  PROF_MARK(Helped);
  return x;
}

__global__ void elected_kernel(unsigned *out) {
  PROF_KERNEL_IF(threadIdx.x % 32 == 7 + blockIdx.x, Elected);
  unsigned x = help(threadIdx.x);
  PROF_MARK(Work, x);
  out[blockIdx.x * threads + threadIdx.x] = x;
}

__global__ void everyone_kernel(unsigned *out) {
  PROF_KERNEL_IF(blockIdx.x == 2, Everyone);
  unsigned x = threadIdx.x;
  for (unsigned i = 0; i <= threadIdx.x % 3; i++) {
    x += i + 1;
    PROF_MARK(Work);
  }
  out[blockIdx.x * threads + threadIdx.x] += x;
}

__global__ void late_kernel(unsigned *out, int lane) {
  if (threadIdx.x >= 48)
    return; // before the track: these threads have no part in it
  PROF_KERNEL_IF((int)threadIdx.x == lane && out, Late);
  if (threadIdx.x % 2) {
    PROF_EVENT(Work);
    out[blockIdx.x * threads + threadIdx.x] = help(1);
  }
}

int main() {
  const int n = blocks * threads;
  unsigned *out = device_zeros<unsigned>(n);
  elected_kernel<<<blocks, threads>>>(out);
  everyone_kernel<<<blocks, threads>>>(out);
  late_kernel<<<blocks, threads>>>(out, 33);
  CUDA(cudaGetLastError());
  std::vector<unsigned> values = from_device(out, n), expected;
  for (unsigned at = 0; at < (unsigned)n; at++) {
    const unsigned thread = at % threads, rounds = thread % 3 + 1;
    const unsigned x = thread * 31 + 7 + thread + rounds * (rounds + 1) / 2;
    expected.push_back(thread < 48 && thread % 2 ? 38 : x);
  }
  print_bits("chosen", values);
  return values == expected ? 0 : 1;
}
