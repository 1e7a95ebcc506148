# SPDX-License-Identifier: MIT
# numba-cuda: a device function in CUDA C++ with marks, linked at run time with link-time optimisation.
import os

import numpy
from numba import cuda

with open("square.cu", "w") as file:
    file.write(r"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(Numba, Step, Square)
extern "C" __device__ int square(float *result, float x) {
  PROF_KERNEL(Step);
  float y = x * x;
  PROF_MARK(Square, y);
  *result = y;
  return 0;
}
""")
square = cuda.declare_device("square", "float32(float32)", link="square.cu")


@cuda.jit
def step(x, n):
    i = cuda.grid(1)
    for k in range(n):
        x[i] = square(x[i] * numpy.float32(1.5) + numpy.float32(k))


x = cuda.to_device(numpy.zeros(32, numpy.float32))
step[1, 32](x, 3)
assert (x.copy_to_host() == 12.25).all()
print("PASS")
