// SPDX-License-Identifier: MIT
// Left with the reason, or the loop marked as a whole
#define FORCE_INLINE __forceinline__ __device__
#define LIKELY(x) (x)
#define FOR_EACH(i, n) for (int i = 0; i < n; ++i)
#define RESTRICT __restrict__
#define SYNC() __syncthreads()
FORCE_INLINE float f(float x) { for (int j=0;j<8;j++) x = x*0.5f+1.f; return x; }
__global__ void k(float *RESTRICT p, int n) {
  __shared__ float s[64];
  float x = p[threadIdx.x];
  for (int i = 0; LIKELY(i < n); ++i) { x = f(x); SYNC(); }
  FOR_EACH(i, 4) { x = f(x); }
  for (int i = 0; i < n; i++) FOR_EACH(j, 4) x = f(x);
  s[threadIdx.x] = x; SYNC();
  p[threadIdx.x] = s[63 - threadIdx.x];
}
void go(float*a){ k<<<1,64>>>(a,3); }
