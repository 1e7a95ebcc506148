/* SPDX-License-Identifier: MIT */
/* The driver's start, its errors, and contexts: one primary context for each device, others by
 * cuCtxCreate, a stack of them for each thread. The runtime's current device follows the stack. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { STACK_MAX = 64 };

static struct {
  bool initialised;
  unsigned long long last_id;
  drv_context *created; /* by cuCtxCreate, alive */
  drv_context primary[RT_MAX_DEVICES];
} all;

static _Thread_local struct {
  drv_context *contexts[STACK_MAX];
  int n;
} stack;

/* ---- errors ---- */

/* Most numbers are the same in both APIs; those below 100 that are the runtime's alone say that an
 * argument is wrong. */
CUresult drv_result(cudaError_t error) {
  switch (error) {
  case cudaErrorInvalidResourceHandle:
    return CUDA_ERROR_INVALID_HANDLE;
  case cudaErrorInvalidDeviceFunction:
    return CUDA_ERROR_INVALID_IMAGE;
  case cudaErrorInvalidConfiguration:
  case cudaErrorInvalidSymbol:
    return CUDA_ERROR_INVALID_VALUE;
  default:
    return error > 8 && error < 100 ? CUDA_ERROR_INVALID_VALUE : (CUresult)error;
  }
}

static cudaError_t runtime_error(CUresult error) {
  return error == CUDA_ERROR_INVALID_HANDLE ? cudaErrorInvalidResourceHandle : (cudaError_t)error;
}

DRV_API cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = cudaGetErrorString(runtime_error(error));
  return CUDA_SUCCESS;
}

/* ---- start ---- */

static void initialise(void) {
  rt_enter(); /* configuration, and the injection library with it */
  if (!all.initialised)
    for (int i = 0; i < RT_MAX_DEVICES; i++)
      all.primary[i] = (drv_context){.gpu = &rt.gpus[i], .primary = true, .id = ++all.last_id};
  all.initialised = true;
  rt_leave(cudaSuccess);
}

DRV_API cuInit(unsigned flags) {
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  const bool used = rt_self()->uses_runtime;
  initialise();
  rt_self()->uses_runtime = used;
  return CUDA_SUCCESS;
}

DRV_API cuDriverGetVersion(int *version) {
  return drv_result(cudaDriverGetVersion(version));
}

CUresult drv_ready(void) {
  if (!all.initialised && rt_self()->uses_runtime)
    initialise();
  return all.initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult drv_ready_here(void) {
  CUresult result = drv_ready();
  if (result)
    return result;
  rt_lock();
  const drv_context *context = drv_context_here();
  if (!context)
    result = CUDA_ERROR_INVALID_CONTEXT;
  else if (!context->primary && !drv_context_is(context))
    result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  else
    rt_self()->device = context->gpu->index;
  rt_unlock();
  return result;
}

/* ---- the thread's stack ---- */

drv_context *drv_primary(int device) {
  return &all.primary[device];
}

/* Where the runtime was used first, its device's primary context is the current one. */
drv_context *drv_context_here(void) {
  if (!stack.n && rt_self()->uses_runtime) {
    rt_gpu_at(rt_self()->device);
    stack.contexts[stack.n++] = drv_primary(rt_self()->device);
  }
  return stack.n ? stack.contexts[stack.n - 1] : NULL;
}

bool drv_context_is(const drv_context *context) {
  for (int i = 0; i < rt.config.devices; i++)
    if (context == &all.primary[i])
      return true;
  for (const drv_context *at = all.created; at; at = at->next)
    if (at == context)
      return true;
  return false;
}

drv_context *drv_context_next(const drv_context *context) {
  if (!context)
    return &all.primary[0];
  if (context->primary && context < &all.primary[RT_MAX_DEVICES - 1])
    return (drv_context *)context + 1;
  return context->primary ? all.created : context->next;
}

/* NULL: the thread has none, also where it used the runtime before. */
static void make_current(drv_context *context) {
  if (!context) {
    stack.n -= stack.n > 0;
    rt_self()->uses_runtime = stack.n > 0;
  } else {
    stack.n += stack.n == 0;
    stack.contexts[stack.n - 1] = context;
  }
  if (stack.n) {
    rt_gpu *gpu = stack.contexts[stack.n - 1]->gpu;
    rt_gpu_open(gpu);
    rt_self()->device = gpu->index;
  }
}

void drv_context_set(int device) {
  if (stack.n)
    stack.contexts[stack.n - 1] = drv_primary(device);
}

static CUresult push(drv_context *context) {
  if (stack.n == STACK_MAX)
    return CUDA_ERROR_OUT_OF_MEMORY;
  stack.n++;
  make_current(context);
  return CUDA_SUCCESS;
}

DRV_API cuCtxGetCurrent(CUcontext *context) {
  const CUresult result = drv_ready();
  if (result || !context)
    return result ? result : CUDA_ERROR_INVALID_VALUE;
  rt_lock();
  *context = drv_context_here();
  rt_unlock();
  return CUDA_SUCCESS;
}

DRV_API cuCtxSetCurrent(CUcontext context) {
  CUresult result = drv_ready();
  if (result)
    return result;
  rt_lock();
  if (context && !drv_context_is(context))
    result = CUDA_ERROR_INVALID_CONTEXT;
  else
    make_current(context);
  rt_unlock();
  return result;
}

DRV_API cuCtxPushCurrent_v2(CUcontext context) {
  CUresult result = drv_ready();
  if (result)
    return result;
  rt_lock();
  drv_context_here();
  result = drv_context_is(context) ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
  rt_unlock();
  return result;
}

DRV_API cuCtxPopCurrent_v2(CUcontext *context) {
  const CUresult result = drv_ready_here();
  if (result)
    return result;
  rt_lock();
  if (context)
    *context = drv_context_here();
  make_current(NULL);
  rt_unlock();
  return CUDA_SUCCESS;
}

/* ---- making and destroying ---- */

static CUresult create(CUcontext *out, unsigned flags, CUdevice device) {
  CUresult result = drv_ready();
  if (result || !out)
    return result ? result : CUDA_ERROR_INVALID_VALUE;
  drv_context *made = calloc(1, sizeof *made);
  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  rt_lock();
  if (device < 0 || device >= rt.config.devices) {
    result = CUDA_ERROR_INVALID_DEVICE;
  } else {
    *made = (drv_context){.gpu = rt_gpu_at(device), .flags = flags, .id = ++all.last_id, .next = all.created};
    result = push(made);
  }
  if (!result)
    all.created = *out = made;
  rt_unlock();
  if (result)
    free(made);
  return result;
}

DRV_API cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  DRV_TOLD(context, NULL, create(context, flags, device));
}

DRV_API cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *parameters, int count, unsigned flags,
                       CUdevice device) {
  DRV_TOLD(context, parameters, count ? CUDA_ERROR_NOT_SUPPORTED : create(context, flags, device));
}

DRV_API cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned flags,
                       CUdevice device) {
  const bool fine = !parameters || !parameters->numExecAffinityParams;
  DRV_TOLD(context, parameters, fine ? create(context, flags, device) : CUDA_ERROR_NOT_SUPPORTED);
}

static CUresult destroy(CUcontext context) {
  CUresult result = drv_ready();
  if (result)
    return result;
  rt_lock();
  drv_context **link = &all.created;
  while (*link && *link != context)
    link = &(*link)->next;
  if (!*link) {
    result = CUDA_ERROR_INVALID_CONTEXT;
  } else {
    rt_wait_gpu(context->gpu);
    *link = context->next;
    drv_modules_clear(context);
    if (stack.n && stack.contexts[stack.n - 1] == context)
      make_current(NULL);
    free(context);
  }
  rt_unlock();
  return result;
}

DRV_API cuCtxDestroy_v2(CUcontext context) { DRV_TOLD(context, NULL, destroy(context)); }

/* ---- primary contexts ---- */

static CUresult on_primary(CUdevice device, drv_context **context) {
  const CUresult result = drv_ready();
  if (!result && (device < 0 || device >= rt.config.devices))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!result)
    *context = drv_primary(device);
  return result;
}

DRV_API cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
  drv_context *context;
  const CUresult result = out ? on_primary(device, &context) : CUDA_ERROR_INVALID_VALUE;
  if (result)
    return result;
  rt_lock();
  rt_gpu_at(device);
  context->references++;
  *out = context;
  rt_unlock();
  return CUDA_SUCCESS;
}

static CUresult reset(drv_context *context) {
  rt_lock();
  const cudaError_t last = rt_self()->last;
  rt_gpu_open(context->gpu);
  rt_device_reset(context->gpu);
  rt_self()->last = last;
  rt_unlock();
  return CUDA_SUCCESS;
}

/* The last release ends the context, with all that was made in it. */
DRV_API cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  drv_context *context;
  const CUresult result = on_primary(device, &context);
  if (result)
    return result;
  if (!context->references)
    return CUDA_ERROR_INVALID_CONTEXT;
  return --context->references || rt_self()->uses_runtime ? CUDA_SUCCESS : reset(context);
}

static CUresult reset_primary(CUdevice device) {
  drv_context *context;
  const CUresult result = on_primary(device, &context);
  return result ? result : reset(context);
}

DRV_API cuDevicePrimaryCtxReset_v2(CUdevice device) {
  DRV_TOLD((const void *)(intptr_t)device, NULL, reset_primary(device));
}

DRV_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  drv_context *context;
  const CUresult result = on_primary(device, &context);
  if (result)
    return result;
  *flags = context->flags;
  *active = context->references > 0 || context->gpu->opened;
  return CUDA_SUCCESS;
}

DRV_API cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  drv_context *context;
  const CUresult result = on_primary(device, &context);
  if (!result)
    context->flags = flags;
  return result;
}

void drv_device_reset(rt_gpu *gpu) {
  if (!all.initialised)
    return;
  drv_modules_clear(drv_primary(gpu->index));
  for (drv_context *at = all.created; at; at = at->next)
    if (at->gpu == gpu)
      drv_modules_clear(at);
}

/* ---- what is asked of a context ---- */

DRV_API cuCtxGetDevice(CUdevice *device) {
  const CUresult result = drv_ready_here();
  if (!result)
    *device = rt_self()->device;
  return result;
}

DRV_API cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
  const CUresult result = context ? drv_ready() : drv_ready_here();
  if (!result)
    *device = context ? context->gpu->index : rt_self()->device;
  return result;
}

DRV_API cuCtxGetFlags(unsigned *flags) {
  const CUresult result = drv_ready_here();
  if (!result)
    *flags = drv_context_here()->flags | CU_CTX_MAP_HOST;
  return result;
}

DRV_API cuCtxGetId(CUcontext context, unsigned long long *id) {
  const CUresult result = context ? drv_ready() : drv_ready_here();
  if (!result)
    *id = (context ? context : drv_context_here())->id;
  return result;
}

DRV_API cuCtxGetApiVersion(CUcontext context, unsigned *version) {
  const CUresult result = context ? drv_ready() : drv_ready_here();
  if (!result)
    *version = CUDA_VERSION;
  return result;
}

DRV_API cuCtxSynchronize(void) { DRV_FORWARD(cudaDeviceSynchronize()); }

DRV_API cuCtxSynchronize_v2(CUcontext context) {
  if (!context)
    return cuCtxSynchronize();
  CUresult result = drv_ready();
  if (result)
    return result;
  rt_lock();
  result = drv_context_is(context) ? drv_result(rt_wait_gpu(context->gpu)) : CUDA_ERROR_INVALID_CONTEXT;
  rt_unlock();
  return result;
}

DRV_API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  DRV_FORWARD(cudaDeviceGetStreamPriorityRange(least, greatest));
}

DRV_API cuCtxGetLimit(size_t *value, CUlimit limit) {
  DRV_FORWARD(cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}

DRV_API cuCtxSetLimit(CUlimit limit, size_t value) {
  DRV_FORWARD(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}

DRV_API cuCtxGetCacheConfig(CUfunc_cache *config) {
  DRV_FORWARD(cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}

DRV_API cuCtxSetCacheConfig(CUfunc_cache config) {
  (void)config;
  return drv_ready_here();
}

DRV_API cuCtxResetPersistingL2Cache(void) { return drv_ready_here(); }

DRV_API cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  DRV_FORWARD(cudaDeviceEnablePeerAccess(peer->gpu->index, flags));
}

DRV_API cuCtxDisablePeerAccess(CUcontext peer) {
  DRV_FORWARD(cudaDeviceDisablePeerAccess(peer->gpu->index));
}

DRV_API cuProfilerStart(void) { return drv_ready(); }
DRV_API cuProfilerStop(void) { return drv_ready(); }

/* ---- entry points ---- */

DRV_API cuGetProcAddress_v2(const char *name, void **entry, int version, cuuint64_t flags,
                            CUdriverProcAddressQueryResult *status) {
  if (!name || !entry)
    return CUDA_ERROR_INVALID_VALUE;
  bool known;
  *entry = drv_entry_point(name, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &known);
  if (status)
    *status = *entry  ? CU_GET_PROC_ADDRESS_SUCCESS
              : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *entry || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

DRV_API cuGetProcAddress(const char *name, void **entry, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, entry, version, flags, NULL);
}

/* Tables without documentation, by which NVIDIA's own libraries know a driver of NVIDIA's. This is none. */
DRV_API cuGetExportTable(const void **table, const CUuuid *id) {
  (void)id;
  if (table)
    *table = NULL;
  return CUDA_ERROR_NOT_FOUND;
}
