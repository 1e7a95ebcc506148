/* SPDX-License-Identifier: MIT */
/* Looks for the CUDA toolkit where nvcc is, and for our device headers beside this command. */
#include "find_cuda.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *with_file(const char *folder, const char *file) {
  char path[PATH_MAX];
  if (!folder || !*folder ||
      snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path || access(path, R_OK))
    return NULL;
  return realpath(folder, NULL);
}

char *find_device_headers(void) {
  static const char marker[] = "inkmark/rewritten.cuh";
  char self[PATH_MAX], path[PATH_MAX + 64];
  char *found = with_file(getenv("INKMARK_INCLUDE"), marker);
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (!found && n > 0) {
    self[n] = 0;
    snprintf(path, sizeof path, "%s/../include", dirname(self));
    found = with_file(path, marker);
  }
  return found ? found : with_file(INKMARK_DEVICE_SOURCE, marker); /* not installed */
}

/* The toolkit above `nvcc`, which may be a link into it. */
static char *above(const char *nvcc) {
  static const char *const ups[] = {"..", "../..", "../targets/x86_64-linux"};
  char *real = realpath(nvcc, NULL), *found = NULL, path[PATH_MAX + 64];
  for (size_t i = 0; real && !found && i < 3; i++) {
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", real);
    snprintf(path, sizeof path, "%s/%s", dirname(copy), ups[i]);
    found = with_file(path, "include/cuda_runtime.h");
  }
  free(real);
  return found;
}

static char *on_path(const char *name) {
  char path[PATH_MAX];
  if (strchr(name, '/'))
    return above(name);
  for (const char *at = getenv("PATH"); at && *at; at += strcspn(at, ":"), at += *at == ':') {
    snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(at, ":"), at, name);
    char *found = access(path, X_OK) ? NULL : above(path);
    if (found)
      return found;
  }
  return NULL;
}

char *find_toolkit(const char *compiler) {
  static const char header[] = "include/cuda_runtime.h";
  char *found = compiler ? on_path(compiler) : NULL;
  if (!found)
    found = with_file(getenv("CUDA_HOME"), header);
  if (!found)
    found = with_file(getenv("CUDA_PATH"), header);
  if (!found && (!compiler || strcmp(compiler, "nvcc")))
    found = on_path("nvcc");
  if (!found)
    found = with_file("/usr/local/cuda", header);
  return found ? found : above(INKMARK_BUILD_NVCC); /* what this was built with */
}
