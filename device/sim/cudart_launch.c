/* SPDX-License-Identifier: MIT */
/* Launches and what can be asked of a kernel: attributes, occupancy. A launch is checked and its
 * arguments are copied when it is called; the grid begins when the engine starts the op. */
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

#define STATIC_SHARED_LIMIT (48u << 10)

/* ---- limits ---- */

/* The largest block's shared memory, by compute capability (CUDA programming guide's table of
 * technical specifications, less the 1 KB that the system keeps from 8.0 on). */
static size_t shared_optin_bytes(void) {
  const int capability = rt_capability();
  if (capability >= 120)
    return 99u << 10;
  if (capability >= 90)
    return 227u << 10;
  if (capability == 80 || capability == 87)
    return 163u << 10;
  if (capability > 80)
    return 99u << 10;
  return capability >= 75 ? 64u << 10 : STATIC_SHARED_LIMIT;
}

typedef struct kernel_limits {
  size_t shared_bytes, local_bytes, parameter_bytes;
  sim_dim3 cluster;
  uint32_t max_threads;
  int parameters;
} kernel_limits;

static kernel_limits limits_of(const sim_kernel *kernel) {
  kernel_limits limits;
  sim_kernel_limits(kernel, &limits.shared_bytes, &limits.local_bytes, &limits.max_threads,
                    &limits.parameter_bytes, &limits.parameters);
  limits.cluster = sim_kernel_cluster(kernel);
  return limits;
}

static size_t dynamic_shared_limit(const rt_kernel *kernel, const kernel_limits *limits) {
  if (kernel->max_dynamic_shared_bytes >= 0)
    return (size_t)kernel->max_dynamic_shared_bytes;
  return limits->shared_bytes < STATIC_SHARED_LIMIT ? STATIC_SHARED_LIMIT - limits->shared_bytes
                                                    : 0;
}

enum { SM_WARPS = 64 }; /* that the machine's SM holds: exec.h */

/* How many blocks of the kernel the simulated SM holds at once. */
static int blocks_per_sm(const kernel_limits *limits, uint64_t block_threads,
                         size_t dynamic_shared_bytes) {
  if (!block_threads || block_threads > limits->max_threads)
    return 0;
  if (limits->shared_bytes + dynamic_shared_bytes > shared_optin_bytes())
    return 0;
  const int by_warps = (int)(SM_WARPS / ((block_threads + 31) / 32));
  return by_warps < rt.config.blocks_per_sm ? by_warps : rt.config.blocks_per_sm;
}

/* ---- launch ---- */

/* How many blocks may be in a cluster; on a GPU 16 for kernels that allow what is not portable. */
enum { CLUSTER_PORTABLE = 8, CLUSTER_MOST = 16 };

static int held_blocks(const kernel_limits *limits, uint64_t threads, size_t dynamic_shared_bytes) {
  return blocks_per_sm(limits, threads, dynamic_shared_bytes) * rt.config.sms;
}

static cudaError_t check_cluster(const rt_kernel *kernel, const kernel_limits *limits, const rt_shape *shape) {
  const sim_dim3 own = limits->cluster;
  const dim3 c = shape->cluster.x ? shape->cluster : (dim3){own.x, own.y, own.z}, g = shape->grid, b = shape->block;
  const uint64_t blocks = (uint64_t)c.x * c.y * c.z;
  if (!blocks)
    return c.x || kernel->cluster_must_be_set ? cudaErrorInvalidClusterSize : cudaSuccess;
  if (own.x && shape->cluster.x && (own.x != c.x || own.y != c.y || own.z != c.z))
    return cudaErrorInvalidValue;
  if (g.x % c.x || g.y % c.y || g.z % c.z)
    return cudaErrorInvalidConfiguration;
  if (blocks > (kernel->cluster_not_portable ? CLUSTER_MOST : CLUSTER_PORTABLE) ||
      blocks > (uint64_t)held_blocks(limits, (uint64_t)b.x * b.y * b.z, shape->dynamic_shared_bytes))
    return cudaErrorInvalidClusterSize;
  return cudaSuccess;
}

static cudaError_t check_shape(const rt_kernel *kernel, const kernel_limits *limits, const rt_shape *shape) {
  const dim3 grid = shape->grid, block = shape->block;
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
    return cudaErrorInvalidConfiguration;
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  if (block.x > 1024 || block.y > 1024 || block.z > 64)
    return cudaErrorInvalidConfiguration;
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (threads > 1024)
    return cudaErrorInvalidConfiguration;
  if (threads > limits->max_threads)
    return cudaErrorLaunchOutOfResources;
  if (shape->dynamic_shared_bytes > dynamic_shared_limit(kernel, limits))
    return cudaErrorInvalidValue;
  if (shape->cooperative && (uint64_t)grid.x * grid.y * grid.z >
                                (uint64_t)held_blocks(limits, threads, shape->dynamic_shared_bytes))
    return cudaErrorCooperativeLaunchTooLarge;
  return check_cluster(kernel, limits, shape);
}

static size_t slot_bytes(size_t bytes) {
  return (bytes + 15) & ~(size_t)15;
}

cudaError_t rt_launch_prepare(rt_gpu *gpu, rt_kernel *kernel, const rt_shape *shape, void **args, rt_work *work) {
  if (!kernel)
    return cudaErrorInvalidDeviceFunction;
  const sim_kernel *found = rt_kernel_on(kernel, gpu);
  if (!found)
    return cudaErrorInvalidDeviceFunction;
  const kernel_limits limits = limits_of(found);
  const cudaError_t error = check_shape(kernel, &limits, shape);
  if (error)
    return error;
  if (limits.parameters && !args)
    return cudaErrorInvalidValue;

  size_t total = 0, offset, bytes;
  for (int i = 0; i < limits.parameters; i++)
    if (sim_kernel_parameter(found, i, &offset, &bytes))
      total += slot_bytes(bytes);
  unsigned char *packed = aligned_alloc(16, (total + 16) / 16 * 16);
  if (!packed)
    return cudaErrorMemoryAllocation;
  size_t at = 0;
  for (int i = 0; i < limits.parameters; i++) {
    if (!sim_kernel_parameter(found, i, &offset, &bytes))
      continue;
    memcpy(packed + at, args[i], bytes);
    at += slot_bytes(bytes);
  }
  *work = (rt_work){.kind = RT_KERNEL, .u.launch = {kernel, *shape, packed, total}};
  return cudaSuccess;
}

sim_grid *rt_launch_begin(rt_gpu *gpu, const rt_launch *launch, sim_grid *prerequisite, sim_error *error) {
  sim_kernel *kernel = rt_kernel_on(launch->kernel, gpu);
  const kernel_limits limits = limits_of(kernel);
  void **args = calloc(limits.parameters ? (size_t)limits.parameters : 1, sizeof *args);
  if (!args)
    rt_refuse("out of memory");
  size_t at = 0, offset, bytes;
  for (int i = 0; i < limits.parameters; i++) {
    if (!sim_kernel_parameter(kernel, i, &offset, &bytes))
      continue;
    args[i] = launch->args + at;
    at += slot_bytes(bytes);
  }
  const rt_shape *wanted = &launch->shape;
  const sim_shape shape = {.grid = {wanted->grid.x, wanted->grid.y, wanted->grid.z},
                           .block = {wanted->block.x, wanted->block.y, wanted->block.z},
                           .cluster = {wanted->cluster.x, wanted->cluster.y, wanted->cluster.z},
                           .prerequisite = prerequisite};
  sim_grid *begun = sim_grid_begin_shape(kernel, &shape, args, wanted->dynamic_shared_bytes, error);
  free(args);
  return begun;
}

cudaError_t rt_launch_submit(cudaStream_t handle, rt_kernel *kernel, const rt_shape *shape, void **args) {
  rt_stream *stream;
  cudaError_t error = rt_stream_of(handle, &stream);
  if (error)
    return error;
  /* a captured launch goes to the stream's device, as does a plain one */
  if (stream->gpu != rt_current())
    return cudaErrorInvalidResourceHandle;
  rt_work work;
  error = rt_launch_prepare(stream->gpu, kernel, shape, args, &work);
  return error ? error : rt_stream_submit(stream, work, NULL);
}

static cudaError_t launch(const char *call, const void *function, const rt_shape *shape, void **args,
                          cudaStream_t stream) {
  rt_call(call);
  cudaError_t error = rt_enter();
  if (!error)
    error = rt_launch_submit(stream, rt_kernel_find(function), shape, args);
  return rt_leave(error);
}

RT_API cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
                                    size_t shared_bytes, cudaStream_t stream) {
  const rt_shape shape = {.grid = grid, .block = block, .dynamic_shared_bytes = shared_bytes};
  return launch(__func__, function, &shape, args, stream);
}

RT_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                      size_t shared_bytes, cudaStream_t stream) {
  const rt_shape shape = {.grid = grid, .block = block, .dynamic_shared_bytes = shared_bytes};
  return launch("cudaLaunchKernel", kernel, &shape, args, stream);
}

RT_API cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                               void **args, size_t shared_bytes,
                                               cudaStream_t stream) {
  const rt_shape shape = {
      .grid = grid, .block = block, .dynamic_shared_bytes = shared_bytes, .cooperative = true};
  return launch(__func__, function, &shape, args, stream);
}

RT_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                       void **args) {
  rt_shape shape = {.grid = config->gridDim, .block = config->blockDim,
                    .dynamic_shared_bytes = config->dynamicSmemBytes};
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const cudaLaunchAttribute *attribute = &config->attrs[i];
    switch (attribute->id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributePriority: /* hints and things that may be taken literally */
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      break;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      shape.programmatic = attribute->val.programmaticStreamSerializationAllowed != 0;
      break;
    case cudaLaunchAttributeCooperative:
      shape.cooperative = attribute->val.cooperative != 0;
      break;
    case cudaLaunchAttributeClusterDimension:
      shape.cluster = (dim3){attribute->val.clusterDim.x, attribute->val.clusterDim.y, attribute->val.clusterDim.z};
      break;
    default:
      rt_refuse("launch attribute %d is not simulated", (int)attribute->id);
    }
  }
  return launch(__func__, function, &shape, args, config->stream);
}

/* ---- <<<>>> ---- */

typedef struct call_configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
} call_configuration;

/* Nested: an argument of a launch may itself launch. */
static _Thread_local struct {
  call_configuration pushed[32];
  size_t n;
} configurations;

RT_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                            struct CUstream_st *stream) {
  if (configurations.n == sizeof configurations.pushed / sizeof *configurations.pushed)
    return 1;
  configurations.pushed[configurations.n++] =
      (call_configuration){grid, block, shared_bytes, stream};
  return 0;
}

RT_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                              void *stream) {
  if (!configurations.n)
    return cudaErrorMissingConfiguration;
  const call_configuration *top = &configurations.pushed[--configurations.n];
  *grid = top->grid;
  *block = top->block;
  *shared_bytes = top->shared_bytes;
  *(cudaStream_t *)stream = top->stream;
  return cudaSuccess;
}

/* ---- attributes ---- */

/* Finds the kernel on the current device; the lock is held. */
static cudaError_t find_limits(const void *function, rt_kernel **kernel, kernel_limits *limits) {
  *kernel = rt_kernel_find(function);
  if (!*kernel)
    return cudaErrorInvalidDeviceFunction;
  const sim_kernel *found = rt_kernel_on(*kernel, rt_current());
  if (!found)
    return cudaErrorInvalidDeviceFunction;
  *limits = limits_of(found);
  return cudaSuccess;
}

RT_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                         const void *function) {
  cudaError_t error = rt_enter();
  rt_kernel *kernel;
  kernel_limits limits;
  if (!error)
    error = find_limits(function, &kernel, &limits);
  if (!error) {
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = limits.shared_bytes,
        .localSizeBytes = limits.local_bytes,
        .maxThreadsPerBlock = (int)limits.max_threads,
        .numRegs = 32, /* PTX has no register allocation: a fixed number */
        .ptxVersion = rt_capability(),
        .binaryVersion = rt_capability(),
        .maxDynamicSharedSizeBytes = (int)dynamic_shared_limit(kernel, &limits),
        .preferredShmemCarveout = -1,
        .clusterDimMustBeSet = limits.cluster.x != 0 || kernel->cluster_must_be_set,
        .requiredClusterWidth = (int)limits.cluster.x,
        .requiredClusterHeight = (int)limits.cluster.y,
        .requiredClusterDepth = (int)limits.cluster.z,
        .nonPortableClusterSizeAllowed = kernel->cluster_not_portable,
    };
  }
  return rt_leave(error);
}

static cudaError_t set_attribute(const void *function, enum cudaFuncAttribute attribute,
                                 int value) {
  rt_kernel *kernel;
  kernel_limits limits;
  const cudaError_t error = find_limits(function, &kernel, &limits);
  if (error)
    return error;
  switch ((int)attribute) {
  case cudaFuncAttributeMaxDynamicSharedMemorySize:
    if (value < 0 || (size_t)value + limits.shared_bytes > shared_optin_bytes())
      return cudaErrorInvalidValue;
    kernel->max_dynamic_shared_bytes = value;
    return cudaSuccess;
  case cudaFuncAttributePreferredSharedMemoryCarveout:
  case cudaFuncAttributeClusterSchedulingPolicyPreference:
    return cudaSuccess;
  case cudaFuncAttributeClusterDimMustBeSet:
    kernel->cluster_must_be_set = value != 0;
    return cudaSuccess;
  case cudaFuncAttributeNonPortableClusterSizeAllowed:
    kernel->cluster_not_portable = value != 0;
    return cudaSuccess;
  default:
    rt_refuse("kernel attribute %d is not simulated", (int)attribute);
  }
}

RT_API cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute,
                                        int value) {
  cudaError_t error = rt_enter();
  if (!error)
    error = set_attribute(function, attribute, value);
  return rt_leave(error);
}

RT_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                   enum cudaFuncAttribute attribute, int value,
                                                   int device) {
  (void)device;
  return cudaFuncSetAttribute(kernel, attribute, value);
}

RT_API cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config) {
  (void)config;
  cudaError_t error = rt_enter();
  if (!error && !rt_kernel_find(function))
    error = cudaErrorInvalidDeviceFunction;
  return rt_leave(error);
}

RT_API cudaError_t cudaFuncSetSharedMemConfig(const void *function,
                                              enum cudaSharedMemConfig config) {
  (void)config;
  return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone);
}

RT_API cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset,
                                        size_t *bytes) {
  cudaError_t error = rt_enter();
  rt_kernel *kernel;
  kernel_limits limits;
  size_t found_offset, found_bytes;
  if (!error)
    error = find_limits(function, &kernel, &limits);
  if (!error && (index >= (size_t)limits.parameters ||
                 !sim_kernel_parameter(rt_kernel_on(kernel, rt_current()), (int)index,
                                       &found_offset, &found_bytes)))
    error = cudaErrorInvalidValue;
  if (!error) {
    *offset = found_offset;
    if (bytes)
      *bytes = found_bytes;
  }
  return rt_leave(error);
}

/* ---- occupancy ---- */

RT_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int block_threads, size_t dynamic_shared_bytes,
    unsigned flags) {
  (void)flags;
  cudaError_t error = rt_enter();
  rt_kernel *kernel;
  kernel_limits limits;
  if (!error && (!blocks || block_threads <= 0))
    error = cudaErrorInvalidValue;
  if (!error)
    error = find_limits(function, &kernel, &limits);
  if (!error)
    *blocks = blocks_per_sm(&limits, (uint64_t)block_threads, dynamic_shared_bytes);
  return rt_leave(error);
}

RT_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                                 int block_threads,
                                                                 size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads,
                                                                dynamic_shared_bytes, 0);
}

RT_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function,
                                                             int blocks, int block_threads) {
  cudaError_t error = rt_enter();
  rt_kernel *kernel;
  kernel_limits limits;
  if (!error && (!bytes || blocks <= 0 || block_threads <= 0))
    error = cudaErrorInvalidValue;
  if (!error)
    error = find_limits(function, &kernel, &limits);
  if (!error)
    *bytes = dynamic_shared_limit(kernel, &limits);
  return rt_leave(error);
}

static int held_of(const kernel_limits *limits, const cudaLaunchConfig_t *config) {
  const dim3 b = config->blockDim;
  return held_blocks(limits, (uint64_t)b.x * b.y * b.z, config->dynamicSmemBytes);
}

/* A cluster's blocks may lie on any SMs here, several on one too. */
RT_API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                                  const cudaLaunchConfig_t *config) {
  cudaError_t error = rt_enter();
  rt_kernel *kernel;
  kernel_limits limits;
  if (!error && (!clusters || !config))
    error = cudaErrorInvalidValue;
  if (!error)
    error = find_limits(function, &kernel, &limits);
  if (!error) {
    uint64_t blocks = limits.cluster.x ? (uint64_t)limits.cluster.x * limits.cluster.y * limits.cluster.z : 1;
    for (unsigned i = 0; i < config->numAttrs; i++)
      if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
        blocks = (uint64_t)config->attrs[i].val.clusterDim.x * config->attrs[i].val.clusterDim.y *
                 config->attrs[i].val.clusterDim.z;
    const int held = held_of(&limits, config);
    *clusters = blocks ? (int)((uint64_t)held / blocks) : 0;
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function,
                                                        const cudaLaunchConfig_t *config) {
  cudaError_t error = rt_enter();
  rt_kernel *kernel;
  kernel_limits limits;
  if (!error && (!blocks || !config))
    error = cudaErrorInvalidValue;
  if (!error)
    error = find_limits(function, &kernel, &limits);
  if (!error) {
    const int held = held_of(&limits, config);
    const int most = kernel->cluster_not_portable ? CLUSTER_MOST : CLUSTER_PORTABLE;
    *blocks = held < most ? held : most;
  }
  return rt_leave(error);
}
