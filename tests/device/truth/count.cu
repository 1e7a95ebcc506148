// SPDX-License-Identifier: MIT
// Counts forced past 2^32: right after the opening the test sets the track's word counts, as if
// that many marks had been executed, and the real code goes on counting from there.
#include "truth.cuh"

#include "count.h"

PROF_SECTIONS(Count, Kernel, Work, Helped)

constexpr int blocks = 4, threads = 32;

__device__ __noinline__ unsigned help(unsigned x) {
  x = x * 5 + 1;
  PROF_MARK(Helped);
  return x;
}

__global__ void count_kernel(unsigned *out) {
  PROF_KERNEL(Kernel);
#if !defined(INKMARK_DISABLE) && defined(__CUDA_ARCH__)
  if (ink_ctx_.here.at.high) {
    ink_ctx_.here.bytes = COUNT_START * 8;
    ink_i::u64 state_at, bytes, extra;
    ink_i::cursor at;
    const ink_i::u32 place = ink_i::warp_place();
    if (ink_i::find_state(place, state_at) && ink_i::load_state(place, state_at, at, bytes, extra))
      ink_i::store_u64x2<INK_I_AT(ink_device_state, aux_bytes)>(state_at, COUNT_START_CALLED * 8, 0);
  }
#endif
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < COUNT_ROUNDS; i++) {
    PROF_ITER(i);
    x = help(x);
    PROF_MARK(Work);
  }
  out[blockIdx.x * threads + threadIdx.x] = x;
}

int main() {
  unsigned *out = device_zeros<unsigned>(blocks * threads);
  count_kernel<<<blocks, threads>>>(out);
  CUDA(cudaGetLastError());
  std::vector<unsigned> values = from_device(out, blocks * threads), expected;
  for (unsigned at = 0; at < blocks * threads; at++) {
    unsigned x = at % threads;
    for (int i = 0; i < COUNT_ROUNDS; i++)
      x = x * 5 + 1;
    expected.push_back(x);
  }
  print_bits("count", values);
  return values == expected ? 0 : 1;
}
