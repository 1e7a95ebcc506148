// SPDX-License-Identifier: MIT
// Kernels with a leak each, and beside each the same kernel with its values held. What `inkmark verify`
// has to find stands in expected/*.txt, by the name of the kernel and the line's comment.
#include <inkmark/mark.cuh>

PROF_SECTIONS(Leaks, Kernel, First, Second, Third)

__device__ __noinline__ float work(float x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 1.0001f + 0.5f;
  return x;
}

// Chains of fused multiply-adds: 3, 10 and 6; that of Second sinks behind Third, to its store.
extern "C" __global__ void chain_leaks(float *s, int n) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x], y = s[threadIdx.x + 32], z = s[threadIdx.x + 64];
  for (int k = 0; k < 3; k++)
    x = x * 1.03f + 0.125f; // chain of First
  PROF_MARK(First, x);
  for (int k = 0; k < 10; k++)
    y = y * 1.01f + 0.5f; // chain of Second
  PROF_MARK(Second, x);
  for (int k = 0; k < 6; k++)
    z = z * 1.02f + 0.25f; // chain of Third
  PROF_MARK(Third, x);
  s[threadIdx.x] = x;
  s[threadIdx.x + 32] = y;
  s[threadIdx.x + 64] = z;
}

extern "C" __global__ void chain_holds(float *s, int n) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 10; k++)
      x = x * 1.01f + 0.5f;
    PROF_MARK(First, x);
    for (int k = 0; k < 6; k++)
      x = x * 1.02f + 0.25f;
    PROF_MARK(Second, x);
    for (int k = 0; k < 3; k++)
      x = x * 1.03f + 0.125f;
    PROF_MARK(Third, x);
  }
  s[threadIdx.x] = x;
}

// Pure calls: below sm_100 the first is made behind First.
extern "C" __global__ void call_leaks(float *s, int n) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
  for (int i = 0; i < n; i++) {
    x = work(x, 20); // call of First
    PROF_MARK(First);
    x = work(x, 50);
    PROF_MARK(Second);
    __syncthreads();
    x = work(x, 10);
    PROF_MARK(Third);
  }
  s[threadIdx.x] = x;
}

extern "C" __global__ void call_holds(float *s, int n) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
  for (int i = 0; i < n; i++) {
    x = work(x, 20);
    PROF_MARK(First, x);
    x = work(x, 50);
    PROF_MARK(Second, x);
    __syncthreads();
    x = work(x, 10);
    PROF_MARK(Third, x);
  }
  s[threadIdx.x] = x;
}

// A chain that only a branch behind the mark uses: it sinks into the branch.
extern "C" __global__ void sink_leaks(float *s, int flag) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
  for (int k = 0; k < 5; k++)
    x = x * 1.02f + 0.25f; // chain that sinks
  PROF_MARK(First);
  if (flag)
    s[threadIdx.x] = x;
  PROF_MARK(Second);
}

extern "C" __global__ void sink_holds(float *s, int flag) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
  for (int k = 0; k < 5; k++)
    x = x * 1.02f + 0.25f;
  PROF_MARK(First, x);
  if (flag)
    s[threadIdx.x] = x;
  PROF_MARK(Second);
}

// Memory and barriers stay with a plain mark.
extern "C" __global__ void memory_holds(const float *s, float *t, int n) {
  PROF_KERNEL(Kernel);
  __shared__ float tile[256];
  for (int i = 0; i < n; i++) {
    tile[threadIdx.x] = s[i * 256 + threadIdx.x];
    PROF_MARK(First);
    __syncthreads();
    PROF_MARK(Second);
    t[i * 256 + threadIdx.x] = tile[255 - threadIdx.x];
    PROF_MARK(Third);
    __syncthreads();
  }
}

// Nothing of this section is left: its mark is, and so is its neighbour.
extern "C" __global__ void folded_holds(int *s) {
  PROF_KERNEL(Kernel);
  int x = 3;
  x = x * 7 + 1;
  PROF_MARK(First);
  s[threadIdx.x] = x;
  PROF_MARK(Second);
}

// The number of a PROF_ITER is made a word of 64 bits before the loop, with the line of the load.
extern "C" __global__ void row_holds(float *s, const int *row) {
  PROF_KERNEL(Kernel);
  int r = row[blockIdx.x];
  float x = s[threadIdx.x];
  PROF_MARK(First, x);
  while (x < 1e6f) {
    x = x * 1.5f + 2.0f;
    PROF_MARK(Second, x);
    PROF_ITER(r);
    x = x * 2.5f + 1.0f;
    PROF_MARK(Third, x);
  }
  s[threadIdx.x] = x;
}

// The same sign, stored by the user's own code.
extern "C" __global__ void sign_leaks(float *s, const int *row, long long *sums) {
  PROF_KERNEL(Kernel);
  int r = row[blockIdx.x];
  float x = s[threadIdx.x];
  int at = 0;
  PROF_MARK(First, x);
  while (x < 1e6f) {
    x = x * 1.5f + 2.0f;
    PROF_MARK(Second, x);
    sums[at++] = r;
    x = x * 2.5f + 1.0f;
    PROF_MARK(Third, x);
  }
  s[threadIdx.x] = x;
}

// A loop inside of one, with the row of the outer one.
extern "C" __global__ void inner_holds(float *s, int n, int m) {
  PROF_KERNEL(Kernel);
  float x = s[threadIdx.x];
  for (int i = 0; i < n; i++) {
    x = x * 1.5f + 2.0f;
    PROF_MARK(First, x);
    for (int k = 0; k < m; k++) {
      PROF_ITER(i);
      x = x * 2.5f + 1.0f;
      PROF_MARK(Second, x);
    }
    PROF_MARK(Third, x);
  }
  s[threadIdx.x] = x;
}

// Two logic operations that become one behind the mark (sm_90 and newer). Of the first line the move of a constant is left on
// sm_90 and sm_120.
extern "C" __global__ void joined_leaks(unsigned *s, unsigned p) {
  PROF_KERNEL(Kernel);
  unsigned x = s[threadIdx.x];
  PROF_MARK(First, x);
  x = x ^ p; // joined with the next
  PROF_MARK(Second, x);
  x = x & 0x54321u;
  PROF_MARK(Third, x);
  s[threadIdx.x] = x;
}
