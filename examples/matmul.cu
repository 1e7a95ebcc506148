// SPDX-License-Identifier: MIT
// A tiled matrix product, C = A B: for each tile of the inner dimension the block loads into shared
// memory and multiplies, at the end it stores. The table's rows are the tiles.
//
//     matmul [n]                               n x n matrices, a multiple of 16
#include "example.h"
#include "inkmark/mark.cuh"

#include <vector>

PROF_SECTIONS(Matmul, Product, Load, Compute, Store)

constexpr int tile = 16;

__global__ void product(const float *a, const float *b, float *c, int n) {
  PROF_KERNEL(Product);
  __shared__ float tile_a[tile][tile], tile_b[tile][tile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * tile + x, row = blockIdx.y * tile + y;

  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    PROF_ITER(k / tile);

    tile_a[y][x] = a[row * n + k + x];
    tile_b[y][x] = b[(k + y) * n + column];
    __syncthreads();
    PROF_MARK(Load);

    for (int i = 0; i < tile; i++)
      sum += tile_a[y][i] * tile_b[i][x];
    PROF_MARK(Compute, sum); // named, so that the products cannot slide past the stamp
    __syncthreads();
  }

  c[row * n + column] = sum;
  PROF_MARK(Store);
}

int main(int argc, char **argv) {
  const int n = argument(argc, argv, 1, 64);
  if (n % tile || n > 8192) {
    fprintf(stderr, "%d is not a multiple of %d up to 8192\n", n, tile);
    return 2;
  }
  const size_t size = (size_t)n * n;
  std::vector<float> a(size), b(size), c(size);
  Random random = {7};
  for (size_t i = 0; i < size; i++) { // small whole numbers: every sum is exact in float
    a[i] = (float)(random.bits() % 17) - 8;
    b[i] = (float)(random.bits() % 17) - 8;
  }

  Device<float> device_a(a.data(), size), device_b(b.data(), size), device_c(size);
  product<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(device_a, device_b, device_c, n);
  CUDA(cudaGetLastError());
  device_c.copy_to(c.data());

  size_t wrong = 0;
  std::vector<long> sums(n);
  for (int row = 0; row < n; row++) {
    sums.assign(n, 0);
    for (int k = 0; k < n; k++)
      for (int column = 0; column < n; column++)
        sums[column] += (long)a[(size_t)row * n + k] * (long)b[(size_t)k * n + column];
    for (int column = 0; column < n; column++)
      wrong += c[(size_t)row * n + column] != (float)sums[column];
  }
  printf("%d x %d, %zu of %zu elements differ\n", n, n, wrong, size);
  return verdict("matmul", wrong == 0);
}
