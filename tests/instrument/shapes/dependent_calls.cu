// SPDX-License-Identifier: MIT
// 7 calls marked, or listed with the reason
template <class T> struct Pipe { T v; int s;
  __device__ void wait() { while (s < 0) s++; }
  template <int K> __device__ T get(T x) { for (int i=0;i<K;i++) x = x*T(0.5)+T(1); return x; }
  __device__ static T twice(T x) { for (int i=0;i<3;i++) x = x*T(2); return x; } };
template <class T> __device__ T free_fn(T x) { for (int i=0;i<3;i++) x = x*T(2); return x; }
template <class Traits> __global__ void kern(typename Traits::T *p, int n) {
  using T = typename Traits::T; using P = Pipe<T>;
  P pipe{}; typename Traits::Op op;
  T x = p[threadIdx.x];
  pipe.wait();
  x = pipe.template get<4>(x);
  x = P::twice(x);
  x = free_fn(x);
  x = free_fn<T>(x);
  x = Traits::run(x);
  x = op(x);
  p[threadIdx.x] = x;
}
struct Tr { using T = float; struct Op { __device__ float operator()(float x) const { for (int i=0;i<3;i++) x = x*2.f; return x; } };
  static __device__ float run(float x) { for (int i=0;i<3;i++) x = x*2.f; return x; } };
void go(float*a){ kern<Tr><<<1,32>>>(a,3); }
