// SPDX-License-Identifier: MIT
// Lanes of one warp that go different ways, with marks in every way; marks in an `if` without
// braces, in loops that each lane leaves at its own time.
#include "truth.cuh"

PROF_SECTIONS(Divergent, Kernel, Even, Odd, Spin, Both, Third, Warp)

constexpr int blocks = 5, threads = 96;

__global__ void divergent_kernel(unsigned *out) {
  PROF_KERNEL(Kernel);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned x = threadIdx.x + blockIdx.x * threads;
  if ((lane + blockIdx.x) % 2 == 0) {
    x = x * 5 + 1;
    PROF_MARK(Even);
  } else {
    x = x * 7 + 2;
    PROF_MARK(Odd);
  }
  for (unsigned i = 0; i < (lane * 5 + blockIdx.x + warp) % 7; i++) {
    PROF_ITER(i);
    x += __popc(x);
    if (i % 3 == 2)
      PROF_MARK(Third);
    else
      PROF_MARK(Spin);
  }
  __syncwarp();
  x += __shfl_xor_sync(~0u, x, 1);
  PROF_MARK(Both);
  if (warp == 1) {
    x ^= 0x1234;
    PROF_MARK(Warp);
  }
  __syncthreads();
  out[blockIdx.x * threads + threadIdx.x] = x;
}

static unsigned before_shuffle(unsigned block, unsigned thread) {
  const unsigned lane = thread % 32, warp = thread / 32;
  unsigned x = thread + block * threads;
  x = (lane + block) % 2 == 0 ? x * 5 + 1 : x * 7 + 2;
  for (unsigned i = 0; i < (lane * 5 + block + warp) % 7; i++)
    x += (unsigned)__builtin_popcount(x);
  return x;
}

int main() {
  unsigned *out = device_zeros<unsigned>(blocks * threads);
  divergent_kernel<<<blocks, threads>>>(out);
  CUDA(cudaGetLastError());
  std::vector<unsigned> values = from_device(out, blocks * threads), expected;
  for (unsigned b = 0; b < blocks; b++)
    for (unsigned t = 0; t < threads; t++) {
      const unsigned x = before_shuffle(b, t) + before_shuffle(b, t ^ 1);
      expected.push_back(t / 32 == 1 ? x ^ 0x1234 : x);
    }
  print_bits("divergent", values);
  return values == expected ? 0 : 1;
}
