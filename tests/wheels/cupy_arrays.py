# SPDX-License-Identifier: MIT
# CuPy's own kernels: elementwise, reductions, a sort. None has marks.
import cupy

x = cupy.arange(8, dtype=cupy.float32)
assert (x * 2 + 1).get().tolist() == [1, 3, 5, 7, 9, 11, 13, 15]
assert float(x.sum()) == 28
square = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * x", "square")
assert square(x).get().tolist() == [0, 1, 4, 9, 16, 25, 36, 49]
squares = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares")
assert float(squares(x)) == 140
assert cupy.sort(cupy.array([3, 1, 2])).get().tolist() == [1, 2, 3]
print("PASS")
