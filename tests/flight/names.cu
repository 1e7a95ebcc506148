// SPDX-License-Identifier: MIT
// Instances of one template: "names WORD" launches instances, says so, and after a line of input launches one that traps;
// WORD "both": it had been launched before, "one": it had not. "names unload A.so B.so" loads libraries that are this
// file too (LIBRARY, with other instances), runs and unloads them.
#include <inkmark/mark.cuh>

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

PROF_SECTIONS(Names, Kern, Load, Store)

template <class T, int N> __global__ void k(T *data, int trapping_block) {
  PROF_KERNEL(Kern);
  T x = data[threadIdx.x];
  PROF_MARK(Load, x);
  if ((int)blockIdx.x == trapping_block)
    __trap();
  data[threadIdx.x] = x + N;
  PROF_MARK(Store);
}

template <class T, int N> static void launch(void *data, int trapping_block = -1) {
  k<T, N><<<4, 32>>>((T *)data, trapping_block);
}

static void *zeros() {
  void *data = NULL;
  if (!cudaMalloc(&data, 4096))
    cudaMemset(data, 0, 4096);
  return data;
}

#if defined(LIBRARY)
extern "C" int run_library(void) {
  void *data = zeros();
  launch<LIBRARY, 7>(data);
  const cudaError_t code = cudaDeviceSynchronize();
  cudaFree(data);
  return code;
}
#else
static int unload(int count, char **paths) {
  for (int i = 0; i < count; i++) {
    void *library = dlopen(paths[i], RTLD_NOW);
    int (*run)(void) = library ? (int (*)(void))dlsym(library, "run_library") : NULL;
    if (!run || run() || dlclose(library))
      return 1;
  }
  puts("unloaded");
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "unload"))
    return unload(argc - 2, argv + 2);
  void *data = zeros();
  launch<float, 4>(data);
  if (argc > 1 && !strcmp(argv[1], "both"))
    launch<double, 400>(data);
  cudaDeviceSynchronize();
  puts("launched");
  fflush(stdout);
  if (getchar() == EOF)
    return 1;
  launch<double, 400>(data, 2);
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
#endif
