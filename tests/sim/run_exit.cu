/* SPDX-License-Identifier: MIT */
/* exit in PTX: of some lanes, of whole warps, of whole blocks, in a called function, in a loop; what
 * stays goes on, barriers do not wait for what is gone, and the launch ends. */
#include <cuda_runtime.h>

#include "check.h"

enum { BLOCKS = 40, THREADS = 96 };

__device__ __noinline__ void leave_if(bool leave)
{
  if (leave) asm volatile("exit;");
}

/* Odd lanes leave, then all of warp 2, then thread 8; block 3 leaves whole, in a called function. */
__global__ void leaves(int *reached, int *sums)
{
  const unsigned lane = threadIdx.x % 32, at = blockIdx.x * THREADS + threadIdx.x;
  reached[at] = 1;
  if (lane % 2 == 1) asm volatile("exit;");
  reached[at] = 2;
  const unsigned still = __activemask();
  atomicAdd(&sums[blockIdx.x * 2], __popc(still) == 16 && still == 0x55555555u);
  leave_if(blockIdx.x == 3);
  if (threadIdx.x >= 64) asm volatile("exit;");
  __syncthreads(); /* of those that are left */
  reached[at] = 3;
  for (int i = 0; i < 10; i++) {
    if (i == 4 && threadIdx.x == 8) asm volatile("exit;");
    __syncthreads();
    reached[at] = 4 + i;
  }
  atomicAdd(&sums[blockIdx.x * 2 + 1], 1);
}

/* A guarded exit, as ptxas and hand-written PTX have it. */
__global__ void leaves_by_predicate(int *reached)
{
  asm volatile("{.reg .pred p; setp.lt.u32 p, %0, 7; @p exit;}" ::"r"(threadIdx.x));
  reached[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static int expected(int block, int thread)
{
  if (thread % 2) return 1;
  if (block == 3 || thread >= 64) return 2;
  return thread == 8 ? 7 : 13;
}

int main(void)
{
  int *reached, *sums;
  OK(cudaMallocManaged(&reached, BLOCKS * THREADS * sizeof *reached));
  OK(cudaMallocManaged(&sums, BLOCKS * 2 * sizeof *sums));
  for (int i = 0; i < BLOCKS * THREADS; i++) reached[i] = 0;
  for (int i = 0; i < BLOCKS * 2; i++) sums[i] = 0;
  leaves<<<BLOCKS, THREADS>>>(reached, sums);
  OK(cudaDeviceSynchronize());
  for (int b = 0; b < BLOCKS; b++) {
    for (int t = 0; t < THREADS; t++) CHECK_EQUAL(reached[b * THREADS + t], expected(b, t));
    CHECK_EQUAL(sums[b * 2], THREADS / 2);
    CHECK_EQUAL(sums[b * 2 + 1], b == 3 ? 0 : 31);
  }
  for (int i = 0; i < 2 * 64; i++) reached[i] = 0;
  leaves_by_predicate<<<2, 64>>>(reached);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 2 * 64; i++) CHECK_EQUAL(reached[i], i % 64 >= 7);
  OK(cudaFree(reached));
  OK(cudaFree(sums));
  return check_result();
}
