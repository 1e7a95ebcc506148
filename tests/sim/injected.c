/* SPDX-License-Identifier: MIT */
/* The library that run_injected.cu expects; it calls the runtime while the runtime starts. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void) {
  int (*count)(int *);
  *(void **)&count = dlsym(RTLD_DEFAULT, "cudaGetDeviceCount");
  int n = 0;
  if (!count || count(&n) || n != 1)
    return 0;
  const char *before = getenv("INJECTED");
  char text[8] = "";
  snprintf(text, sizeof text, "%.5s1", before ? before : "");
  setenv("INJECTED", text, 1);
  return 1;
}
