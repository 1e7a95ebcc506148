# SPDX-License-Identifier: MIT
# Marks in a kernel that cuda.core compiles at run time (pip install cuda-core):
#     python examples/cuda_core_step.py                records by itself, and shows its table
#     python -m inkmark examples/cuda_core_step.py     the same program, recorded whole
# `ptx` as an argument compiles to PTX, else to machine code.
import os
import sys
from typing import Any

import inkmark
import numpy
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(CoreExample, Step, Load, Compute)

__device__ __noinline__ float square(float a) {
  PROF_SCOPE(Compute);
  return a * a;
}

extern "C" __global__ void step(float *x, int n) {
  PROF_KERNEL(Step);
  for (int i = 0; i < n; i++) {
    float a = x[threadIdx.x] * 1.5f + i;
    PROF_MARK(Load, a);
    x[threadIdx.x] = square(a);
  }
}
"""


def check(result: Any) -> None:
    if result[0] != driver.CUresult.CUDA_SUCCESS:
        sys.exit(f"FAIL: {result[0]}")


device = Device()
device.set_current()
stream = device.create_stream()
kind = "ptx" if "ptx" in sys.argv else "cubin"
arch = f"compute_{device.arch}" if kind == "ptx" else f"sm_{device.arch}"
program = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch=arch, include_path=[inkmark.include_dir()]))
code = program.compile(kind)

x = numpy.arange(32, dtype=numpy.float32)
buffer = device.allocate(x.nbytes, stream=stream)
check(driver.cuMemcpyHtoD(int(buffer.handle), x.ctypes.data, x.nbytes))


def run() -> None:
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("step"), buffer, numpy.int32(2))
    stream.sync()


if os.environ.get("INKMARK_RECORD"):
    run()
else:
    with inkmark.session(output="cuda_core_step.ink") as s:
        s.arm(code)
        run()
    for row in s.capture.table():
        print(s.capture.section_name(row["section"]), row["count"], row["total_cycles"])
found = numpy.empty_like(x)
check(driver.cuMemcpyDtoH(found.ctypes.data, int(buffer.handle), x.nbytes))

wanted = ((x * numpy.float32(1.5)) ** 2 * numpy.float32(1.5) + 1) ** 2
if not numpy.allclose(found, wanted):
    sys.exit(f"FAIL: {found[:4]}, not {wanted[:4]}")
print("PASS")
