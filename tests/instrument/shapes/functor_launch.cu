// SPDX-License-Identifier: MIT
// Load, wait, mma of the mainloop marked
#include <cstdio>
template <class Op> __global__ void launch_kernel(typename Op::Params p) { extern __shared__ char smem[]; Op op; op(p, smem); }
template <int N> struct Mainloop {
  __device__ float load(const float *p, int k) { float s = 0; for (int i = 0; i < N; ++i) s += p[k * N + i]; return s; }
  __device__ float mma(float a, float b) { for (int i = 0; i < N; ++i) a = a * 0.5f + b; return a; }
  __device__ void wait() { __syncthreads(); }
};
template <class Main> struct Kernel {
  struct Params { const float *in; float *out; int k; };
  __device__ void operator()(Params const &p, char *smem) {
    Main m; float acc = 0;
    for (int k = 0; k < p.k; ++k) { float x = m.load(p.in, k); m.wait(); acc = m.mma(acc, x); }
    p.out[threadIdx.x] = acc;
  }
};
int main() { using K = Kernel<Mainloop<8>>; float *a, *b; cudaMallocManaged(&a, 4096); cudaMallocManaged(&b, 4096);
  launch_kernel<K><<<1, 64>>>({a, b, 10}); int e = cudaDeviceSynchronize(); printf("%d %f\n", e, b[0]); return e; }
