// SPDX-License-Identifier: MIT
// repeats FILE N...: each run takes the next N, round and round, and counts in FILE where it is: Work of N rounds, Rest of
// 100, in 4 blocks; with N 0 it launches nothing.
#include <inkmark/mark.cuh>
#include <stdio.h>
#include <stdlib.h>

PROF_SECTIONS(Repeats, Kern, Work, Rest)

__device__ float rounds(float x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 0.5f + 1;
  return x;
}

__global__ void k(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = rounds(threadIdx.x, n);
  PROF_MARK(Work, x);
  x = rounds(x, 100);
  PROF_MARK(Rest, x);
  d[threadIdx.x] = x;
}

int main(int argc, char **argv) {
  int at = 0;
  FILE *file = fopen(argv[1], "r");
  if (file && fscanf(file, "%d", &at) != 1)
    return 1;
  if (file)
    fclose(file);
  file = fopen(argv[1], "w");
  if (!file || fprintf(file, "%d\n", at + 1) < 0 || fclose(file))
    return 1;
  const int n = atoi(argv[2 + at % (argc - 2)]);
  float *d;
  if (cudaMalloc(&d, 4096))
    return 1;
  if (n > 0)
    k<<<4, 32>>>(d, n);
  return n < 0 ? 7 : cudaDeviceSynchronize();
}
