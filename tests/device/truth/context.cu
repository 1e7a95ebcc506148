// SPDX-License-Identifier: MIT
// Functions with PROF_PARAMS: inlined and not, one calling the other, members, an object's context, a lambda; two
// calls in one expression, one as the other's argument, marks in a call's arguments, in a body and in such functions; sums,
// values and ranges in them; a call that records nothing.
#include "truth.cuh"

PROF_SECTIONS(Context, Kernel, Body, Load, Store, Inner, Leaf, Sum, Other, Third, Size, Job, Object)
PROF_SECTIONS(Second, Far)

constexpr int blocks = 4, threads = 64;

__device__ __noinline__ unsigned leaf(PROF_PARAMS(unsigned x)) {
  x = x * 5 + 1;
  PROF_MARK(Leaf, x);
  return x;
}
__device__ __forceinline__ unsigned nothing(PROF_PARAMS()) {
  PROF_EVENT(Inner);
  return 3;
}

struct Stage {
  unsigned scale;
  __device__ __forceinline__ unsigned inlined(PROF_PARAMS(unsigned x, int n)) {
    PROF_SCOPE(Inner);
    for (int i = 0; i < n; i++) {
      x = x * scale + i;
      PROF_MARK(Load, x);
      x = leaf(PROF_ARGS(x));
      PROF_MARK(Store);
    }
    return x + nothing(PROF_ARGS());
  }
  __device__ __noinline__ unsigned called(PROF_PARAMS(unsigned x, int n)) {
    PROF_BEGIN(Inner);
    for (int i = 0; i < n; i++) {
      PROF_ITER(i + 100);
      for (int j = 0; j <= i; j++) {
        PROF_SUM_BEGIN(Sum);
        x = x * scale + j;
        PROF_SUM_BEGIN(Other);
        x ^= 9;
        PROF_SUM_END(Other, x);
        PROF_SUM_END(Sum, x);
      }
      PROF_VALUE(Size, i);
      x = leaf(PROF_ARGS(x));
      PROF_ASYNC_BEGIN(Job, i);
      PROF_ASYNC_END(Job, i);
    }
    PROF_CLOCKS();
    PROF_SUM_BEGIN(Third); // recorded when the call ends
    x += 7;
    PROF_SUM_END(Third, x);
    PROF_END(Inner);
    return x;
  }
};

template <class F> __device__ __forceinline__ unsigned apply(unsigned x, F &&f) { return f(x); }

// Marks in the full expression of a call that the function's own context is lent to. What the arguments record comes
// before what the callee does, in both orders of the compiler's; a second table, and a row, in them.
#define IN_ONE_EXPRESSION                                                                          \
  x = leaf(PROF_ARGS(apply(x, [&](unsigned y) {                                                    \
    PROF_MARK(Other, y);                                                                           \
    PROF_ITER(7);                                                                                  \
    PROF_MARK(Far, y);                                                                             \
    PROF_MARK_STRICT(Other, y);                                                                    \
    PROF_MARK_LOADED(Far, y);                                                                      \
    return leaf(PROF_ARGS(y)) + 1;                                                                 \
  })));                                                                                            \
  x = apply(leaf(PROF_ARGS(x)), [&](unsigned y) {                                                  \
    PROF_VALUE(Size, 5);                                                                           \
    PROF_EVENT(Third);                                                                             \
    return y + 1;                                                                                  \
  });                                                                                              \
  PROF_MARK(Body, x);                                                                              \
  return x
__device__ __forceinline__ unsigned expression_inlined(PROF_PARAMS(unsigned x)) { IN_ONE_EXPRESSION; }
__device__ __noinline__ unsigned expression_called(PROF_PARAMS(unsigned x)) { IN_ONE_EXPRESSION; }

// A lambda of the kernel's, handed down.
template <class F> __device__ __forceinline__ unsigned last(PROF_PARAMS(unsigned x, F &&f)) {
  PROF_MARK(Load);
  x = f(x);
  PROF_MARK(Store, x);
  return x;
}
template <int N, class F> struct Down {
  static __device__ __forceinline__ unsigned run(PROF_PARAMS(unsigned x, F &&f)) {
    PROF_MARK(Inner);
    x = Down<N - 1, F>::run(PROF_ARGS(x, f));
    PROF_MARK(Inner);
    return x;
  }
};
template <class F> struct Down<0, F> {
  static __device__ __forceinline__ unsigned run(PROF_PARAMS(unsigned x, F &&f)) { return last(PROF_ARGS(x, f)); }
};

struct Object {
  PROF_MEMBER()
  unsigned add;
  __device__ __forceinline__ unsigned run(unsigned x) {
    PROF_MARK(Object);
    return leaf(PROF_ARGS(x + add));
  }
};

__global__ void context_kernel(unsigned *out, int n) {
  PROF_KERNEL(Kernel);
  unsigned x = blockIdx.x * threads + threadIdx.x;
  Stage stage = {n + 1u};
  PROF_MARK(Body);
  x = stage.inlined(PROF_ARGS(x, n));
  PROF_MARK(Body);
  for (int i = 0; i < 2; i++) {
    PROF_ITER(i);
    x = stage.called(PROF_ARGS(x, i + 1));
    PROF_MARK(Body);
  }
  x = leaf(PROF_ARGS(leaf(PROF_ARGS(x))));                      // one in the other's arguments
  x = (stage.called(PROF_ARGS(x, 1)), leaf(PROF_ARGS(x + 1))); // two in an expression
  PROF_MARK(Body);
  x = leaf(PROF_ARGS(apply(x, [&](unsigned y) {
    PROF_MARK(Other); // while the context is lent
    return leaf(PROF_ARGS(y)) + 1;
  })));
  x = apply(x, [&](unsigned y) {
    PROF_MARK(Store);
    return stage.inlined(PROF_ARGS(y, 1));
  });
  Object object;
  object.add = x & 1;
  x = object.run(x); // not bound yet
  PROF_BIND(object);
  x = object.run(x);
  x = blockIdx.x % 2 ? leaf(PROF_ARGS(x)) : x;
  x = leaf(PROF_ARGS_OFF(x)) + nothing(PROF_ARGS_OFF());
  x = expression_inlined(PROF_ARGS(expression_called(PROF_ARGS(x))));
  auto handed_down = [&](unsigned y) {
    PROF_MARK(Other, y);
    PROF_MARK_STRICT(Third, y);
    return leaf(PROF_ARGS(y));
  };
  x = last(PROF_ARGS(x, handed_down));
  x = Down<2, decltype(handed_down) &>::run(PROF_ARGS(x, handed_down));
  PROF_MARK(Body, x);
  out[blockIdx.x * threads + threadIdx.x] = x;
}

static unsigned leaf_on_host(unsigned x) {
  return x * 5 + 1;
}
static unsigned inlined_on_host(unsigned x, int n) {
  for (int i = 0; i < n; i++)
    x = leaf_on_host(x * 3 + i);
  return x + 3;
}
static unsigned called_on_host(unsigned x, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++)
      x = (x * 3 + j) ^ 9;
    x = leaf_on_host(x);
  }
  return x + 7;
}
static unsigned on_host(unsigned block, unsigned thread) {
  unsigned x = inlined_on_host(block * threads + thread, 2);
  for (int i = 0; i < 2; i++)
    x = called_on_host(x, i + 1);
  x = leaf_on_host(leaf_on_host(x));
  x = leaf_on_host(x + 1);
  x = leaf_on_host(leaf_on_host(x) + 1);
  x = inlined_on_host(x, 1);
  const unsigned add = x & 1;
  x = leaf_on_host(leaf_on_host(x + add) + add);
  if (block % 2)
    x = leaf_on_host(x);
  x = leaf_on_host(x) + 3;
  for (int i = 0; i < 2; i++)
    x = leaf_on_host(leaf_on_host(leaf_on_host(x) + 1)) + 1;
  return leaf_on_host(leaf_on_host(x));
}

int main() {
  unsigned *out = device_zeros<unsigned>(blocks * threads);
  context_kernel<<<blocks, threads>>>(out, 2);
  CUDA(cudaGetLastError());
  std::vector<unsigned> values = from_device(out, blocks * threads), expected;
  for (unsigned i = 0; i < blocks * threads; i++)
    expected.push_back(on_host(i / threads, i % threads));
  print_bits("context", values);
  return values == expected ? 0 : 1;
}
