// SPDX-License-Identifier: MIT
// Marked (without shared state), and any other kernel of the file too.
__global__ void full(float *p) {
  __shared__ float s[12288];
  for (int i = threadIdx.x; i < 12288; i += blockDim.x) s[i] = p[i];
  __syncthreads();
  for (int i = threadIdx.x; i < 12288; i += blockDim.x) p[i] = s[12287 - i];
}
