/* SPDX-License-Identifier: MIT */
/* Launches: shapes, arguments, shared memory, attributes, occupancy, cooperative launches. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "check.h"

struct packet {
  char tag;
  double values[9];
  short last;
};

__global__ void take(int *to, char a, packet p, short b, long long c)
{
  to[0] = a;
  to[1] = (int)p.values[8];
  to[2] = p.last;
  to[3] = b;
  to[4] = (int)c;
}

__global__ void __launch_bounds__(64) small(int *to) { to[threadIdx.x] = 1; }

__global__ void reverse(int *values)
{
  extern __shared__ int rows[];
  __shared__ int shift[4];
  shift[threadIdx.x & 3] = 1;
  rows[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = rows[blockDim.x - 1 - threadIdx.x] + shift[0];
}

__global__ void where(int *to)
{
  if (threadIdx.x == 0 && threadIdx.y == 0)
    to[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] =
      (int)(blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z);
}

/* Every block adds to the sum that all of them have made in the round before. */
__global__ void together(int *sums, int rounds)
{
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int i = 1; i <= rounds; i++) {
    if (threadIdx.x == 0) atomicAdd(&sums[i], sums[i - 1] + 1);
    grid.sync();
  }
}

static void test_arguments(void)
{
  int *to, result[5];
  OK(cudaMalloc(&to, sizeof result));
  packet p = {'x', {0, 0, 0, 0, 0, 0, 0, 0, 77.0}, -5};
  take<<<1, 1>>>(to, 'a', p, -2, 1234567LL);
  p.last = 0; /* the launch has taken its arguments */
  OK(cudaMemcpy(result, to, sizeof result, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result[0], 'a');
  CHECK_EQUAL(result[1], 77);
  CHECK_EQUAL(result[2], -5);
  CHECK_EQUAL(result[3], -2);
  CHECK_EQUAL(result[4], 1234567);
  size_t offset = 0, bytes = 0;
  OK(cudaFuncGetParamInfo((const void *)take, 2, &offset, &bytes));
  CHECK_EQUAL(offset, 16);
  CHECK_EQUAL(bytes, sizeof p);
  CHECK_EQUAL(cudaFuncGetParamInfo((const void *)take, 5, &offset, &bytes), cudaErrorInvalidValue);
  cudaGetLastError();
  OK(cudaFree(to));
}

#define EXPECT(launch, error)                                                                      \
  do {                                                                                             \
    launch;                                                                                        \
    CHECK_EQUAL(cudaGetLastError(), error);                                                        \
  } while (0)

static void test_shapes(void)
{
  int *to, result[24];
  OK(cudaMalloc(&to, 4096));
  EXPECT((small<<<0, 1>>>(to)), cudaErrorInvalidConfiguration);
  EXPECT((small<<<1, 1025>>>(to)), cudaErrorInvalidConfiguration);
  EXPECT((small<<<dim3(1, 65536), 1>>>(to)), cudaErrorInvalidConfiguration);
  EXPECT((small<<<1, dim3(1, 1, 65)>>>(to)), cudaErrorInvalidConfiguration);
  EXPECT((small<<<1, 65>>>(to)), cudaErrorLaunchOutOfResources);
  EXPECT((small<<<1, 64, 49 << 10>>>(to)), cudaErrorInvalidValue);
  EXPECT((small<<<1, 64>>>(to)), cudaSuccess);
  where<<<dim3(4, 3, 2), dim3(8, 8)>>>(to);
  OK(cudaMemcpy(result, to, sizeof result, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 24; i++) CHECK_EQUAL(result[i], i % 4 + 10 * (i / 4 % 3) + 100 * (i / 12));
  OK(cudaFree(to));
}

static void test_shared(void)
{
  int *values, result[1024];
  for (int i = 0; i < 1024; i++) result[i] = i;
  OK(cudaMalloc(&values, sizeof result));
  OK(cudaMemcpy(values, result, sizeof result, cudaMemcpyHostToDevice));
  reverse<<<1, 1024, 4096>>>(values);
  OK(cudaMemcpy(result, values, sizeof result, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 1024; i++) CHECK_EQUAL(result[i], 1024 - i);
  EXPECT((reverse<<<1, 32, 60 << 10>>>(values)), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10));
  EXPECT((reverse<<<1, 32, 60 << 10>>>(values)), cudaSuccess);
  CHECK_EQUAL(
    cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
    cudaErrorInvalidValue);
  cudaGetLastError();
  OK(cudaDeviceSynchronize());
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, reverse));
  CHECK_EQUAL(attributes.sharedSizeBytes, 16);
  CHECK_EQUAL(attributes.maxThreadsPerBlock, 1024);
  CHECK_EQUAL(attributes.maxDynamicSharedSizeBytes, 60 << 10);
  OK(cudaFuncGetAttributes(&attributes, small));
  CHECK_EQUAL(attributes.maxThreadsPerBlock, 64);
  CHECK_EQUAL(cudaFuncGetAttributes(&attributes, (const void *)&values),
              cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
  OK(cudaFree(values));
}

static void test_ways(void)
{
  int *to, blocks = 0, best = 0, grid = 0;
  OK(cudaMalloc(&to, 4096));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 64, 0));
  CHECK(blocks > 0);
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &best, small));
  CHECK_EQUAL(best, 64);

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  OK(cudaLaunchKernelEx(&config, small, to));
  void *args[] = {&to};
  OK(cudaLaunchKernel((const void *)small, dim3(1), dim3(8), args, 0, 0));
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  const int most = blocks * properties.multiProcessorCount;
  OK(cudaLaunchCooperativeKernel((const void *)small, dim3(most), dim3(8), args, 0, 0));
  CHECK_EQUAL(cudaLaunchCooperativeKernel((const void *)small, dim3(most + 1), dim3(8), args, 0, 0),
              cudaErrorCooperativeLaunchTooLarge);
  CHECK_EQUAL(cudaLaunchKernel((const void *)&to, dim3(1), dim3(8), args, 0, 0),
              cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
  OK(cudaDeviceSynchronize());
  cudaKernel_t kernel;
  OK(cudaGetKernel(&kernel, (const void *)small));
  const char *name = "";
  OK(cudaFuncGetName(&name, (const void *)small));
  CHECK(name[0] == '_');
  void *entry = to;
  cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPointByVersion("cuInit", &entry, 12000, 0, &found));
  CHECK(entry && found == cudaDriverEntryPointSuccess);
  OK(cudaFree(to));
}

static void test_grid_sync(void)
{
  int *sums, result[9], rounds = 8, expected = 0;
  OK(cudaMalloc(&sums, sizeof result));
  OK(cudaMemset(sums, 0, sizeof result));
  void *args[] = {&sums, &rounds};
  OK(cudaLaunchCooperativeKernel((const void *)together, dim3(5), dim3(64), args, 0, 0));
  OK(cudaMemcpy(result, sums, sizeof result, cudaMemcpyDeviceToHost));
  for (int i = 1; i <= rounds; i++) {
    expected = 5 * (expected + 1);
    CHECK_EQUAL(result[i], expected);
  }
  OK(cudaFree(sums));
}

int main(void)
{
  test_grid_sync();
  test_arguments();
  test_shapes();
  test_shared();
  test_ways();
  return check_result();
}
