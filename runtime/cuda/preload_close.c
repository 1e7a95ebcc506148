/* SPDX-License-Identifier: MIT */
/* dlclose and exit, of the preloaded library. exit runs the destructors of a library that another thread closes at the
 * same time: the registrar of its marks waits there for the session, and meanwhile the library would be unmapped under
 * it. Where a library with marks is there, exit waits for the closings that have begun, and another thread closes nothing
 * once exit has begun. */
#include "cuda/preload_close.h"
#include "cuda/record_mode.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000 }; /* a destructor in a closing may wait for the thread that leaves */

static atomic_uint closings;
static _Thread_local unsigned own_closings;
static _Atomic pid_t leaver;

void ink_i_exit_begins(void) {
  pid_t nobody = 0;
  if (!ink_record_has_libraries() || !atomic_compare_exchange_strong(&leaver, &nobody, gettid()))
    return;
  for (int waited_ms = 0; atomic_load(&closings) > own_closings && waited_ms < PATIENCE_MS; waited_ms++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void ink_i_closings_after_fork(void) {
  atomic_store(&closings, own_closings);
  atomic_store(&leaver, 0);
}

static bool may_close(void) {
  const pid_t who = atomic_load(&leaver);
  return !who || who == gettid();
}

INK_API int dlclose(void *library);
int dlclose(void *library) {
  int (*real)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
  int code = 0;
  own_closings++;
  atomic_fetch_add(&closings, 1);
  if (may_close()) /* looked at after it was counted, as the leaver counts after it said so */
    code = real(library);
  atomic_fetch_sub(&closings, 1);
  own_closings--;
  return code;
}

INK_API _Noreturn void exit(int status);
void exit(int status) {
  void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
  ink_i_exit_begins();
  real(status);
  __builtin_unreachable();
}
