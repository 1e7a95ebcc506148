/* SPDX-License-Identifier: MIT */
/* Finds, for a call that the preloaded library stands in front of, whose it was: a library that was
 * loaded later brings its own CUDA runtime, which the order of the loader does not have. */
#include "cuda/behind.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* In what the caller's own object was linked with; a handle that was opened stays so: its functions do. */
static void *find_in_object(const char *name, void *caller) {
  struct link_map *map = NULL;
  Dl_info info;
  if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name || !map->l_name[0])
    return NULL; /* the program itself, whose scope is the loader's order */
  void *object = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  void *found = object ? dlsym(object, name) : NULL;
  Dl_info owner;
  if (found && dladdr(found, &owner) && owner.dli_fname)
    dlopen(owner.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (object)
    dlclose(object);
  return found;
}

static void *find_loaded(const char *name) {
  static const char *const runtimes[] = {"libcudart.so.13", "libcudart.so.12"};
  void *found = NULL;
  for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes && !found; i++) {
    void *runtime = dlopen(runtimes[i], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    if (!runtime)
      continue;
    found = dlsym(runtime, name);
    dlclose(runtime);
  }
  return found;
}

static void *find(const char *name, void *caller) {
  void *found = find_in_object(name, caller);
  if (!found)
    found = dlsym(RTLD_NEXT, name);
  return found ? found : find_loaded(name);
}

/* Entries are written once: the caller last, so that who sees it sees what was found. */
void *ink_behind_find(ink_behind *known, const char *name, void *caller) {
  const size_t first = ((uintptr_t)caller >> 2) % INK_BEHIND_CALLERS;
  for (size_t i = 0; i < INK_BEHIND_CALLERS; i++) {
    const size_t at = (first + i) % INK_BEHIND_CALLERS;
    const void *there = known->callers[at];
    if (there == caller)
      return known->found[at];
    if (!there)
      break;
  }
  void *found = find(name, caller);
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < INK_BEHIND_CALLERS && found; i++) {
    const size_t at = (first + i) % INK_BEHIND_CALLERS;
    if (known->callers[at] == caller)
      break;
    if (known->callers[at])
      continue;
    known->found[at] = found;
    known->callers[at] = caller;
    break;
  }
  pthread_mutex_unlock(&lock);
  return found;
}
