// SPDX-License-Identifier: MIT
// Smooths every row of a matrix some steps: a template kernel over the tensor's type.
#include <ATen/Dispatch.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

template <typename T>
__device__ T smooth(const T *row, int at, int width) {
  T sum = 0;
  for (int i = -2; i <= 2; i++)
    sum += row[min(max(at + i, 0), width - 1)];
  return sum / T(5);
}

template <typename T>
__global__ void settle_kernel(const T *__restrict__ from, T *__restrict__ to, int width, int steps) {
  extern __shared__ unsigned char bytes[];
  T *row = reinterpret_cast<T *>(bytes);
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    row[i] = from[blockIdx.x * width + i];
  __syncthreads();
  for (int step = 0; step < steps; step++) {
    const T mean = threadIdx.x < width ? smooth(row, threadIdx.x, width) : T(0);
    __syncthreads();
    if (threadIdx.x < width)
      row[threadIdx.x] = mean;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    to[blockIdx.x * width + i] = row[i];
}

torch::Tensor settle_cuda(const torch::Tensor &values, int64_t steps) {
  torch::Tensor out = torch::empty_like(values);
  const int width = static_cast<int>(values.size(1));
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "settle_cuda", [&] {
    settle_kernel<scalar_t><<<values.size(0), 128, width * sizeof(scalar_t), c10::cuda::getCurrentCUDAStream()>>>(
        values.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), width, static_cast<int>(steps));
  });
  C10_CUDA_CHECK(cudaGetLastError());
  return out;
}
