// SPDX-License-Identifier: MIT
// Instances of FlashInfer's kernels that merge states.
#include <flashinfer/attention/cascade.cuh>
using namespace flashinfer;
cudaError_t merge(half *v, float *s, uint32_t n) {
  MergeState<half, half>(v, s, v, s, v, s, n, n, n);
  MergeStateInPlace<half>(v, s, v, s, n, n, n);
  return MergeStates<half, half>(v, s, v, s, n, n, n, n);
}
