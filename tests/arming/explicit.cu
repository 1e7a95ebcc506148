// SPDX-License-Identifier: MIT
// A program that records itself: the buffer is a kernel argument, recording is switched off and on.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>
#include <inkmark/session.h>

#include <stdio.h>
#include <stdlib.h>

PROF_SECTIONS(Explicit, Kernel, Only)

__global__ void by_argument(prof_buffer buffer, int *out) {
  PROF_KERNEL(buffer, Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

__global__ void by_symbol(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

static void check(ink_status status, const ink_error &error) {
  if (status) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
}

int main(int, char **argv) {
  ink_session_options options = {};
  options.size = sizeof options;
  options.output = argv[1];
  options.drain_ms = UINT32_MAX;
  ink_session *session, *second;
  ink_error error = {};
  check(ink_session_open(&options, &session, &error), error);
  if (ink_session_open(&options, &second, &error) != INK_ERROR_ARGUMENT)
    return 2;
  int *out;
  cudaMalloc(&out, 32 * sizeof(int));
  prof_buffer buffer = {nullptr};
  by_argument<<<2, 32>>>(buffer, out); // NULL records nothing
  check(ink_session_buffer(session, 0, &buffer, &error), error);
  by_symbol<<<2, 32>>>(out); // not armed: the symbol is untouched
  by_argument<<<3, 32>>>(buffer, out);
  cudaDeviceSynchronize();
  check(ink_session_set_on(session, false, &error), error);
  by_argument<<<5, 32>>>(buffer, out);
  cudaDeviceSynchronize();
  check(ink_session_set_on(session, true, &error), error);
  check(ink_session_arm(session, &error), error);
  by_symbol<<<7, 32>>>(out);
  cudaDeviceSynchronize();
  check(ink_session_drain(session, &error), error);
  cudaSetDevice(99); // an error of the program's own: none of the recording's, and still there behind it
  check(ink_session_calibrate(session, &error), error);
  if (cudaGetLastError() != cudaErrorInvalidDevice)
    return 4;
  bool written = false;
  check(ink_session_close(session, &written, &error), error);
  by_symbol<<<2, 32>>>(out); // disarmed again
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return written ? 0 : 3;
}
