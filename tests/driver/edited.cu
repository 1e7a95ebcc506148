// SPDX-License-Identifier: MIT
// What a cell of a notebook is compiled to again and again, each time with another table.
#include "inkmark/mark.cuh"

PROF_SECTIONS(Edit0000, Cell, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S)

extern "C" __global__ void cell(float *x, int n) {
  PROF_KERNEL(Cell);
  x[threadIdx.x] += n;
  PROF_MARK(A);
}
