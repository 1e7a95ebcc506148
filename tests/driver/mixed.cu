// SPDX-License-Identifier: MIT
// mixed IMAGE: a marked file of nvcc's and a module of the driver's API in one process, on one device; a second time
// behind a reset.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>

#include <inkmark/mark.cuh>

PROF_SECTIONS(Mixed, Compiled, Add)

__global__ void compiled(float *x) {
  PROF_KERNEL(Compiled);
  x[threadIdx.x] += 1;
  PROF_MARK(Add);
}

static void *driver;
template <class... Parameters> static void call(const char *name, Parameters... parameters) {
  const int code = ((int (*)(Parameters...))dlsym(driver, name))(parameters...);
  if (code) {
    fprintf(stderr, "mixed: %s: %d\n", name, code);
    exit(1);
  }
}

static void round(const char *ptx) {
  float *x;
  void *module, *step;
  int n = 3;
  cudaMalloc(&x, 128);
  cudaMemset(x, 0, 128);
  compiled<<<4, 32>>>(x);
  call("cuModuleLoadData", &module, (const void *)ptx);
  call("cuModuleGetFunction", &step, module, "step");
  void *arguments[] = {&x, &n};
  call("cuLaunchKernel", step, 4u, 1u, 1u, 32u, 1u, 1u, 0u, (void *)0, (void **)arguments, (void **)0);
  compiled<<<4, 32>>>(x);
  if (cudaDeviceSynchronize() != cudaSuccess)
    exit(2);
}

int main(int, char **argv) {
  std::stringstream image;
  image << std::ifstream(argv[1]).rdbuf();
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  round(image.str().c_str());
  cudaDeviceReset();
  round(image.str().c_str());
}
