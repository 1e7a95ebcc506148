// SPDX-License-Identifier: MIT
// A library with marks that a program without any loads after main has begun. With MANY_SECTIONS, one of
// more names than a device armed without it had room made for; with RESETS, one that resets the device.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#if defined(MANY_SECTIONS)
#define TEN(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9
#define HUNDRED(n) TEN(n##0), TEN(n##1), TEN(n##2), TEN(n##3), TEN(n##4), TEN(n##5), TEN(n##6), TEN(n##7), TEN(n##8), TEN(n##9)
#define THOUSAND(n) HUNDRED(n##0), HUNDRED(n##1), HUNDRED(n##2), HUNDRED(n##3), HUNDRED(n##4), HUNDRED(n##5), HUNDRED(n##6), HUNDRED(n##7), HUNDRED(n##8), HUNDRED(n##9)
PROF_SECTIONS(Many, THOUSAND(s0), THOUSAND(s1), THOUSAND(s2), THOUSAND(s3), THOUSAND(s4), THOUSAND(s5), THOUSAND(s6), THOUSAND(s7), Kernel, Only)
#else
PROF_SECTIONS(Loaded, Kernel, Only)
#endif

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

extern "C" int run_library() {
  int *out;
  if (cudaMalloc(&out, 32 * sizeof(int)))
    return 1;
  kernel<<<2, 32>>>(out);
  const int code = cudaDeviceSynchronize();
#if defined(RESETS)
  return code ? code : cudaDeviceReset();
#else
  return code;
#endif
}
