// SPDX-License-Identifier: MIT
// Work that compilers like to move past a stamp: pure functions, accumulators, chains. Each kernel's
// sections do known amounts of it. Built marked with held values, verify has to find all of it between
// its stamps; with --hold none, in the kernels that are named `slides_...`, it has to find some that is not.
#define PURE __device__ __noinline__
PURE float pure(float x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 0.75f + 1.f;
  return x;
}
PURE unsigned hash(unsigned h, int n) {
  for (int i = 0; i < n; i++)
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  return h;
}
struct pair {
  float a, b;
};
PURE pair both(float x) { return {x * x + 1.f, x * 3.f}; }

__global__ void slides_calls(float *p, int n) {
  float x = p[threadIdx.x];
#pragma unroll 1
  for (int it = 0; it < n; it++) {
    x = pure(x, 20);
    // prof: mark First
    x = pure(x, 50);
    // prof: mark Second
    __syncthreads();
  }
  p[threadIdx.x] = x;
}
// Two independent chains: each section works on one of them.
__global__ void slides_chains(float *p, int n) {
  float a = p[threadIdx.x];
  float b = p[threadIdx.x + 64];
#pragma unroll 1
  for (int it = 0; it < n; it++) {
    for (int k = 0; k < 10; k++)
      a = a * 1.1f + 0.3f;
    // prof: mark First
    for (int k = 0; k < 6; k++)
      b = b * 2.1f + 0.7f;
    // prof: mark Second
    for (int k = 0; k < 3; k++)
      a = a * 1.4f + 0.3f;
    // prof: mark Third
  }
  p[threadIdx.x] = a;
  p[threadIdx.x + 64] = b;
}
__global__ void slides_exponentials(float *p, int n) {
  float x = p[threadIdx.x], y = p[threadIdx.x + 64];
#pragma unroll 1
  for (int it = 0; it < n; it++) {
    for (int k = 0; k < 8; k++)
      x = __expf(x) * 0.25f;
    // prof: mark First
    for (int k = 0; k < 5; k++)
      y = __expf(y) * 0.5f;
    // prof: mark Second
    x += y;
    // prof: mark Third
  }
  p[threadIdx.x] = x + y;
}
__global__ void slides_accumulators(float *p, int n) {
  float acc[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f};
  float4 v = make_float4(p[0], p[1], p[2], p[3]);
  double d = p[threadIdx.x];
#pragma unroll 1
  for (int it = 0; it < n; it++) {
#pragma unroll
    for (int k = 0; k < 8; k++)
      acc[k] = acc[k] * 0.5f + v.x;
    // prof: mark Accumulate
    for (int k = 0; k < 4; k++)
      v.x = v.x * 0.5f + v.y;
    for (int k = 0; k < 4; k++)
      v.y = v.y * 0.5f + v.z;
    // prof: mark Vector
    for (int k = 0; k < 5; k++)
      d = d * 0.5 + 1.0;
    // prof: mark Double
  }
  float s = v.x + v.y + v.z + (float)d;
#pragma unroll
  for (int k = 0; k < 8; k++)
    s += acc[k];
  p[threadIdx.x] = s;
}
__global__ void slides_hashes(unsigned *p, int n) {
  unsigned h = p[threadIdx.x];
  unsigned other = hash(h, 3);
  // prof: mark Before
#pragma unroll 1
  for (int it = 0; it < n; it++) {
    h = hash(h, 5);
    // prof: mark First
    other = hash(other, 7);
    // prof: mark Second
    h = (h ^ (h >> 13)) * 0x85ebca6bu;
    h = (h ^ (h >> 16)) * 0xc2b2ae35u;
    // prof: mark Third
  }
  p[threadIdx.x] = h + other;
}
template <class T> __global__ void slides_templates(T *p, int n) {
  T x = p[threadIdx.x], list[2] = {p[1], p[2]};
  bool odd = false;
#pragma unroll 1
  for (int it = 0; it < n; it++) {
    for (int k = 0; k < 9; k++)
      x = x * T(3) + T(1);
    odd = x > T(4);
    // prof: mark First
    for (int k = 0; k < 6; k++)
      list[0] = list[0] * T(7) + T(1);
    for (int k = 0; k < 6; k++)
      list[1] = list[1] * T(9) + T(1);
    // prof: mark Second
    for (int k = 0; k < 3; k++)
      x = (odd ? x : list[0]) * T(11) + list[0];
    // prof: mark Third
  }
  p[threadIdx.x] = x + list[1];
}
template __global__ void slides_templates<float>(float *, int);
template __global__ void slides_templates<int>(int *, int);

// Straight-line arithmetic that waits for loads: held in the PTX, moved by ptxas. proof.sh wants it moved
// with --hold auto and in place with --hold strict.
__global__ void waits_for_loads(float *p, int n) {
  float a = p[threadIdx.x], b = p[threadIdx.x + n];
  // prof: mark Load
  a = a * 1.1f + 0.3f;
  a = a * 1.7f + 0.9f;
  a = a * 1.3f + 0.1f;
  // prof: mark First
  b = b * 2.1f + 0.7f;
  b = b * 2.3f + 0.2f;
  b = b * 2.9f + 0.4f;
  // prof: mark Second
  a = a * b + 0.5f;
  a = a * b + 0.6f;
  // prof: mark Third
  p[threadIdx.x] = a;
}

// Marks of the rules themselves: a range around each call, wherever it stands.
__global__ void slides_ranges(float *p, int n) {
  float x = p[threadIdx.x], y = x;
#pragma unroll 1
  for (int it = 0; it < n; it++) {
    x = pure(x, 4);
    const float z = pure(x, 5);
    y = y + pure(y, 6) * pure(z, 7);
    if (pure(y, 8) > 3.f)
      y = pure(y, 9);
    pair q = both(y);
    x = x + q.a;
    y = y + q.b;
  }
  p[threadIdx.x] = x + y;
}
