/* SPDX-License-Identifier: MIT */
/* Threads open, use and close a marked library over and over while main returns: closer LIBRARY THREADS MICROSECONDS */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *open_and_close(void *path) {
  for (;;) {
    void *library = dlopen(path, RTLD_NOW);
    int (*run)(void) = library ? (int (*)(void))dlsym(library, "run_library") : NULL;
    if (!run || run())
      _exit(2);
    dlclose(library);
  }
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (argc != 4)
    return 1;
  for (int i = 0; i < atoi(argv[2]); i++)
    if (pthread_create(&thread, NULL, open_and_close, argv[1]))
      return 1;
  usleep((useconds_t)atoi(argv[3]));
  return 4;
}
