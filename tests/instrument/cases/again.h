// SPDX-License-Identifier: MIT
// Is included several times: each kernel and function of it is one text.
#define AGAIN_PASTE_(a, b) a##b
#define AGAIN_PASTE(a, b) AGAIN_PASTE_(a, b)
__device__ inline int AGAIN_PASTE(work, AGAIN)(int n) {
  int s = n;
  for (int i = 0; i < n % 5; i++)
    s = s * 5 + AGAIN;
  return s;
}
static __device__ int plain(int n) {
  for (int i = 0; i < n % 7; i++)
    n ^= AGAIN;
  return n;
}
__global__ void AGAIN_PASTE(k, AGAIN)(int *x, int n) {
  for (int i = 0; i < n; i++)
    x[threadIdx.x] += AGAIN_PASTE(work, AGAIN)(x[threadIdx.x]) + plain(i);
  auto twice = [&](int v) { return plain(v) + plain(v + 1); };
  x[threadIdx.x] ^= twice(n);
}
#undef AGAIN_PASTE
#undef AGAIN_PASTE_
#undef AGAIN
