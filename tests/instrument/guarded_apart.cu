// SPDX-License-Identifier: MIT
// A kernel that spills without marks: no register is left for a track's cursor. guarded_apart.sh records what the guard leaves of its marks.
#include <cstdio>

constexpr int M = 8, STEPS = 5;

__device__ void clear(float *at, int n) {
  for (int i = threadIdx.x % 512; i < n; i += 512)
    at[i] = 0;
}

__device__ float twice(float x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 0.5f + 1;
  return x;
}

// Its accumulators do not fit; they are dead where it begins and ends.
__device__ void product(const float *a, const float *b, float *c, float *at, float *bt, int n) {
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  float sum[M][M] = {};
  for (int step = 0; step < n; step++) {
    for (int i = threadIdx.x; i < 32 * M; i += 512) {
      at[i] = a[step * 32 * M + i];
      bt[i] = b[step * 32 * M + i];
    }
    asm volatile("bar.sync 1, 512;" : : : "memory");
    for (int i = 0; i < M; i++)
      for (int j = 0; j < M; j++)
        sum[i][j] += at[y * M + i] * bt[x * M + j];
    asm volatile("bar.sync 1, 512;" : : : "memory");
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++)
      c[(y * M + i) * 32 * M + x * M + j] = sum[i][j];
}

__global__ void __launch_bounds__(1024) products(const float *a, const float *b, float *c, int n) {
  __shared__ float at[32 * M], bt[32 * M];
  clear(at, 32 * M);
  __syncthreads();
  if (threadIdx.x < 512) {
    product(a, b, c, at, bt, n);
  } else {
    const float value = twice((float)n, n);
    float *rest = c + 32 * M * 32 * M;
    for (int i = threadIdx.x - 512; i < n * 512; i += 512)
      rest[i] = value + a[i % (32 * M)] * b[i % (32 * M)];
  }
}

int main() {
  const int in = STEPS * 32 * M, out = 32 * M * 32 * M + STEPS * 512;
  float *a, *b, *c;
  cudaMallocManaged(&a, in * sizeof *a);
  cudaMallocManaged(&b, in * sizeof *b);
  cudaMallocManaged(&c, out * sizeof *c);
  for (int i = 0; i < in; i++)
    a[i] = (float)(i % 7), b[i] = (float)(i % 5);
  for (int i = 0; i < out; i++)
    c[i] = 0;
  products<<<2, 1024>>>(a, b, c, STEPS);
  if (cudaDeviceSynchronize())
    return 1;
  double total = 0;
  for (int i = 0; i < out; i++)
    total += (double)c[i] * (1 + i % 3);
  printf("%.0f\n", total);
  return 0;
}
