// SPDX-License-Identifier: MIT
// Kernels whose marks take registers that cost an SM warps, as ptxas gives them out; most do with fewer. guarded_registers.sh records what
// the guard leaves of their marks.
#include <cstdio>

#define GLOBAL __global__
constexpr int WIDE = 16, C = 3, M = 2, K = 3, IN = 18, OUT = 16;
constexpr int X = C * IN * IN, W = M * C * K * K, Y = M * OUT * OUT;

// All of its marks fit if the compiler has to do with fewer registers.
template <class T>
GLOBAL
void
convolve(const T *__restrict__ x, const T *__restrict__ w, T *__restrict__ y, int channels, int maps, int k, int h_in, int w_in,
         int h_out, int w_out, int grid) {
  const int n = blockIdx.x, m = blockIdx.y, h = blockIdx.z / grid * WIDE + threadIdx.y, v = blockIdx.z % grid * WIDE + threadIdx.x;
  if (h >= h_out || v >= w_out)
    return;
  T s = 0;
  k -= threadIdx.y >> 6; // none, which the compiler does not know: so the registers of the loops are each thread's own
  for (int c = 0; c < channels; c++)
    for (int p = 0; p < k; p++)
      for (int q = 0; q < k; q++)
        s += x[((n * channels + c) * h_in + h + p) * w_in + v + q] * w[((m * channels + c) * k + p) * k + q];
  y[((n * maps + m) * h_out + h) * w_out + v] = s;
}

// The same with bounds of its own, beside which no others may stand.
__global__ void __launch_bounds__(WIDE * WIDE) bounded(const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y,
                                                       int channels, int maps, int k, int h_in, int w_in, int h_out, int w_out,
                                                       int grid) {
  const int n = blockIdx.x, m = blockIdx.y, h = blockIdx.z / grid * WIDE + threadIdx.y, v = blockIdx.z % grid * WIDE + threadIdx.x;
  if (h >= h_out || v >= w_out)
    return;
  float s = 0;
  for (int c = 0; c < channels; c++)
    for (int p = 0; p < k; p++)
      for (int q = 0; q < k; q++)
        s += x[((n * channels + c) * h_in + h + p) * w_in + v + q] * w[((m * channels + c) * k + p) * k + q];
  y[((n * maps + m) * h_out + h) * w_out + v] = s;
}

int main() {
  float *x, *w, *y;
  cudaMallocManaged(&x, X * sizeof *x);
  cudaMallocManaged(&w, W * sizeof *w);
  cudaMallocManaged(&y, 2 * Y * sizeof *y);
  for (int i = 0; i < X; i++)
    x[i] = (float)(i % 7);
  for (int i = 0; i < W; i++)
    w[i] = (float)(i % 5);
  const dim3 blocks(1, M, 1), threads(WIDE, WIDE);
  convolve<<<blocks, threads>>>(x, w, y, C, M, K, IN, IN, OUT, OUT, 1);
  bounded<<<blocks, threads>>>(x, w, y + Y, C, M, K, IN, IN, OUT, OUT, 1);
  if (cudaDeviceSynchronize())
    return 1;
  double total = 0;
  for (int i = 0; i < 2 * Y; i++)
    total += (double)y[i] * (1 + i % 3);
  printf("%.0f\n", total);
  return 0;
}
