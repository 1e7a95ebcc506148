/* SPDX-License-Identifier: MIT */
/* CUDA_INJECTION64_PATH: the driver of a real device loads this library when it starts and calls
 * its InitializeInjection, and so does the simulated one. */
#include <dlfcn.h>
#include <stdlib.h>

#include "cudart.h"

void rt_inject(void) {
  const char *path = secure_getenv("CUDA_INJECTION64_PATH");
  if (!path || !*path)
    return;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    rt_say("cannot load CUDA_INJECTION64_PATH: %s", dlerror());
    return;
  }
  int (*initialise)(void);
  /* POSIX's way to turn dlsym's object pointer into a function pointer */
  *(void **)&initialise = dlsym(library, "InitializeInjection");
  if (!initialise) {
    rt_say("'%s' has no InitializeInjection", path);
    return;
  }
  if (!initialise())
    rt_say("InitializeInjection of '%s' reports failure", path);
}
