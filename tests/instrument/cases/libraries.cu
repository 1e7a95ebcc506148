// SPDX-License-Identifier: MIT
// Shapes of kernel libraries: function objects with members, barriers of a template's type, lambdas, forwarding operators,
// kernels and loops behind macros.
#define LIB_KERNEL template <class T> __global__ void
#define LIB_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)
#define LIB_UNROLL _Pragma("unroll")
#define LIB libraries::detail
namespace libraries {
namespace detail {
__device__ int long_one(int x) { for (int i = 0; i < (x & 63); i++) x ^= i * x; return x; }
template <bool Twice> __device__ int chosen(int x) { for (int i = 0; i < (x & 31); i++) x += Twice ? 2 * i : i; return x; }
}
struct mainloop {
  __device__ void load(int *p, int n) { for (int i = 0; i < n; i++) p[i] += 1; }
  __device__ void mma(int *p, int n) { for (int i = 0; i < n; i++) p[i] *= 3; }
};
template <class M> struct gemm { __device__ void operator()(int *p, int n) { M m; m.load(p, n); m.mma(p, n); } };
template <class Op> __global__ void device_kernel(int *p, int n) { Op op; op(p, n); }
// the operator forwards to another one
template <class Op> struct outer { Op op; __device__ void operator()(int *p, int n) { op(p, n); } };
// a barrier whose type is the template's
struct barrier {
  unsigned *word;
  __device__ void wait(unsigned phase) { while (*(volatile unsigned *)word < phase) {} }
};
template <class B> struct pipeline {
  B full[2];
  __device__ void turn(int *p, int n) {
    for (int i = 0; i < n; i++) {
      full[i & 1].wait(0);
      p[0] += LIB::long_one(i);
    }
  }
};
template <class B> __global__ void piped(int *x, int n) {
  __shared__ unsigned word;
  if (threadIdx.x == 0) word = 1;
  __syncthreads();
  pipeline<B> p = {{{&word}, {&word}}};
  p.turn(x + threadIdx.x, n);
}
// calls in lambdas
template <class F> __device__ void each(int n, F f) { for (int k = 0; k < n; k++) f(k); }
__global__ void with_lambda(int *x, int n) {
  auto load = [&](int k) { for (int i = 0; i < k; i++) x[threadIdx.x] += i ^ k; };
  load(n);
  each(n, [&](int k) { load(k); });
}
// kernels, loops and names behind macros
LIB_KERNEL behind_macro(T *x, int n) {
  LIB_LOOP(i, n) { x[i] += LIB::long_one((int)x[i]); }
  LIB_UNROLL for (int i = 0; i < 4; i++) x[threadIdx.x] += i;
  LIB::chosen<true>(3);
  x[threadIdx.x] += LIB::template chosen<false>((int)x[threadIdx.x]);
}
inline void run() {
  check<int>("libraries.device_kernel", [](int *x) { device_kernel<gemm<mainloop>><<<1, 1>>>(x, 40); });
  check<int>("libraries.outer", [](int *x) { device_kernel<outer<gemm<mainloop>>><<<1, 1>>>(x, 40); });
  check<int>("libraries.piped", [](int *x) { piped<barrier><<<1, 64>>>(x, 9); });
  check<int>("libraries.with_lambda", [](int *x) { with_lambda<<<1, 64>>>(x, 7); });
  check<int>("libraries.behind_macro", [](int *x) { behind_macro<<<1, 64>>>(x, 64); });
}
} // namespace libraries
