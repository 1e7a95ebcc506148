// SPDX-License-Identifier: MIT
// An instance of DeepGEMM's kernel for Hopper.
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
using namespace deep_gemm;
void *instance() {
  return (void *)&sm90_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, 4096, 7168, 1, 128, 128, 64, 128, 128, 128, 4, 128, 256, 1, false, 132, GemmType::Normal, false, cutlass::bfloat16_t>;
}
