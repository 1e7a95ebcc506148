// SPDX-License-Identifier: MIT
// Kernels that leave without PROF_CLOSE, many more than there are tracks: leaves FILE LAUNCHES [held]. One in 16 closes its
// track. The program drains itself, so that whatever is slow, none may be missed.
#include "inkmark/mark.cuh"

#include "inkmark/session.h"

#include <cstdio>
#include <cstdlib>

PROF_SECTIONS(Leaves, Leave, Step, Helped)

constexpr int tracks = 64;

__device__ __noinline__ unsigned help(unsigned x) {
  x = x * 5 + 1;
  PROF_MARK(Helped);
  return x;
}

__global__ void leave(unsigned *x, bool closes) {
  PROF_OPEN_IF(threadIdx.x % 32 == 3, Leave);
  PROF_MARK(Step);
  *x = help(*x);
  PROF_MARK(Step);
  if (closes)
    PROF_CLOSE();
}

static void must(bool well, const char *what) {
  if (!well) {
    fprintf(stderr, "%s\n", what);
    exit(1);
  }
}

int main(int argc, char **argv) {
  must(argc > 2, "usage: leaves FILE LAUNCHES [held]");
  ink_session_options options = {};
  ink_session *session = nullptr;
  ink_error error = {};
  options.size = sizeof options;
  options.output = argv[1];
  options.records_per_track = 16;
  options.tracks = tracks;
  options.drain_ms = UINT32_MAX;
  options.live = argc > 3;
  options.replace = true;
  unsigned *x = nullptr;
  must(cudaMalloc(&x, sizeof *x) == cudaSuccess, "cudaMalloc");
  must(ink_session_open(&options, &session, &error) == INK_OK, error.message);
  must(ink_session_arm(session, &error) == INK_OK, error.message);
  for (int i = 0; i < atoi(argv[2]); i++) {
    leave<<<1, 32>>>(x, i % 16 == 5);
    if (i % (tracks / 2) == tracks / 2 - 1) {
      must(cudaDeviceSynchronize() == cudaSuccess, "a kernel failed");
      must(ink_session_drain(session, &error) == INK_OK, error.message);
    }
  }
  must(ink_session_close(session, nullptr, &error) == INK_OK, error.message);
  return 0;
}
