// SPDX-License-Identifier: MIT
// Strict and loaded marks hand every kind of value on unchanged, in a kernel's body and in a called function.
// Prints how many values differ from those of the same arithmetic without marks.
#include <inkmark/mark.cuh>

#include <cuda_fp16.h>
#include <stdio.h>

PROF_SECTIONS(StrictRuns, Kernel, Body, Loads, Called)

struct values {
  float f, array[3];
  double d;
  int i;
  long long l;
  unsigned char byte;
  short half;
  __half2 pair;
  float4 vector;
  bool flag;
};

__device__ void step(values &v) {
  v.f = v.f * -1.5f;
  v.d = v.d * -2.0;
  v.i = v.i * -7;
  v.l = v.l * 0x7fffffff1ll;
  v.byte = (unsigned char)(v.byte + 131);
  v.half = (short)(v.half - 3);
  v.pair = __hneg2(v.pair);
  v.vector.y = -v.vector.y;
  v.array[1] = -v.array[1];
  v.flag = !v.flag;
}

__device__ __noinline__ float called(float x, unsigned char y) {
  PROF_MARK_STRICT(Called, x, y);
  x = x * -3.0f + y;
  PROF_MARK_LOADED(Called, x, y);
  return x;
}

__device__ values first(const float *from) {
  values v = {};
  const float x = from[threadIdx.x];
  v.f = x, v.d = -x, v.i = (int)x - 9, v.l = (long long)x - 5, v.byte = (unsigned char)x;
  v.half = (short)-x, v.pair = __floats2half2_rn(x, -x), v.vector = make_float4(x, -x, 2 * x, 3 * x);
  v.array[1] = x, v.flag = threadIdx.x & 1;
  return v;
}

__global__ void kernel(const float *from, unsigned *different) {
  PROF_KERNEL(Kernel);
  values v = first(from), w = first(from);
  for (int i = 0; i < 3; i++) {
    step(v);
    PROF_MARK_STRICT(Body, v.f, v.d, v.i, v.l, v.byte, v.half, v.pair, v.vector, v.array, v.flag);
    step(v);
    PROF_MARK_LOADED(Loads, v.f, v.d, v.i, v.l, v.byte, v.half, v.pair, v.vector, v.array, v.flag);
    step(w);
    step(w);
  }
  const float x = called(v.f, v.byte);
  unsigned n = v.f != w.f || x != w.f * -3.0f + w.byte;
  n += v.d != w.d || v.i != w.i || v.l != w.l || v.byte != w.byte || v.half != w.half;
  n += __half22float2(v.pair).y != __half22float2(w.pair).y || v.vector.y != w.vector.y;
  n += v.array[1] != w.array[1] || v.flag != w.flag;
  atomicAdd(different, n);
}

int main() {
  float from[64], *device_from;
  unsigned different = 1, *device_different;
  for (int i = 0; i < 64; i++)
    from[i] = (float)i * 3;
  cudaMalloc((void **)&device_from, sizeof from);
  cudaMalloc((void **)&device_different, sizeof different);
  cudaMemcpy(device_from, from, sizeof from, cudaMemcpyHostToDevice);
  cudaMemset(device_different, 0, sizeof different);
  kernel<<<2, 64>>>(device_from, device_different);
  cudaMemcpy(&different, device_different, sizeof different, cudaMemcpyDeviceToHost);
  printf("%u different\n", different);
  return different != 0 || cudaDeviceSynchronize() != cudaSuccess;
}
