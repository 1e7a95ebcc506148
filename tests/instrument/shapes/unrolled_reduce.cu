// SPDX-License-Identifier: MIT
// No marks in unrolled loops; registers of the track alone.
template <int N> __global__ void reduce(float *p, float *q) {
  float v[N];
#pragma unroll
  for (int i = 0; i < N; i++) v[i] = p[i * 32 + threadIdx.x];
  float s = 0;
#pragma unroll
  for (int i = 0; i < N; i++) s += v[i];
  q[threadIdx.x] = s;
}
template __global__ void reduce<16>(float *, float *);
template __global__ void reduce<64>(float *, float *);
template __global__ void reduce<256>(float *, float *);
