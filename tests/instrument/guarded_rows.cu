// SPDX-License-Identifier: MIT
// A tile product that fills its 64 registers: sums of its waits spill. guarded_rows.sh records what the guard leaves of its marks.
#include <cstdio>

constexpr int M = 6, K = 8, STEPS = 5;

__device__ void clear(float *at, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    at[i] = 0;
}

__global__ void __launch_bounds__(1024) product(const float *a, const float *b, float *c, int n, int times) {
  __shared__ float at[K][32 * M], bt[K][32 * M];
  float sum[M][M] = {};
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  clear(&at[0][0], K * 32 * M);
  for (int again = 0; again < times; again++)
    for (int step = 0; step < n; step++) {
      for (int i = threadIdx.x; i < K * 32 * M; i += blockDim.x) {
        at[i / (32 * M)][i % (32 * M)] = a[step * K * 32 * M + i];
        bt[i / (32 * M)][i % (32 * M)] = b[step * K * 32 * M + i];
      }
      __syncthreads();
      for (int k = 0; k < K; k++)
        for (int i = 0; i < M; i++)
          for (int j = 0; j < M; j++)
            sum[i][j] += at[k][y * M + i] * bt[k][x * M + j];
      __syncthreads();
    }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++)
      c[(y * M + i) * 32 * M + x * M + j] = sum[i][j];
}

int main() {
  const int in = STEPS * K * 32 * M, out = 32 * M * 32 * M;
  float *a, *b, *c;
  cudaMallocManaged(&a, in * sizeof *a);
  cudaMallocManaged(&b, in * sizeof *b);
  cudaMallocManaged(&c, out * sizeof *c);
  for (int i = 0; i < in; i++)
    a[i] = (float)(i % 7), b[i] = (float)(i % 5);
  product<<<1, 1024>>>(a, b, c, STEPS, 2);
  if (cudaDeviceSynchronize())
    return 1;
  double total = 0;
  for (int i = 0; i < out; i++)
    total += (double)c[i] * (1 + i % 3);
  printf("%.0f\n", total);
  return 0;
}
