// SPDX-License-Identifier: MIT
#include "header.cuh"
__device__ inline float of_deeper(float x, int n) { while (n-- > 0) x = of_header(x, n); return x; }
