// SPDX-License-Identifier: MIT
// Longer tracks than a ring holds by default, and more of them than the simulated device's buffer does.
#include <inkmark/mark.cuh>

PROF_SECTIONS(Fit, Long, Short, Turn)

__global__ void long_track(int *at, int turns) {
  PROF_KERNEL(Long);
  for (int i = 0; i < turns; i++) {
    at[0] = i;
    PROF_MARK(Turn);
  }
}

__global__ void short_track(int *at) {
  PROF_KERNEL(Short);
  at[0] = 1;
  PROF_MARK(Turn);
}

int main() {
  int *at;
  cudaMalloc(&at, 4);
  long_track<<<2, 1>>>(at, 1500);
  short_track<<<3000, 1>>>(at);
  return cudaDeviceSynchronize();
}
