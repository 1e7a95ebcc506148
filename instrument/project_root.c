/* SPDX-License-Identifier: MIT */
/* Guesses the folder below which files are the project's: what a version control system says, else the folder
 * that the source and the headers beside it have in common. */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVELS_UP = 3 }; /* above the source's folder, to its headers */

void ink_unit_guess_root(ink_unit *unit, const char *path) {
  static const char *const signs[] = {".git", ".hg", ".svn"};
  char folder[PATH_MAX], probe[PATH_MAX + 8];
  snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (!slash)
    return;
  *slash = 0;
  unit->root = strdup(folder[0] ? folder : "/");
  for (; folder[0]; *strrchr(folder, '/') = 0)
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
      snprintf(probe, sizeof probe, "%s/%s", folder, signs[i]);
      if (!access(probe, F_OK)) {
        free(unit->root);
        unit->root = strdup(folder);
        return;
      }
    }
  unit->root_may_grow = true;
  char *here = realpath(".", NULL);
  const size_t length = here ? strlen(here) : 0;
  if (length > 1 && !strncmp(path, here, length) && path[length] == '/') {
    free(unit->root);
    unit->root = here;
  } else {
    free(here);
  }
}

/* Folders that hold more than one project. */
static bool is_shared(const char *folder) {
  static const char *const names[] = {"", "/usr", "/usr/local", "/opt", "/home", "/tmp", "/var", "/var/tmp", "/mnt", "/srv"};
  const char *home = getenv("HOME");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(folder, names[i]))
      return true;
  return home && !strcmp(folder, home);
}

static unsigned depth_of(const char *path) {
  unsigned depth = 0;
  for (; *path; path++)
    depth += *path == '/';
  return depth;
}

static void grow_to(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data) {
  ink_unit *unit = data;
  if (!depth || ink_is_system(unit, file, stack))
    return;
  CXString name = clang_getFileName(file);
  const char *shown = clang_getCString(name), *ours = unit->options->device_include;
  char *path = shown ? realpath(shown, NULL) : NULL, *root = unit->root;
  clang_disposeString(name);
  if (path && root && !(ours && !strncmp(path, ours, strlen(ours)))) {
    size_t common = 0;
    for (size_t i = 0; !common || root[i - 1]; i++) { /* the last `/` (or end) up to which both are alike */
      const bool ends = !root[i] || root[i] == '/';
      if (ends && path[i] == '/' && !strncmp(root, path, i))
        common = i + 1;
      if (!root[i] || root[i] != path[i])
        break;
    }
    common -= common > 0;
    const char before = root[common];
    root[common] = 0;
    if (is_shared(root) || depth_of(unit->main_path) - 1 > depth_of(root) + LEVELS_UP)
      root[common] = before;
  }
  free(path);
}

void ink_unit_grow_root(ink_unit *unit) {
  if (unit->root_may_grow)
    clang_getInclusions(unit->tu, grow_to, unit);
}
