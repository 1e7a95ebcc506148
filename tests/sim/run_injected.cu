/* SPDX-License-Identifier: MIT */
/* The library named in CUDA_INJECTION64_PATH starts at the first call that initialises the runtime,
 * not before, and once. */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "check.h"

__global__ void nothing() {}

static const char *seen(void)
{
  const char *text = getenv("INJECTED");
  return text ? text : "";
}

int main(void)
{
  CHECK_EQUAL(seen()[0], 0); /* registration is not initialisation */
  int n = 0;
  OK(cudaRuntimeGetVersion(&n));
  CHECK_EQUAL(seen()[0], 0);
  nothing<<<1, 1>>>();
  CHECK_EQUAL(seen()[0], '1');
  OK(cudaDeviceSynchronize());
  if (seen()[0]) CHECK_EQUAL(seen()[1], 0); /* once */
  return check_result();
}
