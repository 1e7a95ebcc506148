/* SPDX-License-Identifier: MIT */
/* Launches kernels of the header, of this file and of the other one; prints what they computed. */
#include "parts/scale.cuh"

#include <cstdio>

void launch_other(float *x);

__global__ void first(float *x) {
  for (int step = 0; step < 2; step++)
    x[threadIdx.x] += settle(static_cast<float>(threadIdx.x), step);
}

int main() {
  float *x, host[32];
  if (cudaMalloc(&x, sizeof host) || cudaMemset(x, 0, sizeof host))
    return 1;
  first<<<1, 32>>>(x);
  scale<<<1, 32>>>(x, 2.0f);
  launch_other(x);
  if (cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost))
    return 1;
  printf("%g %g %g\n", host[0], host[1], host[31]);
  return 0;
}
