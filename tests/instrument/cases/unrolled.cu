// SPDX-License-Identifier: MIT
// Loops that the compiler unrolls get no marks inside, by default; loops whose body is a few operations no rows.
namespace unrolled {
#define UNROLL _Pragma("unroll")
#define TILE_UNROLL UNROLL
#define NO_UNROLL _Pragma("unroll 1")
#define UNROLL_BY(n) TILE_UNROLL
__device__ __noinline__ int slow(int x, int n) {
  for (int i = 0; i < n; i++) x = x * 5 + i;
  return x & 1023;
}
__device__ int tiny(int x) { return x * 3 + 1; }
__global__ void pragmas(int *p, int n) {
  int s = 0;
#pragma unroll
  for (int i = 0; i < n; i++) s += p[i];
#pragma unroll 1
  for (int i = 0; i < n; i++) s += p[i];
#pragma nounroll
  for (int i = 0; i < n; i++) s += p[i];
#pragma unroll 8 // as far as it goes
  /* and a comment */
  for (int i = 0; i < n; i++) s += tiny(p[i]);
  _Pragma("unroll") for (int i = 0; i < n; i++) s += p[i];
  for (int k = 0; k < n; k++) {
    UNROLL for (int i = 0; i < n; i++) s += p[i];
    TILE_UNROLL for (int i = 0; i < n; i++) s ^= p[i];
    UNROLL_BY(4) for (int i = 0; i < n; i++) s ^= p[i] + k;
    NO_UNROLL for (int i = 0; i < n; i++) s += p[i] ^ i;
  }
  p[threadIdx.x] = s;
}
__global__ void counts(int *p, int n) {
  const int sixteen = 16;
  enum { four = 4 };
  int s = 0;
  for (int i = 0; i < 31; i++) s += p[i];
  for (int i = 0; i < 33; i++) s += p[i & 15];
  for (int i = sixteen; i > 0; i /= 2) s += p[i];
  for (int i = 1; i <= four * sixteen; i <<= 1) s ^= p[i & 31];
  for (unsigned i = 3; i != 0; --i) s += p[i];
  for (int i = 0; i < n; i++) s += p[i & 15] * 3;
  for (int i = 0, e = 4; i < e; i++) s += p[i];
  int i = 0;
  while (i < 4) s += p[i++];
  p[threadIdx.x] = s;
}
template <int N> __device__ int sum(int (&v)[N]) {
  int s = 0;
  for (int i = 0; i < N; i++) s += v[i];
  return s;
}
// arrays that are registers as long as the loops over them are unrolled, whatever their length
template <int N> __global__ void registers(int *p, int n) {
  __shared__ int shared[64];
  int own[N], sized[40];
  for (int i = 0; i < N; i++) own[i] = p[i & 63];
  for (int i = 0; i < 40; i++) sized[i] = p[i & 31];
  for (int i = 0; i < 64; i++) shared[i] = i + p[i & 31]; // memory: not unrolled for its sake
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < N; i++) own[i] += slow(own[i], k);
    for (int i = 0; i < 40; i++) sized[i] += own[i % N];
  }
  int s = shared[threadIdx.x & 63] + sum(own);
  for (int i = 0; i < 40; i++) s ^= sized[i];
  p[threadIdx.x] = s;
}
// one whose passes take long has a range around it and none inside; a few operations have no rows
__global__ void heavy(int *p, int n) {
  int s = 0;
  for (int i = 0; i < 4; i++) s += slow(p[i], n);
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 2; i++) s += slow(p[k & 15], i + 2);
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < n; j++) s += p[j & 15];
    __syncthreads();
  }
  for (int i = 0; i < n; i++) s += slow(p[i & 15], 2);
  for (int i = 0; i < n; i++) s += tiny(p[i & 15]);
  for (int j = 0; j < n; j++)
#pragma unroll
    for (int i = 0; i < 31; i++) s += p[i] ^ j;
  p[threadIdx.x] = s;
}
inline void run() {
  check<int>("unrolled.pragmas", [](int *p) { pragmas<<<1, 1>>>(p, 5); });
  check<int>("unrolled.counts", [](int *p) { counts<<<1, 1>>>(p, 5); });
  check<int>("unrolled.registers", [](int *p) { registers<8><<<1, 1>>>(p, 3); });
  check<int>("unrolled.heavy", [](int *p) { heavy<<<1, 1>>>(p, 3); });
}
} // namespace unrolled
