// SPDX-License-Identifier: MIT
// Calls inside of expressions over several lines: the rewriter's marks have the lines of their calls,
// while what stands before and behind them in the text may run on either side.
__device__ __forceinline__ float f(float x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 1.5f + 0.25f;
  return x;
}
__device__ __forceinline__ float g(float x) { return sqrtf(x) * 3.f; }

__global__ void expressions(float *out, const float *in, int n) {
  float a = in[threadIdx.x];
  out[threadIdx.x] =
      a * in[threadIdx.x + 32] +
      f(g(a) *
            in[threadIdx.x + 64],
        n) *
          g(in[threadIdx.x + 96]);
  if (f(a,
        n) > 3.f &&
      g(a) < 2.f)
    out[threadIdx.x + 32] = a;
  const char c = ';', *text = "; { } \" (";
  if (c != text[n & 1])
    out[threadIdx.x + 64] =
        g(a +
          1'000'000);
}
