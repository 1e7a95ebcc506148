// SPDX-License-Identifier: MIT
// The extension's Python side.
#include <torch/extension.h>

torch::Tensor settle_cuda(const torch::Tensor &values, int64_t steps);

torch::Tensor settle(const torch::Tensor &values, int64_t steps) {
  TORCH_CHECK(values.is_cuda() && values.is_contiguous(), "values must be contiguous, on a GPU");
  return settle_cuda(values, steps);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("settle", &settle, "rows, smoothed some steps"); }
