/* SPDX-License-Identifier: MIT */
/* nvcc_macros CUDA_FOLDER FLAG...: prints what the rewriter takes for nvcc's own macros, as -D options, a line each. */
#include "nvcc_macros.h"

#include <stdio.h>

static void print(void *to, bool early, const char *name, const char *value) {
  (void)to;
  (void)early;
  printf("-D%s%s%s\n", name, *value ? "=" : "", value);
}

int main(int argc, char **argv) {
  ink_nvcc nvcc;
  if (argc < 2)
    return 2;
  ink_nvcc_read(&nvcc, (const char *const *)argv + 2, (size_t)argc - 2, argv[1]);
  ink_nvcc_macros(&nvcc, print, NULL);
  return 0;
}
