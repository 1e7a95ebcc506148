// SPDX-License-Identifier: MIT
// Helpers of layouts: little more than calls of constexpr functions, which are computed when the kernel is compiled. What
// is copied and multiplied is worth a section, where it lies is not, however much text computes it.
#ifdef __clang__
#define EACH _Pragma("unroll")
#else
#define EACH #pragma unroll
#endif
struct tile {
  float *at;
  int rows, columns;
};
__host__ __device__ constexpr int ceil_of(int a, int b) {
  int whole = a / b, rest = a % b;
  for (int i = 0; i < 4; i++)
    whole += (rest > i * b) ? 1 : 0;
  return rest ? whole + (whole * b < a ? 1 : 0) - (whole > 4 * a ? 1 : 0) : a / b + (a < 0 ? -1 : 0) * (b < 0 ? -1 : 1);
}
__device__ tile part_of(const tile &whole, int part) {
  return {whole.at + ceil_of(whole.rows, 32) * part, ceil_of(whole.rows, 32), ceil_of(whole.columns, 32)};
}
__device__ void copy(const tile &from, tile &to) {
  for (int i = 0; i < from.rows; i++)
    to.at[i] = from.at[i];
}
__device__ void multiply(const tile &a, const tile &b, float &sum) {
  for (int i = 0; i < a.rows; i++)
    sum += a.at[i] * b.at[i];
}
__global__ void gemm(tile a, tile b, float *out, int k_tiles) {
  __shared__ float rows[1024];
  tile mine = part_of(a, threadIdx.x);
  tile theirs = part_of(b, threadIdx.x);
  tile shared = part_of({rows, 1024, 1}, threadIdx.x);
  float sum = 0;
  EACH
  for (int i = 0; i < 2; i++)
    copy(theirs, shared);
  for (int k = 0; k < k_tiles; k++) {
    copy(mine, shared);
    __syncthreads();
    multiply(shared, theirs, sum);
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
