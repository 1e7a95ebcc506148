// SPDX-License-Identifier: MIT
// A kernel that runs as long as the program and gets its work round by round: streamed ROUNDS MARKS FILE [BLOCKS [GO]], else 2
// blocks. The next round begins when the capture FILE has grown by the marks of the last, so none need be lost where a ring
// holds a round; with FILE "-" nothing is waited for, and rings are lapped. After a tenth of the rounds the file GO is waited for.
#include <inkmark/mark.cuh>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

PROF_SECTIONS(Streamed, Persistent, Work)

__global__ void persistent(int rounds, int marks, volatile int *given, volatile int *done) {
  PROF_KERNEL(Persistent);
  for (int round = 0; round < rounds; round++) {
    while (*given <= round)
      continue;
    for (int i = 0; i < marks; i++)
      PROF_MARK(Work);
    done[blockIdx.x] = round + 1;
  }
}

static long long bytes_of(const char *path) {
  struct stat info;
  return stat(path, &info) ? 0 : (long long)info.st_size;
}

int main(int argc, char **argv) {
  const int rounds = atoi(argv[1]), marks = atoi(argv[2]);
  const char *file = argv[3];
  const bool waits = strcmp(file, "-") != 0;
  enum { GUARD_S = 300 };
  const int blocks = argc > 4 ? atoi(argv[4]) : 2;
  int *shared;
  if (cudaHostAlloc(&shared, (1 + blocks) * sizeof *shared, cudaHostAllocMapped))
    return 2;
  volatile int *given = shared, *done = shared + 1;
  memset(shared, 0, (1 + blocks) * sizeof *shared);
  persistent<<<blocks, 32>>>(rounds, marks, given, done);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; argc > 5 && round == rounds / 10 && access(argv[5], F_OK); i++) {
      if (i == GUARD_S * 1000)
        return 4;
      usleep(1000);
    }
    const long long before = bytes_of(file);
    *given = round + 1;
    for (int i = 0; i < blocks; i++)
      while (done[i] <= round)
        usleep(500);
    for (int i = 0; waits && bytes_of(file) < before + 8LL * blocks * marks; i++) {
      if (i == GUARD_S * 1000)
        return 3; /* nothing is streamed */
      usleep(1000);
    }
  }
  return cudaDeviceSynchronize();
}
