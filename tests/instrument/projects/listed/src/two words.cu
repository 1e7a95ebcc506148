// SPDX-License-Identifier: MIT
#include <parts/turn.cuh>
__global__ void second_kernel(int *x) {
  for (int i = 0; i < 16 * TURNS; i++)
    x[threadIdx.x] -= turn(i);
}
void second(int *x) { second_kernel<<<1, 32>>>(x); }
