// SPDX-License-Identifier: MIT
// Every macro in every position that it is meant for: bodies, called functions inlined or not,
// templates, lambdas, members, nested namespaces, two tables. Only compiled, never run.
#include "inkmark/mark.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

PROF_SECTIONS(First, Kernel, Step, Search, Shared, Sum, Copy)
PROF_SECTIONS(Second, Other, Shared, Update)

namespace outer {
PROF_SECTIONS(Outer, OuterKernel, OuterStep)
namespace inner {
PROF_SECTIONS(Inner, InnerKernel, InnerStep, Shared)
__device__ float nested(float x) {
  PROF_MARK(InnerStep, x);
  PROF_MARK(OuterStep, x); // the enclosing namespace's table
  PROF_MARK(Search, x);    // the global one's
  PROF_MARK(Inner::Shared);
  return x * 2;
}
__global__ void kernel_in_namespace(float *x) {
  PROF_KERNEL(InnerKernel);
  *x = nested(*x);
  PROF_MARK(InnerStep);
}
} // namespace inner
__global__ void kernel_in_outer(float *x) {
  PROF_KERNEL(OuterKernel);
  *x = inner::nested(*x);
  PROF_MARK(OuterStep);
}
} // namespace outer

// ---- called functions ----

__device__ __forceinline__ float inlined(float x) {
  PROF_SCOPE(Search);
  x = x * 1.5f + 1;
  PROF_MARK(Step, x);
  return x;
}
__device__ __noinline__ float called(float x, int key) {
  PROF_BEGIN(Search, x);
  x = x * 2.5f + 1;
  PROF_ITER(key);
  PROF_EVENT(Step);
  PROF_VALUE(Step, x);
  PROF_VALUE(Step, key);
  PROF_ASYNC_BEGIN(Copy, key);
  PROF_ASYNC_END(Copy, key, x);
  PROF_END(Search, x);
  if (x > 3)
    return x;
  PROF_MARK(Second::Shared);
  PROF_MARK_STRICT(Step, x);
  PROF_MARK_LOADED(Step, x);
  return x + 1;
}
template <class T, int N> __device__ T in_template(T x) {
  for (int i = 0; i < N; i++) {
    x = x * x + T(i);
    PROF_MARK(Step, x);
  }
  return x;
}
struct member {
  float scale;
  __device__ float apply(float x) const {
    PROF_SCOPE(Update, x);
    return x * scale;
  }
};

// ---- functions with a context ----

__device__ float no_arguments(PROF_PARAMS()) {
  PROF_MARK(Step);
  return 1;
}
__device__ __noinline__ float with_context(PROF_PARAMS(float (&d)[4], int n)) {
  PROF_SCOPE(Search);
  PROF_ITER(n);
  PROF_SUM_BEGIN(Sum);
  d[1] += n;
  PROF_SUM_END(Sum, d);
  PROF_SUM_FLUSH();
  PROF_CLOCKS();
  PROF_EVENT(Step);
  PROF_VALUE(Step, n);
  PROF_ASYNC_BEGIN(Copy, n);
  PROF_ASYNC_END(Copy, n);
  PROF_MARK_STRICT(Step, n);
  PROF_MARK_LOADED(Second::Shared, n);
  return no_arguments(PROF_ARGS()) + d[0];
}
struct staged {
  PROF_MEMBER()
  int n;
  __device__ float run(float x) {
    PROF_MARK(Step, x);
    return no_arguments(PROF_ARGS()) + x * n;
  }
};
__global__ void context_kernel(float *x) {
  PROF_KERNEL(Kernel);
  float d[4] = {x[0], x[1], x[2], x[3]};
  staged object;
  object.n = 3;
  PROF_BIND(object);
  auto lambda = [&](float y) {
    PROF_MARK(Search, y);
    return no_arguments(PROF_ARGS()) + y;
  };
  d[2] += with_context(PROF_ARGS(d, (int)no_arguments(PROF_ARGS()))) + object.run(d[3]) + lambda(d[1]);
  x[4] = d[2] + with_context(PROF_ARGS_OFF(d, 3)) + no_arguments(PROF_ARGS_OFF());
}

// Roles, ranges across threads, sections known at run time, in a body, with a context and without one.
__device__ __noinline__ float task(float x, int which) {
  PROF_BEGIN_WITH(Search, x);
  PROF_MARK_ID(First, which, x);
  PROF_ASYNC_END_GRID(Copy, which);
  PROF_END(Search);
  return x * which;
}
__device__ __forceinline__ float role_of(PROF_PARAMS(float x)) {
  PROF_ROLE(Update);
  PROF_ASYNC_BEGIN_CLUSTER(Copy, 3);
  PROF_MARK_ID(First, 2u, x);
  return x + 1;
}
template <class T, int N> __global__ void role_kernel(T *x, int which) {
  PROF_KERNEL_IF(threadIdx.x % 32 == 0, Kernel);
  if (threadIdx.x < 32)
    PROF_ROLE(Search);
  PROF_ASYNC_BEGIN_BLOCK(Copy, which);
  PROF_ASYNC_END_CLUSTER(Copy, 3);
  PROF_BEGIN_WITH(Search, which, x[0]);
  x[0] = task(role_of(PROF_ARGS((float)x[N])), which);
  PROF_END(Search);
  PROF_ASYNC_BEGIN_GRID(Copy, which);
  PROF_ASYNC_END_BLOCK(Copy, which);
}
template __global__ void role_kernel<float, 4>(float *, int);
template __global__ void role_kernel<double, 400>(double *, int);

// Tracks of rows; Update's table has two sections in front of it, which may be ranges.
__device__ __noinline__ float in_row(PROF_PARAMS_ROWS(Update, float x)) {
  PROF_SCOPE(Other);
  PROF_MARK(Second::Shared, x);
  return x + called(x, 3);
}
struct row_loop {
  __device__ __forceinline__ float run(PROF_PARAMS_ROWS(Update, float x, int n)) const {
    for (int i = 0; i < n; i++) {
      PROF_ITER(i, x);
      x = in_row(PROF_ARGS(x));
      PROF_MARK_STRICT(Update, x);
    }
    return x;
  }
};
__device__ int without(PROF_PARAMS_ROWS(Update)) {
  PROF_MARK(Update);
  return 3;
}
__global__ void row_kernel(float *x, int n, prof_buffer buffer) {
  PROF_KERNEL_ROWS(buffer, Update);
  PROF_ROLE(Step);
  x[0] = row_loop().run(PROF_ARGS(x[1], n + without(PROF_ARGS())));
  PROF_ITER_END();
  PROF_MARK_LOADED(Other, n);
}
template <class T> __global__ void row_role_kernel(T *x, int n) {
  PROF_OPEN_ROWS(Update);
  auto mark = [&] { PROF_MARK(Second::Shared); };
  mark();
  if (n)
    PROF_ITER(n);
  else
    PROF_ITER_END();
  x[0] = T(3);
  PROF_CLOSE();
}
template __global__ void row_role_kernel<float>(float *, int);
__global__ void chosen_row_kernel(int n) {
  if (n > 3) {
    PROF_KERNEL_ROWS_IF(threadIdx.x == 5, Update);
    PROF_MARK(Update);
  } else {
    PROF_OPEN_ROWS_IF(threadIdx.x == 6, Update);
    PROF_BEGIN(Second::Shared);
    PROF_END(Second::Shared);
    PROF_CLOSE();
  }
}

// ---- kernels ----

extern "C" __global__ void __launch_bounds__(256, 2) plain_kernel(float *x, int n) {
  PROF_KERNEL(Kernel);
  float a = x[threadIdx.x];
  if (n < 0)
    return; // closes the track
  for (int i = 0; i < n; i++) {
    PROF_ITER(i, a);
    if (a > 1)
      PROF_MARK_STRICT(Search, a);
    else
      PROF_MARK(Step);
    PROF_SUM_BEGIN(Sum);
    a = a * 1.25f + 1;
    PROF_SUM_END(Sum, a);
    PROF_SUM_BEGIN(Step, a);
    a = inlined(a);
    PROF_SUM_END(Step, a);
    PROF_BEGIN(Search);
    {
      PROF_SCOPE(First::Shared);
      a = called(a, i);
      if (a < 0)
        continue;
    }
    PROF_END(Search);
    PROF_EVENT(Step, a);
    PROF_ASYNC_BEGIN(Copy, i);
    __syncthreads();
    PROF_ASYNC_END(Copy, (unsigned long long)i << 40 | 7);
    PROF_CLOCKS();
    PROF_MARK(Second::Shared); // another table in a kernel's body
    PROF_MARK(Other);
  }
  x[threadIdx.x] = outer::inner::nested(a) + in_template<float, 2>(a) + member{2}.apply(a);
}

__global__ void argument_kernel(prof_buffer buffer, float *x) {
  PROF_KERNEL(buffer, Other);
  *x = called(*x, 1);
  PROF_MARK(Update);
}
__global__ void chosen_kernel(float *x) {
  PROF_KERNEL_IF(threadIdx.x % 32 == 5, Kernel);
  *x += 1;
  PROF_MARK(Step);
}
__global__ void chosen_argument_kernel(prof_buffer buffer, float *x) {
  PROF_KERNEL_IF(threadIdx.x == blockDim.x - 1, buffer, Kernel);
  *x += 1;
  PROF_MARK(Step);
}
__global__ void roles_kernel(float *x) { // closed by each role
  PROF_OPEN(Kernel);
  if (threadIdx.x < 32) {
    *x += 1;
    PROF_MARK(Step);
    PROF_CLOSE();
  } else {
    PROF_SUM_BEGIN(Sum);
    *x += 2;
    PROF_SUM_END(Sum);
    PROF_CLOSE();
  }
}
__global__ void roles_argument_kernel(prof_buffer buffer, float *x) {
  PROF_OPEN(buffer, Kernel);
  *x += 1;
  PROF_CLOSE();
}
__global__ void roles_chosen_kernel(prof_buffer buffer, float *x) {
  PROF_OPEN_IF(threadIdx.x == 3, buffer, Kernel);
  *x += 1;
  PROF_CLOSE();
}
__global__ void unopened_kernel(float *x) { // marked functions, but no track
  *x = called(inlined(*x), 2);
  PROF_MARK(Step);
}
template <class T> __global__ void template_kernel(T *x) {
  PROF_KERNEL(Kernel);
  T value = x[threadIdx.x];
  {
    PROF_SCOPE(Update, value);
    value = in_template<T, 3>(value);
  }
  PROF_ITER(1);
  PROF_BEGIN(Update);
  PROF_VALUE(Step, value);
  PROF_END(Update);
  PROF_ASYNC_BEGIN(Step, 3);
  PROF_SUM_BEGIN(Update);
  PROF_SUM_END(Update);
  PROF_ASYNC_END(Step, 3);
  PROF_MARK(Step, value);
  x[threadIdx.x] = value;
}
template __global__ void template_kernel<int>(int *);
template __global__ void template_kernel<float>(float *);
template __global__ void template_kernel<double>(double *);
struct holder {
  template <int N> static __device__ void run(float *x) {
    PROF_MARK(Step);
    x[N] += 1;
  }
};
__global__ void member_kernel(float *x) {
  PROF_KERNEL(Kernel);
  holder::run<3>(x);
  const member m = {*x};
  *x = m.apply(*x);
  PROF_MARK(Update);
}

template <class Body> __device__ void apply(Body body, float *x) { body(x); }
__global__ void lambda_kernel(float *x) {
  PROF_KERNEL(Kernel);
  float a = *x;
  auto by_reference = [&] { // has the kernel's own cursor
    a += 1;
    PROF_MARK(Step, a);
  };
  by_reference();
  auto own = [](float *to) {
    PROF_LAMBDA();
    *to *= 2;
    PROF_MARK(Search);
    PROF_SCOPE(Copy);
    *to += 1;
  };
  apply(own, x);
  auto captured = [=](float *to) {
    PROF_LAMBDA();
    *to = a;
    PROF_EVENT(Step);
  };
  apply(captured, x);
  PROF_MARK(Step, a);
}

// ---- values ----

template <class T> __device__ T value_of(const float *x) { return (T)x[threadIdx.x]; }
__global__ void value_kernel(const float *x, float *out) {
  PROF_KERNEL(Kernel);
  PROF_VALUE(Step, value_of<bool>(x));
  PROF_VALUE(Step, value_of<char>(x));
  PROF_VALUE(Step, value_of<signed char>(x));
  PROF_VALUE(Step, value_of<unsigned char>(x));
  PROF_VALUE(Step, value_of<short>(x));
  PROF_VALUE(Step, value_of<unsigned short>(x));
  PROF_VALUE(Step, value_of<int>(x));
  PROF_VALUE(Step, value_of<unsigned>(x));
  PROF_VALUE(Step, value_of<long>(x));
  PROF_VALUE(Step, value_of<unsigned long>(x));
  PROF_VALUE(Step, value_of<long long>(x));
  PROF_VALUE(Step, value_of<unsigned long long>(x));
  PROF_VALUE(Step, value_of<float>(x));
  PROF_VALUE(Step, value_of<double>(x));
  PROF_VALUE(Second::Shared, value_of<int>(x));
  float a = x[1];
  PROF_VALUE(Step, a * 2, a);
  *out = a;
}

struct pod {
  float position[3];
  int index;
};
__global__ void held_kernel(const float *x, float *out) {
  PROF_KERNEL(Kernel);
  const int at = threadIdx.x;
  int i = at * 3;
  unsigned u = at * 5u;
  long l = at * 7l;
  unsigned long ul = at * 9ul;
  long long ll = at * 11ll;
  unsigned long long ull = at * 13ull;
  short s = (short)at;
  unsigned short us = (unsigned short)(at + 1);
  char c = (char)at;
  signed char sc = (signed char)at;
  unsigned char uc = (unsigned char)at;
  bool b = at & 4;
  float f = x[at];
  double d = f * 2.0;
  PROF_MARK(Step, i, u, l, ul, ll, ull, s, us, c, sc, uc, b, f, d);
  __half h = __float2half(f);
  __half2 h2 = __floats2half2_rn(f, f + 1);
  __nv_bfloat16 bf = __float2bfloat16(f);
  __nv_bfloat162 bf2 = __floats2bfloat162_rn(f, f - 1);
  PROF_MARK(Search, h, h2, bf, bf2);
  char2 c2 = make_char2(c, sc);
  short2 s2 = make_short2(s, 1);
  float2 f2 = make_float2(f, 1);
  float3 f3 = make_float3(f, 1, 2);
  float4 f4 = make_float4(f, 1, 2, 3);
  int4 i4 = make_int4(i, 1, 2, 3);
  double2 d2 = make_double2(d, 1);
  PROF_MARK(Step, c2, s2, f2, f3, f4, i4, d2);
  float array[4] = {f, f * 2, f * 3, f * 4};
  double doubles[2] = {d, d * 3};
  __half halves[3] = {h, h, h};
  float square[2][2] = {{f, f + 3}, {f * f, 1}};
  pod p = {{f, f, f}, i};
  PROF_MARK(Search, array, array[1], doubles, halves, square, p);
  const float fixed = f4.x + array[2];
  PROF_MARK(Step, fixed, fixed * 2);
  PROF_BEGIN(Search, f, d);
  f += (float)d;
  PROF_END(Search, f, d);
  enum { red, green } colour = at & 1 ? red : green;
  PROF_MARK(Step, colour, f);
  out[at] = f + (float)d + i + u + l + ul + ll + ull + s + us + c + sc + uc + b + __half2float(h) +
            __low2float(h2) + __bfloat162float(bf) + __low2float(bf2) + c2.x + s2.x + f2.x + f3.z +
            f4.w + i4.w + (float)d2.x + array[3] + (float)doubles[1] + __half2float(halves[2]) +
            square[1][0] + p.position[2] + fixed + colour;
}

int main() {
  plain_kernel<<<1, 32>>>(nullptr, 1);
  return 0;
}
