# SPDX-License-Identifier: MIT
# inline_step.py RUNTIME: what torch.utils.cpp_extension.load_inline does, without PyTorch: a program that has started writes a
# source, has nvcc make a library of it, loads it and calls it; then a second one, an edit of the first. RUNTIME is the CUDA
# runtime that the library is linked with: PyTorch's extensions have the shared one, nvcc's default is the static one.
import ctypes
import os
import subprocess
import sys

SOURCE = r"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(Inline, Step, Load, Compute)

__device__ __noinline__ float squared(float a) {
  a *= a;
  PROF_MARK(Compute, a);
  return a;
}

__global__ void step(float *x, int n) {
  PROF_KERNEL(Step);
  for (int i = 0; i < n; i++) {
    float a = x[threadIdx.x] * 1.5f + i;
    PROF_MARK(Load, a);
    x[threadIdx.x] = squared(a);
  }
}

extern "C" int run(float *host, int n) {
  float *x;
  if (cudaMalloc(&x, 128) || cudaMemcpy(x, host, 128, cudaMemcpyHostToDevice))
    return 1;
  step<<<1, 32>>>(x, n);
  return cudaMemcpy(host, x, 128, cudaMemcpyDeviceToHost) || cudaFree(x);
}
"""


def load_inline(name, source):
    with open(name + ".cu", "w") as file:
        file.write(source)
    subprocess.run([os.environ["NVCC"], "-O2", "-std=c++17", "-arch=compute_75", "-Wno-deprecated-gpu-targets", "-shared", "-Xcompiler", "-fPIC",
                    "-cudart", sys.argv[1], "-I", os.environ["INKMARK_INCLUDE"], "-o", name + ".so", name + ".cu"], check=True)
    return ctypes.CDLL(os.path.abspath(name + ".so"))


for name, source, wanted in (("first", SOURCE, 12.25), ("edited", SOURCE.replace("a *= a;", "a = a * a + 1;"), 166.765625)):
    host = (ctypes.c_float * 32)()
    if load_inline(name, source).run(host, 3) or set(host) != {wanted}:
        sys.exit(f"FAIL: {name}: {host[0]}")
print("PASS")
