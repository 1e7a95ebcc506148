/* SPDX-License-Identifier: MIT */
/* Devices: choosing, properties, attributes, limits, reset. The numbers describe the simulator
 * where it has such a thing and are those of the compute capability otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { DRIVER_VERSION = 13990 }; /* no compiler of CUDA 13 is newer, and makes machine code for that reason */

RT_API cudaError_t cudaGetDeviceCount(int *count) {
  const cudaError_t error = rt_enter();
  if (count)
    *count = rt.config.devices;
  return rt_leave(count ? error : cudaErrorInvalidValue);
}

RT_API cudaError_t cudaGetDevice(int *device) {
  const cudaError_t error = rt_enter();
  if (device)
    *device = rt_self()->device;
  return rt_leave(device ? error : cudaErrorInvalidValue);
}

RT_API cudaError_t cudaSetDevice(int device) {
  rt_enter();
  if (device < 0 || device >= rt.config.devices)
    return rt_leave(cudaErrorInvalidDevice);
  rt_self()->device = device;
  drv_context_set(device);
  const rt_gpu *gpu = rt_current();
  return rt_leave(gpu->sticky);
}

RT_API cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  (void)device_flags, (void)flags;
  cudaError_t error = rt_enter();
  if (!error && !rt_gpu_at(device))
    error = cudaErrorInvalidDevice;
  return rt_leave(error);
}

RT_API cudaError_t cudaSetValidDevices(int *devices, int n) {
  cudaError_t error = rt_enter();
  for (int i = 0; i < n && !error; i++)
    if (!devices || devices[i] < 0 || devices[i] >= rt.config.devices)
      error = cudaErrorInvalidDevice;
  return rt_leave(error);
}

RT_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  const cudaError_t error = rt_enter();
  if (!error)
    rt_current()->flags = flags;
  return rt_leave(error);
}

RT_API cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  cudaError_t error = rt_enter();
  if (!error && !flags)
    error = cudaErrorInvalidValue;
  if (!error)
    *flags = rt_current()->flags | cudaDeviceMapHost;
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceSynchronize(void) {
  rt_call(__func__);
  cudaError_t error = rt_enter();
  if (!error)
    error = rt_capture_forbids();
  if (!error)
    error = rt_wait_gpu(rt_current());
  return rt_leave(error);
}

/* Ends what runs, frees everything of the device, and clears a sticky error. */
void rt_device_reset(rt_gpu *gpu) {
  rt_cancel_gpu(gpu);
  drv_device_reset(gpu);
  rt_streams_reset(gpu);
  sim_device_reset(gpu->device);
  gpu->generation++; /* modules are loaded anew at their next use */
  rt_memory_reset(gpu);
  gpu->sticky = cudaSuccess;
  gpu->flags = 0;
  rt_self()->last = cudaSuccess;
}

/* Which a CUDA runtime does by a call of the driver's. */
RT_API cudaError_t cudaDeviceReset(void) {
  rt_enter();
  rt_gpu *gpu = rt_current();
  const void *const words[2] = {(const void *)(intptr_t)gpu->index, NULL};
  const CUresult fine = CUDA_SUCCESS;
  rt_leave(cudaSuccess);
  drv_tell("cuDevicePrimaryCtxReset_v2", words, NULL);
  rt_enter();
  rt_device_reset(gpu);
  const cudaError_t result = rt_leave(cudaSuccess);
  drv_tell("cuDevicePrimaryCtxReset_v2", words, &fine);
  return result;
}

/* ---- properties ---- */

static size_t shared_per_sm(void) {
  const int capability = rt_capability();
  if (capability >= 90 && capability < 120)
    return 228u << 10;
  if (capability == 80 || capability == 87)
    return 164u << 10;
  return capability > 80 ? 100u << 10 : 64u << 10;
}

static int threads_per_sm(void) {
  const int capability = rt_capability();
  if (capability == 75)
    return 1024;
  if (capability == 80 || (capability >= 90 && capability < 120))
    return 2048;
  return 1536;
}

static void fill_properties(struct cudaDeviceProp *p, int device) {
  memset(p, 0, sizeof *p);
  snprintf(p->name, sizeof p->name, "inkmark simulated GPU (no real clock)");
  memcpy(p->uuid.bytes, "inkmark-sim-gpu", 15);
  p->uuid.bytes[15] = (char)device;
  p->totalGlobalMem = rt.memory_bytes;
  p->sharedMemPerBlock = 48u << 10;
  p->regsPerBlock = 65536;
  p->warpSize = 32;
  p->memPitch = 0x7fffffff;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 64u << 10;
  p->major = rt_capability() / 10;
  p->minor = rt_capability() % 10;
  p->textureAlignment = 512;
  p->texturePitchAlignment = 32;
  p->multiProcessorCount = rt.config.sms;
  p->canMapHostMemory = 1;
  p->surfaceAlignment = 512;
  p->concurrentKernels = 1;
  p->pciBusID = 1 + device;
  p->asyncEngineCount = 2;
  p->unifiedAddressing = 1;
  p->memoryBusWidth = 256;
  p->l2CacheSize = 4 << 20;
  p->maxThreadsPerMultiProcessor = threads_per_sm();
  p->streamPrioritiesSupported = 1;
  p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  p->sharedMemPerMultiprocessor = shared_per_sm();
  p->regsPerMultiprocessor = 65536;
  p->managedMemory = 1;
  p->concurrentManagedAccess = 1;
  p->computePreemptionSupported = 1;
  p->canUseHostPointerForRegisteredMem = 1;
  p->cooperativeLaunch = 1;
  p->clusterLaunch = rt_capability() >= 90;
  p->sharedMemPerBlockOptin = shared_per_sm() - (rt_capability() >= 80 ? 1024u : 0u);
  p->maxBlocksPerMultiProcessor = rt.config.blocks_per_sm;
  p->reservedSharedMemPerBlock = rt_capability() >= 80 ? 1024 : 0;
  p->hostRegisterSupported = 1;
  p->memoryPoolsSupported = 1;
}

RT_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
  cudaError_t error = rt_enter();
  if (!error && !p)
    error = cudaErrorInvalidValue;
  if (!error && (device < 0 || device >= rt.config.devices))
    error = cudaErrorInvalidDevice;
  if (!error)
    fill_properties(p, device);
  return rt_leave(error);
}

/* What the device can and what it cannot. */
static const enum cudaDeviceAttr yes[] = {
    cudaDevAttrCanMapHostMemory,
    cudaDevAttrConcurrentKernels,
    cudaDevAttrUnifiedAddressing,
    cudaDevAttrStreamPrioritiesSupported,
    cudaDevAttrGlobalL1CacheSupported,
    cudaDevAttrLocalL1CacheSupported,
    cudaDevAttrManagedMemory,
    cudaDevAttrConcurrentManagedAccess,
    cudaDevAttrComputePreemptionSupported,
    cudaDevAttrCanUseHostPointerForRegisteredMem,
    cudaDevAttrCooperativeLaunch,
    cudaDevAttrHostRegisterSupported,
    cudaDevAttrMemoryPoolsSupported,
    cudaDevAttrGpuOverlap,
};
static const enum cudaDeviceAttr no[] = {
    cudaDevAttrKernelExecTimeout,
    cudaDevAttrIntegrated,
    cudaDevAttrComputeMode,
    cudaDevAttrEccEnabled,
    cudaDevAttrPciDeviceId,
    cudaDevAttrPciDomainId,
    cudaDevAttrTccDriver,
    cudaDevAttrIsMultiGpuBoard,
    cudaDevAttrMultiGpuBoardGroupID,
    cudaDevAttrHostNativeAtomicSupported,
    cudaDevAttrPageableMemoryAccess,
    cudaDevAttrPageableMemoryAccessUsesHostPageTables,
    cudaDevAttrDirectManagedMemAccessFromHost,
    cudaDevAttrMaxPersistingL2CacheSize,
    cudaDevAttrMaxAccessPolicyWindowSize,
    cudaDevAttrIpcEventSupport,
    cudaDevAttrMpsEnabled,
};

typedef struct attribute_value {
  enum cudaDeviceAttr attribute;
  int value;
} attribute_value;

static bool is_in(const enum cudaDeviceAttr *list, size_t n, enum cudaDeviceAttr attribute) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == attribute)
      return true;
  return false;
}

bool rt_attribute_of(enum cudaDeviceAttr attribute, int device, int *value) {
  struct cudaDeviceProp p;
  fill_properties(&p, device);
  const attribute_value numbers[] = {
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
      {cudaDevAttrMaxSharedMemoryPerBlock, (int)p.sharedMemPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)p.sharedMemPerBlockOptin},
      {cudaDevAttrReservedSharedMemoryPerBlock, (int)p.reservedSharedMemPerBlock},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (int)p.sharedMemPerMultiprocessor},
      {cudaDevAttrTotalConstantMemory, (int)p.totalConstMem},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrMaxPitch, (int)p.memPitch},
      {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
      {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
      {cudaDevAttrClockRate, (int)(rt.config.clock_hz / 1000)},
      {cudaDevAttrMemoryClockRate, 1000000},
      {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
      {cudaDevAttrTextureAlignment, (int)p.textureAlignment},
      {cudaDevAttrTexturePitchAlignment, (int)p.texturePitchAlignment},
      {cudaDevAttrSurfaceAlignment, (int)p.surfaceAlignment},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
      {cudaDevAttrPciBusId, p.pciBusID},
      {cudaDevAttrClusterLaunch, p.clusterLaunch},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i].attribute == attribute) {
      *value = numbers[i].value;
      return true;
    }
  *value = is_in(yes, sizeof yes / sizeof *yes, attribute);
  return *value || is_in(no, sizeof no / sizeof *no, attribute);
}

RT_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  cudaError_t error = rt_enter();
  if (!error && !value)
    error = cudaErrorInvalidValue;
  if (!error && (device < 0 || device >= rt.config.devices))
    error = cudaErrorInvalidDevice;
  if (!error && !rt_attribute_of(attribute, device, value))
    rt_refuse("device attribute %d is not simulated", (int)attribute);
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                             int to) {
  cudaError_t error = rt_enter();
  const int n = rt.config.devices;
  if (!error && (from < 0 || from >= n || to < 0 || to >= n || from == to))
    error = cudaErrorInvalidDevice;
  if (!error)
    *value = attribute == cudaDevP2PAttrAccessSupported ||
             attribute == cudaDevP2PAttrNativeAtomicSupported;
  return rt_leave(error);
}

RT_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted) {
  (void)wanted;
  const cudaError_t error = rt_enter();
  if (!error)
    *device = 0;
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
  cudaError_t error = rt_enter();
  if (!error && (!text || length < 13))
    error = cudaErrorInvalidValue;
  if (!error && (device < 0 || device >= rt.config.devices))
    error = cudaErrorInvalidDevice;
  if (!error)
    snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned)(1 + device));
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
  cudaError_t error = rt_enter();
  unsigned domain, bus, slot;
  if (!error && (!device || !text || sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3))
    error = cudaErrorInvalidValue;
  if (!error && (domain || slot || !bus || bus > (unsigned)rt.config.devices))
    error = cudaErrorInvalidDevice;
  if (!error)
    *device = (int)bus - 1;
  return rt_leave(error);
}

/* ---- limits and settings that change nothing here ---- */

RT_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  cudaError_t error = rt_enter();
  const size_t n = sizeof rt.gpus[0].limits / sizeof *rt.gpus[0].limits;
  if (!error && (size_t)limit >= n)
    error = cudaErrorUnsupportedLimit;
  if (!error)
    rt_current()->limits[limit] = value;
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
  cudaError_t error = rt_enter();
  const size_t n = sizeof rt.gpus[0].limits / sizeof *rt.gpus[0].limits;
  if (!error && ((size_t)limit >= n || !value))
    error = cudaErrorUnsupportedLimit;
  if (!error)
    *value = rt_current()->limits[limit];
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
  (void)config;
  return rt_leave(rt_enter());
}

RT_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config) {
  const cudaError_t error = rt_enter();
  if (!error)
    *config = cudaFuncCachePreferNone;
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
  (void)config;
  return rt_leave(rt_enter());
}

RT_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config) {
  const cudaError_t error = rt_enter();
  if (!error)
    *config = cudaSharedMemBankSizeFourByte;
  return rt_leave(error);
}

RT_API cudaError_t cudaCtxResetPersistingL2Cache(void) {
  return rt_leave(rt_enter());
}

/* ---- versions, profiler, driver ---- */

RT_API cudaError_t cudaDriverGetVersion(int *version) {
  if (!version)
    return cudaErrorInvalidValue;
  *version = DRIVER_VERSION;
  return cudaSuccess;
}

RT_API cudaError_t cudaRuntimeGetVersion(int *version) {
  if (!version)
    return cudaErrorInvalidValue;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

RT_API cudaError_t cudaProfilerStart(void) {
  return rt_leave(rt_enter());
}

RT_API cudaError_t cudaProfilerStop(void) {
  return rt_leave(rt_enter());
}

RT_API cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **entry,
                                                    unsigned version, unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *status) {
  if (!symbol || !entry)
    return cudaErrorInvalidValue;
  bool known;
  *entry = drv_entry_point(symbol, (int)version, flags & cudaEnablePerThreadDefaultStream, &known);
  if (status)
    *status = *entry  ? cudaDriverEntryPointSuccess
              : known ? cudaDriverEntryPointVersionNotSufficent
                      : cudaDriverEntryPointSymbolNotFound;
  return *entry || status ? cudaSuccess : cudaErrorSymbolNotFound;
}

RT_API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **entry,
                                           unsigned long long flags,
                                           enum cudaDriverEntryPointQueryResult *status) {
  return cudaGetDriverEntryPointByVersion(symbol, entry, CUDART_VERSION, flags, status);
}
