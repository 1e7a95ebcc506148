// SPDX-License-Identifier: MIT
// A kernel that stays open over many drains, and launches that use the buffer's tracks again meanwhile and
// after it: argv[1] is how often. Prints how many tracks it executed, a fork's child on a line of its own;
// argv[2] "fork" forks while the long kernel runs, and launches of another thread wait behind it: those run in both
// processes. "warps" says that each warp records; "many" that the long kernel holds ten tracks, one behind the other.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

PROF_SECTIONS(Many, Long, Short, Part)

enum { BLOCKS = 100, WARPS = 2 };

__device__ void helps(int *out, int i) {
  PROF_MARK(Part);
  out[threadIdx.x] += i;
}

__global__ void long_kernel(volatile int *stop) {
  PROF_KERNEL(Long);
  while (!*stop)
    ;
  PROF_MARK(Part);
}

// Tracks of many lengths, some with marks in a function.
__global__ void short_kernel(int *out) {
  PROF_KERNEL(Short);
  for (unsigned i = 0; i < blockIdx.x % 13; i++) {
    out[threadIdx.x] += (int)i;
    PROF_MARK(Part);
  }
  if (blockIdx.x % 5 == 0)
    helps(out, 7);
}

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t error_ = (call);                                                             \
    if (error_) {                                                                                  \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static long launch(int launches, int *out, cudaStream_t stream) {
  for (int i = 0; i < launches; i++)
    short_kernel<<<BLOCKS, 32 * WARPS, 0, stream>>>(out);
  CHECK(cudaStreamSynchronize(stream));
  return (long)launches * BLOCKS;
}

int main(int argc, char **argv) {
  const int launches = atoi(argv[1]);
  const long a_block = argc > 2 && !strcmp(argv[2], "warps") ? WARPS : 1;
  const int long_blocks = argc > 2 && !strcmp(argv[2], "many") ? 10 : 4;
  cudaStream_t first, second;
  int *out, *stop;
  CHECK(cudaMalloc(&out, 32 * WARPS * sizeof(int)));
  CHECK(cudaMemset(out, 0, 32 * WARPS * sizeof(int)));
  CHECK(cudaHostAlloc(&stop, sizeof *stop, cudaHostAllocMapped));
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  *stop = 0;
  long_kernel<<<long_blocks, 32 * WARPS, 0, first>>>(stop);
  long tracks = long_blocks;
  for (int i = 0; i < 4; i++) {
    tracks += launch(launches, out, second);
    usleep(60000); // drains see it open
  }
  const bool forks = argc > 2 && !strcmp(argv[2], "fork");
  const int queued = forks ? 3 : 0;
  std::thread([=] {
    for (int i = 0; i < queued; i++)
      short_kernel<<<BLOCKS, 32 * WARPS, 0, first>>>(out);
  }).join();
  tracks += queued * BLOCKS;
  const pid_t child = forks ? fork() : -1;
  if (child == 0)
    tracks = long_blocks + queued * BLOCKS;
  *stop = 1;
  CHECK(cudaStreamSynchronize(first));
  tracks += launch(launches, out, second); // takes its tracks again
  if (child > 0)
    waitpid(child, nullptr, 0);
  printf("%ld\n", tracks * a_block);
  return 0;
}
