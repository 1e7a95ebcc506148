/* SPDX-License-Identifier: MIT */
/* Kernels of machine_memory_test.c: spaces, initialisers, atomics, printf, malloc, failures. */
#include <assert.h>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <stdint.h>
#include <stdio.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

struct entry {
  const char *name;
  int values[3];
  double weight;
};
__device__ const char word[] = "word";
__constant__ entry entries[2] = {{"first", {1, 2, 3}, 0.5}, {word, {-4, 5, 6}, -2.25}};
__device__ int counters[4] = {10, 20, 30};
__device__ int *inside = &counters[2];
__constant__ float2 pairs[3] = {{1.5f, 2.5f}, {3.5f, 4.5f}, {5.5f, 6.5f}};

KERNEL initialisers(int *out)
{
  int k = 0;
  for (int e = 0; e < 2; e++) {
    for (const char *c = entries[e].name; *c; c++) out[k++] = *c;
    for (int i = 0; i < 3; i++) out[k++] = entries[e].values[i];
    out[k++] = (int)(entries[e].weight * 100);
  }
  out[k++] = counters[0] + counters[1] + counters[3];
  out[k++] = *inside;
  out[k++] = (int)(pairs[2].y * 2);
  counters[1] = 99;
}

KERNEL vectors(const float4 *in, float4 *out, const short4 *s, short4 *t, const double2 *d,
               double2 *e, const uchar4 *u, uchar4 *v)
{
  const uint32_t i = THREAD;
  float4 x = in[i];
  out[i] = make_float4(x.w, x.z, x.y, x.x);
  short4 y = s[i];
  t[i] = make_short4(y.y, y.x, y.w, y.z);
  double2 z = d[i];
  e[i] = make_double2(z.y, z.x);
  uchar4 w = u[i];
  v[i] = make_uchar4(w.z, w.w, w.x, w.y);
}

KERNEL local_arrays(const int *in, int *out)
{
  int a[40];
  for (int i = 0; i < 40; i++) a[i] = in[i] * 3 + (int)threadIdx.x;
  int s = 0;
  for (int i = 0; i < 40; i++) s = s * 7 + a[(in[i] + threadIdx.x) % 40];
  out[THREAD] = s;
}

KERNEL shared_layout(uint32_t *out)
{
  __shared__ uint64_t wide[3];
  __shared__ uint8_t narrow[5];
  extern __shared__ uint32_t rest[];
  if (threadIdx.x == 0) {
    out[0] = (uint32_t)__cvta_generic_to_shared(wide);
    out[1] = (uint32_t)__cvta_generic_to_shared(narrow);
    out[2] = (uint32_t)__cvta_generic_to_shared(rest);
    uint32_t dynamic, all;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
    asm("mov.u32 %0, %%total_smem_size;" : "=r"(all));
    out[3] = dynamic;
    out[4] = all;
    wide[2] = 1;
    narrow[4] = 2;
    rest[7] = 3;
    out[5] = (uint32_t)wide[2] + narrow[4] + rest[7];
    out[6] = __isShared(rest) + 2 * __isGlobal(out) + 4 * __isShared(out) + 8 * __isLocal(rest);
  }
}

KERNEL no_shared(uint32_t *out) { out[0] = 1; }

KERNEL leave_bytes(uint32_t *out, uint32_t value)
{
  __shared__ uint32_t s[64];
  out[blockIdx.x] = s[5];
  s[5] = value + blockIdx.x;
}

KERNEL atomics(uint32_t *u, uint64_t *l, float *f, double *d, __half2 *h, __nv_bfloat162 *b,
               uint16_t *s)
{
  const uint32_t i = THREAD;
  atomicAdd(u, i);
  atomicMax(u + 1, i * 37 % 101);
  atomicMin((int *)u + 2, (int)(i * 37 % 101) - 50);
  atomicInc(u + 3, 9);
  atomicDec(u + 4, 9);
  atomicXor(u + 5, i * 0x9e3779b9u);
  atomicOr(u + 6, 1u << (i % 32));
  atomicAnd(u + 7, ~(1u << (i % 31)));
  u[16 + i] = atomicExch(u + 8, i + 1);
  uint32_t old = u[9], seen;
  do {
    seen = old;
    old = atomicCAS(u + 9, seen, seen * 3 + 1);
  } while (old != seen);
  atomicAdd((unsigned long long *)l, (unsigned long long)i << 33);
  atomicMax((long long *)l + 1, (long long)i - 100);
  atomicCAS((unsigned long long *)l + 2, 5ull, 1ull << 50);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(b, __floats2bfloat162_rn(1.0f, -1.0f));
  if (i < 10) atomicCAS(s + 1, (unsigned short)(i), (unsigned short)(i + 1));
  __shared__ uint32_t count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 2u);
  atomicAdd_block(&count, 1u);
  __syncthreads();
  if (threadIdx.x == 0) u[10 + blockIdx.x] = count;
}

KERNEL vector_atomics(float2 *f, float4 *old)
{
#if __CUDA_ARCH__ >= 900
  const uint32_t i = THREAD;
  atomicAdd(f, make_float2(1.0f, 0.5f));
  float4 x = atomicAdd((float4 *)f + 1, make_float4(1.0f, 2.0f, 3.0f, 4.0f));
  old[i] = x;
#endif
}

KERNEL prints(int n)
{
  if (threadIdx.x < n) {
    printf("%d|%5u|%-4d|%x|%lld|%c|%s|%.3f|%e|%%|%08.2f|%*d\n", (int)threadIdx.x - 1, 7u, 3, 255,
           (long long)1 << 40, 'z', word, 1.5f, 12345.678, -3.14159, 6, 42);
    printf("plain\n");
  }
}

KERNEL heap(uint32_t *out)
{
  uint32_t *p = (uint32_t *)malloc(4 * 16);
  for (int i = 0; i < 16; i++) p[i] = THREAD * 100 + i;
  uint32_t *q = new uint32_t[4];
  q[3] = p[15];
  out[THREAD] = q[3];
  free(p);
  delete[] q;
}

KERNEL copies(const uint32_t *in, uint32_t *out)
{
  __shared__ __align__(16) uint32_t s[256], t[256];
  const uint32_t i = threadIdx.x;
  __pipeline_memcpy_async(&s[i * 4], &in[i * 4], 16);
  __pipeline_memcpy_async(&t[i * 4], &in[i * 4], 16, 8); /* the last 8 bytes become zeros */
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = 0; k < 4; k++) out[i * 4 + k] = s[255 - (i * 4 + k)] + t[i * 4 + k] * 1000;
}

KERNEL phases(uint32_t *out)
{
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ uint32_t s[64];
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  uint32_t x = threadIdx.x;
  for (int k = 0; k < 5; k++) {
    s[threadIdx.x] = x;
    b.arrive_and_wait();
    x = s[(threadIdx.x + 1) % 64] + k;
    b.arrive_and_wait();
  }
  out[threadIdx.x] = x;
}

KERNEL whole_grid(uint32_t *sums, uint32_t *out)
{
  atomicAdd(sums, THREAD);
  cooperative_groups::this_grid().sync();
  out[THREAD] = sums[0];
}

KERNEL out_of_bounds(uint32_t *p) { p[THREAD] = 1; }
KERNEL read_null(uint32_t *p) { p[0] = *(volatile uint32_t *)16; }
KERNEL misaligned(char *p) { *(volatile uint32_t *)(p + threadIdx.x * 4 + 2) = 1; }
KERNEL shared_out(uint32_t *p)
{
  __shared__ uint32_t s[4];
  s[threadIdx.x] = 1;
  __syncthreads();
  p[0] = s[0];
}
KERNEL asserts(uint32_t *p) { assert(threadIdx.x + p[0] != 5 && "five"); }
KERNEL traps(uint32_t *p)
{
  if (threadIdx.x == 3) __trap();
  p[0] = 1;
}
__device__ __noinline__ uint32_t deep(uint32_t n) { return n == 0 ? 0 : deep(n + 1) * 3 + n; }
KERNEL overflow(uint32_t *p) { p[0] = deep(p[1] + 1); }
KERNEL bad_call(uint32_t **p)
{
  typedef void (*function)(uint32_t *);
  ((function)p[0])(p[1]);
}
KERNEL unsupported(uint32_t *p) {
  asm volatile("vabsdiff2.u32.u32.u32 %0, %0, %0, %0;" : "+r"(*p));
}
