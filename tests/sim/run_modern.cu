// SPDX-License-Identifier: MIT
// What CUDA's own headers make of sm_90: cuda::barrier, cuda::pipeline, memcpy_async, clusters of cooperative groups,
// launches with cluster dimensions and with programmatic dependence.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_runtime.h>

#include <cstring>
#include <utility>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

template <class T> struct Memory {
  T *at;
  explicit Memory(size_t n) { OK(cudaMallocManaged(&at, n * sizeof(T))); memset(at, 0, n * sizeof(T)); }
  ~Memory() { cudaFree(at); }
  operator T *() const { return at; }
};

// ---- cuda::barrier ----
__global__ void rounds(int *out, int n) {
  __shared__ block_barrier bar;
  __shared__ int value[64];
  if (threadIdx.x == 0)
    init(&bar, blockDim.x);
  __syncthreads();
  value[threadIdx.x] = threadIdx.x;
  for (int i = 0; i < n; i++) {
    auto token = bar.arrive(); // split: work in between
    const int mine = value[threadIdx.x] + i;
    bar.wait(std::move(token));
    const int other = value[(threadIdx.x + 1) % blockDim.x];
    bar.arrive_and_wait();
    value[threadIdx.x] = mine + other;
    bar.arrive_and_wait();
  }
  out[threadIdx.x] = value[threadIdx.x];
}

static void test_barrier() {
  const int threads = 64, n = 5;
  Memory<int> out(threads);
  rounds<<<1, threads>>>(out, n);
  OK(cudaDeviceSynchronize());
  std::vector<int> value(threads);
  for (int i = 0; i < threads; i++)
    value[i] = i;
  for (int round = 0; round < n; round++) {
    std::vector<int> next(threads);
    for (int i = 0; i < threads; i++)
      next[i] = value[i] + round + value[(i + 1) % threads];
    value = next;
  }
  for (int i = 0; i < threads; i++)
    CHECK_EQUAL(out[i], value[i]);
}

// ---- cuda::memcpy_async and bulk copies through cuda::barrier and cuda::ptx ----
__global__ void copies(const int *in, int *out) {
  __shared__ alignas(16) int buffer[256], second[256];
  __shared__ block_barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  cuda::memcpy_async(cg::this_thread_block(), buffer, in, cuda::aligned_size_t<16>(sizeof buffer), bar);
  bar.arrive_and_wait();
  block_barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(second, in + 256, cuda::aligned_size_t<16>(sizeof second), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof second);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    buffer[i] = buffer[i] * 3 + second[255 - i];
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    namespace ptx = cuda::ptx;
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, buffer, sizeof buffer);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

static void test_copies() {
  Memory<int> in(512), out(256);
  for (int i = 0; i < 512; i++)
    in[i] = i * i + 1;
  copies<<<1, 64>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; i++)
    CHECK_EQUAL(out[i], in[i] * 3 + in[256 + 255 - i]);
}

// ---- cuda::pipeline, of the block with a producer and consumers, and of each thread ----
template <int stages> __global__ void pipelined(const int *in, int *out, int tiles, bool roles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  __shared__ int buffer[stages][64];
  auto block = cg::this_thread_block();
  const bool produces = threadIdx.x < 64;
  auto pipe = roles ? cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer)
                    : cuda::make_pipeline(block, &state);
  for (int fetched = 0, t = 0; t < tiles; t++) {
    if (!roles || produces)
      for (; fetched < tiles && (roles ? fetched <= t : fetched < t + stages); fetched++) {
        pipe.producer_acquire();
        if (threadIdx.x < 64)
          cuda::memcpy_async(&buffer[fetched % stages][threadIdx.x], &in[fetched * 64 + threadIdx.x], sizeof(int), pipe);
        pipe.producer_commit();
      }
    if (!roles || !produces) {
      pipe.consumer_wait();
      if (threadIdx.x >= 64)
        out[t * 64 + threadIdx.x - 64] = buffer[t % stages][127 - threadIdx.x] + t;
      pipe.consumer_release();
    }
  }
}

static void test_pipeline() {
  const int tiles = 7;
  Memory<int> in(tiles * 64), out(tiles * 64);
  for (int i = 0; i < tiles * 64; i++)
    in[i] = 1000 + 7 * i;
  for (int roles = 0; roles < 2; roles++) {
    memset(out.at, 0, tiles * 64 * sizeof(int));
    pipelined<2><<<1, 128>>>(in, out, tiles, roles != 0);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < tiles * 64; i++)
      CHECK_EQUAL(out[i], in[i / 64 * 64 + 63 - i % 64] + i / 64);
  }
}

// ---- clusters ----
// A histogram whose bins are spread over the shared memory of a cluster's blocks.
__global__ void histogram(const unsigned *in, int count, unsigned *out, int bins_of_block) {
  extern __shared__ unsigned bins[];
  auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < bins_of_block; i += blockDim.x)
    bins[i] = 0;
  cluster.sync();
  for (unsigned i = cluster.thread_rank(); i < (unsigned)count; i += cluster.num_threads()) {
    const unsigned bin = in[i] % (bins_of_block * cluster.num_blocks());
    atomicAdd(cluster.map_shared_rank(bins, bin / bins_of_block) + bin % bins_of_block, 1u);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < bins_of_block; i += blockDim.x)
    atomicAdd(out + cluster.block_rank() * bins_of_block + i, bins[i]);
}

static void test_cluster_launch(unsigned blocks, unsigned size) {
  const int count = 3000, bins_of_block = 16;
  Memory<unsigned> in(count), out(bins_of_block * size);
  std::vector<unsigned> expected(bins_of_block * size);
  for (int i = 0; i < count; i++) {
    in[i] = i * 2654435761u >> 7;
    expected[in[i] % expected.size()] += blocks / size; // each cluster counts all
  }
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = 64;
  config.dynamicSmemBytes = bins_of_block * sizeof(unsigned);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0, most = 0;
  OK(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config));
  CHECK_EQUAL(clusters, 16 / (int)size); /* 4 SMs of 4 blocks */
  OK(cudaOccupancyMaxPotentialClusterSize(&most, histogram, &config));
  OK(cudaLaunchKernelEx(&config, histogram, (const unsigned *)in.at, count, out.at, bins_of_block));
  OK(cudaDeviceSynchronize());
  for (size_t i = 0; i < expected.size(); i++)
    CHECK_EQUAL(out[i], expected[i]);
}

// A captured launch keeps its clusters.
static void test_cluster_graph() {
  const int count = 100, bins_of_block = 4, replays = 3;
  Memory<unsigned> in(count), out(bins_of_block * 2);
  for (int i = 0; i < count; i++)
    in[i] = i;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  OK(cudaStreamCreate(&stream));
  cudaLaunchConfig_t config = {};
  config.gridDim = 2;
  config.blockDim = 32;
  config.dynamicSmemBytes = bins_of_block * sizeof(unsigned);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaLaunchKernelEx(&config, histogram, (const unsigned *)in.at, count, out.at, bins_of_block));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < replays; i++)
    OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < bins_of_block * 2; i++)
    CHECK_EQUAL(out[i], replays * (count / 8 + (i < count % 8)));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
  int can = 0;
  OK(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
  CHECK_EQUAL(can, 1);
}

static void test_cluster_refusals() {
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.blockDim = 64;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const unsigned *none = nullptr;
  unsigned *out = nullptr;
  config.gridDim = 5;
  attribute.val.clusterDim.x = 2;
  CHECK(cudaLaunchKernelEx(&config, histogram, none, 0, out, 0) != cudaSuccess); // 5 is no multiple of 2
  config.gridDim = 16;
  attribute.val.clusterDim.x = 16;
  CHECK_EQUAL(cudaLaunchKernelEx(&config, histogram, none, 0, out, 0), cudaErrorInvalidClusterSize);
  OK(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaGetLastError();
  OK(cudaLaunchKernelEx(&config, histogram, none, 0, out, 0));
  OK(cudaDeviceSynchronize());
}

__global__ void __cluster_dims__(4, 1, 1) own_shape(int *out) {
  __shared__ int word;
  auto cluster = cg::this_cluster();
  word = 10 * blockIdx.x;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0)
    out[blockIdx.x] = *cluster.map_shared_rank(&word, next) + (int)cluster.num_blocks();
  cluster.barrier_arrive();
  cluster.barrier_wait();
}

static void test_own_shape() {
  Memory<int> out(8);
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, own_shape));
  CHECK_EQUAL(attributes.requiredClusterWidth, 4);
  own_shape<<<8, 32>>>(out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; i++)
    CHECK_EQUAL(out[i], 10 * (i / 4 * 4 + (i + 1) % 4) + 4);
}

// ---- programmatic dependent launch ----
__device__ unsigned long long now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) : : "memory");
  return ns;
}
__global__ void first(int *data, unsigned long long *times, bool trigger) {
  if (trigger)
    cudaTriggerProgrammaticLaunchCompletion();
  for (const unsigned long long begin = now(); now() - begin < 20000;) {
  }
  atomicAdd(data + threadIdx.x, (int)threadIdx.x + 1);
  times[0] = now();
}
__global__ void second(const int *data, int *out, unsigned long long *times) {
  times[1] = now();
  cudaGridDependencySynchronize();
  times[2] = now();
  out[threadIdx.x] = data[threadIdx.x] * 2;
}

// The second begins while the first runs where the first says so and the launch allows it, else behind it.
static void test_dependent_launch(bool trigger, bool allowed) {
  Memory<int> data(32), out(32), after(32);
  Memory<unsigned long long> times(3);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = allowed;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  config.stream = stream;
  first<<<2, 32, 0, stream>>>(data, times, trigger);
  OK(cudaLaunchKernelEx(&config, second, (const int *)data.at, out.at, times.at));
  OK(cudaMemcpyAsync(after, out, 32 * sizeof(int), cudaMemcpyDefault, stream));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) {
    CHECK_EQUAL(out[i], 4 * (i + 1)); // both blocks of the first have added
    CHECK_EQUAL(after[i], out[i]);
  }
  CHECK_EQUAL(times[1] < times[0], trigger && allowed);
  CHECK(times[2] >= times[0]);
  OK(cudaStreamDestroy(stream));
}

int main() {
  test_barrier();
  test_copies();
  test_pipeline();
  test_cluster_launch(8, 4);
  test_cluster_launch(6, 2);
  test_cluster_graph();
  test_cluster_refusals();
  test_own_shape();
  test_dependent_launch(true, true);
  test_dependent_launch(false, true);
  test_dependent_launch(true, false);
  return check_result();
}
