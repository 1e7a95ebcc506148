// SPDX-License-Identifier: MIT
// Kernels of which it is known what a report must say: cases NAME.
#include <inkmark/mark.cuh>

#include <cstdio>
#include <cstdlib>
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

// As who writes device functions only does it: numba's and Warp's users.
__device__ __noinline__ float opens(float x) {
  PROF_KERNEL(Kern);
  x = turn(x, 20);
  PROF_MARK(Work, x);
  return x;
}

__global__ void in_function(float *d) {
  for (int i = 0; i < 3; i++)
    d[threadIdx.x] = opens(d[threadIdx.x] + i);
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

// One warp of four works ten times as long; the others wait for it at the barrier.
__global__ void barrier(float *d) {
  PROF_KERNEL(Kern);
  float x = threadIdx.x;
  for (int i = 0; i < 5; i++) {
    x = turn(x, threadIdx.x / 32 == 2 ? 400 : 40);
    PROF_MARK(Work, x);
    __syncthreads();
    PROF_MARK(ConsWaitFull);
  }
  d[threadIdx.x] = x;
}

__global__ void three(float *d, int prep, int work, int epilogue) {
  PROF_KERNEL(Kern);
  float x = turn(threadIdx.x, prep);
  PROF_MARK(Prep, x);
  x = turn(x, work);
  PROF_MARK(Work, x);
  x = turn(x, epilogue);
  PROF_MARK(Epilogue, x);
  d[threadIdx.x] = x;
}

// As long as `mean`, give or take 3 %: the sum of twelve draws is nearly normal.
static int shaken(unsigned long long *random, int mean) {
  double sum = -6;
  for (int i = 0; i < 12; i++) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    sum += (double)(*random >> 40) / (1 << 24);
  }
  return (int)(mean * (1 + 0.03 * sum) + 0.5);
}

static void shaky(float *d, unsigned long long seed, double factor) {
  unsigned long long random = seed * 0x9e3779b97f4a7c15u + 1;
  for (int i = 0; i < 20; i++) {
    const int prep = shaken(&random, 200), work = shaken(&random, (int)(500 * factor)), epilogue = shaken(&random, 300);
    three<<<4, 32>>>(d, prep, work, epilogue);
  }
}

// Three kernels of a graph, launched so often.
static void graph(float *d, int replays) {
  cudaStream_t stream;
  cudaGraph_t captured;
  cudaGraphExec_t exec;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 1; i <= 3; i++)
    even<<<2, 32, 0, stream>>>(d, 10 * i);
  cudaStreamEndCapture(stream, &captured);
  cudaGraphInstantiate(&exec, captured, 0);
  even<<<1, 32, 0, stream>>>(d, 5);
  for (int i = 0; i < replays; i++)
    cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
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
  } else if (!strcmp(name, "function")) {
    for (int i = 0; i < 2; i++)
      in_function<<<2, 32>>>(d);
  } else if (!strcmp(name, "roles")) {
    roles<<<2, 64>>>(d, 20);
  } else if (!strcmp(name, "barrier")) {
    barrier<<<1, 128>>>(d);
  } else if (!strcmp(name, "devices")) {
    on_every_device();
  } else if (!strcmp(name, "instances")) {
    instance<float, 4><<<4, 32>>>(d);
    instance<double, 40><<<4, 32>>>((double *)d);
    instance<int, 4><<<4, 32>>>((int *)d);
  } else if (!strcmp(name, "graph")) {
    graph(d, 5);
  } else if (!strcmp(name, "shaky") && argc > 3) {
    shaky(d, strtoull(argv[2], NULL, 10), atof(argv[3]));
  } else {
    fprintf(stderr, "no case '%s'\n", name);
    return 2;
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
