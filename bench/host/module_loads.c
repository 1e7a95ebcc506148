/* SPDX-License-Identifier: MIT */
/* module_loads IMAGE N: loads a module N times through the driver's API and prints the process's CPU time for it, in us.
 * module_loads.py runs it with and without `inkmark record`. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void *find(void *driver, const char *name) {
  void *found = dlsym(driver, name);
  if (!found) {
    fprintf(stderr, "module_loads: no %s\n", name);
    exit(1);
  }
  return found;
}

int main(int argc, char **argv) {
  static char image[1 << 22];
  int (*init)(unsigned), (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context, *module;
  FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
  if (!driver || !file || !fread(image, 1, sizeof image - 1, file))
    return 2;
  fclose(file);
  *(void **)&init = find(driver, "cuInit");
  *(void **)&retain = find(driver, "cuDevicePrimaryCtxRetain");
  *(void **)&set = find(driver, "cuCtxSetCurrent");
  *(void **)&load = find(driver, "cuModuleLoadData");
  if (init(0) || retain(&context, 0) || set(context) || load(&module, image)) /* the first one arms */
    return 1;
  const double begin = cpu_us();
  for (int i = 0; i < atoi(argv[2]); i++)
    if (load(&module, image))
      return 1;
  printf("%.0f\n", cpu_us() - begin);
  return 0;
}
