// SPDX-License-Identifier: MIT
// Kernels at the edges of what a device has, each of which must run marked as it runs plain: all of the dynamic and all of
// the static shared memory; and a track of rows compiled with -DINKMARK_ROWS_CHECK, whose sections are passed again.
#include "inkmark/mark.cuh"

#include <cstdio>
#include <cstdlib>

PROF_SECTIONS(Edges, Dynamic, Static, Again, Load, Work, Once)

#define CUDA(call)                                                                                 \
  do {                                                                                             \
    const cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                                   \
      fprintf(stderr, "%d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_));                \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

constexpr unsigned dynamic_bytes = 227 * 1024, static_words = 48 * 1024 / 4;
extern __shared__ unsigned dynamic[];

__device__ __noinline__ unsigned called(unsigned x) { // its entry lies in no shared memory either
  PROF_MARK(Work, x);
  return x * 3 + 1;
}

__global__ void all_dynamic(unsigned *out) {
  PROF_KERNEL(Dynamic);
  const unsigned last = dynamic_bytes / 4 - 1;
  for (unsigned i = threadIdx.x; i <= last; i += blockDim.x)
    dynamic[i] = i * 7;
  __syncthreads();
  PROF_MARK(Load);
  out[threadIdx.x] = called(dynamic[last - threadIdx.x] + dynamic[threadIdx.x]);
}
__global__ void all_static(unsigned *out) {
  PROF_KERNEL(Static);
  __shared__ unsigned words[static_words];
  for (unsigned i = threadIdx.x; i < static_words; i += blockDim.x)
    words[i] = i * 5;
  __syncthreads();
  PROF_MARK(Load);
  out[threadIdx.x] = called(words[static_words - 1 - threadIdx.x]);
}
__global__ void passed_again(unsigned *out, int n) {
  PROF_KERNEL_ROWS(Again);
  unsigned x = threadIdx.x;
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    for (int j = 0; j <= i; j++) {
      x = x * 3 + j;
      PROF_MARK(Work, x); // row i: i times again
    }
    PROF_MARK(Once);
  }
  out[threadIdx.x] = x;
}

static void check(const unsigned *out, unsigned (*expected)(unsigned), const char *name) {
  unsigned values[32];
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < 32; i++)
    if (values[i] != expected(i)) {
      fprintf(stderr, "%s: thread %u: %u, should be %u\n", name, i, values[i], expected(i));
      exit(1);
    }
}

int main() {
  unsigned *out;
  CUDA(cudaMalloc(&out, 32 * sizeof *out));
  CUDA(cudaFuncSetAttribute(all_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_bytes));
  all_dynamic<<<2, 32, dynamic_bytes>>>(out);
  check(out, [](unsigned i) { return (dynamic_bytes / 4 - 1) * 7 * 3 + 1 + 0 * i; }, "all_dynamic");
  all_static<<<2, 32>>>(out);
  check(out, [](unsigned i) { return (static_words - 1 - i) * 15 + 1; }, "all_static");
  passed_again<<<1, 32>>>(out, 5);
  CUDA(cudaDeviceSynchronize());
  return 0;
}
