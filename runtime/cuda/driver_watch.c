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

/* A callback may wait, for a context that is destroyed or for kernels of a module that goes, and launches of other threads
 * pass by meanwhile: so callbacks share the session, and only its beginning and its end have it alone. */
static struct {
  pthread_rwlock_t users;
  ink_session *session; /* NULL: none is watched */
  ink_i_cupti cupti;
  void *subscriber;
  bool own; /* the subscriber is not the activity's */
} watch = {.users = PTHREAD_RWLOCK_INITIALIZER};

static struct {
  pthread_mutex_t arming; /* held while a module is armed that a launch has found: nobody launches of it before that */
  pthread_mutex_t lock;   /* the rest, and for nothing else */
  const void *functions[FUNCTIONS_MAX]; /* that were launched, by hash */
  uint32_t count;
} known = {.arming = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic bool watched; /* for calls when nobody watches, or does no more: those do not hold the end up */
static _Thread_local bool inside;
static _Thread_local unsigned resets; /* calls that this thread is in */

static const uint32_t calls[] = {
    CUPTI_cuModuleLoad, CUPTI_cuModuleLoadData, CUPTI_cuModuleLoadDataEx, CUPTI_cuModuleLoadFatBinary,
    CUPTI_cuModuleUnload, CUPTI_cuLibraryLoadData, CUPTI_cuLibraryLoadFromFile, CUPTI_cuLibraryUnload,
    CUPTI_cuCtxCreate_v2, CUPTI_cuCtxCreate_v3, CUPTI_cuCtxCreate_v4, CUPTI_cuCtxDestroy_v2,
    CUPTI_cuLaunchKernel, CUPTI_cuLaunchKernel_ptsz, CUPTI_cuLaunchCooperativeKernel,
    CUPTI_cuLaunchCooperativeKernel_ptsz, CUPTI_cuLaunchKernelEx, CUPTI_cuLaunchKernelEx_ptsz,
    CUPTI_cuDevicePrimaryCtxReset, CUPTI_cuDevicePrimaryCtxReset_v2,
};

/* ---- what a call means ---- */

static void forget_functions(void) { /* a handle may be another function's from here on */
  pthread_mutex_lock(&known.lock);
  memset(known.functions, 0, sizeof known.functions);
  known.count = 0;
  pthread_mutex_unlock(&known.lock);
}

/* `note`: it is from here on. */
static bool is_known(const void *function, bool note) {
  uint32_t at = (uint32_t)((uintptr_t)function * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (FUNCTIONS_MAX - 1);
  pthread_mutex_lock(&known.lock);
  while (known.functions[at] && known.functions[at] != function)
    at = (at + 1) & (FUNCTIONS_MAX - 1);
  const bool found = known.functions[at] != NULL;
  if (!found && note && known.count < FUNCTIONS_MAX / 4 * 3) { /* else they are asked for each time */
    known.functions[at] = function;
    known.count++;
  }
  pthread_mutex_unlock(&known.lock);
  return found;
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
  if (!function || is_known(function, false))
    return;
  pthread_mutex_lock(&known.arming);
  void *handle = ink_i_driver_module_of(function, &library);
  if (handle && !ink_i_modules_have(handle, library))
    came(s, handle, library, NULL, 0);
  is_known(function, true);
  pthread_mutex_unlock(&known.arming);
}

static void context_came(ink_session *s) {
  const int slot = ink_i_driver_slot_here();
  if (slot < 0 || !ink_i_modules_context_came())
    return;
  ink_i_choice_use(s, slot);
  ink_session_arm(s, NULL);
}

/* Its device is as one that was not armed yet, from before the call on. A CUDA runtime resets by this call too. */
static void reset_begins(ink_session *s, int device) {
  if (resets++)
    return;
  forget_functions();
  ink_i_session_lets_device_go(s, device);
}

static void reset_ends(ink_session *s) {
  if (resets && --resets == 0)
    ink_session_arm(s, NULL);
}

static void before(ink_session *s, uint32_t id, void *const *parameters) {
  switch (id) {
  case CUPTI_cuDevicePrimaryCtxReset:
  case CUPTI_cuDevicePrimaryCtxReset_v2:
    reset_begins(s, *(const int *)(const void *)parameters);
    break;
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
  case CUPTI_cuDevicePrimaryCtxReset:
  case CUPTI_cuDevicePrimaryCtxReset_v2:
    reset_ends(s);
    break;
  default:
    break;
  }
}

static bool is_reset(uint32_t id) { return id == CUPTI_cuDevicePrimaryCtxReset || id == CUPTI_cuDevicePrimaryCtxReset_v2; }

/* Calls that a recording makes itself come by too: in a call for the session, with its lock, or below this. */
static void take_call(uint32_t id, const void *data) {
  const ink_i_cupti_call_data *call = data;
  if (!watched || inside || ink_i_in_calls())
    return;
  if (call->site && *call->result && !is_reset(id)) /* nothing was made; what was to go is gone all the same */
    return;
  inside = true;
  pthread_rwlock_rdlock(&watch.users);
  if (watch.session && call->site)
    after(watch.session, id, call->parameters);
  else if (watch.session)
    before(watch.session, id, call->parameters);
  pthread_rwlock_unlock(&watch.users);
  inside = false;
}

/* ---- beginning and ending ---- */

/* Since 13.2 several tools may have CUPTI at a time, where each of them says so. */
static int subscribe(char old_name[128]) {
  ink_i_cupti *c = &watch.cupti;
  ink_i_cupti_subscriber params = {.bytes = SHARES_BYTES, .name = "inkmark", .old_name = old_name, .old_name_bytes = 128};
  if (!c->subscribe_v2)
    return c->subscribe(&watch.subscriber, ink_i_cupti_called, NULL);
  if (c->version >= CUPTI_VERSION_13_2) {
    params.bytes = SHARES_BYTES + sizeof params.shares;
    params.shares = 1;
  }
  return c->subscribe_v2(&watch.subscriber, ink_i_cupti_called, NULL, &params);
}

static ink_status start(ink_session *s, ink_error *error) {
  char why[600], old_name[128] = "";
  int result = CUPTI_OK;
  watch.own = !ink_i_activity_subscriber(s->activity, &watch.cupti, &watch.subscriber);
  if (watch.own && !ink_i_cupti_load(&watch.cupti, ink_i_cupti_major(), why, sizeof why))
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "modules cannot be watched: %s", why);
  ink_i_cupti_take(CUPTI_DOMAIN_DRIVER, take_call);
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
  pthread_rwlock_wrlock(&watch.users);
  const ink_status status = start(s, error);
  forget_functions();
  watch.session = status ? NULL : s;
  watched = !status;
  pthread_rwlock_unlock(&watch.users);
  return status;
}

bool ink_i_watch_runs(void) { return watched; }

void ink_i_watch_abandon(void) { watched = false; }

bool ink_i_watch_stop(void) {
  if (!watched || inside)
    return false;
  watched = false;
  pthread_rwlock_wrlock(&watch.users);
  watch.session = NULL;
  pthread_rwlock_unlock(&watch.users);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    watch.cupti.enable_callback(0, watch.subscriber, CUPTI_DOMAIN_DRIVER, calls[i]);
  if (watch.own)
    watch.cupti.unsubscribe(watch.subscriber);
  watch.subscriber = NULL;
  return true;
}

void ink_i_watch_after_fork(void) {
  pthread_rwlock_init(&watch.users, NULL);
  pthread_mutex_init(&known.arming, NULL);
  pthread_mutex_init(&known.lock, NULL);
  watched = inside = false;
  resets = 0;
  watch.session = NULL;
}
