/* SPDX-License-Identifier: MIT */
/* Kernels of machine_warp_test.c: control flow, warp operations, barriers. Every one writes what a
 * plain C model can say beforehand. */
#include <stdint.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL branches(uint32_t *out, uint32_t *masks)
{
  const uint32_t i = THREAD;
  uint32_t x = i * 2654435761u;
  if (x & 1) {
    x = x * 3 + 1;
    if (x & 8)
      x ^= 0x55;
    else
      x += 7;
  } else if (x & 4) {
    x >>= 3;
  }
  masks[i] = __activemask(); /* together again */
  out[i] = x;
}

KERNEL loops(uint32_t *out, uint32_t *masks)
{
  const uint32_t i = THREAD;
  uint32_t n = i, steps = 0;
  if (i % 7 == 3) {
    out[i] = 12345;
    return;
  }
  while (n > 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    steps++;
    if (steps > 60) break;
    if (n % 5 == 0) continue;
    steps += n % 3;
  }
  masks[i] = __activemask();
  out[i] = steps;
}

KERNEL cases(uint32_t *out)
{
  const uint32_t i = THREAD;
  uint32_t x = i;
  switch (i % 11) {
    case 0: x += 5; break;
    case 1: x *= 3; break;
    case 2: x ^= 99;
    case 3: x -= 1; break;
    case 4: x <<= 2; break;
    case 5: out[i] = 7; return;
    case 6: x = ~x; break;
    case 7: x = x * x; break;
    default: x = 0; break;
  }
  out[i] = x;
}

__device__ __noinline__ uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ uint32_t ackermann(uint32_t m, uint32_t n)
{
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ uint32_t twice(uint32_t x) { return x * 2; }
__device__ __noinline__ uint32_t plus(uint32_t x) { return x + 17; }
__device__ __noinline__ uint32_t nested(uint32_t x) { return fib(x & 7) + twice(x); }
typedef uint32_t (*function)(uint32_t);
__device__ function table[3] = {twice, plus, nested};

struct shape {
  uint32_t side;
  __device__ explicit shape(uint32_t s) : side(s) {}
  __device__ virtual uint32_t area() const = 0;
};
struct square : shape {
  __device__ explicit square(uint32_t s) : shape(s) {}
  __device__ uint32_t area() const override { return side * side; }
};
struct cube : shape {
  __device__ explicit cube(uint32_t s) : shape(s) {}
  __device__ uint32_t area() const override { return 6 * side * side; }
};
struct big {
  uint32_t v[9];
};
__device__ __noinline__ big fill(uint32_t x)
{
  big b;
  for (int i = 0; i < 9; i++) b.v[i] = x + i * i;
  return b;
}
__device__ __noinline__ uint32_t total(big b, int8_t c)
{
  uint32_t s = c;
  for (int i = 0; i < 9; i++) s += b.v[i];
  return s;
}

KERNEL calls(uint32_t *out)
{
  const uint32_t i = THREAD;
  square s(i);
  cube c(i);
  const shape *shapes[2] = {&s, &c};
  out[i * 5] = fib(i % 12);
  out[i * 5 + 1] = ackermann(i % 3, i % 4);
  out[i * 5 + 2] = table[i % 3](i);
  out[i * 5 + 3] = shapes[i % 2]->area();
  out[i * 5 + 4] = total(fill(i), (int8_t)i);
}

/* Lanes of one warp take a lock from each other: only independent scheduling ends this. */
KERNEL lock(uint32_t *word, uint32_t *count)
{
  for (bool done = false; !done;) {
    if (atomicCAS(word, 0, 1) == 0) {
      *count = *(volatile uint32_t *)count + 1;
      __threadfence();
      atomicExch(word, 0);
      done = true;
    }
  }
}

/* Half a warp waits in a loop for what the other half does behind it in the program. */
KERNEL hand_over(volatile uint32_t *flag, uint32_t *out)
{
  if (threadIdx.x < 16) {
    while (*flag == 0) {
    }
    out[threadIdx.x] = *flag + threadIdx.x;
  } else {
    out[threadIdx.x] = 1;
    __threadfence();
    *flag = 5;
  }
}

/* __syncwarp in both arms of a branch is one barrier. */
KERNEL two_arms(uint32_t *out)
{
  __shared__ uint32_t s[32];
  const uint32_t i = threadIdx.x;
  if (i & 1) {
    s[i] = i * 3;
    __syncwarp();
    out[i] = s[i ^ 1];
  } else {
    s[i] = i * 5;
    __syncwarp();
    out[i] = s[i ^ 1] + 100;
  }
}

KERNEL shuffles(const uint32_t *in, uint32_t *out)
{
  const uint32_t i = threadIdx.x, x = in[i];
  uint32_t *o = out + i * 16;
  int k = 0;
  o[k++] = __shfl_sync(~0u, x, i * 5 + 1);
  o[k++] = __shfl_sync(~0u, x, i + 3, 8);
  o[k++] = __shfl_up_sync(~0u, x, 3);
  o[k++] = __shfl_up_sync(~0u, x, 2, 4);
  o[k++] = __shfl_down_sync(~0u, x, 5);
  o[k++] = __shfl_down_sync(~0u, x, 3, 16);
  o[k++] = __shfl_xor_sync(~0u, x, 13);
  o[k++] = __shfl_xor_sync(~0u, x, 9, 8);
  if (i % 3 == 0) { /* members only */
    o[k] = __shfl_sync(0x49249249u, x, (i + 3) % 33);
  }
  k++;
  o[k++] = __shfl_xor_sync(i < 16 ? 0xffffu : 0xffff0000u, x, 4);
}

KERNEL votes(const uint32_t *in, uint32_t *out)
{
  const uint32_t i = threadIdx.x, x = in[i];
  uint32_t *o = out + i * 16;
  int p = 7;
  o[0] = __ballot_sync(~0u, x & 1);
  o[1] = __any_sync(~0u, x == in[5]);
  o[2] = __all_sync(~0u, x != 0);
  o[3] = __any_sync(~0u, x == 0xdeadbeef);
  o[4] = __match_any_sync(~0u, x % 5);
  o[5] = __match_all_sync(~0u, x, &p);
  o[6] = (uint32_t)p;
  o[7] = __match_all_sync(~0u, 42ull, &p);
  o[8] = (uint32_t)p;
  if (i >= 8 && i < 20) {
    o[9] = __ballot_sync(0xfff00u, x & 2);
    o[10] = __match_any_sync(0xfff00u, (unsigned long long)(x % 3) << 40);
    o[11] = __activemask();
  }
#if __CUDA_ARCH__ >= 800
  o[12] = __reduce_add_sync(~0u, x);
  o[13] = (uint32_t)__reduce_min_sync(~0u, (int)x);
  o[14] = __reduce_max_sync(~0u, x);
  o[15] = __reduce_xor_sync(i < 8 ? 0xffu : 0xffffff00u, x);
#endif
}

KERNEL elects(uint32_t *out)
{
#if __CUDA_ARCH__ >= 900
  uint32_t leader, is;
  asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }"
               : "=r"(leader), "=r"(is)
               : "r"(~0u));
  out[threadIdx.x] = leader * 2 + is;
  if (threadIdx.x >= 5) {
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(is)
                 : "r"(~31u));
    out[threadIdx.x] += 100 * (leader * 2 + is);
  }
#endif
}

KERNEL barriers(uint32_t *out)
{
  __shared__ uint32_t s[256];
  const uint32_t i = threadIdx.x;
  s[i] = i * i;
  __syncthreads();
  uint32_t x = s[255 - i];
  out[i] = __syncthreads_count(x % 3 == 0);
  out[256 + i] = __syncthreads_and(i < 300) * 2 + __syncthreads_and(i != 77);
  out[512 + i] = __syncthreads_or(i == 77) * 2 + __syncthreads_or(i == 300);
  if (i >= 192) return; /* the rest goes on without them */
  __syncthreads();
  s[i] = x + 1;
  __syncthreads();
  out[768 + i] = s[191 - i];
}

/* Two halves of a block meet at their own barrier; a producer only arrives. */
KERNEL named_barriers(uint32_t *out)
{
  __shared__ uint32_t s[128], ready;
  const uint32_t i = threadIdx.x, half = i / 64;
  s[i] = i + 1000;
  if (half == 0)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("barrier.sync 2, 64;" ::: "memory");
  out[i] = s[half * 64 + (63 - i % 64)];
  __syncthreads();
  if (i < 32) {
    ready = 77;
    __threadfence_block();
    asm volatile("bar.arrive 3, 64;" ::: "memory");
  } else if (i < 64) {
    asm volatile("bar.sync 3, 64;" ::: "memory");
    out[128 + i] = ready;
  }
}

KERNEL wait_forever(uint32_t *out)
{
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}

KERNEL missing_lane(uint32_t *out)
{
  if (threadIdx.x & 1) {
    while (*(volatile uint32_t *)out == 0) __nanosleep(100);
  } else {
    out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 3);
  }
}

KERNEL spin(volatile uint32_t *flag)
{
  while (*flag == 0) {
  }
}

KERNEL grids_meet(volatile uint32_t *mine, volatile uint32_t *other)
{
  *mine = 1;
  while (*other == 0) {
  }
}

KERNEL record_blocks(uint32_t *next, uint32_t *list, uint32_t tag)
{
  if (threadIdx.x == 0) list[atomicAdd(next, 1)] = tag << 16 | blockIdx.x;
}
