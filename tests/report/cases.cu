// SPDX-License-Identifier: MIT
// Kernels of which it is known what a report must say: cases NAME.
#include <inkmark/mark.cuh>

#include <cstdio>
#include <cstring>

PROF_SECTIONS(Cases, Kern, Prep, Work, Outer, Inner, Call, ProdWaitEmpty, ProdLoad, ConsWaitFull, ConsMma, Epilogue)

__device__ float turn(float x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 0.5f + 1;
  return x;
}

__global__ void even(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = turn(threadIdx.x, n);
  PROF_MARK(Work, x);
  d[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void uneven(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = turn(threadIdx.x, blockIdx.x < gridDim.x / 3 ? 100 * n : n);
  PROF_MARK(Work, x);
  d[threadIdx.x] = x;
}

template <typename T, int N> __global__ void instance(T *d) {
  PROF_KERNEL(Kern);
  T x = T(threadIdx.x);
  for (int i = 0; i < N; i++)
    x = x / 2 + 1;
  PROF_MARK(Work);
  d[threadIdx.x] = x;
}

__global__ void loop(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = threadIdx.x;
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    x = turn(x, 5);
    PROF_MARK(Work, x);
  }
  d[threadIdx.x] = x;
}

__global__ void nested(float *d) {
  PROF_KERNEL(Kern);
  float x = threadIdx.x;
  PROF_BEGIN(Outer);
  x = turn(x, 50);
  PROF_BEGIN(Inner, x);
  x = turn(x, 100);
  PROF_END(Inner, x);
  PROF_END(Outer, x);
  d[threadIdx.x] = x;
}

__device__ __noinline__ float called(float x, int n) {
  for (int i = 0; i < n; i++) {
    x = x * 0.99f + 1;
    PROF_MARK(Inner, x);
  }
  return x;
}

__global__ void passes(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = d[threadIdx.x];
  PROF_MARK(Prep, x);
  for (int i = 0; i < 5; i++) {
    PROF_ITER(i);
    x = called(x, n);
    PROF_MARK(Call, x);
  }
  d[threadIdx.x] = x;
}

// A ring of two stages: the producer is four times as fast as the consumer.
__global__ void roles(float *d, int n) {
  __shared__ volatile int full[2], empty[2];
  if (threadIdx.x < 2) {
    full[threadIdx.x] = 0;
    empty[threadIdx.x] = 1;
  }
  __syncthreads();
  PROF_KERNEL(Kern);
  const bool first = threadIdx.x % 32 == 0;
  float x = 0;
  for (int i = 0; i < n; i++) {
    const int s = i & 1;
    volatile int *awaited = threadIdx.x < 32 ? &empty[s] : &full[s];
    volatile int *given = threadIdx.x < 32 ? &full[s] : &empty[s];
    PROF_ITER(i);
    if (threadIdx.x < 32)
      PROF_BEGIN(ProdWaitEmpty);
    else
      PROF_BEGIN(ConsWaitFull);
    while (*awaited == 0) {
    }
    if (threadIdx.x < 32)
      PROF_END(ProdWaitEmpty);
    else
      PROF_END(ConsWaitFull);
    __syncwarp();
    if (first)
      *awaited = 0;
    __syncwarp();
    if (threadIdx.x < 32) {
      PROF_BEGIN(ProdLoad);
      d[threadIdx.x] = turn(i, 50);
      PROF_END(ProdLoad);
    } else {
      PROF_BEGIN(ConsMma);
      x = turn(x, 200);
      PROF_END(ConsMma, x);
    }
    __syncwarp();
    if (first)
      *given = 1;
    __syncwarp();
  }
  if (threadIdx.x >= 32)
    d[threadIdx.x] = x;
}

static void on_every_device() {
  int n;
  cudaGetDeviceCount(&n);
  for (int r = 0; r < 2; r++)
    for (int i = 0; i < n; i++) {
      float *d;
      cudaSetDevice(i);
      cudaMalloc(&d, 4096);
      even<<<4, 32>>>(d, 100 * (i + 1));
    }
  for (int i = 0; i < n; i++) {
    cudaSetDevice(i);
    cudaDeviceSynchronize();
  }
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  float *d;
  cudaMalloc(&d, 65536 * 4);
  cudaMemset(d, 0, 65536 * 4);
  if (!strcmp(name, "launches")) {
    for (int r = 0; r < 10; r++)
      even<<<16, 32>>>(d, r < 9 ? 10 : 1000);
  } else if (!strcmp(name, "loop")) {
    loop<<<1, 32>>>(d, 20000);
  } else if (!strcmp(name, "sampled")) {
    uneven<<<600, 32>>>(d, 2);
  } else if (!strcmp(name, "tail")) {
    even<<<17, 32>>>(d, 1000);
  } else if (!strcmp(name, "nested")) {
    nested<<<1, 32>>>(d);
  } else if (!strcmp(name, "passes")) {
    passes<<<3, 64>>>(d, 7);
  } else if (!strcmp(name, "roles")) {
    roles<<<2, 64>>>(d, 20);
  } else if (!strcmp(name, "devices")) {
    on_every_device();
  } else if (!strcmp(name, "instances")) {
    instance<float, 4><<<4, 32>>>(d);
    instance<double, 40><<<4, 32>>>((double *)d);
    instance<int, 4><<<4, 32>>>((int *)d);
  } else {
    fprintf(stderr, "no case '%s'\n", name);
    return 2;
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
