// SPDX-License-Identifier: MIT
// No ITER or SUM in loops of small constant trip count; the front compares registers, spills and C75xx of the marked compile with none and says so
__global__ void kern(float *x, int n) {
  float d[32] = {};
  for (int j = 0; j < n; j++)
#pragma unroll
    for (int i = 0; i < 32; i++) d[i] = d[i] * 1.5f + x[j * 32 + i];
  for (int i = 0; i < 32; i++) {
    x[threadIdx.x + i * 128] = d[i];
  }
}
