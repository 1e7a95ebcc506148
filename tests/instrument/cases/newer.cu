// SPDX-License-Identifier: MIT
// Waits of newer targets: barriers in shared memory, pipelines, clusters, launches that overlap.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace newer {
namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void barriers(int *x) {
  __shared__ block_barrier shared;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&shared, block.size());
  block.sync();
  block_barrier::arrival_token token = shared.arrive();
  x[threadIdx.x] += 1;
  shared.wait(std::move(token));
  shared.arrive_and_wait();
  auto tile = cg::tiled_partition<32>(block);
  tile.sync();
  cg::sync(tile);
  auto token2 = block.barrier_arrive();
  block.barrier_wait(std::move(token2));
  cg::coalesced_threads().sync();
}
__global__ void pipelines(int *x) {
  __shared__ int tile[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x, sizeof tile);
  cg::wait(block);
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(int), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  pipe.consumer_release();
  __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  asm volatile("cp.async.wait_all;" ::: "memory");
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) clusters(int *x) {
  auto cluster = cg::this_cluster();
  cluster.sync();
  cluster.barrier_arrive();
  cluster.barrier_wait();
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  x[threadIdx.x] += (int)cluster.block_rank();
}
__global__ void overlapped(int *x, unsigned long long *state) {
  cudaGridDependencySynchronize();
  asm volatile("griddepcontrol.wait;" ::: "memory");
  unsigned address = (unsigned)__cvta_generic_to_shared(state), done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(address) : "memory");
  __syncwarp();
  x[0] += __syncthreads_or(x[0]);
}
inline void run() {
  check<int>("newer.barriers", [](int *x) { barriers<<<1, 64>>>(x); });
  check<int>("newer.pipelines", [](int *x) { pipelines<<<1, 64>>>(x); });
}
} // namespace newer
