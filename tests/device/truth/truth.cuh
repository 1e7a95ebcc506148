// SPDX-License-Identifier: MIT
// The host side of the marked programs: run, hold the results against the host's own, print their
// bits.
#ifndef INKMARK_TRUTH_CUH
#define INKMARK_TRUTH_CUH

#include "inkmark/mark.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CUDA(call)                                                                                 \
  do {                                                                                             \
    const cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                                   \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));   \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

template <class T> T *device_zeros(size_t n) {
  T *at;
  CUDA(cudaMalloc(&at, n * sizeof(T)));
  CUDA(cudaMemset(at, 0, n * sizeof(T)));
  return at;
}

template <class T> std::vector<T> from_device(const T *at, size_t n) {
  std::vector<T> values(n);
  CUDA(cudaMemcpy(values.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// The bits of every result, for the driver to compare: 32 bits a word.
template <class T> void print_bits(const char *name, const std::vector<T> &values) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  printf("%s:", name);
  for (const T &value : values)
    for (size_t i = 0; i < sizeof(T) / 4; i++) {
      unsigned word;
      memcpy(&word, (const char *)&value + 4 * i, 4);
      printf(" %08x", word);
    }
  printf("\n");
}

// True when every value is near the host's; says which is not.
template <class T>
bool near(const char *name, const std::vector<T> &values, const std::vector<T> &expected,
          double relative = 1e-5) {
  for (size_t i = 0; i < values.size(); i++) {
    const double a = (double)values[i], b = (double)expected[i];
    const double bound = relative * (b < 0 ? -b : b) + 1e-30;
    if (!(a - b <= bound && b - a <= bound)) {
      fprintf(stderr, "%s[%zu] is %.9g, should be %.9g\n", name, i, a, b);
      return false;
    }
  }
  return true;
}

#endif
