/* SPDX-License-Identifier: MIT */
/* Private: CUPTI without its headers. It is loaded when `--activity` asks for it, so what is used of it
 * is declared here, as https://docs.nvidia.com/cupti documents it. Its records have grown from version
 * to version by appending fields only: the prefixes below are the same in CUPTI 11 to 13, which
 * tests/activity checks against the real headers where they are found. */
#ifndef INK_CUDA_CUPTI_API_H
#define INK_CUDA_CUPTI_API_H

#include "inkmark/record.h"
#include "inkmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ink_i_cupti_kind {
  CUPTI_MEMCPY = 1,
  CUPTI_MEMSET = 2,
  CUPTI_DRIVER = 4,
  CUPTI_RUNTIME = 5,
  CUPTI_DEVICE = 8,
  CUPTI_CONCURRENT_KERNEL = 10,
  CUPTI_MEMCPY_PEER = 22,
  CUPTI_EXTERNAL_CORRELATION = 39
};

enum ink_i_cupti_number {
  CUPTI_OK = 0,
  CUPTI_MAX_LIMIT_REACHED = 12, /* no more records in a buffer */
  CUPTI_INSUFFICIENT_PRIVILEGES = 35,
  CUPTI_MULTIPLE_SUBSCRIBERS = 39,
  CUPTI_DOMAIN_DRIVER = 1,
  CUPTI_DOMAIN_RUNTIME = 2,
  CUPTI_DOMAIN_RESOURCE = 3,
  CUPTI_CONTEXT_CREATED = 1, /* of the resources */
  CUPTI_CONTEXT_DESTROY_STARTING = 2,
  CUPTI_MODULE_LOADED = 6,
  CUPTI_FLUSH_FORCED = 1,
  CUPTI_THREAD_ID_SYSTEM = 1, /* what gettid says */
  CUPTI_EXTERNAL_CUSTOM2 = 5,
  CUPTI_VERSION_12_0 = 18, /* the oldest that is used */
  CUPTI_VERSION_12_4 = 22, /* a sampled instruction has its correlation */
  CUPTI_VERSION_13_2 = 130200 /* several subscribers */
};

/* Calls of the driver's API, CUPTI_DRIVER_TRACE_CBID_... */
enum ink_i_cupti_driver_call {
  CUPTI_cuModuleLoad = 18,
  CUPTI_cuModuleLoadData = 19,
  CUPTI_cuModuleLoadDataEx = 20,
  CUPTI_cuModuleLoadFatBinary = 21,
  CUPTI_cuModuleUnload = 22,
  CUPTI_cuCtxCreate_v2 = 235,
  CUPTI_cuLaunchKernel = 307,
  CUPTI_cuCtxDestroy_v2 = 322,
  CUPTI_cuDevicePrimaryCtxReset = 389,
  CUPTI_cuLaunchKernel_ptsz = 442,
  CUPTI_cuLaunchCooperativeKernel = 477,
  CUPTI_cuLaunchCooperativeKernel_ptsz = 478,
  CUPTI_cuDevicePrimaryCtxReset_v2 = 545,
  CUPTI_cuCtxCreate_v3 = 645,
  CUPTI_cuLaunchKernelEx = 652,
  CUPTI_cuLaunchKernelEx_ptsz = 653,
  CUPTI_cuLibraryLoadData = 678,
  CUPTI_cuLibraryLoadFromFile = 679,
  CUPTI_cuLibraryUnload = 680,
  CUPTI_cuCtxCreate_v4 = 757
};

/* CUpti_CallbackData, as far as it is used. The parameters are the call's, each as wide as it is: of those above the first two
 * are pointers, but for a reset, which has a device alone. */
typedef struct ink_i_cupti_call_data {
  int site; /* 0: before the call, 1: after it */
  const char *name;
  void *const *parameters;
  const int *result; /* after the call */
} ink_i_cupti_call_data;

/* CUpti_SubscriberParams. Before 13.2 it ends in front of `shares`. */
typedef struct ink_i_cupti_subscriber {
  size_t bytes;
  const char *name;
  char *old_name; /* who has CUPTI already */
  size_t old_name_bytes;
  uint8_t shares;
} ink_i_cupti_subscriber;

/* CUpti_ResourceData; of a module `descriptor` is the structure below. */
typedef struct ink_i_cupti_resource {
  void *context;
  void *handle;
  const void *descriptor;
} ink_i_cupti_resource;

typedef struct ink_i_cupti_module {
  uint32_t id;
  size_t bytes;
  const char *code;
} ink_i_cupti_module;

/* ---- sampling of instructions: what the calls take ---- */

enum ink_i_cupti_sampling {
  CUPTI_SAMPLING_PERIOD = 1,
  CUPTI_SAMPLING_DEVICE_BUFFER_BYTES = 4,
  CUPTI_SAMPLING_MODE = 5,
  CUPTI_SAMPLING_BUFFER = 8,
  CUPTI_SAMPLING_CONTINUOUS = 1, /* the mode: kernels may overlap */
  CUPTI_REASON_BYTES = 128       /* of a reason's name */
};

typedef struct ink_i_cupti_reason_samples {
  uint32_t reason, samples;
} ink_i_cupti_reason_samples;

/* CUpti_PCSamplingPCData. Before 12.4 it ends in front of `correlation`, also where it stands in an array. */
typedef struct ink_i_cupti_pc {
  size_t bytes;
  uint64_t code, offset;
  uint32_t function_index, padding;
  char *function;
  size_t reason_count;
  ink_i_cupti_reason_samples *reasons;
  uint32_t correlation;
} ink_i_cupti_pc;
INK_STATIC_ASSERT(sizeof(ink_i_cupti_pc) == 64 && offsetof(ink_i_cupti_pc, correlation) == 56, "as in CUpti_PCSamplingPCData");

/* CUpti_PCSamplingData */
typedef struct ink_i_cupti_samples {
  size_t bytes, most;     /* entries of `pcs` */
  uint64_t total, dropped;
  size_t count, remaining;
  uint64_t range;
  void *pcs;
  uint64_t elsewhere;     /* of the driver's own kernels */
  uint8_t full;
} ink_i_cupti_samples;

typedef struct ink_i_cupti_attribute {
  int type, status;
  union {
    uint64_t words[3];
    uint32_t number;
    size_t bytes;
    void *pointer;
  } value;
} ink_i_cupti_attribute;

/* What all calls of sampling take; each uses the fields up to the one named, and `bytes` says so. */
typedef struct ink_i_cupti_sampled {
  size_t bytes;
  void *unused;
  void *context;               /* enable, disable */
  union {
    void *samples;             /* get data: ink_i_cupti_samples */
    size_t *reason_count;      /* number of reasons */
    size_t count;              /* of the attributes, or of the reasons */
  } what;
  union {
    ink_i_cupti_attribute *attributes;
    uint32_t *reasons;
  } of;
  char **names;                /* of the reasons */
} ink_i_cupti_sampled;

/* CUpti_GetCubinCrcParams */
typedef struct ink_i_cupti_checksum {
  size_t bytes, code_bytes;
  const void *code;
  uint64_t checksum;
} ink_i_cupti_checksum;

/* The entry points; each returns a CUptiResult as int. */
typedef void ink_i_cupti_request(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void ink_i_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                  size_t valid);
typedef void ink_i_cupti_callback(void *user, int domain, uint32_t id, const void *data);

/* What CUPTI asks for the sum of a module's code, which it then names its samples by. */
typedef void ink_i_cupti_sum(const void *code, size_t bytes, uint64_t *sum);

typedef struct ink_i_cupti {
  void *library;
  char path[512];
  uint32_t version;
  bool simulated; /* the stand-in of the simulated device */
  int (*get_version)(uint32_t *version);
  int (*result_string)(int result, const char **text);
  int (*subscribe)(void **subscriber, ink_i_cupti_callback *callback, void *user);
  int (*subscribe_v2)(void **subscriber, ink_i_cupti_callback *callback, void *user, ink_i_cupti_subscriber *params); /* NULL: older */
  int (*unsubscribe)(void *subscriber);
  int (*enable_callback)(uint32_t on, void *subscriber, int domain, uint32_t id);
  int (*enable)(int kind);
  int (*disable)(int kind);
  int (*register_buffers)(ink_i_cupti_request *request, ink_i_cupti_complete *complete);
  int (*next_record)(uint8_t *buffer, size_t valid, void **record);
  int (*dropped_records)(void *context, uint32_t stream, size_t *dropped);
  int (*flush_all)(uint32_t flag);
  int (*timestamp)(uint64_t *ns);
  int (*set_thread_id_type)(int type);
  int (*callback_name)(int domain, uint32_t id, const char **name);
  int (*push_external)(int kind, uint64_t id);
  int (*pop_external)(int kind, uint64_t *id);
  /* by ink_i_cupti_find_sampling */
  int (*sampling_enable)(ink_i_cupti_sampled *);
  int (*sampling_disable)(ink_i_cupti_sampled *);
  int (*sampling_configure)(ink_i_cupti_sampled *);
  int (*sampling_configuration)(ink_i_cupti_sampled *);
  int (*sampling_data)(ink_i_cupti_sampled *);
  int (*reason_count)(ink_i_cupti_sampled *);
  int (*reason_names)(ink_i_cupti_sampled *);
  int (*checksum)(ink_i_cupti_checksum *);
  int (*register_checksum)(ink_i_cupti_sum *compute); /* or NULL */
} ink_i_cupti;

/* Loads CUPTI: INKMARK_CUPTI where set, what the process has loaded already, then by its name and where
 * toolkits and Python packages put it; `major` (13, 12; 0: unknown) is tried first. It is never
 * unloaded: threads of its own may run in it. False with a sentence in `why`. */
bool ink_i_cupti_load(ink_i_cupti *cupti, int major, char *why, size_t why_bytes);
/* The calls of sampling, of a CUPTI that is loaded; false: it has none. */
bool ink_i_cupti_find_sampling(ink_i_cupti *cupti);
/* The major version of the driver that is loaded, for the above; 0: not known. */
int ink_i_cupti_major(void);
/* "CUPTI_ERROR_...: what it means". */
void ink_i_cupti_explain(const ink_i_cupti *cupti, int result, char *text, size_t bytes);
/* Who is told of the calls of a domain, inside of the program's calls and in its threads; for good. */
void ink_i_cupti_take(int domain, void (*taker)(uint32_t id, const void *data));
/* What every subscriber of ours gives to CUPTI: tells who takes the domain. */
void ink_i_cupti_called(void *user, int domain, uint32_t id, const void *data);

/* ---- records ---- */

typedef struct ink_i_cupti_kernel {
  uint32_t kind;
  uint8_t cache_config, shared_config;
  uint16_t registers;
  uint32_t partition_requested, partition_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total, correlation;
  int64_t grid_id;
  const char *name; /* mangled */
  void *reserved;
  uint64_t queued, submitted;
  uint8_t launch_type, carveout_requested, carveout, padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  uint32_t shared_limit, graph;
} ink_i_cupti_kernel;
INK_STATIC_ASSERT(sizeof(ink_i_cupti_kernel) == 160 && offsetof(ink_i_cupti_kernel, grid_id) == 96 &&
                      offsetof(ink_i_cupti_kernel, graph_node) == 144,
                  "as in CUpti_ActivityKernel5 to 10");

typedef struct ink_i_cupti_copy {
  uint32_t kind;
  uint8_t copy, from, to, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, padding;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph, channel;
} ink_i_cupti_copy;
INK_STATIC_ASSERT(sizeof(ink_i_cupti_copy) == 80 && offsetof(ink_i_cupti_copy, graph_node) == 64,
                  "as in CUpti_ActivityMemcpy4 to 6");

typedef struct ink_i_cupti_peer_copy {
  uint32_t kind;
  uint8_t copy, from, to, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
  uint32_t from_device, from_context, to_device, to_context;
  uint32_t correlation;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph, channel;
} ink_i_cupti_peer_copy;
INK_STATIC_ASSERT(sizeof(ink_i_cupti_peer_copy) == 88 &&
                      offsetof(ink_i_cupti_peer_copy, correlation) == 60,
                  "as in CUpti_ActivityMemcpyPtoP3 and 4");

typedef struct ink_i_cupti_set {
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory;
  uint32_t padding;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph, channel;
} ink_i_cupti_set;
INK_STATIC_ASSERT(sizeof(ink_i_cupti_set) == 80 && offsetof(ink_i_cupti_set, graph_node) == 64,
                  "as in CUpti_ActivityMemset3 and 4");

typedef struct ink_i_cupti_call {
  uint32_t kind, id;
  uint64_t start, end;
  uint32_t process, thread, correlation, result;
} ink_i_cupti_call;
INK_STATIC_ASSERT(sizeof(ink_i_cupti_call) == 40, "as in CUpti_ActivityAPI");

typedef struct ink_i_cupti_device {
  uint32_t kind, flags;
  uint64_t bandwidth, memory_bytes;
  uint32_t constant_bytes, l2_bytes, threads_per_warp, clock_khz, copy_engines, sm_count, ipc;
  uint32_t warps_per_sm, blocks_per_sm, shared_per_sm, registers_per_sm, registers_per_block;
  uint32_t shared_per_block, threads_per_block, block_dim[3], grid_dim[3];
  uint32_t capability_major, capability_minor, index;
} ink_i_cupti_device;
INK_STATIC_ASSERT(offsetof(ink_i_cupti_device, index) == 112 &&
                      offsetof(ink_i_cupti_device, shared_per_sm) == 60,
                  "as in CUpti_ActivityDevice2 to 5");

typedef struct ink_i_cupti_external {
  uint32_t kind, external_kind;
  uint64_t external_id;
  uint32_t correlation, reserved;
} ink_i_cupti_external;
INK_STATIC_ASSERT(sizeof(ink_i_cupti_external) == 24, "as in CUpti_ActivityExternalCorrelation");

#endif
