// SPDX-License-Identifier: MIT
// Kernels whose threads have roles, whose ranges go from one thread to another, and which are instances of templates;
// argv[1] says which.
#include "inkmark/mark.cuh"

#include <cstdio>
#include <cstring>

PROF_SECTIONS(Pipe, Body, Producer, Consumer, Tile, Fill, Work, Message, Phase)
PROF_SECTIONS(Ops, Add, Mul, Neg)

constexpr int tiles = 6;

// Thread 0 fills tiles, threads 32 and 64 use them in turn. Block 0 sends block 1 a message.
template <class T, int N> __global__ void pipe(T *out, volatile int *mailbox) {
  __shared__ volatile int full[tiles];
  __shared__ T tile[tiles];
  if (threadIdx.x < tiles)
    full[threadIdx.x] = 0;
  __syncthreads();
  PROF_KERNEL_IF(threadIdx.x % 32 == 0, Body);
  if (threadIdx.x == 0) {
    PROF_ROLE(Producer);
    for (int i = 0; i < tiles; i++) {
      PROF_ITER(i);
      PROF_ASYNC_BEGIN_BLOCK(Tile, i);
      PROF_BEGIN_WITH(Fill, (T)(i + 0.5));
      tile[i] = (T)(i * N);
      __threadfence_block();
      full[i] = 1;
      PROF_END(Fill);
    }
    if (blockIdx.x == 0) {
      PROF_ASYNC_BEGIN_GRID(Message, 77);
      mailbox[0] = 1;
    } else {
      while (!mailbox[0])
        ;
      PROF_ASYNC_END_GRID(Message, 77);
    }
  } else if (threadIdx.x % 32 == 0) {
    PROF_ROLE(Consumer);
    T sum = 0;
    for (int i = threadIdx.x / 32 - 1; i < tiles; i += 2) {
      PROF_ITER(i);
      while (!full[i])
        ;
      PROF_ASYNC_END_BLOCK(Tile, i);
      sum += tile[i];
      PROF_MARK(Work, sum);
    }
    atomicAdd((float *)out + blockIdx.x, (float)sum);
  }
}

// A PROF_KERNEL for each role.
__global__ void apart(int *out) {
  if (threadIdx.x < 32) {
    PROF_KERNEL_IF(threadIdx.x == 0, Producer);
    out[threadIdx.x] = 1;
    PROF_MARK(Fill);
  } else {
    PROF_KERNEL_IF(threadIdx.x == 32, Consumer);
    out[threadIdx.x] = 2;
    PROF_MARK(Work);
  }
}

__device__ __noinline__ void opened_again(int *out, int i) {
  PROF_KERNEL(Phase);
  out[threadIdx.x] += i;
  PROF_MARK(Work);
}
__global__ void phases(int *out) {
  for (int i = 0; i < 3; i++)
    opened_again(out, i);
}

// Sections that are known at run time; the last one is in no table.
__global__ void tasks(const int *ops, int n, int *out) {
  PROF_KERNEL(Body);
  for (int i = 0; i < n; i++) {
    out[0] += ops[i];
    PROF_MARK_ID(Ops, ops[i]);
    PROF_MARK_ID(Pipe, (long long)ops[i]);
  }
}

template <class A, class B> struct both {};
template <int N> struct deep { using type = both<typename deep<N - 1>::type, typename deep<N - 1>::type>; };
template <> struct deep<0> { using type = int; };
template <class T> __global__ void long_name(int *out) {
  PROF_KERNEL(Body);
  out[0] = 1;
  PROF_MARK(Work);
}

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  int *memory, ops[] = {0, 2, 1, 3, -1, 0};
  cudaMalloc(&memory, 1 << 16);
  cudaMemset(memory, 0, 1 << 16);
  int *mailbox = memory + 1024, *other = memory + 2048, *in = memory + 4096;
  cudaMemcpy(in, ops, sizeof ops, cudaMemcpyHostToDevice);
  if (!strcmp(which, "pipe")) {
    pipe<float, 4><<<2, 96>>>((float *)memory, mailbox);
    pipe<double, 400><<<2, 96>>>((double *)other, mailbox + 1);
    pipe<float, 4><<<2, 96>>>((float *)memory, mailbox + 2);
  } else if (!strcmp(which, "apart")) {
    apart<<<1, 64>>>(memory);
  } else if (!strcmp(which, "phases")) {
    phases<<<1, 32>>>(memory);
  } else if (!strcmp(which, "tasks")) {
    tasks<<<1, 32>>>(in, 6, memory);
  } else if (!strcmp(which, "long")) {
    long_name<deep<11>::type><<<1, 32>>>(memory);
    long_name<deep<2>::type><<<1, 32>>>(memory);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  float sums[2] = {0, 0};
  cudaMemcpy(sums, memory, sizeof sums, cudaMemcpyDeviceToHost);
  if (!strcmp(which, "pipe") && (sums[0] != 120 || sums[1] != 120))
    return printf("sums are %g and %g\n", sums[0], sums[1]), 1;
  return error ? 1 : 0;
}
