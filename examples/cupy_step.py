# SPDX-License-Identifier: MIT
# Marks in a kernel that CuPy compiles at run time (pip install cupy-cuda13x):
#     python examples/cupy_step.py                     records by itself, and shows its table
#     python -m inkmark examples/cupy_step.py          the same program, recorded whole
# On the simulated device set CUPY_CACHE_IN_MEMORY=1, or a CUPY_CACHE_DIR of its own: there CuPy's cache of compiled
# kernels holds PTX.
import os
import sys

import inkmark
import cupy
import numpy

SOURCE = r"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(CupyExample, Step, Load, Compute)

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

module = cupy.RawModule(code=SOURCE, options=inkmark.nvrtc_options())
x = cupy.arange(32, dtype=cupy.float32)


def run() -> None:
    module.get_function("step")((1,), (32,), (x, cupy.int32(2)))


if os.environ.get("INKMARK_RECORD"):
    run()
else:
    with inkmark.session(output="cupy_step.ink") as s:
        s.arm(module)
        run()
    for row in s.capture.table():
        print(s.capture.section_name(row["section"]), row["count"], row["total_cycles"])

start = numpy.arange(32, dtype=numpy.float32)
wanted = ((start * numpy.float32(1.5)) ** 2 * numpy.float32(1.5) + 1) ** 2
found = x.get()
if not numpy.allclose(found, wanted):
    sys.exit(f"FAIL: {found[:4]}, not {wanted[:4]}")
print("PASS")
