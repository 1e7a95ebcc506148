/* SPDX-License-Identifier: MIT */
/* Loads a marked library and runs its kernel at once: the first launch must not be lost. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*run)(void) = (int (*)(void))dlsym(library, "run_library");
  return run ? run() : 1;
}
