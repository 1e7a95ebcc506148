// SPDX-License-Identifier: MIT
// Ranges in ranges, each level with rows and a last stamp of its own; scopes that `continue` and
// `break` leave; PROF_BEGIN and PROF_END that are not lexical; blocks and threads in three
// dimensions.
#include "truth.cuh"

PROF_SECTIONS(Nested, Kernel, Outer, Middle, Inner, Work, More, After)

constexpr int rounds = 4, total = 3 * 2 * 2 * 8 * 4 * 3;

__global__ void nested_kernel(float *out) {
  PROF_KERNEL(Kernel);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  float x = (float)(block * 96 + thread);
  for (int i = 0; i < rounds; i++) {
    PROF_ITER(i * 10);
    PROF_BEGIN(Outer);
    x = x * 0.5f + 1.0f;
    PROF_MARK(Work);
    for (int j = 0; j <= block % 3; j++) {
      PROF_SCOPE(Middle);
      PROF_ITER(j);
      x = x * 0.25f + 2.0f;
      PROF_MARK(Work);
      if (j == 1)
        continue;
      PROF_BEGIN(Inner);
      PROF_BEGIN(Inner);
      x += 3.0f;
      PROF_MARK(More);
      PROF_END(Inner);
      PROF_END(Inner);
      if (i == 2)
        break;
      PROF_MARK(Work);
    }
    x -= 1.5f;
    PROF_MARK(More);
    PROF_END(Outer);
    x *= 1.5f;
    if (i % 2 == 0)
      PROF_MARK(After);
  }
  out[block * 96 + thread] = x;
}

static float on_host(int at) {
  const int block = at / 96;
  float x = (float)at;
  for (int i = 0; i < rounds; i++) {
    x = x * 0.5f + 1.0f;
    for (int j = 0; j <= block % 3; j++) {
      x = x * 0.25f + 2.0f;
      if (j == 1)
        continue;
      x += 3.0f;
      if (i == 2)
        break;
    }
    x -= 1.5f;
    x *= 1.5f;
  }
  return x;
}

int main() {
  float *out = device_zeros<float>(total);
  nested_kernel<<<dim3(3, 2, 2), dim3(8, 4, 3)>>>(out);
  CUDA(cudaGetLastError());
  std::vector<float> values = from_device(out, total), expected;
  for (int at = 0; at < total; at++)
    expected.push_back(on_host(at));
  print_bits("nested", values);
  return near("nested", values, expected) ? 0 : 1;
}
