// SPDX-License-Identifier: MIT
// An instance of each kernel of ATen/native/cuda/im2col.cuh, as torch's wheel has it.
#include <ATen/native/cuda/im2col.cuh>
template __global__ void at::native::im2col_kernel<float>(const int64_t, const float *, const int64_t, const int64_t, const int64_t, const int64_t, const int64_t, const int64_t, const int64_t, const int64_t, const int64_t, const int64_t, const int64_t, const int64_t, float *);
