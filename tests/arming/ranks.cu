// SPDX-License-Identifier: MIT
// One rank of several on a node: launches twice on each device of argv[1..], from two threads on the first, and
// says on how many devices a stream was made that the program did not make: one for each buffer of a recording.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

PROF_SECTIONS(Ranks, Kernel, Only)

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

static int streams;
#ifndef STATIC_RUNTIME // whose functions nobody stands in front of
extern "C" int stream_call(void **, unsigned) __asm__("cudaStreamCreateWithFlags");
extern "C" int stream_call(void **stream, unsigned flags) {
  streams++;
  return ((int (*)(void **, unsigned))dlsym(RTLD_NEXT, "cudaStreamCreateWithFlags"))(stream, flags);
}
#endif

static pthread_barrier_t together;

static void *launch(void *device) {
  int *out;
  if (cudaSetDevice(*(int *)device) || cudaMalloc(&out, 32 * sizeof(int)))
    exit(1);
  pthread_barrier_wait(&together);
  kernel<<<2, 32>>>(out);
  return cudaDeviceSynchronize() ? device : nullptr;
}

int main(int argc, char **argv) {
  int count = 0;
  cudaDeviceProp properties;
  if (cudaGetDeviceCount(&count))
    return 1;
  for (int i = 0; i < count; i++) // as every program does that lists what is there
    if (cudaGetDeviceProperties(&properties, i))
      return 1;
  pthread_barrier_init(&together, nullptr, 2);
  for (int i = 1; i < argc; i++) {
    int device = atoi(argv[i]);
    pthread_t thread;
    void *failed = nullptr;
    pthread_create(&thread, nullptr, launch, &device);
    if (launch(&device) || pthread_join(thread, &failed) || failed)
      return 1;
  }
  printf("%d devices, %d buffers\n", count, streams);
  return 0;
}
