// SPDX-License-Identifier: MIT
// Kernels that marks used to make several times larger: loops over arrays that are registers only as long as the
// compiler unrolls them, and loops of a few operations.
__global__ void unrolled_store(float *x, int n) {
  float d[32] = {};
  for (int j = 0; j < n; j++)
#pragma unroll
    for (int i = 0; i < 32; i++) d[i] = d[i] * 1.5f + x[j * 32 + i];
  for (int i = 0; i < 32; i++) x[threadIdx.x + i * 128] = d[i];
}
template <int N> __global__ void unrolled_reduce(float *p, float *q) {
  float v[N], s = 0;
#pragma unroll
  for (int i = 0; i < N; i++) v[i] = p[i * 32 + threadIdx.x];
#pragma unroll
  for (int i = 0; i < N; i++) s += v[i];
  q[threadIdx.x] = s;
}
template __global__ void unrolled_reduce<16>(float *, float *);
template __global__ void unrolled_reduce<64>(float *, float *);
__global__ void accumulator_tile(const float *a, const float *b, float *c, int n) {
  float acc[8][8] = {};
  for (int k = 0; k < n; k++) {
    float x[8], y[8];
    for (int i = 0; i < 8; i++) x[i] = a[k * 8 + i];
    for (int i = 0; i < 8; i++) y[i] = b[k * 8 + i];
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) acc[i][j] += x[i] * y[j];
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) c[(i * 8 + j) * 32 + threadIdx.x] = acc[i][j];
}
__global__ void tiny_loops(float *p, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    float v[4];
#pragma unroll
    for (int j = 0; j < 4; j++) v[j] = p[i * 4 + j];
#pragma unroll
    for (int j = 0; j < 4; j++) s += v[j] * v[j];
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  p[threadIdx.x] = s;
}
#define UNROLL _Pragma("unroll")
template <int M> __device__ void scale(float (&v)[M], float by) {
  UNROLL for (int i = 0; i < M; i++) v[i] *= by;
}
template <int M> __global__ void by_macro(float *p, int n) {
  float v[M] = {};
  for (int k = 0; k < n; k++) {
    UNROLL for (int i = 0; i < M; i++) v[i] += p[k * M + i];
    scale(v, p[k]);
  }
  for (int i = 0; i < M; i++) p[threadIdx.x + i * 64] = v[i];
}
template __global__ void by_macro<48>(float *, int);
