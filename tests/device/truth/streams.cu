// SPDX-License-Identifier: MIT
// Launches in flight at the same time: the same kernel in two streams, another in a third, and a
// graph of two kernels that is replayed.
#include "truth.cuh"

PROF_SECTIONS(Streams, Slow, Quick, Step, Tail)

constexpr int blocks = 6, threads = 32, launches = 2;

__global__ void slow_kernel(unsigned *out, int rounds) {
  PROF_KERNEL(Slow);
  unsigned x = threadIdx.x;
  for (int i = 0; i < rounds; i++) {
    PROF_ITER(i);
    for (int j = 0; j < 20; j++)
      x = x * 1664525u + 1013904223u;
    PROF_MARK(Step, x);
  }
  out[blockIdx.x * threads + threadIdx.x] += x;
  PROF_MARK(Tail);
}

__global__ void quick_kernel(unsigned *out) {
  PROF_KERNEL(Quick);
  atomicAdd(&out[threadIdx.x], 3);
  PROF_MARK(Step);
}

int main() {
  const int n = blocks * threads;
  unsigned *out[3];
  cudaStream_t streams[3];
  for (int i = 0; i < 3; i++) {
    out[i] = device_zeros<unsigned>(n);
    CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  }
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < launches; i++) {
    slow_kernel<<<blocks, threads, 0, streams[0]>>>(out[0], 8);
    slow_kernel<<<blocks, threads, 0, streams[1]>>>(out[1], 8);
    quick_kernel<<<2, threads, 0, streams[2]>>>(out[2]);
  }
  CUDA(cudaDeviceSynchronize());

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(streams[2], cudaStreamCaptureModeGlobal));
  quick_kernel<<<2, threads, 0, streams[2]>>>(out[2]);
  quick_kernel<<<2, threads, 0, streams[2]>>>(out[2]);
  CUDA(cudaStreamEndCapture(streams[2], &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; i++)
    CUDA(cudaGraphLaunch(exec, streams[2]));
  CUDA(cudaDeviceSynchronize());

  bool good = true;
  for (int i = 0; i < 3; i++) {
    std::vector<unsigned> values = from_device(out[i], n), expected(n);
    for (int at = 0; at < n; at++) {
      unsigned x = at % threads;
      for (int j = 0; j < 8 * 20; j++)
        x = x * 1664525u + 1013904223u;
      expected[at] = i < 2 ? x * launches : at < threads ? 3 * 2 * (launches + 6) : 0;
    }
    print_bits("streams", values);
    good &= values == expected;
  }
  return good ? 0 : 1;
}
