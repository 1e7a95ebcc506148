// SPDX-License-Identifier: MIT
// Kernels and loops that only nvcc's own macros let be seen, and a macro that is a #pragma, which nvcc takes.
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 12 && defined(__NVCC__) && !defined(__CUDA__)
__global__ void newer(float *x) {
  for (int i = 0; i < 8; i++)
    x[i] = 1;
}
#endif
__global__ void feature(float *x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  for (int i = 0; i < 8; i++)
    x[i] = 1;
#endif
}
__global__ void specific(float *x) {
#if !defined(__CUDA_ARCH_FEAT_SM90_ALL) && (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) || defined(__CUDACC_EXTENDED_LAMBDA__))
  for (int i = 0; i < 8; i++)
    x[i] = 1;
#endif
}
#define UNROLL #pragma unroll
__global__ void pragma(float *x) {
  x[0]++;
  UNROLL
  for (int i = 0; i < 8; i++)
    x[i] = 1;
}
