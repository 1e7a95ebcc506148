// SPDX-License-Identifier: MIT
// The same output marked, or record names the bytes.
#include <cstdio>
__global__ void k(float *p, int n) { extern __shared__ float s[]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = s[n - 1 - threadIdx.x]; }
int main() {
  float *p; cudaMalloc(&p, 4096);
  int most; cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  printf("opt-in %d\n", most);
  printf("attribute: %s\n", cudaGetErrorString(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, most)));
  k<<<1, 32, most>>>(p, 32);
  printf("launch: %s\n", cudaGetErrorString(cudaGetLastError()));
  printf("end: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  k<<<1, 32, 49152>>>(p, 32);
  printf("48 KB: %s %s\n", cudaGetErrorString(cudaGetLastError()), cudaGetErrorString(cudaDeviceSynchronize()));
}
