// SPDX-License-Identifier: MIT
// Grid loops whose macro declares a variable first, as PyTorch's: marked around the use of the macro. Not marked is a loop
// whose variable is used behind it, and one whose macro has another statement before it.
#define KERNEL_LOOP_TYPE(i, n, type)                                                                                   \
  long long at_##i = (long long)blockIdx.x * blockDim.x + threadIdx.x;                                                 \
  for (type i = at_##i; at_##i < (n); at_##i += blockDim.x * gridDim.x, i = at_##i)
#define KERNEL_LOOP(i, n) KERNEL_LOOP_TYPE(i, n, int)
#define LOOP_BEHIND_STORE(i, n)                                                                                        \
  p[0] = 0;                                                                                                            \
  for (int i = threadIdx.x; i < (n); i += 32)
#define ENDS_LINE_AND_LOOPS(i, n)                                                                                      \
  ;                                                                                                                    \
  int first_##i = threadIdx.x;                                                                                         \
  for (int i = first_##i; i < (n); i += 32)
__device__ float work(float x) {
  for (int i = 0; i < 100; i++)
    x = x * 3 + i;
  return x;
}
__global__ void declared(float *p, int n) {
  KERNEL_LOOP_TYPE(index, n, long long) { p[index] = work(p[index]); }
}
__global__ void declared_in_macro(float *p, int n) {
  p[0] = 1;
  /* twice */
  KERNEL_LOOP(i, n) p[i] = work(p[i]);
  if (n) {
    KERNEL_LOOP(i, n) { p[i] += work(p[i] + 1); }
  }
}
__global__ void used_behind(float *p, int n) {
  KERNEL_LOOP(i, n) { p[i] = work(p[i]); }
  p[0] = at_i;
}
__global__ void behind_store(float *p, int n) { LOOP_BEHIND_STORE(i, n) { p[i] = work(p[i]); } }
__global__ void ends_line(float *p, int n) { p[1] = 2 ENDS_LINE_AND_LOOPS(i, n) { p[i] = work(p[i]); } }
