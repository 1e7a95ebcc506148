// SPDX-License-Identifier: MIT
// Kernels for each level of the guard: waits in loops, in what is called in loops, and outside of them; loops without waits; branches by
// warp; and what both kernels call.
#include <cstdint>

constexpr int stages = 3;

__device__ uint32_t shared_address(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }

struct barrier {
  uint64_t word;
  __device__ void arrive() { asm volatile("{\n.reg .b64 s;\nmbarrier.arrive.shared.b64 s, [%0];\n}" : : "r"(shared_address(&word)) : "memory"); }
  __device__ void wait(int phase) {
    uint32_t done = 0;
    while (!done)
      asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                   : "=r"(done) : "r"(shared_address(&word)), "r"(phase) : "memory");
  }
};

struct storage { barrier full[stages], empty[stages]; float data[stages][64]; };

__device__ __noinline__ float waits_in(float *part, const float *row, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    part[threadIdx.x] = row[i] + sum;
    __syncthreads();
    for (int j = 0; j < 8; j++)
      sum += part[(threadIdx.x + j) & 63];
    __syncthreads();
  }
  return sum;
}

__device__ float step(float x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 0.5f + 1;
  return x;
}

__device__ float deeper(float *part, float x, int n) {
  const float y = step(x, n);
  __syncwarp();
  return y + waits_in(part, part, n & 3);
}

__device__ void fill(storage &s, const float *from, int n) {
  for (int pass = 0; pass < n; pass++) {
    s.empty[pass % stages].wait((pass / stages & 1) ^ 1);
    s.data[pass % stages][threadIdx.x & 31] = from[pass];
    s.full[pass % stages].arrive();
  }
}

__device__ float take(storage &s, int n) {
  float sum = 0;
  for (int pass = 0; pass < n; pass++) {
    s.full[pass % stages].wait(pass / stages & 1);
    for (int i = 0; i < 32; i++)
      sum += s.data[pass % stages][i];
    s.empty[pass % stages].arrive();
  }
  return sum;
}

__global__ void levels(const float *from, float *to, int n) {
  __shared__ storage s;
  __shared__ float part[64];
  float held = from[threadIdx.x], other = held * 2;
  __syncthreads();
  for (int i = 0; i < n; i++) {
    part[threadIdx.x & 63] = held;
    __syncthreads();
    held += step(part[i & 63], n);
    if (i & 1)
      __syncthreads();
    else
      __syncwarp();
  }
  for (int i = 0; i < 40; i++)
    other += from[i] * held;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      __syncthreads();
      held += part[j & 63];
    }
  for (int i = 0; i < n; i++) {
    other += waits_in(part, from + i, n);
    held += step(other, i);
  }
  other += deeper(part, held, n);
  if (threadIdx.x / 32 == 0) {
    for (int tile = 0; tile < n; tile++)
      fill(s, from + tile, n);
  } else if (threadIdx.x / 32 == 1) {
    for (int tile = 0; tile < n; tile++)
      to[tile] = take(s, n);
  } else {
    other += step(held, 3);
  }
  do {
    __syncthreads();
    other -= 1;
  } while (other > 10);
  while (atomicAdd((int *)to, 0) < n)
    __nanosleep(20);
  auto late = [&](int k) { __syncthreads(); return part[k & 63]; };
  to[threadIdx.x] = held + other + late(n);
}

__global__ void calls(const float *from, float *to, int n) {
  __shared__ float part[64];
  float x = waits_in(part, from, n);
  for (int i = 0; i < n; i++)
    x += waits_in(part, from, i) + step(x, 2);
  x += deeper(part, x, n);
  to[threadIdx.x] = x + step(x, n);
}

template <int N> __global__ void repeated(float *to) {
  for (int i = 0; i < N; i++) {
    __syncthreads();
    to[i] += step(to[i + 1], N);
  }
}
template __global__ void repeated<3>(float *);
template __global__ void repeated<300>(float *);
