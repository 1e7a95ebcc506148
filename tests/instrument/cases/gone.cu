// Called functions that wait in their loops: the default goes into them, if each of their calls can give the kernel's context.
#include <cassert>

__device__ void pause(int *flag) {
  while (atomicAdd(flag, 0) == 0)
    ;
}

struct Ring {
  int *flags;
  __device__ void take(float *p, int n);
  __device__ void give(float *p, int n) {
    assert(n >= 0);
    for (int i = 0; i < n; i++) {
      pause(flags + i);
      p[i] *= 2;
    }
  }
};

// defined outside of its class
__device__ void Ring::take(float *p, int n) {
  for (int i = 0; i < n; i++) {
    pause(flags + i);
    p[i] += 1;
  }
}

// one call further down, and a wait before the loop
__device__ float twice(Ring &ring, float *p, int n) {
  __syncthreads();
  ring.take(p, n);
  return p[0];
}

// in the loops of two kernels: the sums of each would need slots of their own
__device__ void shared_by_two(int *flag, float *p, int n) {
  for (int i = 0; i < n; i++) {
    pause(flag);
    p[i] -= 1;
  }
}

// before a loop and in it
__device__ void around(int *flag, float *p, int n) {
  for (int i = 0; i < n; i++) {
    pause(flag);
    p[i] -= 2;
  }
}

// its address is taken: that call has no context, and no marks
__device__ void taken(int *flag, float *p, int n) {
  for (int i = 0; i < n; i++) {
    pause(flag);
    p[i] -= 3;
  }
}

// only through a function that waits in a loop itself and cannot have a context
__device__ __noinline__ void apart(int *flag, float *p, int n) {
  for (int i = 0; i < n; i++) {
    pause(flag);
    p[i] -= 4;
  }
}

__device__ void turned(int *flag, float *p, int n) {
#pragma unroll
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < n; i++) {
      pause(flag);
      p[i] -= 5;
    }
}

__global__ void persistent(Ring ring, float *p, int n, int tiles) {
  for (int tile = 0; tile < tiles; tile++) {
    twice(ring, p + tile, n);
    ring.give(p + tile, n);
    shared_by_two(ring.flags, p, n);
  }
}

__global__ void second(int *flag, float *p, int n) {
  around(flag, p, n);
  for (int k = 0; k < n; k++) {
    shared_by_two(flag, p + k, n);
    around(flag, p, k);
  }
  void (*chosen)(int *, float *, int) = taken;
  taken(flag, p, n);
  chosen(flag, p, n);
  apart(flag, p, n);
#pragma unroll
  for (int k = 0; k < 4; k++)
    turned(flag, p + k, n);
}

// called once, with roles inside
__device__ void parts(Ring &ring, float *p, int n) {
  if (threadIdx.x / 32 == 0) {
    ring.take(p, n);
  } else if (threadIdx.x / 32 == 1) {
    ring.give(p, n);
  }
}

__global__ void split(Ring ring, float *p, int n) {
  __syncthreads();
  p[n] = 0;
  parts(ring, p, n);
}

__global__ void split_too(Ring ring, float *p, int n) {
  __syncthreads();
  p[n] = 1;
  parts(ring, p, n);
}

// has no roles, whatever the others have
__global__ void apart_from_them(float *p, int n) {
  for (int i = 0; i < n; i++)
    p[i] += p[i + 1];
}
