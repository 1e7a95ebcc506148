/* SPDX-License-Identifier: MIT */
/* Loads marked libraries and runs their kernels at once: the first launch must not be lost. `-` unloads the
 * library before it and waits for some drains; `+` puts those behind it into namespaces of their own. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
  void *library = NULL;
  int code = argc > 1 ? 0 : 1, apart = 0;
  for (int i = 1; i < argc && !code; i++) {
    if (!strcmp(argv[i], "-")) {
      code = dlclose(library);
      nanosleep(&(struct timespec){.tv_nsec = 600000000}, NULL);
      continue;
    }
    if (!strcmp(argv[i], "+")) {
      apart = 1;
      continue;
    }
    library = apart ? dlmopen(LM_ID_NEWLM, argv[i], RTLD_NOW) : dlopen(argv[i], RTLD_NOW);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    int (*run)(void) = (int (*)(void))dlsym(library, "run_library");
    code = run ? run() : 1;
  }
  return code;
}
