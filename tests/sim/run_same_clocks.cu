/* SPDX-License-Identifier: MIT */
/* Prints every clock that kernels in two streams read, while another host thread copies all the
 * time: run twice, the output must be the same (same_output.cmake). */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { BLOCKS = 12, LAUNCHES = 6 };

__global__ void stamp(long long *to, int work)
{
  float x = (float)threadIdx.x;
  for (int i = 0; i < work * (1 + (int)blockIdx.x % 3); i++) x = x * 1.0001f + 0.5f;
  if (threadIdx.x == 0) {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    to[blockIdx.x * 2] = clock64() + (x > 1e30f);
    to[blockIdx.x * 2 + 1] = (long long)sm;
  }
}

static volatile int stop;
static char *beside;

static void *copy_all_the_time(void *argument)
{
  (void)argument;
  static char buffer[256];
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned copies = 0;
  do {
    OK(cudaMemcpyAsync(buffer, beside, sizeof buffer, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    copies++;
  } while (!stop || copies < 10);
  return NULL;
}

int main(void)
{
  cudaStream_t streams[2];
  long long *to[LAUNCHES], got[BLOCKS * 2];
  pthread_t thread;
  OK(cudaMalloc(&beside, 256));
  OK(cudaMemset(beside, 1, 256));
  for (int i = 0; i < 2; i++) OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  for (int i = 0; i < LAUNCHES; i++) OK(cudaMalloc(&to[i], sizeof got));
  CHECK_EQUAL(pthread_create(&thread, NULL, copy_all_the_time, NULL), 0);
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < LAUNCHES; i++)
      stamp<<<BLOCKS, 64, 0, streams[i % 2]>>>(to[i], 50 + 30 * i + round);
    OK(cudaStreamSynchronize(streams[0]));
    OK(cudaStreamSynchronize(streams[1]));
    for (int i = 0; i < LAUNCHES; i++) {
      OK(cudaMemcpyAsync(got, to[i], sizeof got, cudaMemcpyDeviceToHost, streams[0]));
      for (int b = 0; b < BLOCKS; b++)
        printf("%d %d %d clock %lld sm %lld\n", round, i, b, got[b * 2], got[b * 2 + 1]);
    }
  }
  stop = 1;
  pthread_join(thread, NULL);
  return check_result() != 0;
}
