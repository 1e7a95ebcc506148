/* SPDX-License-Identifier: MIT */
/* One failure a run, named on the command line; the exit code is the CUDA error it ends in less
 * 600, the test looks at the message. */
#include <assert.h>
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

__global__ void illegal(int *p) { p[1 << 20] = 1; }
__global__ void misaligned(char *p) { *(int *)(p + 1) = 1; }
__global__ void asserts(int n) { assert(n == (int)threadIdx.x); }
__global__ void traps(void) { __trap(); }
__global__ void breaks(void) { asm volatile("brkpt;"); }
__global__ void hangs(volatile int *p)
{
  while (!*p) {
  }
}
__global__ void prints(int n) { printf("thread %d of %d\n", (int)threadIdx.x, n); }

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  int *p;
  if (cudaMalloc(&p, 64)) return 1;
  if (cudaMemset(p, 0, 64)) return 1;
  if (!strcmp(what, "illegal")) illegal<<<1, 1>>>(p);
  else if (!strcmp(what, "misaligned")) misaligned<<<1, 1>>>((char *)p);
  else if (!strcmp(what, "assert")) asserts<<<1, 4>>>(2);
  else if (!strcmp(what, "trap")) traps<<<1, 1>>>();
  else if (!strcmp(what, "brkpt")) breaks<<<1, 1>>>();
  else if (!strcmp(what, "hang")) hangs<<<1, 1>>>(p);
  else if (!strcmp(what, "print")) prints<<<1, 3>>>(3);
  else if (!strcmp(what, "texture")) {
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 8);
    return 1; /* not reached */
  } else if (!strcmp(what, "unwaited")) {
    prints<<<1, 3>>>(3); /* nobody waits: it does not run */
    return 0;
  } else {
    return 2;
  }
  if (cudaGetLastError()) return 3; /* launches themselves succeed */
  const cudaError_t error = cudaDeviceSynchronize();
  if (error) {
    int n;
    if (cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost) != error) return 4;
    if (!strstr(cudaGetErrorName(error), "cudaError")) return 5;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
  }
  return error ? (int)error - 600 : 0;
}
