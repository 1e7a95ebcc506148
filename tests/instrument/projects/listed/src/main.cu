// SPDX-License-Identifier: MIT
#include <cstdio>
#include <parts/turn.cuh>
#include <vendor.cuh>
void second(int *x);
#if TURNS == 3
__global__ void first(int *x) {
  for (int i = 0; i < 16 * TURNS; i++)
    x[threadIdx.x] += turn(vendor_value(i));
}
#endif
int main() {
  int *x, sum = 0, host[32];
  cudaMalloc(&x, sizeof host);
  cudaMemset(x, 0, sizeof host);
  first<<<1, 32>>>(x);
  second(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int value : host)
    sum += value;
  std::printf("%s: %d\n", GREETING, sum);
  return cudaDeviceSynchronize() != cudaSuccess;
}
