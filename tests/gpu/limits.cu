// SPDX-License-Identifier: MIT
// What marked kernels keep of the device, and what the format takes for granted of it: how many blocks of a small kernel
// an SM holds, plain and marked (records, rows); launches with all of the shared memory that a block may have, dynamic and
// static; whether %gridid differs between replays of a graph. One line each: WHAT NUMBER NUMBER, equal where all is well.
#include "inkmark/mark.cuh"

#include <cstdio>

PROF_SECTIONS(Limits, Kernel, A, B)

#define CUDA(call)                                                                                 \
  do {                                                                                             \
    const cudaError_t code = (call);                                                               \
    if (code != cudaSuccess) {                                                                     \
      printf("line %d: %s\n", __LINE__, cudaGetErrorName(code));                                   \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

#define SMALL(name, open, close)                                                                   \
  __global__ void name(float *out, float y, int n) {                                               \
    open;                                                                                          \
    float x = out[threadIdx.x];                                                                    \
    for (int i = 0; i < n; i++) {                                                                  \
      x = x * 1.5f + y;                                                                            \
      MARK(A);                                                                                     \
      x = x * 2.5f + y;                                                                            \
      MARK(B);                                                                                     \
    }                                                                                              \
    out[threadIdx.x] = x;                                                                          \
    close;                                                                                         \
  }
#define MARK(s)
SMALL(plain, , )
#undef MARK
#define MARK(s) PROF_MARK(s)
SMALL(marked, PROF_KERNEL(Kernel), )
SMALL(opened, PROF_OPEN(Kernel), PROF_CLOSE())
SMALL(rows, PROF_KERNEL_ROWS(Kernel), )

__global__ void dynamic_memory(unsigned *out, int words) {
  extern __shared__ unsigned words_of_block[];
  PROF_KERNEL(Kernel);
  words_of_block[words - 1 - threadIdx.x] = threadIdx.x;
  PROF_MARK(A);
  out[threadIdx.x] = words_of_block[words - 1 - threadIdx.x];
}
__global__ void static_memory(unsigned *out) {
  __shared__ unsigned words_of_block[48 * 256];
  PROF_KERNEL(Kernel);
  words_of_block[48 * 256 - 1 - threadIdx.x] = threadIdx.x;
  PROF_MARK(A);
  out[threadIdx.x] = words_of_block[48 * 256 - 1 - threadIdx.x];
}

__global__ void grid_of(unsigned long long *out) {
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(*out));
}

static int occupancy() {
  int blocks[4];
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[0], plain, 256, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[1], marked, 256, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[2], opened, 256, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[3], rows, 256, 0));
  printf("blocks_marked %d %d\n", blocks[0], blocks[1]);
  printf("blocks_opened %d %d\n", blocks[0], blocks[2]);
  printf("blocks_rows %d %d\n", blocks[0], blocks[3]);
  return 0;
}

static int sum_of(const unsigned *device, unsigned *sum) {
  unsigned values[32];
  CUDA(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
  *sum = 0;
  for (unsigned value : values)
    *sum += value;
  return 0;
}

static int shared_memory() {
  unsigned *out, sum;
  int most;
  CUDA(cudaMalloc(&out, 4096));
  CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  CUDA(cudaFuncSetAttribute(dynamic_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  dynamic_memory<<<1, 32, most>>>(out, most / 4);
  CUDA(cudaGetLastError());
  if (sum_of(out, &sum))
    return 1;
  printf("dynamic_shared %d %u\n", 31 * 32 / 2, sum);
  static_memory<<<1, 32>>>(out);
  CUDA(cudaGetLastError());
  if (sum_of(out, &sum))
    return 1;
  printf("static_shared %d %u\n", 31 * 32 / 2, sum);
  return 0;
}

static int grid_ids() {
  constexpr int replays = 8;
  unsigned long long *out, ids[replays];
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaMalloc(&out, sizeof *out));
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  grid_of<<<1, 1, 0, stream>>>(out);
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  int different = 0;
  for (int i = 0; i < replays; i++) {
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(&ids[i], out, sizeof *out, cudaMemcpyDeviceToHost));
    bool seen = false;
    for (int j = 0; j < i; j++)
      seen = seen || ids[j] == ids[i];
    different += !seen;
  }
  printf("grid_ids_of_replays %d %d\n", replays, different);
  return 0;
}

int main() {
  return occupancy() || shared_memory() || grid_ids();
}
