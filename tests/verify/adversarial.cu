// SPDX-License-Identifier: MIT
// Kernels that tempt the compiler to move work across a mark. adversarial.sh rewrites their marks (plain,
// held as here, strict, loaded) and says what `inkmark verify` has to find in each form.
#include <inkmark/mark.cuh>

PROF_SECTIONS(Adversarial, Kernel, First, Second, Third)

__device__ __forceinline__ float helper(float x) {
  for (int k = 0; k < 6; k++)
    x = x * 1.01f + 0.5f; // inlined helper
  return x;
}

// Used at the very end only: the assembler sinks what is held in PTX.
extern "C" __global__ void sinks(float *s, double *t) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
  double wide = 1.5 * x; // sunk double
  PROF_MARK(First, x, wide);
  int whole = (int)x; // sunk conversion
  PROF_MARK(Second, x, wide, whole);
  x = x * x + 1.0f;
  PROF_MARK(Third, x, wide, whole);
  s[threadIdx.x] = x;
  t[whole & 31] = wide;
}

// A multiply before and an add behind a mark: the assembler makes one instruction of them.
extern "C" __global__ void fuses(float *s, float a, float b) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
  PROF_MARK(First, x);
  x = x * a;
  PROF_MARK(Second, x);
  x = x + b;
  PROF_MARK(Third, x);
  s[threadIdx.x] = x;
}

extern "C" __global__ void two_chains(float *s, int n) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x], y = s[threadIdx.x + 32];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    x = x * 1.01f + 0.5f;
    y = y * 1.02f + 0.5f;
    PROF_MARK(First, x, y);
    x = x * 1.03f + 0.5f;
    y = y * 1.04f + 0.5f;
    PROF_MARK(Second, x, y);
  }
  s[threadIdx.x] = x + y;
}

extern "C" __global__ void exp_chain(float *s, int n) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    x = __expf(x);
    x = __expf(x);
    PROF_MARK(First, x);
    x = __expf(x);
    PROF_MARK(Second, x);
  }
  s[threadIdx.x] = x;
}

extern "C" __global__ void helpers(float *s, int n) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    x = helper(x);
    PROF_MARK(First, x);
    x = helper(x);
    PROF_MARK(Second, x);
  }
  s[threadIdx.x] = x;
}

// Copies of the marks, each with its part of the work.
extern "C" __global__ void unrolled(float *s) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    x = x * 1.01f + 0.5f;
    PROF_MARK(First, x);
    x = x * 1.02f + 0.25f;
    PROF_MARK(Second, x);
  }
  s[threadIdx.x] = x;
}

// Loads of the next round before this round's work.
extern "C" __global__ void pipelined(const float *s, float *t, int n) {
  PROF_KERNEL(Kernel);
  float next = s[threadIdx.x], sum = 0;
#pragma unroll 1
  for (int i = 1; i < n; i++) {
    float now = next;
    next = s[i * 32 + threadIdx.x];
    PROF_MARK(First, now, next);
    sum = sum + now * now;
    sum = sum * 1.5f + now;
    PROF_MARK(Second, sum, next);
  }
  t[threadIdx.x] = sum + next;
}

// Known at compile time: nothing of First is left, and nothing of Second may come before it.
extern "C" __global__ void folded(int *s, int n) {
  PROF_KERNEL(Kernel);
  int x = 6;
  x = x * 7;
  PROF_MARK(First, n);
  s[threadIdx.x] = x + n;
  PROF_MARK(Second, n);
}

// The same in every round: hoisted out of the loop unless what it is made of is held too.
extern "C" __global__ void invariant(float *s, float a, int n) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x], sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    float y = __expf(x * a); // invariant
    PROF_MARK(First, x, y);
    sum = sum + y;
    PROF_MARK(Second, x, sum);
  }
  s[threadIdx.x] = sum;
}

// A mark that is never reached has no clock read, and is said to be removed.
extern "C" __global__ void unreached(float *s) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x] * 2.0f;
  PROF_MARK(First, x);
  if (sizeof(float) == 8)
    PROF_MARK(Second, x); // removed mark
  s[threadIdx.x] = x;
  PROF_MARK(Third, x);
}

// The same mark in both branches and nothing else: two clock reads all the same.
extern "C" __global__ void alike(float *s, int flag) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
  if (flag)
    PROF_MARK(First, x);
  else
    PROF_MARK(First, x);
  s[threadIdx.x + 32] = x;
  PROF_MARK(Second, x);
}
