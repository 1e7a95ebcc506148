// SPDX-License-Identifier: MIT
// Marks that carry words: values of every type, asynchronous ranges that overlap and share keys,
// sums that are written at each row and at the end, sections that share a sum's slot, clock
// triples.
#include "truth.cuh"

#include <cuda_fp16.h>

// Copy and Other stand eight apart: they share one of the eight slots of sums.
PROF_SECTIONS(Payload, Kernel, Number, Copy, Wait, Probe, Row, S7, S8, S9, S10, Other, Last)

constexpr int blocks = 4, threads = 64;

__global__ void payload_kernel(const int *in, int *out) {
  PROF_KERNEL(Kernel);
  const int at = blockIdx.x * threads + threadIdx.x;
  int x = in[blockIdx.x];
  PROF_VALUE(Number, x);
  PROF_VALUE(Number, (unsigned)x);
  PROF_VALUE(Number, (short)x);
  PROF_VALUE(Number, (unsigned char)x);
  PROF_VALUE(Number, (long long)x << 40);
  PROF_VALUE(Number, ~0ull - (unsigned long long)x);
  PROF_VALUE(Number, (float)x * 0.1f);
  PROF_VALUE(Number, (double)x * 0.1);
  PROF_VALUE(Number, __half2float(__float2half((float)x)));
  PROF_VALUE(Number, x > 0);
  PROF_CLOCKS();
  for (int i = 0; i < 3; i++) {
    PROF_ITER((long long)i - (1ll << 40));
    PROF_ASYNC_BEGIN(Copy, i);
    PROF_ASYNC_BEGIN(Copy, i); // the same key again: first begun, first ended
    PROF_ASYNC_BEGIN(Wait, ~0ull);
    for (int j = 0; j < (x % 5 + 5) % 5 + i; j++) {
      PROF_SUM_BEGIN(Probe);
      for (int k = 0; k <= (j * 3 + 1) % 4; k++) // neither the first nor the last is the shortest
        x = (int)((unsigned)x * 3u + (unsigned)j);
      PROF_SUM_END(Probe, x);
      if (j % 2) {
        PROF_SUM_BEGIN(Row);
        x = (int)((unsigned)x - 4u);
        PROF_SUM_END(Row, x);
      }
    }
    PROF_MARK(Row, x);
    PROF_ASYNC_END(Copy, i);
    if (i)
      PROF_ASYNC_END(Wait, ~0ull);
    PROF_ASYNC_END(Copy, i);
    PROF_EVENT(Last);
  }
  PROF_ASYNC_END(Wait, ~0ull);
  for (int j = 0; j < 4; j++) {
    if (j % 2) {
      PROF_SUM_BEGIN(Copy);
      x ^= 1;
      PROF_SUM_END(Copy, x);
    } else {
      PROF_SUM_BEGIN(Other);
      x ^= x >> 3;
      PROF_SUM_END(Other, x);
    }
  }
  out[at] = x ^ (int)threadIdx.x;
  PROF_CLOCKS();
}

static int on_host(int x) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < (x % 5 + 5) % 5 + i; j++) {
      for (int k = 0; k <= (j * 3 + 1) % 4; k++)
        x = (int)((unsigned)x * 3u + (unsigned)j);
      if (j % 2)
        x = (int)((unsigned)x - 4u);
    }
  for (int j = 0; j < 4; j++)
    x ^= j % 2 ? 1 : x >> 3;
  return x;
}

int main() {
  const int in[blocks] = {7, 12, 100, 3};
  int *device_in = device_zeros<int>(blocks), *out = device_zeros<int>(blocks * threads);
  CUDA(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
  payload_kernel<<<blocks, threads>>>(device_in, out);
  CUDA(cudaGetLastError());
  std::vector<int> values = from_device(out, blocks * threads), expected;
  for (int at = 0; at < blocks * threads; at++)
    expected.push_back(on_host(in[at / threads]) ^ at % threads);
  print_bits("payload", values);
  return values == expected ? 0 : 1;
}
