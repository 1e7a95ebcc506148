// SPDX-License-Identifier: MIT
// All three kernels, all three loops with the -arch that has the feature
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 12
__global__ void newer(float *x) { for (int i = 0; i < 8; i++) x[i] = 1; }
#endif
__global__ void feature(float *x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  for (int i = 0; i < 8; i++) x[i] = 1;
#endif
}
__global__ void specific(float *x) {
#if defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
  for (int i = 0; i < 8; i++) x[i] = 1;
#endif
}
