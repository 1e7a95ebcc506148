// SPDX-License-Identifier: MIT
// Tracks of rows: rows that repeat, sections that are passed twice, never, in another order; ranges, one of them over a
// row's end; marks before the first row and behind the last; functions with the context, inlined and not, a lambda, functions
// without it; a table of 60 sections; and between them tracks of records, whose words the rings still hold.
#include "truth.cuh"

#include "rows.h"

PROF_SECTIONS(Rows, Whole, Part, Kernel, First, Load, Work, Again, Odd, Strict, Never, Tail)
PROF_SECTIONS(Called, Leaf)
PROF_SECTIONS(Wide, Big, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, S16, S17, S18, S19, S20, S21, S22,
              S23, S24, S25, S26, S27, S28, S29, S30, S31, S32, S33, S34, S35, S36, S37, S38, S39, S40, S41, S42, S43,
              S44, S45, S46, S47, S48, S49, S50, S51, S52, S53, S54, S55, S56, S57, S58, S59, S60)
PROF_SECTIONS(Records, Other, Step)

__device__ __noinline__ unsigned leaf(unsigned x) { // no context
  x = x * 3 + 1;
  PROF_MARK(Leaf, x);
  return x;
}

struct Stage {
  unsigned scale;
  __device__ __forceinline__ unsigned inlined(PROF_PARAMS_ROWS(Kernel, unsigned x)) {
    PROF_SCOPE(Part);
    x = x * scale + 5;
    PROF_MARK(Work, x);
    return x;
  }
  __device__ __noinline__ unsigned called(PROF_PARAMS_ROWS(Kernel, unsigned x, int n)) {
    for (int i = 0; i < n; i++) {
      PROF_ITER(1000 + i);
      x = x * scale + i;
      PROF_MARK(Load, x);
      x = leaf(x);
      x = inlined(PROF_ARGS(x));
    }
    return x;
  }
};

__global__ void rows_kernel(const int *rounds, unsigned *out) {
  PROF_KERNEL_ROWS(Kernel);
  unsigned x = threadIdx.x + blockIdx.x;
  Stage stage = {7};
  x = x * 5 + 1;
  PROF_MARK(First, x);
  PROF_BEGIN(Whole);
  for (int i = 0; i < rounds[blockIdx.x]; i++) {
    PROF_ITER(i % 3 - 1);
    x = x * 9 + i;
    PROF_MARK(Again, x);
    if (i % 2) {
      x ^= 77;
      PROF_MARK(Odd, x);
    }
    x = stage.inlined(PROF_ARGS(x));
    auto twice = [&](unsigned y) {
      PROF_MARK(Load, y);
      return y * 2 + 1;
    };
    x = twice(x);
    x = leaf(x);
    PROF_MARK_STRICT(Strict, x);
    x += 3;
    PROF_MARK(Again, x); // the last pass
  }
  PROF_END(Whole);
  x = stage.called(PROF_ARGS(x, 2));
  PROF_ITER_END();
  out[blockIdx.x * ROWS_THREADS + threadIdx.x] = x;
  PROF_MARK(Tail);
}

__global__ void wide_kernel(unsigned *out) {
  PROF_KERNEL_ROWS(Big);
  unsigned x = threadIdx.x;
  for (unsigned i = 0; i < 3 + blockIdx.x; i++) {
    PROF_ITER(i);
    x = x * 3 + i;
    PROF_MARK(S60, x);
    x ^= x >> 3;
    PROF_MARK(S2, x);
    x = x * 5 + 1;
    PROF_MARK(Big, x);
  }
  out[blockIdx.x * ROWS_THREADS + threadIdx.x] = x;
}

__global__ void records_kernel(unsigned *out) {
  PROF_KERNEL(Other);
  unsigned x = threadIdx.x;
  for (unsigned i = 0; i < 20; i++) {
    x = x * 3 + i;
    PROF_MARK(Step, x);
  }
  out[blockIdx.x * ROWS_THREADS + threadIdx.x] = x;
}

int main() {
  int rounds[ROWS_BLOCKS];
  for (int b = 0; b < ROWS_BLOCKS; b++)
    rounds[b] = rows_rounds(b);
  int *device_rounds = device_zeros<int>(ROWS_BLOCKS);
  unsigned *out = device_zeros<unsigned>(ROWS_BLOCKS * ROWS_THREADS);
  CUDA(cudaMemcpy(device_rounds, rounds, sizeof rounds, cudaMemcpyHostToDevice));
  std::vector<unsigned> all;
  auto note = [&] {
    CUDA(cudaGetLastError());
    std::vector<unsigned> values = from_device(out, ROWS_BLOCKS * ROWS_THREADS);
    all.insert(all.end(), values.begin(), values.end());
  };
  records_kernel<<<RECORDS_BLOCKS, ROWS_THREADS>>>(out);
  note();
  rows_kernel<<<ROWS_BLOCKS, ROWS_THREADS>>>(device_rounds, out);
  note();
  wide_kernel<<<WIDE_BLOCKS, ROWS_THREADS>>>(out);
  note();
  records_kernel<<<RECORDS_BLOCKS, ROWS_THREADS>>>(out);
  note();
  rows_kernel<<<ROWS_BLOCKS, ROWS_THREADS>>>(device_rounds, out);
  note();
  print_bits("rows", all);
  return 0;
}
