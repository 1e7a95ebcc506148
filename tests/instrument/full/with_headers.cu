// SPDX-License-Identifier: MIT
// A source whose headers are marked with it.
#include "header.cuh"
#include "full/deeper.cuh"
#define FROM_MACRO "twice.inc"
namespace once {
#define NAME first
#include FROM_MACRO
#undef NAME
}
namespace again {
#define NAME second
#include FROM_MACRO
#undef NAME
}
__global__ void with_headers(float *p, int n) {
  p[0] = of_header(p[0], n) + of_deeper(p[1], n);
  once::first(p, n), again::second(p, n);
  for (int i = 0; i < n; i++) p[i] += of_deeper(p[i], 3);
}
template __global__ void kernel_of_header<float>(float *, int);
