// SPDX-License-Identifier: MIT
// Marks in functions that a kernel calls: inlined and not, a recursion, a template, a function
// pointer, a lambda, a functor; ranges, rows and payloads in them, between marks of the kernel's
// body.
#include "truth.cuh"

PROF_SECTIONS(Called, Kernel, Body, Descend, Leaf, Return, Inlined, Aside, Twice, ByPointer,
              InLambda, Size, Depth, Job, Sum)

constexpr int blocks = 4, threads = 64;

__device__ __noinline__ unsigned descend(unsigned depth, unsigned x) {
  PROF_BEGIN(Descend);
  PROF_VALUE(Depth, depth);
  if (depth == 0) {
    x = x * 3 + 1;
    PROF_MARK(Leaf, x);
    PROF_END(Descend);
    return x;
  }
  x = descend(depth - 1, x + depth);
  PROF_MARK(Return);
  if (depth % 2)
    x ^= descend(depth - 1, x);
  PROF_END(Descend);
  return x;
}

__device__ __forceinline__ unsigned inlined(unsigned x) {
  x += 11;
  PROF_MARK(Inlined, x);
  return x;
}

template <int Times> __device__ __noinline__ unsigned repeated(unsigned x) {
  for (int i = 0; i < Times; i++) {
    PROF_ITER(100 + i);
    x = x * 9 + i;
    PROF_MARK(Twice, x);
  }
  PROF_VALUE(Size, -Times);
  return x;
}

__device__ __noinline__ unsigned by_pointer(unsigned x) {
  PROF_SCOPE(ByPointer);
  PROF_EVENT(Aside);
  return x - 5;
}

__device__ unsigned (*const functions[])(unsigned) = {by_pointer, repeated<1>};

struct Functor {
  unsigned add;
  __device__ unsigned operator()(unsigned x) const {
    PROF_ASYNC_BEGIN(Job, add);
    x += add;
    PROF_MARK(Inlined);
    return x;
  }
};

template <class F> __device__ unsigned apply(unsigned x, F &&f) { return f(x); }

__global__ void called_kernel(unsigned *out, int which) {
  PROF_KERNEL(Kernel);
  unsigned x = blockIdx.x * threads + threadIdx.x;
  PROF_MARK(Body);
  x = descend(blockIdx.x % 3 + 1, x);
  PROF_MARK(Body);
  for (int i = 0; i < 2; i++) {
    PROF_ITER(i);
    x = inlined(x);
    x = repeated<2>(x);
    x = inlined(x);
    PROF_MARK(Body);
    x = functions[(which + i) % 2](x);
  }
  PROF_BEGIN(Sum);
  x = apply(x, Functor{blockIdx.x + 3});
  x = apply(x, [](unsigned y) {
    PROF_LAMBDA();
    y ^= 0x77;
    PROF_MARK(InLambda, y);
    return y;
  });
  PROF_ASYNC_END(Job, blockIdx.x + 3);
  PROF_END(Sum);
  out[blockIdx.x * threads + threadIdx.x] = x;
}

static unsigned descend_on_host(unsigned depth, unsigned x) {
  if (depth == 0)
    return x * 3 + 1;
  x = descend_on_host(depth - 1, x + depth);
  if (depth % 2)
    x ^= descend_on_host(depth - 1, x);
  return x;
}

static unsigned on_host(unsigned block, unsigned thread) {
  unsigned x = descend_on_host(block % 3 + 1, block * threads + thread);
  for (int i = 0; i < 2; i++) {
    x += 11;
    for (int j = 0; j < 2; j++)
      x = x * 9 + j;
    x += 11;
    x = i == 0 ? x - 5 : x * 9;
  }
  return (x + block + 3) ^ 0x77;
}

int main() {
  unsigned *out = device_zeros<unsigned>(blocks * threads);
  called_kernel<<<blocks, threads>>>(out, 0);
  CUDA(cudaGetLastError());
  std::vector<unsigned> values = from_device(out, blocks * threads), expected;
  for (unsigned i = 0; i < blocks * threads; i++)
    expected.push_back(on_host(i / threads, i % threads));
  print_bits("called", values);
  return values == expected ? 0 : 1;
}
