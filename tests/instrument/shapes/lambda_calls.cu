// SPDX-License-Identifier: MIT
// It is listed and marked in both kernels.
__device__ void step(float *p, int n) { for (int i = 0; i < n; i++) p[i] = p[i] * 2 + 1; }
__global__ void plain_lambda(float *p, int n) {
  auto load = [&](int k) { for (int i = 0; i < n; i++) p[i] += k; step(p, n); };
  for (int k = 0; k < 4; k++) load(k);
}
template <int N> __global__ void template_lambda(float *p, int n) {
  auto load = [&](int k) { for (int i = 0; i < n; i++) p[i] += k; step(p, N); };
  for (int k = 0; k < N; k++) load(k);
}
template __global__ void template_lambda<3>(float *, int);
