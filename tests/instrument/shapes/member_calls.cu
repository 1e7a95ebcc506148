// SPDX-License-Identifier: MIT
// Both kernels alike
template <int N> struct Tile { float v[N];
  __device__ void load(const float *p) { for (int i = 0; i < N; ++i) v[i] = p[i * 32]; }
  __device__ void mma(const Tile &b) { for (int i = 0; i < N; ++i) { for (int j = 0; j < N; ++j) v[i] += b.v[j] * 0.01f; } }
  __device__ void store(float *p) const { for (int i = 0; i < N; ++i) p[i * 32] = v[i]; } };
template <int N> __global__ void attn(const float *in, float *out, int tiles) {
  Tile<N> acc{}, t;
  for (int s = 0; s < tiles; ++s) {
    t.load(in + s * N * 32 + (threadIdx.x & 31));
    acc.mma(t);
  }
  acc.store(out + blockIdx.x * N * 32 + (threadIdx.x & 31));
}
struct PT { float v[4];
  __device__ void mma(const PT &b) { for (int i = 0; i < 4; ++i) { for (int j = 0; j < 4; ++j) v[i] += b.v[j] * 0.01f; } } };
__global__ void plain(float *out, int tiles) {
  PT acc{}, t{}; t.v[0]=tiles;
  for (int s = 0; s < tiles; ++s) acc.mma(t);
  out[threadIdx.x] = acc.v[0];
}
void go(float*a){ attn<4><<<1,32>>>(a,a,3); plain<<<1,32>>>(a,3); }
