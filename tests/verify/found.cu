// SPDX-License-Identifier: MIT
// What verify once said wrongly, each as a kernel of its own: found.sh has what it has to say.
#include "inkmark/mark.cuh"

#include <cstdio>

PROF_SECTIONS(Found, Kernel, First, Second, Third, Fourth)

// The line of the last two marks has two more statements; the chain sinks to the last of them.
extern "C" __global__ void one_line(float *values, unsigned *keys) {
  PROF_KERNEL(Kernel);
  float value = values[threadIdx.x];
  unsigned key = keys[threadIdx.x];
  PROF_MARK(First, value, key);
  key = key * 2246822519u; // sinks: product
  key ^= key >> 13; // sinks: mix
  PROF_MARK(Second, value, key);
  values[threadIdx.x] = value; PROF_MARK(Third, value, key); keys[threadIdx.x] = key; PROF_MARK(Fourth);
}

// Nothing is left between the last two marks, and the line table gives both clock reads to the first.
extern "C" __global__ void neighbours(float *values) {
  PROF_KERNEL(Kernel);
  float a = values[threadIdx.x + 32], b = values[threadIdx.x];
  PROF_MARK(First);
  a = a * 2.5f + 0.25f;
  a = a * 1.25f + a;
  PROF_MARK(Second);
  b = b * 3.0f + a;
  PROF_MARK(Third);
  values[threadIdx.x] = b;
}

// Work of opcodes that mostly make addresses: bytes, uniform registers, sums.
extern "C" __global__ void permutes(unsigned *words) {
  PROF_KERNEL(Kernel);
  unsigned a = words[threadIdx.x], b = words[threadIdx.x + 32], c = words[threadIdx.x + 64];
  PROF_MARK(First);
  b = __byte_perm(b, c, 0x2143); b = __byte_perm(b, a, 0x6172); b = __byte_perm(b, c, 0x0527); // sinks: bytes
  PROF_MARK(Second);
  a = words[threadIdx.x + 96] * 5u;
  PROF_MARK(Third, a);
  words[threadIdx.x] = a;
  words[threadIdx.x + 32] = b;
}

extern "C" __global__ void uniforms(float *values, float a, float b) {
  PROF_KERNEL(Kernel);
  float u = a;
  PROF_MARK(First);
  u = u * b + 1.5f; u = u * b + 2.5f; u = u * b + 3.5f; // sinks: uniform
  PROF_MARK(Second);
  float value = values[threadIdx.x] + 1.0f;
  PROF_MARK(Third, value);
  values[threadIdx.x + 32] = value + u;
}

extern "C" __global__ void sums(unsigned *words) {
  PROF_KERNEL(Kernel);
  unsigned a = words[threadIdx.x], b = words[threadIdx.x + 32], c = words[threadIdx.x + 64];
  PROF_MARK(First);
  b = b + c; // sinks: sum
  PROF_MARK(Second);
  a = words[threadIdx.x + 96] * 5u;
  PROF_MARK(Third, a);
  words[threadIdx.x] = a;
  words[threadIdx.x + 32] = b;
}

// An intrinsic of CUDA's headers: the user's line is what is shown, and once.
extern "C" __global__ void intrinsics(int *words, int p) {
  PROF_KERNEL(Kernel);
  int a = words[threadIdx.x], b = words[threadIdx.x + 32];
  PROF_MARK(First);
  b = __dp4a(b, p, a) * 3; b = __dp4a(b, a, p); // sinks: intrinsic
  PROF_MARK(Second);
  a = words[threadIdx.x + 96] + 1;
  PROF_MARK(Third, a);
  words[threadIdx.x] = a;
  words[threadIdx.x + 32] = b;
}

// Marks of macros: their text is in the #define. Each call's line has work and a mark; only the first call's work sinks.
#define STEP(section, v) v = v * 2246822519u + 5u; v ^= v >> 13; PROF_MARK(section)
#define BRACED(section, ...) do { __VA_ARGS__; PROF_MARK(section); } while (0)
#define NAMED BRACED(Third, a = a * 7u)
extern "C" __global__ void macros(unsigned *words, unsigned by) {
  PROF_KERNEL(Kernel);
  unsigned a = words[threadIdx.x], b = words[threadIdx.x + 32];
  PROF_MARK(First);
  STEP(Second, b); // sinks: step
  NAMED;
  words[threadIdx.x] = a;
  words[threadIdx.x + 32] = b;
}

extern "C" __global__ void braced(unsigned *words, unsigned by) {
  PROF_KERNEL(Kernel);
  unsigned a = words[threadIdx.x], b = words[threadIdx.x + 32];
  BRACED(First, a += 0);
  BRACED(Second, b = b * by + 3u, b ^= b >> 7); // sinks: braces
  BRACED(Third, a = a * 7u);
  words[threadIdx.x] = a;
  words[threadIdx.x + 32] = b;
}

// Nothing tells which of the line's code belongs where: "all held" would be too much.
extern "C" __global__ void crowded(float *values, float by) {
  PROF_KERNEL(Kernel);
  float a = values[threadIdx.x], b = values[threadIdx.x + 32];
  PROF_MARK(First); b = b > by ? b * 3.5f + by : b * 2.25f - by; PROF_MARK(Second); a = a * by; PROF_MARK(Third, a);
  values[threadIdx.x] = a;
  values[threadIdx.x + 32] = b;
}

// The name of a mark is made of two words: no text says which mark it is, and the line table gives the reads of neighbours to the first.
#define JOINED(a, b) a##b
extern "C" __global__ void pasted(unsigned *words, unsigned by) {
  PROF_KERNEL(Kernel);
  unsigned a = words[threadIdx.x], b = words[threadIdx.x + 32];
  PROF_MARK(JOINED(Fir, st));
  b = b * by + 9u;
  PROF_MARK(JOINED(Sec, ond));
  a = a * 11u;
  PROF_MARK(JOINED(Thi, rd));
  words[threadIdx.x] = a;
  words[threadIdx.x + 32] = b;
}

// A mark in a string is none, and neither is one behind "//" in one.
extern "C" __global__ void quoted(unsigned *words, unsigned by) {
  PROF_KERNEL(Kernel);
  unsigned a = words[threadIdx.x];
  PROF_MARK(First);
  if (a == by) printf("https://PROF_MARK(Fourth) \" %c\n", '"'); PROF_MARK(Second);
  a = a * 11u;
  PROF_MARK(Third, a);
  words[threadIdx.x] = a;
}

// Part of the body stands in another file.
extern "C" __global__ void included(unsigned *words, unsigned by) {
  PROF_KERNEL(Kernel);
  unsigned a = words[threadIdx.x], b = words[threadIdx.x + 32];
  PROF_MARK(First);
#include "found.inc"
  a = a * 7u;
  PROF_MARK(Third);
  words[threadIdx.x] = a;
  words[threadIdx.x + 32] = b;
}

// The address of the frame that printf reads is made in two halves, of no line of the source.
extern "C" __global__ void prints(float *values, float by) {
  PROF_KERNEL(Kernel);
  float a = values[threadIdx.x];
  PROF_MARK(First);
  if (a > by) printf("%f\n", a);
  PROF_MARK(Second);
  a = a * 3.0f + by;
  PROF_MARK(Third, a);
  values[threadIdx.x] = a;
}

// The table lends the store of a mark the line of the loop.
extern "C" __global__ void own_store(unsigned *words, unsigned by, int n) {
  PROF_KERNEL(Kernel);
  unsigned a = words[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    PROF_MARK(First);
    a = a * by + 41u;
    PROF_MARK_LOADED(Second, a);
    a = (a ^ 5u) * by + 9u;
    PROF_MARK_LOADED(Third, a);
  }
  words[threadIdx.x] = a;
}

#if __CUDA_ARCH__ >= 900
// The retry loops of two waits stand at the function's end, with one call's line.
__device__ __forceinline__ void wait_for(unsigned barrier, int phase) {
  asm volatile("{.reg .pred there;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1, %2;\n"
               "@there bra.uni done;\n"
               "bra.uni again;\n"
               "done:}" ::"r"(barrier), "r"(phase), "r"(0x989680) : "memory");
}

extern "C" __global__ void waits(float *values, int n) {
  PROF_KERNEL(Kernel);
  extern __shared__ float stage[];
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    wait_for(8 * (i & 3), i & 1);
    PROF_MARK(First);
    values[i] = stage[i];
    PROF_MARK(Second);
    if (threadIdx.x == 0 && i < n - 3) {
      wait_for(32 + 8 * (i & 3), i & 1);
      stage[i + n] = values[i + n];
    }
    PROF_MARK(Third);
  }
}
#endif
