// SPDX-License-Identifier: MIT
// One kernel whose sections are memory, a barrier, arithmetic and an atomic, and a plain one beside it: for check_code.py.
#include "inkmark/mark.cuh"

PROF_SECTIONS(Tiles, Run, Fetch, Wait, Product, Release)

__global__ void tiles(const float *x, const float *w, float *out, int rounds) {
  PROF_KERNEL(Run);
  __shared__ float tile[256];
  float sum = 0;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    const float next = x[(blockIdx.x * rounds + r) * 256 + threadIdx.x];
    PROF_MARK(Fetch, next);
    tile[threadIdx.x] = next * w[r];
    __syncthreads();
    PROF_MARK(Wait);
#pragma unroll 8
    for (int i = 0; i < 32; i++)
      sum += tile[i] * tile[(threadIdx.x + i) % 256];
    PROF_MARK(Product, sum);
    __syncthreads();
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
    PROF_MARK(Release);
  }
  out[1 + blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void plain_kernel(float *x) { x[threadIdx.x] *= 2; }

int main() {
  const int rounds = 4, blocks = 3;
  float *x, *w, *out;
  if (cudaMalloc((void **)&x, sizeof(float) * blocks * rounds * 256) || cudaMalloc((void **)&w, sizeof(float) * rounds) ||
      cudaMalloc((void **)&out, sizeof(float) * (1 + blocks * 256)))
    return 1;
  tiles<<<blocks, 256>>>(x, w, out, rounds);
  plain_kernel<<<1, 32>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
