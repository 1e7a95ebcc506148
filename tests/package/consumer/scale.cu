// SPDX-License-Identifier: MIT
// Three blocks scale an array in four rounds each, and the host checks the result.
#include <inkmark/mark.cuh>

#include <cstdio>

PROF_SECTIONS(Scale, Run, Multiply, Add)

__global__ void scale(float *data, int rounds) {
  PROF_KERNEL(Run);
  float x = data[blockIdx.x * blockDim.x + threadIdx.x];
  for (int i = 0; i < rounds; i++) {
    PROF_ITER(i);
    x *= 2;
    PROF_MARK(Multiply, x);
    x += 1;
    PROF_MARK(Add, x);
  }
  data[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main() {
  float host[96], *device;
  for (int i = 0; i < 96; i++)
    host[i] = (float)i;
  if (cudaMalloc(&device, sizeof host) != cudaSuccess)
    return 2;
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  scale<<<3, 32>>>(device, 4);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 96; i++)
    if (host[i] != 16.0f * (float)i + 15.0f) {
      std::printf("wrong at %d: %g\n", i, host[i]);
      return 1;
    }
  std::puts("right");
  return 0;
}
