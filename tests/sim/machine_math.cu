/* SPDX-License-Identifier: MIT */
/* CUDA's math library, compiled to PTX: long stretches of real code for machine_math_test.c. */
#include "machine_math.h"

#define X(name, least, most) \
  extern "C" __global__ void name##_f32(const float *in, float *out) \
  { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x; \
    out[i] = name##f(in[i]); \
  } \
  extern "C" __global__ void name##_f64(const double *in, double *out) \
  { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x; \
    out[i] = name(in[i]); \
  }
MATH_FUNCTIONS(X)
#undef X

extern "C" __global__ void pairs_f64(const double *in, double *out)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double x = in[i], y = in[(i + 37) % (gridDim.x * blockDim.x)];
  out[i * 5] = pow(fabs(x), y * 0.1);
  out[i * 5 + 1] = atan2(x, y);
  out[i * 5 + 2] = fmod(x, y);
  out[i * 5 + 3] = hypot(x, y);
  out[i * 5 + 4] = remainder(x, y);
}
