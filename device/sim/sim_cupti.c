/* SPDX-License-Identifier: MIT */
/* A stand-in libcupti.so.13 for the simulated device: the part of CUPTI's activity and callback API that inkmark
 * uses, with CUPTI's own records, made from what the simulated runtime does. Timestamps are the
 * simulated globaltimer. PTX has no register allocation: every kernel says 32 registers.
 *
 * INKMARK_SIM_CUPTI, for tests of refusals and losses: "subscribe=39" or "enable=35" (that call
 * fails with that CUptiResult), "kind7=1" (switching kind 7 on fails), "version=10", "dropped=3"
 * (so many records are said to be dropped), "untimed=1" (kernels come without times); several with
 * commas. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_cupti.h"

#define REGISTERS 32

SIM_EXPORT const char inkmark_sim_cupti[] = "inkmark's simulated CUPTI";

static struct {
  pthread_mutex_t lock; /* below; taken inside of the runtime's lock, never around it */
  bool on[CUPTI_ACTIVITY_KIND_COUNT];
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc complete;
  uint8_t *buffer;
  size_t size, used;
  size_t dropped;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Those of cuptiSubscribe have nobody beside them; those of cuptiSubscribe_v2 may have others that allow it too. */
enum { SUBSCRIBERS_MAX = 4, DRIVER_CALLS_MAX = 1024 };
typedef struct subscriber {
  CUpti_CallbackFunc callback; /* NULL: none */
  void *user;
  bool shares;
  bool driver_calls[DRIVER_CALLS_MAX], resources[CUPTI_CBID_RESOURCE_SIZE];
} subscriber;
static subscriber subscribers[SUBSCRIBERS_MAX]; /* with the lock */

/* What cuptiActivityPushExternalCorrelationId pushed on this thread, by kind. */
static _Thread_local struct {
  uint64_t ids[8];
  int depth;
} external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

long sim_cupti_asked_for(const char *name) {
  const char *at = secure_getenv("INKMARK_SIM_CUPTI");
  const size_t length = strlen(name);
  while (at && *at) {
    if (!strncmp(at, name, length) && at[length] == '=')
      return strtol(at + length + 1, NULL, 10);
    at = strchr(at, ',');
    at += at != NULL;
  }
  return -1;
}

static CUptiResult result_for(const char *name) {
  const long asked = sim_cupti_asked_for(name);
  return asked < 0 ? CUPTI_SUCCESS : (CUptiResult)asked;
}

/* ---- records ---- */

static size_t record_bytes(CUpti_ActivityKind kind) {
  switch (kind) {
  case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    return sizeof(CUpti_ActivityKernel10);
  case CUPTI_ACTIVITY_KIND_MEMCPY:
    return sizeof(CUpti_ActivityMemcpy6);
  case CUPTI_ACTIVITY_KIND_MEMCPY2:
    return sizeof(CUpti_ActivityMemcpyPtoP4);
  case CUPTI_ACTIVITY_KIND_MEMSET:
    return sizeof(CUpti_ActivityMemset4);
  case CUPTI_ACTIVITY_KIND_RUNTIME:
    return sizeof(CUpti_ActivityAPI);
  case CUPTI_ACTIVITY_KIND_DEVICE:
    return sizeof(CUpti_ActivityDevice5);
  case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
    return sizeof(CUpti_ActivityExternalCorrelation);
  default:
    return 0;
  }
}

static size_t padded(size_t bytes) {
  return (bytes + 7) & ~(size_t)7;
}

/* With the lock held; hands over the buffer, if any. */
static void hand_over(void) {
  uint8_t *buffer = state.buffer;
  state.buffer = NULL;
  if (buffer && state.complete)
    state.complete(NULL, 0, buffer, state.size, state.used);
}

/* Takes the lock. */
static void put(const void *record, CUpti_ActivityKind kind) {
  const size_t bytes = padded(record_bytes(kind));
  size_t most = 0;
  pthread_mutex_lock(&state.lock);
  if (state.on[kind] && state.request) {
    if (state.buffer && state.size - state.used < bytes)
      hand_over();
    if (!state.buffer) {
      state.used = 0;
      state.request(&state.buffer, &state.size, &most);
    }
    if (state.buffer && state.size >= bytes) {
      memcpy(state.buffer + state.used, record, record_bytes(kind));
      state.used += bytes;
    } else {
      state.dropped++;
    }
  }
  pthread_mutex_unlock(&state.lock);
}

static void put_kernel(const sim_observed *w) {
  CUpti_ActivityKernel10 r = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
  r.registersPerThread = REGISTERS;
  r.start = w->begin_ns;
  r.end = w->end_ns;
  if (sim_cupti_asked_for("untimed") > 0)
    r.start = r.end = 0;
  r.completed = r.end;
  r.deviceId = (uint32_t)w->device;
  r.contextId = (uint32_t)w->device + 1;
  r.streamId = w->stream;
  r.gridX = (int32_t)w->grid[0];
  r.gridY = (int32_t)w->grid[1];
  r.gridZ = (int32_t)w->grid[2];
  r.blockX = (int32_t)w->block[0];
  r.blockY = (int32_t)w->block[1];
  r.blockZ = (int32_t)w->block[2];
  r.staticSharedMemory = (int32_t)w->static_shared_bytes;
  r.dynamicSharedMemory = (int32_t)w->dynamic_shared_bytes;
  r.localMemoryPerThread = w->local_bytes;
  r.correlationId = w->correlation;
  r.gridId = (int64_t)w->grid_id;
  r.name = w->name;
  r.launchType = w->cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
                                : CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
  r.graphNodeId = w->graph_node;
  r.graphId = w->graph;
  put(&r, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static void put_peer_copy(const sim_observed *w) {
  CUpti_ActivityMemcpyPtoP4 r = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2};
  r.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  r.srcKind = (uint8_t)w->from;
  r.dstKind = (uint8_t)w->to;
  r.bytes = w->bytes;
  r.start = w->begin_ns;
  r.end = w->end_ns;
  r.deviceId = (uint32_t)w->device;
  r.contextId = (uint32_t)w->device + 1;
  r.streamId = w->stream;
  r.srcDeviceId = (uint32_t)w->from_device;
  r.dstDeviceId = (uint32_t)w->to_device;
  r.correlationId = w->correlation;
  r.graphNodeId = w->graph_node;
  r.graphId = w->graph;
  put(&r, CUPTI_ACTIVITY_KIND_MEMCPY2);
}

static void put_copy(const sim_observed *w) {
  CUpti_ActivityMemcpy6 r = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY};
  const bool from_device = w->from_device >= 0, to_device = w->to_device >= 0;
  r.copyKind = from_device
                   ? to_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
               : to_device ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
                           : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
  r.srcKind = (uint8_t)w->from;
  r.dstKind = (uint8_t)w->to;
  r.bytes = w->bytes;
  r.start = w->begin_ns;
  r.end = w->end_ns;
  r.deviceId = (uint32_t)w->device;
  r.contextId = (uint32_t)w->device + 1;
  r.streamId = w->stream;
  r.correlationId = w->correlation;
  r.graphNodeId = w->graph_node;
  r.graphId = w->graph;
  put(&r, CUPTI_ACTIVITY_KIND_MEMCPY);
}

static void put_set(const sim_observed *w) {
  CUpti_ActivityMemset4 r = {.kind = CUPTI_ACTIVITY_KIND_MEMSET};
  r.value = w->value;
  r.bytes = w->bytes;
  r.start = w->begin_ns;
  r.end = w->end_ns;
  r.deviceId = (uint32_t)w->device;
  r.contextId = (uint32_t)w->device + 1;
  r.streamId = w->stream;
  r.correlationId = w->correlation;
  r.memoryKind = (uint16_t)w->to;
  r.graphNodeId = w->graph_node;
  r.graphId = w->graph;
  put(&r, CUPTI_ACTIVITY_KIND_MEMSET);
}

/* ---- what the runtime tells ---- */

static void on_work(const sim_observed *w) {
  if (w->kind == SIM_OBSERVED_KERNEL) {
    sim_samples_kernel(w);
    put_kernel(w);
  } else if (w->kind == SIM_OBSERVED_SET)
    put_set(w);
  else if (w->from_device >= 0 && w->to_device >= 0 && w->from_device != w->to_device)
    put_peer_copy(w);
  else
    put_copy(w);
}

static void on_call_begin(uint32_t correlation) {
  for (int kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; kind++) {
    if (!external[kind].depth)
      continue;
    CUpti_ActivityExternalCorrelation r = {.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
    r.externalKind = (CUpti_ExternalCorrelationKind)kind;
    r.externalId = external[kind].ids[external[kind].depth - 1];
    r.correlationId = correlation;
    put(&r, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  }
}

static const struct {
  const char *call, *name;
  uint32_t id;
} calls[] = {
#define CALL(name, version)                                                                        \
  { #name, #name "_" #version, CUPTI_RUNTIME_TRACE_CBID_##name##_##version }
    CALL(cudaMemcpy, v3020),
    CALL(cudaMemcpy2D, v3020),
    CALL(cudaMemcpyToSymbol, v3020),
    CALL(cudaMemcpyFromSymbol, v3020),
    CALL(cudaMemcpyAsync, v3020),
    CALL(cudaMemcpy2DAsync, v3020),
    CALL(cudaMemcpyToSymbolAsync, v3020),
    CALL(cudaMemcpyFromSymbolAsync, v3020),
    CALL(cudaMemset, v3020),
    CALL(cudaMemset2D, v3020),
    CALL(cudaMemsetAsync, v3020),
    CALL(cudaMemset2DAsync, v3020),
    CALL(cudaStreamSynchronize, v3020),
    CALL(cudaEventSynchronize, v3020),
    CALL(cudaMemset3D, v3020),
    CALL(cudaMemset3DAsync, v3020),
    CALL(cudaMemcpy3D, v3020),
    CALL(cudaMemcpy3DAsync, v3020),
    CALL(cudaMemcpyPeer, v4000),
    CALL(cudaMemcpyPeerAsync, v4000),
    CALL(cudaDeviceSynchronize, v3020),
    CALL(cudaLaunchKernel, v7000),
    CALL(cudaMemcpy_ptds, v7000),
    CALL(cudaMemcpy2D_ptds, v7000),
    CALL(cudaMemcpyToSymbol_ptds, v7000),
    CALL(cudaMemcpyFromSymbol_ptds, v7000),
    CALL(cudaMemset_ptds, v7000),
    CALL(cudaMemcpy3D_ptds, v7000),
    CALL(cudaLaunchCooperativeKernel, v9000),
    CALL(cudaGraphLaunch, v10000),
    CALL(cudaLaunchKernelExC, v11060),
#undef CALL
};

static void on_call_end(const sim_observed_call *call) {
  CUpti_ActivityAPI r = {.kind = CUPTI_ACTIVITY_KIND_RUNTIME};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (!strcmp(calls[i].call, call->name))
      r.cbid = calls[i].id;
  r.start = call->begin_ns;
  r.end = call->end_ns;
  r.processId = (uint32_t)getpid();
  r.threadId = call->thread;
  r.correlationId = call->correlation;
  r.returnValue = (uint32_t)call->result;
  put(&r, CUPTI_ACTIVITY_KIND_RUNTIME);
}

static const sim_observer observer = {on_work, on_call_begin, on_call_end, sim_samples_context};

static void put_devices(void) {
  int count = 0;
  if (cudaGetDeviceCount(&count))
    return;
  for (int i = 0; i < count; i++) {
    struct cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, i))
      continue;
    CUpti_ActivityDevice5 r = {.kind = CUPTI_ACTIVITY_KIND_DEVICE};
    r.globalMemorySize = p.totalGlobalMem;
    r.numThreadsPerWarp = (uint32_t)p.warpSize;
    r.numMultiprocessors = (uint32_t)p.multiProcessorCount;
    r.maxWarpsPerMultiprocessor = (uint32_t)(p.maxThreadsPerMultiProcessor / p.warpSize);
    r.maxBlocksPerMultiprocessor = (uint32_t)p.maxBlocksPerMultiProcessor;
    r.maxSharedMemoryPerMultiprocessor = (uint32_t)p.sharedMemPerMultiprocessor;
    r.maxRegistersPerMultiprocessor = (uint32_t)p.regsPerMultiprocessor;
    r.maxRegistersPerBlock = (uint32_t)p.regsPerBlock;
    r.maxSharedMemoryPerBlock = (uint32_t)p.sharedMemPerBlock;
    r.maxThreadsPerBlock = (uint32_t)p.maxThreadsPerBlock;
    r.computeCapabilityMajor = (uint32_t)p.major;
    r.computeCapabilityMinor = (uint32_t)p.minor;
    r.id = (uint32_t)i;
    r.name = "inkmark simulated GPU";
    put(&r, CUPTI_ACTIVITY_KIND_DEVICE);
  }
}

/* ---- CUPTI's entry points ---- */

SIM_EXPORT CUptiResult cuptiGetVersion(uint32_t *version) {
  const long asked = sim_cupti_asked_for("version");
  *version = asked < 0 ? CUPTI_API_VERSION : (uint32_t)asked;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
  *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
          : result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == CUPTI_ERROR_NOT_INITIALIZED         ? "CUPTI_ERROR_NOT_INITIALIZED"
                                                          : "CUPTI_ERROR_UNKNOWN";
  return CUPTI_SUCCESS;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user, bool shares) {
  subscriber *place = NULL;
  bool alone = true, all_share = true;
  pthread_mutex_lock(&state.lock);
  for (int i = 0; i < SUBSCRIBERS_MAX; i++) {
    if (!subscribers[i].callback) {
      place = place ? place : &subscribers[i]; /* told in the order in which they came */
      continue;
    }
    alone = false;
    all_share = all_share && subscribers[i].shares;
  }
  if (!alone && !(shares && all_share))
    place = NULL;
  if (place)
    *place = (subscriber){.callback = callback, .user = user, .shares = shares};
  pthread_mutex_unlock(&state.lock);
  if (!place)
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  *handle = (CUpti_SubscriberHandle)(void *)place;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user) {
  const CUptiResult refused = result_for("subscribe");
  return refused ? refused : subscribe(handle, callback, user, false);
}

/* As CUPTI 13.2 has it: older headers lack the last field. */
typedef struct subscriber_params {
  size_t bytes;
  const char *name;
  char *old_name;
  size_t old_name_bytes;
  uint8_t shares;
} subscriber_params;

SIM_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user,
                                         CUpti_SubscriberParams *params) {
  const CUptiResult refused = result_for("subscribe");
  const subscriber_params *given = (const subscriber_params *)(const void *)params;
  const bool shares = given && given->bytes > offsetof(subscriber_params, shares) && given->shares;
  return refused ? refused : subscribe(handle, callback, user, shares);
}

static void tell_driver_call(const char *name, const void *const words[2], const int *result);

SIM_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  subscriber *one = (subscriber *)(void *)handle;
  bool any = false;
  inkmark_sim_observe(NULL);
  pthread_mutex_lock(&state.lock);
  one->callback = NULL;
  for (int i = 0; i < SUBSCRIBERS_MAX; i++)
    any = any || subscribers[i].callback;
  pthread_mutex_unlock(&state.lock);
  if (!any)
    inkmark_sim_observe_driver(NULL);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                           CUpti_CallbackId id) {
  const bool resource = domain == CUPTI_CB_DOMAIN_RESOURCE && id < CUPTI_CBID_RESOURCE_SIZE;
  if (!handle || !(resource || (domain == CUPTI_CB_DOMAIN_DRIVER_API && id < DRIVER_CALLS_MAX)))
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (resource) {
    pthread_mutex_lock(&state.lock);
    ((subscriber *)(void *)handle)->resources[id] = on != 0;
    pthread_mutex_unlock(&state.lock);
    if (on)
      inkmark_sim_observe(&observer);
    return CUPTI_SUCCESS;
  }
  pthread_mutex_lock(&state.lock);
  ((subscriber *)(void *)handle)->driver_calls[id] = on != 0;
  pthread_mutex_unlock(&state.lock);
  inkmark_sim_observe_driver(tell_driver_call);
  return CUPTI_SUCCESS;
}

static const struct {
  const char *name;
  uint32_t id;
} driver_calls[] = {
#define CALL(name) {#name, CUPTI_DRIVER_TRACE_CBID_##name}
    CALL(cuModuleLoad), CALL(cuModuleLoadData), CALL(cuModuleLoadDataEx), CALL(cuModuleLoadFatBinary),
    CALL(cuModuleUnload), CALL(cuLibraryLoadData), CALL(cuLibraryLoadFromFile), CALL(cuLibraryUnload),
    CALL(cuLaunchKernel), CALL(cuLaunchKernelEx), CALL(cuLaunchCooperativeKernel), CALL(cuCtxCreate_v2),
    CALL(cuCtxCreate_v3), CALL(cuCtxCreate_v4), CALL(cuCtxDestroy_v2), CALL(cuDevicePrimaryCtxReset_v2),
#undef CALL
};

/* The callbacks run without the lock: they may call the driver. */
static void tell_driver_call(const char *name, const void *const words[2], const int *result) {
  CUpti_CallbackData data = {.callbackSite = result ? CUPTI_API_EXIT : CUPTI_API_ENTER, .functionName = name,
                             .functionParams = words};
  int code = result ? *result : 0;
  uint32_t id = 0;
  for (size_t i = 0; i < sizeof driver_calls / sizeof *driver_calls; i++)
    if (!strcmp(name, driver_calls[i].name))
      id = driver_calls[i].id;
  data.functionReturnValue = &code;
  for (int i = 0; i < SUBSCRIBERS_MAX && id; i++) {
    pthread_mutex_lock(&state.lock);
    const subscriber one = subscribers[i];
    pthread_mutex_unlock(&state.lock);
    if (one.callback && one.driver_calls[id])
      one.callback(one.user, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  }
}

void sim_cupti_tell_resource(CUpti_CallbackIdResource id, CUpti_ResourceData *data) {
  for (int i = 0; i < SUBSCRIBERS_MAX; i++) {
    pthread_mutex_lock(&state.lock);
    const subscriber one = subscribers[i];
    pthread_mutex_unlock(&state.lock);
    if (one.callback && one.resources[id])
      one.callback(one.user, CUPTI_CB_DOMAIN_RESOURCE, id, data);
  }
}

SIM_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                      CUpti_BuffersCallbackCompleteFunc complete) {
  pthread_mutex_lock(&state.lock);
  state.request = request;
  state.complete = complete;
  pthread_mutex_unlock(&state.lock);
  return CUPTI_SUCCESS;
}

static void set_kind(CUpti_ActivityKind kind, bool on) {
  pthread_mutex_lock(&state.lock);
  state.on[kind] = on;
  pthread_mutex_unlock(&state.lock);
}

SIM_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  char name[16];
  snprintf(name, sizeof name, "kind%d", (int)kind);
  const CUptiResult refused = result_for("enable"), one = result_for(name);
  if (refused || one)
    return refused ? refused : one;
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
    return CUPTI_ERROR_INVALID_KIND;
  inkmark_sim_observe(&observer);
  set_kind(kind, true);
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
    put_devices();
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT)
    set_kind(kind, false);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                                  CUpti_Activity **record) {
  uint8_t *next = buffer;
  if (*record) {
    CUpti_ActivityKind kind;
    memcpy(&kind, *record, sizeof kind);
    next = (uint8_t *)*record + padded(record_bytes(kind));
  }
  if (next >= buffer + valid)
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = (CUpti_Activity *)(void *)next;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
                                                         size_t *dropped) {
  static bool told;
  const long asked = sim_cupti_asked_for("dropped");
  (void)context, (void)stream;
  *dropped = state.dropped + (asked > 0 && !told ? (size_t)asked : 0);
  told = true;
  state.dropped = 0;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  (void)flag; /* a record is put when its work is done: every buffer is complete */
  pthread_mutex_lock(&state.lock);
  hand_over();
  pthread_mutex_unlock(&state.lock);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetTimestamp(uint64_t *ns) {
  *ns = inkmark_sim_time_ns();
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS
                                                      : CUPTI_ERROR_INVALID_PARAMETER;
}

SIM_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
                                            const char **name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && calls[i].id == id) {
      *name = calls[i].name;
      return CUPTI_SUCCESS;
    }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

SIM_EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                              uint64_t id) {
  if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
      kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE || external[kind].depth == 8)
    return CUPTI_ERROR_INVALID_PARAMETER;
  external[kind].ids[external[kind].depth++] = id;
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                             uint64_t *last) {
  if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
      kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (!external[kind].depth)
    return CUPTI_ERROR_QUEUE_EMPTY;
  *last = external[kind].ids[--external[kind].depth];
  return CUPTI_SUCCESS;
}
