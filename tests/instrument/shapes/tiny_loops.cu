// SPDX-License-Identifier: MIT
// The loop over rows is one range; nothing inside of it.
__global__ void row(float *p, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    float v[4];
#pragma unroll
    for (int j = 0; j < 4; j++) v[j] = p[i * 4 + j];
#pragma unroll
    for (int j = 0; j < 4; j++) s += v[j] * v[j];
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  p[threadIdx.x] = s;
}
