// SPDX-License-Identifier: MIT
// Loops whose trip counts come from memory; rows that repeat and go back; no values named, so that
// the bits must stay with contraction on, too.
#include "truth.cuh"

#include "loop.h"

PROF_SECTIONS(Loop, Kernel, Outer, Inner, Tail, Odd, Never)

__global__ void loop_kernel(const int *rounds, const int *inner, float *out) {
  PROF_KERNEL(Kernel);
  float x = 1.0f + threadIdx.x;
  for (int i = 0; i < rounds[blockIdx.x]; i++) {
    PROF_ITER(i % 4 - 1);
    x = x * 1.25f + 0.3f;
    PROF_MARK(Outer);
    for (int j = 0; j < inner[blockIdx.x * 6 + i]; j++) {
      x = x * 0.75f + (float)j;
      PROF_MARK(Inner);
    }
    if (i % 2)
      PROF_EVENT(Odd);
    x += 1.0f;
  }
  out[blockIdx.x * LOOP_THREADS + threadIdx.x] = x;
  PROF_MARK(Tail);
}

static float on_host(int block, int thread) {
  float x = 1.0f + (float)thread;
  for (int i = 0; i < loop_rounds(block); i++) {
    x = x * 1.25f + 0.3f;
    for (int j = 0; j < loop_inner(block, i); j++)
      x = x * 0.75f + (float)j;
    x += 1.0f;
  }
  return x;
}

int main() {
  int rounds[LOOP_BLOCKS], inner[LOOP_BLOCKS * 6];
  for (int b = 0; b < LOOP_BLOCKS; b++) {
    rounds[b] = loop_rounds(b);
    for (int i = 0; i < 6; i++)
      inner[b * 6 + i] = loop_inner(b, i);
  }
  int *device_rounds = device_zeros<int>(LOOP_BLOCKS), *device_inner = device_zeros<int>(72);
  float *out = device_zeros<float>(LOOP_BLOCKS * LOOP_THREADS);
  CUDA(cudaMemcpy(device_rounds, rounds, sizeof rounds, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(device_inner, inner, sizeof inner, cudaMemcpyHostToDevice));
  loop_kernel<<<LOOP_BLOCKS, LOOP_THREADS>>>(device_rounds, device_inner, out);
  CUDA(cudaGetLastError());
  std::vector<float> values = from_device(out, LOOP_BLOCKS * LOOP_THREADS), expected;
  for (int i = 0; i < LOOP_BLOCKS * LOOP_THREADS; i++)
    expected.push_back(on_host(i / LOOP_THREADS, i % LOOP_THREADS));
  print_bits("loop", values);
  return near("loop", values, expected) ? 0 : 1;
}
