// SPDX-License-Identifier: MIT
// kills LOG LAUNCHES SEED: launches kernels one behind the other, with pauses, and writes into LOG, which it
// maps shared, when each was over and when each beat of its heart was. What is killed at any moment leaves the
// log behind. A beat is what a drain does: a sleep, then a call of the runtime, which wants its lock. So a beat
// that lasts longer than its sleep is time that the machine, not the program, took from a drain too.
// Launch i has 2 blocks, each of them 3 marks in row i. The layout of LOG is in kills.py too.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <atomic>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

PROF_SECTIONS(Kills, Kernel, First, Second, Third)

__global__ void kernel(int *out, int row) {
  PROF_KERNEL(Kernel);
  PROF_ITER(row);
  int x = out[threadIdx.x];
  PROF_MARK(First, x);
  x = x * 3 + 1;
  PROF_MARK(Second, x);
  out[threadIdx.x] = x;
  PROF_MARK(Third);
}

enum { LAUNCHES_MAX = 4096, BEATS_MAX = 65536, BEAT_NS = 5000000 };

struct journal {
  std::atomic<unsigned long long> pid, launches, beats, over;
  unsigned long long ended_ns[LAUNCHES_MAX];
  unsigned long long beat_ns[BEATS_MAX]; // when each was over
};

static journal *log_of_all;

static unsigned long long now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

static void *heart(void *) {
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
    _exit(3);
  for (unsigned long long i = 0; i < BEATS_MAX; i++) {
    const timespec pause = {0, BEAT_NS};
    log_of_all->beat_ns[i] = now_ns();
    log_of_all->beats = i + 1;
    nanosleep(&pause, nullptr);
    cudaStreamQuery(stream);
  }
  return nullptr;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  const int launches = atoi(argv[2]), fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  unsigned seed = (unsigned)atoi(argv[3]);
  if (launches < 1 || launches > LAUNCHES_MAX || fd < 0 || ftruncate(fd, sizeof(journal)))
    return 2;
  void *map = mmap(nullptr, sizeof(journal), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map == MAP_FAILED)
    return 2;
  log_of_all = (journal *)map;
  pthread_t thread;
  int *out;
  if (cudaMalloc(&out, 32 * sizeof(int)) || cudaMemset(out, 0, 32 * sizeof(int)))
    return 3;
  pthread_create(&thread, nullptr, heart, nullptr);
  log_of_all->pid = (unsigned long long)getpid();
  for (int i = 0; i < launches; i++) {
    kernel<<<2, 32>>>(out, i);
    if (cudaDeviceSynchronize() != cudaSuccess)
      return 3;
    log_of_all->ended_ns[i] = now_ns();
    log_of_all->launches = (unsigned long long)i + 1;
    if (rand_r(&seed) % 4)
      usleep((unsigned)rand_r(&seed) % 15000);
  }
  printf("did %d launches\n", launches);
  fflush(stdout);
  log_of_all->over = 1;
  return 7;
}
