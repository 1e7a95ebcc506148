// SPDX-License-Identifier: MIT
// What the examples share: errors of the CUDA runtime end the program with a message, numbers come
// from the command line, inputs from a small generator that is the same everywhere.
#ifndef INKMARK_EXAMPLE_H
#define INKMARK_EXAMPLE_H

#include <cstdio>
#include <cstdlib>

#define CUDA(call)                                                                                 \
  do {                                                                                             \
    const cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                                   \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));   \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

// Argument `index` as a whole number of at least 1, or `otherwise` where there is none.
inline int argument(int argc, char **argv, int index, int otherwise) {
  if (index >= argc)
    return otherwise;
  char *end;
  const long value = strtol(argv[index], &end, 10);
  if (*argv[index] && !*end && value >= 1 && value <= 1 << 20)
    return (int)value;
  fprintf(stderr, "'%s' is not a number from 1 to %d\n", argv[index], 1 << 20);
  exit(2);
}

struct Random {
  unsigned state;
  unsigned bits() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
  }
  float between(float low, float high) { return low + (high - low) * (bits() * (1.0f / 16777216)); }
};

// Device memory that is freed at the end of its scope.
template <class T> class Device {
  T *at = nullptr;
  size_t count;

public:
  explicit Device(size_t n) : count(n) { CUDA(cudaMalloc(&at, n * sizeof(T))); }
  Device(const T *from, size_t n) : Device(n) {
    CUDA(cudaMemcpy(at, from, n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Device() { cudaFree(at); }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  operator T *() const { return at; }
  void copy_to(T *to) const { CUDA(cudaMemcpy(to, at, count * sizeof(T), cudaMemcpyDeviceToHost)); }
};

// The last line of every example, and its exit code.
inline int verdict(const char *name, bool good) {
  printf("%s: %s\n", name, good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}

#endif
