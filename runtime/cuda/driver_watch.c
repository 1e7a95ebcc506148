/* SPDX-License-Identifier: MIT */
/* Modules, contexts and first launches by CUPTI's callbacks. They run inside of the program's calls, in its threads. */
#include "cuda/driver_watch.h"

#include "cuda/activity.h"
#include "cuda/cupti_api.h"
#include "cuda/device_choice.h"
#include "cuda/driver_api.h"
#include "cuda/driver_modules.h"
#include "cuda/module_scan.h"
#include "cuda/session_private.h"

#include <stdio.h>
#include <string.h>

enum { FUNCTIONS_MAX = 1 << 12, SHARES_BYTES = offsetof(ink_i_cupti_subscriber, shares) };

static struct {
  pthread_mutex_t lock; /* held while a callback is in the session; all below */
  ink_session *session; /* NULL: none is watched */
  ink_i_cupti cupti;
  void *subscriber;
  bool own;                        /* the subscriber is not the activity's */
  const void *known[FUNCTIONS_MAX]; /* functions that were launched, by hash */
  uint32_t known_count;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic bool watched; /* without the lock: for calls when nobody watches */
static _Thread_local bool inside;

static const uint32_t calls[] = {
    CUPTI_cuModuleLoad, CUPTI_cuModuleLoadData, CUPTI_cuModuleLoadDataEx, CUPTI_cuModuleLoadFatBinary,
    CUPTI_cuModuleUnload, CUPTI_cuLibraryLoadData, CUPTI_cuLibraryLoadFromFile, CUPTI_cuLibraryUnload,
    CUPTI_cuCtxCreate_v2, CUPTI_cuCtxCreate_v3, CUPTI_cuCtxCreate_v4, CUPTI_cuCtxDestroy_v2,
    CUPTI_cuLaunchKernel, CUPTI_cuLaunchKernel_ptsz, CUPTI_cuLaunchCooperativeKernel,
    CUPTI_cuLaunchCooperativeKernel_ptsz, CUPTI_cuLaunchKernelEx, CUPTI_cuLaunchKernelEx_ptsz,
};

/* ---- what a call means ---- */

static void forget_functions(void) { /* a handle may be another function's from here on */
  memset(watch.known, 0, sizeof watch.known);
  watch.known_count = 0;
}

static bool is_known(const void *function) {
  uint32_t at = (uint32_t)((uintptr_t)function * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (FUNCTIONS_MAX - 1);
  if (watch.known_count >= FUNCTIONS_MAX / 4 * 3)
    forget_functions();
  for (; watch.known[at]; at = (at + 1) & (FUNCTIONS_MAX - 1))
    if (watch.known[at] == function)
      return true;
  watch.known[at] = function;
  watch.known_count++;
  return false;
}

static void came(ink_session *s, void *handle, bool library, const void *image, size_t bytes) {
  if (image && ink_i_is_linked_in(image))
    return; /* its CUDA runtime's */
  if (library)
    ink_session_add_library(s, handle, image, bytes, NULL, NULL);
  else
    ink_session_add_module(s, handle, image, bytes, NULL, NULL);
}

static void came_from_file(ink_session *s, void *handle, bool library, const char *path) {
  ink_i_file file;
  ink_i_file_map(path, &file);
  came(s, handle, library, file.bytes, file.size);
  ink_i_file_unmap(&file);
}

/* Of a module that nobody has seen being loaded. */
static void launched(ink_session *s, void *function) {
  bool library = false;
  void *handle = function && !is_known(function) ? ink_i_driver_module_of(function, &library) : NULL;
  if (handle && !ink_i_modules_have(handle, library))
    came(s, handle, library, NULL, 0);
}

static void context_came(ink_session *s) {
  const int slot = ink_i_driver_slot_here();
  if (slot < 0 || !ink_i_modules_context_came())
    return;
  ink_i_choice_use(s, slot);
  ink_session_arm(s, NULL);
}

static void before(ink_session *s, uint32_t id, void *const *parameters) {
  switch (id) {
  case CUPTI_cuModuleUnload:
  case CUPTI_cuLibraryUnload:
    forget_functions();
    ink_i_modules_gone(parameters[0], id == CUPTI_cuLibraryUnload);
    break;
  case CUPTI_cuCtxDestroy_v2:
    forget_functions();
    ink_i_session_lets_context_go(s, ink_i_driver_slot_of(parameters[0]));
    break;
  case CUPTI_cuLaunchKernelEx:
  case CUPTI_cuLaunchKernelEx_ptsz:
    launched(s, parameters[1]);
    break;
  case CUPTI_cuLaunchKernel:
  case CUPTI_cuLaunchKernel_ptsz:
  case CUPTI_cuLaunchCooperativeKernel:
  case CUPTI_cuLaunchCooperativeKernel_ptsz:
    launched(s, parameters[0]);
    break;
  default:
    break;
  }
}

static void after(ink_session *s, uint32_t id, void *const *parameters) {
  void *const *made = parameters[0];
  switch (id) {
  case CUPTI_cuModuleLoadData:
  case CUPTI_cuModuleLoadDataEx:
  case CUPTI_cuModuleLoadFatBinary:
  case CUPTI_cuLibraryLoadData:
    came(s, *made, id == CUPTI_cuLibraryLoadData, parameters[1], 0);
    break;
  case CUPTI_cuModuleLoad:
  case CUPTI_cuLibraryLoadFromFile:
    came_from_file(s, *made, id == CUPTI_cuLibraryLoadFromFile, parameters[1]);
    break;
  case CUPTI_cuCtxCreate_v2:
  case CUPTI_cuCtxCreate_v3:
  case CUPTI_cuCtxCreate_v4:
    context_came(s);
    break;
  default:
    break;
  }
}

/* Calls that a recording makes itself come by too: in a call for the session, with its lock, or below this. */
void ink_i_watch_call(void *user, int domain, uint32_t id, const void *data) {
  const ink_i_cupti_call_data *call = data;
  (void)user;
  if (domain != CUPTI_DOMAIN_DRIVER || !watched || inside || ink_i_in_calls() || (call->site && *call->result))
    return;
  inside = true;
  pthread_mutex_lock(&watch.lock);
  if (watch.session && call->site)
    after(watch.session, id, call->parameters);
  else if (watch.session)
    before(watch.session, id, call->parameters);
  pthread_mutex_unlock(&watch.lock);
  inside = false;
}

/* ---- beginning and ending ---- */

/* Since 13.2 several tools may have CUPTI at a time, where each of them says so. */
static int subscribe(char old_name[128]) {
  ink_i_cupti *c = &watch.cupti;
  ink_i_cupti_subscriber params = {.bytes = SHARES_BYTES, .name = "inkmark", .old_name = old_name, .old_name_bytes = 128};
  if (!c->subscribe_v2)
    return c->subscribe(&watch.subscriber, ink_i_watch_call, NULL);
  if (c->version >= CUPTI_VERSION_13_2) {
    params.bytes = SHARES_BYTES + sizeof params.shares;
    params.shares = 1;
  }
  return c->subscribe_v2(&watch.subscriber, ink_i_watch_call, NULL, &params);
}

static ink_status start(ink_session *s, ink_error *error) {
  char why[600], old_name[128] = "";
  int result = CUPTI_OK;
  watch.own = !ink_i_activity_subscriber(s->activity, &watch.cupti, &watch.subscriber);
  if (watch.own && !ink_i_cupti_load(&watch.cupti, ink_i_cupti_major(), why, sizeof why))
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "modules cannot be watched: %s", why);
  if (watch.own)
    result = subscribe(old_name);
  for (size_t i = 0; i < sizeof calls / sizeof *calls && !result; i++)
    watch.cupti.enable_callback(1, watch.subscriber, CUPTI_DOMAIN_DRIVER, calls[i]); /* older ones do not know all */
  if (!result)
    return INK_OK;
  ink_i_cupti_explain(&watch.cupti, result, why, sizeof why);
  return ink_error_set(error, INK_ERROR_CUDA, "modules cannot be watched: %s%s%.100s", why, *old_name ? "; it has " : "",
                       old_name);
}

ink_status ink_i_watch_start(ink_session *s, ink_error *error) {
  pthread_mutex_lock(&watch.lock);
  const ink_status status = start(s, error);
  forget_functions();
  watch.session = status ? NULL : s;
  watched = !status;
  pthread_mutex_unlock(&watch.lock);
  return status;
}

bool ink_i_watch_stop(void) {
  if (!watched || inside)
    return false;
  pthread_mutex_lock(&watch.lock);
  watched = false;
  watch.session = NULL;
  pthread_mutex_unlock(&watch.lock);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    watch.cupti.enable_callback(0, watch.subscriber, CUPTI_DOMAIN_DRIVER, calls[i]);
  if (watch.own)
    watch.cupti.unsubscribe(watch.subscriber);
  watch.subscriber = NULL;
  return true;
}

void ink_i_watch_after_fork(void) {
  pthread_mutex_init(&watch.lock, NULL);
  watched = inside = false;
  watch.session = NULL;
}
