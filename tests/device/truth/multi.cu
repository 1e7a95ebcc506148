// SPDX-License-Identifier: MIT
// Several kernels and two tables in one program: a kernel that marks sections of the other table, a
// kernel template, a kernel that ends without closing its track, and one that opens none but calls
// a marked function, in shared memory that the others have used before.
#include "truth.cuh"

PROF_SECTIONS(First, FirstKernel, Load, Touched, Leaves)
PROF_SECTIONS(Second, SecondKernel, TypedKernel, Load, Store)

constexpr int blocks = 3, threads = 64;

__device__ __noinline__ unsigned touch(unsigned x) {
  PROF_MARK(Touched);
  x += 5;
  PROF_VALUE(Touched, 1.5f);
  return x;
}

__global__ void first_kernel(unsigned *out) {
  PROF_KERNEL(FirstKernel);
  unsigned x = out[blockIdx.x * threads + threadIdx.x];
  PROF_MARK(First::Load);
  out[blockIdx.x * threads + threadIdx.x] = touch(x);
}

__global__ void second_kernel(unsigned *out) {
  PROF_KERNEL(SecondKernel);
  unsigned x = out[blockIdx.x * threads + threadIdx.x];
  PROF_MARK(Second::Load);
  PROF_BEGIN(First::Load); // of a table that is not the kernel's
  x = touch(x) * 3;
  PROF_ASYNC_BEGIN(Touched, x);
  PROF_ASYNC_END(Touched, x);
  PROF_END(First::Load);
  out[blockIdx.x * threads + threadIdx.x] = x;
  PROF_MARK(Store);
}

template <class T> __global__ void typed_kernel(T *out) {
  PROF_KERNEL(TypedKernel);
  out[blockIdx.x * threads + threadIdx.x] += (T)1;
  PROF_MARK(Store);
  PROF_VALUE(Second::Load, (T)2);
}

__global__ void leaving_kernel(unsigned *out) {
  PROF_KERNEL(Leaves);
  out[blockIdx.x * threads + threadIdx.x] += 9;
  PROF_MARK(First::Load);
  touch(1);
  __threadfence();
  asm volatile("exit;"); // no destructor runs
}

__global__ void bare_kernel(unsigned *out) {
  const int at = blockIdx.x * threads + threadIdx.x;
  out[at] = touch(out[at]) ^ 0x10;
}

int main() {
  const size_t n = blocks * threads;
  unsigned *out = device_zeros<unsigned>(n);
  float *typed = device_zeros<float>(n);
  bare_kernel<<<blocks, threads>>>(out);
  first_kernel<<<blocks, threads>>>(out);
  bare_kernel<<<blocks, threads>>>(out);
  second_kernel<<<blocks, threads>>>(out);
  typed_kernel<<<blocks, threads>>>(out);
  typed_kernel<<<blocks, threads>>>(typed);
  leaving_kernel<<<blocks, threads>>>(out);
  bare_kernel<<<blocks, threads>>>(out);
  first_kernel<<<blocks, threads>>>(out);
  CUDA(cudaGetLastError());
  std::vector<unsigned> values = from_device(out, n), expected(n);
  std::vector<float> others = from_device(typed, n), other_expected(n, 1.0f);
  for (unsigned &x : expected) {
    x = ((5 ^ 0x10) + 5 + 5) ^ 0x10;
    x = (x + 5) * 3 + 1 + 9;
    x = ((x + 5) ^ 0x10) + 5;
  }
  print_bits("multi", values);
  print_bits("typed", others);
  return values == expected && others == other_expected ? 0 : 1;
}
