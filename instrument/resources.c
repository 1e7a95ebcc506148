/* SPDX-License-Identifier: MIT */
/* libclang looks for its own headers beside the clang that it was built with. A copy of it elsewhere (a wheel, conda, a
 * folder of its own) finds none, and then every CUDA header fails. */
#include "resources.h"

#include <clang-c/Index.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *with_headers(const char *folder) {
  char *header = NULL;
  char *resolved = realpath(folder, NULL);
  const bool there = resolved && asprintf(&header, "%s/include/__clang_cuda_runtime_wrapper.h", resolved) >= 0 &&
                     !access(header, R_OK);
  free(header);
  if (there)
    return resolved;
  free(resolved);
  return NULL;
}

/* From the folder `before` (its last part may be "..") and what lies below it. */
static char *look_below(const char *before, size_t length, const char *between, const char *version) {
  char *folder, *found;
  if (asprintf(&folder, "%.*s%s/clang/%s", (int)length, before, between, version) < 0)
    return NULL;
  found = with_headers(folder);
  free(folder);
  return found;
}

typedef struct versions {
  char major[8], full[24];
} versions;

static char *look_from(const char *library, const versions *of) {
  static const char *const ways[] = {"/../lib", "", "/../lib64", "/../../lib"};
  const char *slash = strrchr(library, '/');
  char *found = NULL;
  for (size_t i = 0; i < sizeof ways / sizeof *ways && slash && !found; i++) {
    found = look_below(library, (size_t)(slash - library), ways[i], of->major);
    if (!found)
      found = look_below(library, (size_t)(slash - library), ways[i], of->full);
  }
  return found;
}

char *ink_clang_resources(const char *library, const char *version) {
  static const char *const usual[][2] = {{"/usr/lib/llvm-", "/lib"}, {"/usr/local/llvm-", "/lib"}, {"/opt/llvm-", "/lib"}};
  static const char *const plain[] = {"/usr/lib/x", "/usr/lib64/x", "/usr/local/lib/x"};
  const char *number = version ? version + strcspn(version, "0123456789") : "";
  versions of;
  snprintf(of.full, sizeof of.full, "%.*s", (int)strspn(number, "0123456789."), number);
  snprintf(of.major, sizeof of.major, "%.*s", (int)strcspn(of.full, "."), of.full);
  if (!of.major[0])
    return NULL;
  char *found = look_from(library, &of), *resolved = found ? NULL : realpath(library, NULL);
  if (resolved)
    found = look_from(resolved, &of);
  free(resolved);
  for (size_t i = 0; i < sizeof usual / sizeof *usual && !found; i++) {
    char between[32];
    snprintf(between, sizeof between, "%s%s", of.major, usual[i][1]);
    found = look_below(usual[i][0], strlen(usual[i][0]), between, of.major);
  }
  for (size_t i = 0; i < sizeof plain / sizeof *plain && !found; i++)
    found = look_from(plain[i], &of);
  return found;
}

char *ink_clang_resources_loaded(void) {
  Dl_info info;
  /* a function's address goes through an integer: C has no cast of it to a pointer to an object */
  if (!dladdr((void *)(uintptr_t)clang_createIndex, &info) || !info.dli_fname)
    return NULL;
  CXString version = clang_getClangVersion();
  char *found = ink_clang_resources(info.dli_fname, clang_getCString(version));
  clang_disposeString(version);
  return found;
}
