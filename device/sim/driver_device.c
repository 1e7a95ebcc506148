/* SPDX-License-Identifier: MIT */
/* Devices as the driver tells of them: the numbers are the runtime's. */
#include <stdio.h>
#include <string.h>

#include "driver.h"

static CUresult check(CUdevice device) {
  const CUresult result = drv_ready();
  if (result)
    return result;
  return device < 0 || device >= rt.config.devices ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

DRV_API cuDeviceGetCount(int *count) {
  const CUresult result = drv_ready();
  if (!result)
    *count = rt.config.devices;
  return result;
}

DRV_API cuDeviceGet(CUdevice *device, int ordinal) {
  const CUresult result = check(ordinal);
  if (!result)
    *device = ordinal;
  return result;
}

/* The device's properties without making a context, which cudaGetDeviceProperties would. */
static CUresult properties_of(CUdevice device, struct cudaDeviceProp *properties) {
  const CUresult result = check(device);
  if (result)
    return result;
  const bool used = rt_self()->uses_runtime;
  const cudaError_t error = cudaGetDeviceProperties(properties, device);
  rt_self()->uses_runtime = used;
  return drv_result(error);
}

DRV_API cuDeviceGetName(char *name, int bytes, CUdevice device) {
  struct cudaDeviceProp properties;
  const CUresult result = properties_of(device, &properties);
  if (!result && bytes > 0)
    snprintf(name, (size_t)bytes, "%s", properties.name);
  return result;
}

DRV_API cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  struct cudaDeviceProp properties;
  const CUresult result = properties_of(device, &properties);
  if (!result)
    memcpy(uuid->bytes, properties.uuid.bytes, sizeof uuid->bytes);
  return result;
}

DRV_API cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

DRV_API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  const CUresult result = check(device);
  if (!result)
    *bytes = rt.memory_bytes;
  return result;
}

DRV_API cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  const CUresult result = check(device);
  if (!result) {
    *major = rt_capability() / 10;
    *minor = rt_capability() % 10;
  }
  return result;
}

/* The attributes have one numbering in both APIs. Of those that a program asks for out of curiosity,
 * and that nothing here knows, the answer is 0: the device has none of it. */
DRV_API cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  const CUresult result = value ? check(device) : CUDA_ERROR_INVALID_VALUE;
  if (result)
    return result;
  if (attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  *value = 0;
  rt_attribute_of((enum cudaDeviceAttr)attribute, device, value);
  return CUDA_SUCCESS;
}

DRV_API cuDeviceGetPCIBusId(char *text, int bytes, CUdevice device) {
  const CUresult result = check(device);
  return result ? result : drv_result(cudaDeviceGetPCIBusId(text, bytes, device));
}

DRV_API cuDeviceGetByPCIBusId(CUdevice *device, const char *text) {
  const CUresult result = drv_ready();
  return result ? result : drv_result(cudaDeviceGetByPCIBusId(device, text));
}

DRV_API cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  const CUresult result = check(device);
  return result ? result : drv_result(cudaDeviceCanAccessPeer(can, device, peer));
}

DRV_API cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  const CUresult result = check(from);
  return result ? result
                : drv_result(cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr)attribute, from, to));
}

DRV_API cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  const CUresult result = check(device);
  return result ? result : drv_result(cudaDeviceGetDefaultMemPool(pool, device));
}

DRV_API cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  return cuDeviceGetDefaultMemPool(pool, device);
}

DRV_API cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return pool ? check(device) : CUDA_ERROR_INVALID_VALUE;
}
