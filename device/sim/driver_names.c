/* SPDX-License-Identifier: MIT */
/* How the driver's functions are found by name and version, what those that are not simulated answer,
 * and the names of errors. */
#include "driver_entries.h"

#include <pthread.h>
#include <string.h>

#include "driver.h"

enum { SAID_MAX = 64 };

int drv_not_simulated(const char *name) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static const char *said[SAID_MAX];
  size_t n = 0;
  pthread_mutex_lock(&lock);
  while (n < SAID_MAX && said[n] && strcmp(said[n], name))
    n++;
  const bool first = n < SAID_MAX && !said[n];
  if (first)
    said[n] = name;
  pthread_mutex_unlock(&lock);
  if (first)
    rt_say("%s is not simulated: CUDA_ERROR_NOT_SUPPORTED", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

/* The newest one that is not newer than the version asked for. A function without a stream has no form
 * for default streams of threads of its own. */
static const drv_entry *find(const char *name, int version, bool per_thread, bool *known) {
  const drv_entry *best = NULL;
  for (const drv_entry *at = drv_entries; at->name; at++) {
    if (at->per_thread != per_thread || strcmp(at->name, name))
      continue;
    *known = true;
    if (at->version <= version && (!best || at->version > best->version))
      best = at;
  }
  return best;
}

void *drv_entry_point(const char *name, int version, bool per_thread, bool *known) {
  *known = false;
  const drv_entry *found = per_thread ? find(name, version, true, known) : NULL;
  if (!found)
    found = find(name, version, false, known);
  if (!found)
    return NULL;
  void *function;
  memcpy(&function, &found->function, sizeof function);
  return function;
}

DRV_API cuGetErrorName(CUresult error, const char **name) {
  static const struct {
    int code;
    const char *name;
  } names[] = {
#define DRV_ERROR(name, code) {code, #name},
#include "driver_error_names.inc"
#undef DRV_ERROR
  };
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == (int)error) {
      *name = names[i].name;
      return CUDA_SUCCESS;
    }
  *name = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}
