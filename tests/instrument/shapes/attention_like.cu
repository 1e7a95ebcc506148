// SPDX-License-Identifier: MIT
// Loops and member calls marked; the same output as the plain program
#include <cstdio>
#include <cstdint>
#define UNROLL _Pragma("unroll")
#define CUDA_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CHECK_RET(c) if (!(c)) return
#define STEP(x) do { x = x * 0.5f + 1.f; } while (0)
template <int N> struct Tile { float v[N];
  __device__ __forceinline__ void load(const float *p) { UNROLL for (int i = 0; i < N; ++i) v[i] = p[i * 32]; }
  __device__ __forceinline__ void mma(const Tile &b) { UNROLL for (int i = 0; i < N; ++i) { for (int j = 0; j < N; ++j) v[i] += b.v[j] * 0.01f; } }
  __device__ __forceinline__ void store(float *p) const { UNROLL for (int i = 0; i < N; ++i) p[i * 32] = v[i]; } };
template <class F> __device__ void each(int n, F f) { for (int i = 0; i < n; i++) f(i); }
template <int N, bool Causal> __global__ void __launch_bounds__(64) attn(const float *in, float *out, int tiles) {
  CHECK_RET(tiles > 0);
  Tile<N> acc{}, t;
  UNROLL
  for (int s = 0; s < tiles; ++s) {
    t.load(in + s * N * 32 + (threadIdx.x & 31));
    if constexpr (Causal) { if (s > 2) break; }
    acc.mma(t);
  }
  each(3, [&](int i) { for (int j = 0; j < N; j++) acc.v[j] += i; });
  auto fin = [=] __device__ (float x) { STEP(x); return x; };
  for (int j = 0; j < N; j++) acc.v[j] = fin(acc.v[j]);
  acc.store(out + blockIdx.x * N * 32 + (threadIdx.x & 31));
}
__global__ void saxpy(float *y, const float *x, int n) { CUDA_LOOP(i, n) { float v = x[i]; STEP(v); y[i] = v; } }
#define DECL(T) __global__ void fill_##T(T *p, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = T(i); }
DECL(float) DECL(double)
int main() { float *a, *b; cudaMallocManaged(&a, 1<<16); cudaMallocManaged(&b, 1<<16); fill_float<<<1,64>>>(a, 1<<14); attn<4,true><<<2,64>>>(a,b,6); attn<4,false><<<2,64>>>(a,b,6); saxpy<<<2,64>>>(b,a,1000);
 int e=cudaDeviceSynchronize(); double s=0; for(int i=0;i<1000;i++) s+=b[i]; printf("%d %.6f\n",e,s); return e; }
