// SPDX-License-Identifier: MIT
// Lines that a #line of the user's numbers: __LINE__ stays what it was behind marks of more than one line.
namespace numbered {
#line 100
__device__ int work(int n) { int s = n; for (int i = 0; i < 4; i++) s = s * 5 + __LINE__; return s; }
__global__ void k(int *x, int n) {
#line 7
  for (int i = 0; i < n; i++) {
    x[threadIdx.x] = work(x[threadIdx.x]);
# 20
    x[threadIdx.x] += __LINE__;
  }
#pragma unroll
  for (int i = 0; i < n; i++) x[threadIdx.x] += work(__LINE__);
#line 300
#pragma unroll 2
  for (int i = 0; i < n; i++) { x[threadIdx.x] += work(__LINE__); }
  x[threadIdx.x] += __LINE__;
}
inline void run() { check<int>("numbered.k", [](int *x) { k<<<1, 64>>>(x, 3); }); }
} // namespace numbered
