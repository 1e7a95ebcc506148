# SPDX-License-Identifier: MIT
# A CuPy module with marks, for the sessions here: `step` passes ITER n times, with Load and Compute in each.
import cupy

import inkmark

SOURCE = r"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(Session, Step, Load, Compute)
extern "C" __global__ void step(float *x, int n) {
  PROF_KERNEL(Step);
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    float a = x[threadIdx.x] * 1.5f + i;
    PROF_MARK(Load, a);
    x[threadIdx.x] = a * a;
    PROF_MARK(Compute);
  }
}
"""


def module(source=SOURCE):
    return cupy.RawModule(code=source, options=inkmark.nvrtc_options())


def run(compiled, blocks=1, n=3):
    x = cupy.zeros(32, dtype=cupy.float32)
    compiled.get_function("step")((blocks,), (32,), (x, cupy.int32(n)))
    cupy.cuda.Device().synchronize()
    return x


def counts(capture):
    return {capture.section_name(r["section"]): int(r["count"]) for r in capture.table() if capture.section_name(
        r["section"]) != "(unmarked)"}


def refused(call, words, kind=inkmark.Error):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}: {words}")
