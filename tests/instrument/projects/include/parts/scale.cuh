/* SPDX-License-Identifier: MIT */
/* A project's header with a kernel and a device function, in another folder than its sources. */
#pragma once
static __device__ inline float settle(float x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 0.5f + 1.0f;
  return x;
}
template <class T> __global__ void scale(T *x, T by) {
  for (int i = 0; i < 40; i++)
    x[threadIdx.x] = settle(x[threadIdx.x], 3) * by;
}
