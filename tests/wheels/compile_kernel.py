# SPDX-License-Identifier: MIT
# compile_kernel.py LIBNVRTC: the calls of torch.cuda._compile_kernel, which comes to NVRTC and the driver by ctypes.
import ctypes
import os
import sys

nvrtc, driver = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libcuda.so.1")
SOURCE = rb"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(Torch, Step, Load, Compute)
extern "C" __global__ void step(float *x, int n) {
  PROF_KERNEL(Step);
  for (int i = 0; i < n; i++) {
    float a = x[threadIdx.x] * 1.5f + i;
    PROF_MARK(Load, a);
    x[threadIdx.x] = a * a;
    PROF_MARK(Compute);
  }
}
"""


def fine(code):
    if code:
        sys.exit(f"FAIL: {code}")


options = [b"--gpu-architecture=sm_75", b"-I" + os.environ["INKMARK_INCLUDE"].encode()]
program, size = ctypes.c_void_p(), ctypes.c_size_t()
fine(nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"step.cu", 0, None, None))
fine(nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)))
fine(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
ptx = ctypes.create_string_buffer(size.value)
fine(nvrtc.nvrtcGetPTX(program, ptx))

context, module, step, x = (ctypes.c_void_p() for _ in range(4))
fine(driver.cuInit(0))
fine(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
fine(driver.cuCtxSetCurrent(context))
fine(driver.cuModuleLoadData(ctypes.byref(module), ptx))
fine(driver.cuModuleGetFunction(ctypes.byref(step), module, b"step"))
fine(driver.cuMemAlloc_v2(ctypes.byref(x), 128))
fine(driver.cuMemsetD8_v2(x, 0, ctypes.c_size_t(128)))
n, host = ctypes.c_int(3), (ctypes.c_float * 32)()
arguments = (ctypes.c_void_p * 2)(ctypes.addressof(x), ctypes.addressof(n))
fine(driver.cuLaunchKernel(step, 1, 1, 1, 32, 1, 1, 0, None, arguments, None))
fine(driver.cuMemcpyDtoH_v2(host, x, ctypes.c_size_t(128)))
if set(host) != {12.25}:
    sys.exit(f"FAIL: {host[0]}")
print("PASS")
