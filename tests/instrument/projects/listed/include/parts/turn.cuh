// SPDX-License-Identifier: MIT
#pragma once
static __device__ int turn(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += i * 3 + 1;
  return sum;
}
