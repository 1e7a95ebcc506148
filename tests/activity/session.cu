// SPDX-License-Identifier: MIT
// A program that opens its own session with activity, records one kernel of two, and closes.
#include <inkmark/mark.cuh>
#include <inkmark/session.h>

#include <cstdio>

PROF_SECTIONS(Own, Marked, Work)

__global__ void marked(int *out) {
  PROF_KERNEL(Marked);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Work);
}
__global__ void plain(int *out) { out[threadIdx.x] += 1; }

int main(int, char **argv) {
  ink_session_options options = {};
  ink_session *session;
  ink_error error = {};
  bool written = false;
  int *out;
  options.size = sizeof options;
  options.output = argv[1];
  options.replace = true;
  options.activity = true;
  if (ink_session_open(&options, &session, &error) || ink_session_arm(session, &error)) {
    puts(error.message);
    return 1;
  }
  cudaMalloc(&out, 256);
  marked<<<1, 32>>>(out);
  plain<<<1, 32>>>(out);
  const cudaError_t code = cudaDeviceSynchronize();
  if (ink_session_close(session, &written, &error))
    puts(error.message);
  printf("%s %d\n", cudaGetErrorString(code), written);
  return !written;
}
