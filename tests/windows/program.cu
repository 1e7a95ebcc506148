// SPDX-License-Identifier: MIT
// Launch i of 13 has i + 1 blocks, so that a capture tells which launches are in it. program [profiler|steps|graph|time
// MS]: cudaProfilerStart and Stop around launches 5 to 7; a step around each launch; launches 2 and 3 as a graph that
// runs at place 2 and 3; a pause behind each launch.
#include <dlfcn.h>
#include <inkmark/mark.cuh>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* of cuda_profiler_api.h, which not every toolkit brings */
extern "C" cudaError_t cudaProfilerStart(void);
extern "C" cudaError_t cudaProfilerStop(void);

PROF_SECTIONS(Windows, Kern, A)

__global__ void k(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = threadIdx.x;
  for (int i = 0; i < n; i++)
    x = x * 0.5f + 1;
  PROF_MARK(A, x);
  d[threadIdx.x] = x;
}

typedef int step_fn(void *session, void *error);

static void graph(float *d, cudaStream_t stream) {
  cudaGraph_t made;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  k<<<50, 32, 0, stream>>>(d, 10); // none is launched here
  k<<<51, 32, 0, stream>>>(d, 10);
  cudaStreamEndCapture(stream, &made);
  cudaGraphInstantiate(&ready, made, 0);
  for (int i = 0; i < 2; i++)
    cudaGraphLaunch(ready, stream);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  const bool profiles = !strcmp(mode, "profiler");
  step_fn *step = !strcmp(mode, "steps") ? (step_fn *)dlsym(RTLD_DEFAULT, "ink_session_step") : nullptr;
  float *d;
  cudaStream_t stream;
  if (cudaMalloc(&d, 4096) || cudaStreamCreate(&stream))
    return 1;
  for (int i = 0; i < 13; i++) {
    if (profiles && i == 5)
      cudaProfilerStart();
    if (!strcmp(mode, "graph") && i == 2)
      graph(d, stream), i = 4;
    k<<<i + 1, 32, 0, stream>>>(d, 2000); // long enough to be in the queue still when the next one comes
    if (profiles && i == 7)
      cudaProfilerStop();
    if (step)
      step(nullptr, nullptr);
    if (!strcmp(mode, "time"))
      cudaDeviceSynchronize(), usleep(1000 * atoi(argv[2]));
  }
  return cudaDeviceSynchronize();
}
