// SPDX-License-Identifier: MIT
// nvrtc_step cubin|ptx: a C++ program that compiles a kernel template with NVRTC and loads it through the driver, linked
// with -lcuda and -lnvrtc as NVIDIA's samples are.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static const char source[] = R"(
#include <inkmark/mark.cuh>
PROF_SECTIONS(Compiled, Step, Load, Compute)
template <class T> __device__ __noinline__ T square(T a) {
  PROF_MARK(Compute);
  return a * a;
}
template <class T> __global__ void step(T *x, int n) {
  PROF_KERNEL(Step);
  for (int i = 0; i < n; i++) {
    T a = x[threadIdx.x] * T(1.5) + i;
    PROF_MARK(Load, a);
    x[threadIdx.x] = square(a);
  }
}
)";

static void fine(int code, const char *what) {
  if (code) {
    std::printf("FAIL: %s: %d\n", what, code);
    std::exit(1);
  }
}
#define FINE(call) fine(call, #call)

int main(int argc, char **argv) {
  const bool cubin = argc > 1 && !std::strcmp(argv[1], "cubin");
  const char *folder = std::getenv("INKMARK_INCLUDE");
  const std::string include = std::string("-I") + (folder ? folder : "");
  const std::vector<const char *> options = {cubin ? "-arch=sm_75" : "-arch=compute_75", "-std=c++17", include.c_str()};

  nvrtcProgram program;
  FINE(nvrtcCreateProgram(&program, source, "step.cu", 0, nullptr, nullptr));
  FINE(nvrtcAddNameExpression(program, "step<float>"));
  FINE(nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()));
  const char *lowered;
  FINE(nvrtcGetLoweredName(program, "step<float>", &lowered));
  std::size_t bytes;
  FINE((cubin ? nvrtcGetCUBINSize : nvrtcGetPTXSize)(program, &bytes));
  std::vector<char> image(bytes);
  FINE((cubin ? nvrtcGetCUBIN : nvrtcGetPTX)(program, image.data()));

  CUcontext context;
  CUmodule module;
  CUfunction step;
  CUdeviceptr x;
  FINE(cuInit(0));
  FINE(cuDevicePrimaryCtxRetain(&context, 0));
  FINE(cuCtxSetCurrent(context));
  FINE(cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr));
  FINE(cuModuleGetFunction(&step, module, lowered));
  FINE(nvrtcDestroyProgram(&program));
  FINE(cuMemAlloc(&x, 128));
  FINE(cuMemsetD8(x, 0, 128));
  int n = 3;
  void *arguments[] = {&x, &n};
  FINE(cuLaunchKernel(step, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  FINE(cuCtxSynchronize());
  std::vector<float> host(32);
  FINE(cuMemcpyDtoH(host.data(), x, 128));
  FINE(cuModuleUnload(module));
  for (const float value : host)
    if (value != 12.25f) {
      std::printf("FAIL: %g\n", static_cast<double>(value));
      return 1;
    }
  std::puts("PASS");
  return 0;
}
