// SPDX-License-Identifier: MIT
// Built with -rdc=true from three files: kernels in two of them, with the table that they share
// from a header, and a helper in the third whose sections are its own table's.
#include "truth.cuh"

#include "relocated.cuh"

__global__ void main_kernel(float *out) {
  PROF_KERNEL(Main);
  float x = (float)(blockIdx.x * relocated_threads + threadIdx.x);
  x = x * 0.5f + 1.0f;
  PROF_MARK(Before);
  x = helper(x, blockIdx.x % 3);
  PROF_MARK(After);
  x = helper(x, 1);
  out[blockIdx.x * relocated_threads + threadIdx.x] = x;
}

static float helper_on_host(float x, int times) {
  for (int i = 0; i < times; i++)
    x = x * 0.75f + (float)i;
  return x;
}

int main() {
  const int n = relocated_blocks * relocated_threads;
  float *out = device_zeros<float>(n), *other = device_zeros<float>(n);
  main_kernel<<<relocated_blocks, relocated_threads>>>(out);
  launch_other(other);
  CUDA(cudaGetLastError());
  std::vector<float> values = from_device(out, n), others = from_device(other, n), expected,
                     other_expected;
  for (int i = 0; i < n; i++) {
    expected.push_back(helper_on_host(
        helper_on_host((float)i * 0.5f + 1.0f, i / relocated_threads % 3), 1));
    other_expected.push_back(helper_on_host((float)i, 2));
  }
  print_bits("main", values);
  print_bits("other", others);
  return near("main", values, expected) && near("other", others, other_expected) ? 0 : 1;
}
