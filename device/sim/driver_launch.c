/* SPDX-License-Identifier: MIT */
/* Launches through the driver, and what it tells of a function. */
#include <stdlib.h>

#include "driver.h"

enum { PARAMETERS_MAX = 1024 };

/* Parameters in one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER) as the pointers that a launch takes. */
static CUresult unpack(sim_kernel *kernel, void **extra, void **out) {
  char *buffer = NULL;
  for (void **at = extra; *at != CU_LAUNCH_PARAM_END; at += 2)
    if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = at[1];
  size_t offset, bytes;
  int i = 0;
  for (; i < PARAMETERS_MAX && sim_kernel_parameter(kernel, i, &offset, &bytes); i++)
    out[i] = buffer + offset;
  return buffer || !i ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch(CUfunction function, const rt_shape *shape, CUstream stream, void **args, void **extra) {
  CUresult result = drv_ready_here();
  if (result)
    return result;
  const cudaError_t last = rt_self()->last;
  rt_call("cudaLaunchKernel");
  cudaError_t error = rt_enter();
  rt_kernel *kernel = rt_kernel_find(function);
  void *unpacked[PARAMETERS_MAX];
  if (!kernel)
    result = CUDA_ERROR_INVALID_HANDLE;
  else if (!error && !args && extra)
    result = unpack(rt_kernel_on(kernel, rt_current()), extra, args = unpacked);
  if (!error && !result)
    error = rt_launch_submit(stream, kernel, shape, args);
  rt_leave(error);
  rt_self()->last = last;
  return result ? result : drv_result(error);
}

DRV_API cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       CUstream stream, void **args, void **extra) {
  const rt_shape shape = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z},
                          .dynamic_shared_bytes = shared_bytes};
  DRV_TOLD(function, NULL, launch(function, &shape, stream, args, extra));
}

DRV_API cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                  unsigned block_x, unsigned block_y, unsigned block_z,
                                  unsigned shared_bytes, CUstream stream, void **args) {
  const rt_shape shape = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z},
                          .dynamic_shared_bytes = shared_bytes, .cooperative = true};
  DRV_TOLD(function, NULL, launch(function, &shape, stream, args, NULL));
}

/* The same attributes as cudaLaunchKernelExC understands. */
DRV_API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **args, void **extra) {
  rt_shape shape = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                    .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                    .dynamic_shared_bytes = config->sharedMemBytes};
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttribute *one = &config->attrs[i];
    if (one->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      shape.cooperative = one->value.cooperative != 0;
    if (one->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      shape.programmatic = one->value.programmaticStreamSerializationAllowed != 0;
    if (one->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      shape.cluster = (dim3){one->value.clusterDim.x, one->value.clusterDim.y, one->value.clusterDim.z};
  }
  DRV_TOLD(config, function, launch(function, &shape, config->hStream, args, extra));
}

DRV_API cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
  DRV_FORWARD(cudaLaunchHostFunc(stream, function, user));
}

/* ---- attributes ---- */

static CUresult attribute_of(int *value, CUfunction_attribute attribute, const void *function) {
  struct cudaFuncAttributes p;
  CUresult result = drv_ready_here();
  if (!result)
    result = drv_result(cudaFuncGetAttributes(&p, function));
  if (result)
    return result;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = p.maxThreadsPerBlock; break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)p.sharedSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)p.constSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)p.localSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = p.numRegs; break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = p.ptxVersion; break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = p.binaryVersion; break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = p.maxDynamicSharedSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = p.preferredShmemCarveout; break;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = p.clusterDimMustBeSet; break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = p.requiredClusterWidth; break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = p.requiredClusterHeight; break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = p.requiredClusterDepth; break;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = p.nonPortableClusterSizeAllowed; break;
  default: *value = 0; break;
  }
  return CUDA_SUCCESS;
}

static CUresult set_attribute(CUfunction_attribute attribute, int value, const void *function) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    DRV_FORWARD(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, value));
  if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    DRV_FORWARD(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, value));
  return drv_ready_here();
}

DRV_API cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  return attribute_of(value, attribute, function);
}

DRV_API cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  (void)device;
  return attribute_of(value, attribute, kernel);
}

DRV_API cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return set_attribute(attribute, value, function);
}

DRV_API cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  (void)device;
  return set_attribute(attribute, value, kernel);
}

DRV_API cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  (void)config;
  return function ? drv_ready_here() : CUDA_ERROR_INVALID_HANDLE;
}

DRV_API cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  (void)config, (void)device;
  return kernel ? drv_ready_here() : CUDA_ERROR_INVALID_HANDLE;
}

DRV_API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
  DRV_FORWARD(cudaFuncGetParamInfo(function, index, offset, bytes));
}

DRV_API cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes) {
  DRV_FORWARD(cudaFuncGetParamInfo(kernel, index, offset, bytes));
}

DRV_API cuFuncLoad(CUfunction function) { return function ? drv_ready_here() : CUDA_ERROR_INVALID_HANDLE; }

DRV_API cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return function ? drv_ready_here() : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- occupancy ---- */

DRV_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_threads,
                                                    size_t dynamic_shared_bytes) {
  DRV_FORWARD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads,
                                                            dynamic_shared_bytes));
}

DRV_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                             int block_threads,
                                                             size_t dynamic_shared_bytes, unsigned flags) {
  (void)flags;
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads, dynamic_shared_bytes);
}

/* The largest block of which an SM holds one, and as many of them as all SMs hold. */
DRV_API cuOccupancyMaxPotentialBlockSize(int *grid_blocks, int *block_threads, CUfunction function,
                                         CUoccupancyB2DSize shared_of, size_t dynamic_shared_bytes,
                                         int limit) {
  int most, each = 0;
  CUresult result = attribute_of(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
  const int threads = limit > 0 && limit < most ? limit : most;
  if (!result)
    result = cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &each, function, threads, shared_of ? shared_of(threads) : dynamic_shared_bytes);
  if (result)
    return result;
  *block_threads = threads;
  *grid_blocks = each * rt.config.sms;
  return CUDA_SUCCESS;
}

DRV_API cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid_blocks, int *block_threads, CUfunction function,
                                                  CUoccupancyB2DSize shared_of, size_t dynamic_shared_bytes,
                                                  int limit, unsigned flags) {
  (void)flags;
  return cuOccupancyMaxPotentialBlockSize(grid_blocks, block_threads, function, shared_of,
                                          dynamic_shared_bytes, limit);
}

/* The launch's shape and attributes have one layout in both APIs. */
static cudaLaunchConfig_t runtime_config(const CUlaunchConfig *config) {
  return (cudaLaunchConfig_t){.gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ},
                              .blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ},
                              .dynamicSmemBytes = config->sharedMemBytes,
                              .stream = config->hStream,
                              .attrs = (cudaLaunchAttribute *)config->attrs,
                              .numAttrs = config->numAttrs};
}

DRV_API cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
  const cudaLaunchConfig_t same = runtime_config(config);
  DRV_FORWARD(cudaOccupancyMaxActiveClusters(clusters, function, &same));
}

DRV_API cuOccupancyMaxPotentialClusterSize(int *blocks, CUfunction function, const CUlaunchConfig *config) {
  const cudaLaunchConfig_t same = runtime_config(config);
  DRV_FORWARD(cudaOccupancyMaxPotentialClusterSize(blocks, function, &same));
}

DRV_API cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                                int block_threads) {
  DRV_FORWARD(cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_threads));
}
