// SPDX-License-Identifier: MIT
// No marks in the branch below 40 registers unless asked, no new spill, no message on setmaxnreg.
__device__ void step(float *p, int n) { for (int i = 0; i < n; i++) p[i] = p[i] * 2 + 1; }
__global__ void __launch_bounds__(384, 1) special(float *p, int n) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int i = 0; i < n; i++) step(p + i, n);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    for (int i = 0; i < n; i++) step(p + 2 * i, n);
  }
}
