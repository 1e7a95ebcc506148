// SPDX-License-Identifier: MIT
// The loop and the call in operator(), or a line "left: depends on a template"
template <int N> struct Main { __device__ float load(const float *p, int k) { float s = 0; for (int i = 0; i < N; ++i) s += p[k * N + i]; return s; } };
template <class M> struct K {
  struct P { const float *in; float *out; int k; };
  __device__ void operator()(P const &p) { M m; float a = 0; for (int k = 0; k < p.k; ++k) a += m.load(p.in, k); p.out[threadIdx.x] = a; }
};
template <class Op> __global__ void launch(typename Op::P p) { Op op; op(p); }
void go(float *a) { launch<K<Main<8>>><<<1, 32>>>({a, a, 3}); }
