// SPDX-License-Identifier: MIT
// Calls that only an instance of their template tells of, functors and lambdas, functions that are one call,
// kernels that only an explicit instantiation names.
namespace instances {
template <class T> struct pipe {
  T v;
  int s;
  __device__ void wait() {
    while (s < 0)
      s++;
  }
  template <int K> __device__ T get(T x) {
    for (int i = 0; i < K; i++)
      x = x * T(3) + T(1);
    return x;
  }
  __device__ static T twice(T x) {
    for (int i = 0; i < 3; i++)
      x = x * T(2);
    return x;
  }
};
template <class T> __device__ T free_fn(T x) {
  for (int i = 0; i < 3; i++)
    x = x * T(2);
  return x;
}
template <class Traits> __global__ void calls(typename Traits::T *p) {
  using T = typename Traits::T;
  using P = pipe<T>;
  P pipes[2] = {};
  P *that = pipes + 1;
  typename Traits::op op;
  T x = p[threadIdx.x];
  pipes[threadIdx.x & 1].wait();
  that->wait();
  x = that->template get<4>(x);
  x = P::twice(x) + pipes[0].template get<2>(x);
  x = free_fn(x);
  x = free_fn<T>(x);
  x = Traits::run(x);
  if (op(x) > T(3))
    x = op(x);
  x = T(x) + Traits::never(x);
  p[threadIdx.x] = x;
}
struct traits {
  using T = int;
  struct op {
    __device__ int operator()(int x) const {
      for (int i = 0; i < 3; i++)
        x = x * 2;
      return x;
    }
  };
  static __device__ int run(int x) {
    for (int i = 0; i < 3; i++)
      x = x * 2;
    return x;
  }
  static constexpr __device__ int never(int x) { return x; }
};

// the shape of CUTLASS: a kernel that is one call, of an operator() that has the work
template <int N> struct mainloop {
  __device__ int load(const int *p, int k) {
    int s = 0;
    for (int i = 0; i < N; ++i)
      s += p[(k * N + i) & 63];
    return s;
  }
  __device__ int mma(int a, int b) {
    for (int i = 0; i < N; ++i)
      a = a * 3 + b;
    return a;
  }
  __device__ void wait() { __syncthreads(); }
};
template <class Main> struct kernel_class {
  struct params {
    const int *in;
    int *out;
    int k;
  };
  __device__ void operator()(params const &p, char *) {
    Main m;
    int acc = 0;
    for (int k = 0; k < p.k; ++k) {
      int x = m.load(p.in, k);
      m.wait();
      acc = m.mma(acc, x);
    }
    if constexpr (sizeof(Main) > 100)
      m.other(acc);
    __syncthreads();
    p.out[threadIdx.x] = acc;
  }
};
template <class Op> __global__ void device_kernel(typename Op::params p) {
  extern __shared__ char smem[];
  Op op;
  op(p, smem);
}

// named by this alone: libclang has no tree for it
template <class Op, int N> __global__ void __launch_bounds__(64) instantiated(int *p) {
  Op op;
  for (int i = 0; i < N; i++)
    p[threadIdx.x] = op(p[threadIdx.x]); // not "template __global__ void x<1>(int *);"
}
namespace deeper {
struct tag {
  __device__ int operator()(int x) const {
    for (int i = 0; i < 3; i++)
      x ^= x >> i;
    return x;
  }
};
template <int N> __global__ void inside(int *p);
template <int N> __global__ void inside(int *p) {
  tag{}(p[threadIdx.x]);
  p[threadIdx.x] += pipe<int>::twice(N);
}
template __global__ void inside<2>(int *p);
} // namespace deeper
template __global__ void __launch_bounds__(64) instantiated<deeper::tag, (3 > 2) ? 2 : 1>(int *);

__device__ void step(int *p, int n) {
  for (int i = 0; i < n; i++)
    p[threadIdx.x] = p[threadIdx.x] * 2 + 1;
}
__global__ void plain_lambda(int *p, int n) {
  auto load = [&](int k) {
    p[threadIdx.x] += k;
    step(p, n);
  };
  for (int k = 0; k < 4; k++)
    load(k);
}
template <int N> __global__ void template_lambda(int *p) {
  auto load = [&](int k) {
    p[threadIdx.x] += k;
    step(p, N);
  };
  for (int k = 0; k < N; k++)
    load(k);
  auto generic = [&](auto k) { step(p, k); };
  generic(2);
}
// no instance in this file: by name, or left
template <class Other> __global__ void not_here(int *p) {
  Other other;
  other.twice(p[0]);
  p[0] = other.unheard_of(p[0]) + Other(3);
}

inline void run() {
  check<int>("instances calls", [](int *p) { calls<traits><<<1, 64>>>(p); });
  check<int>("instances device_kernel", [](int *p) {
    using op = kernel_class<mainloop<8>>;
    device_kernel<op><<<1, 64, 64>>>({p, p, 3});
  });
  check<int>("instances instantiated", [](int *p) { instantiated<deeper::tag, 2><<<1, 64>>>(p); });
  check<int>("instances inside", [](int *p) { deeper::inside<2><<<1, 64>>>(p); });
  check<int>("instances plain_lambda", [](int *p) { plain_lambda<<<1, 64>>>(p, 3); });
  check<int>("instances template_lambda", [](int *p) { template_lambda<3><<<1, 64>>>(p); });
}
} // namespace instances
