/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 for torch.sh: PyTorch looks up the driver's functions by name before it uses the CUDA
 * runtime. The simulated runtime needs none; each says "not supported", but the one that PyTorch asks
 * whether a device is in use. */
enum { success = 0, not_supported = 801 };

#define NO(name)                                                                                   \
  int name(void);                                                                                  \
  int name(void) { return not_supported; }

// clang-format off
NO(cuCtxFromGreenCtx) NO(cuCtxGetCurrent) NO(cuCtxPopCurrent) NO(cuCtxPushCurrent)
NO(cuCtxSetCurrent) NO(cuDevResourceGenerateDesc) NO(cuDevSmResourceSplitByCount)
NO(cuDeviceGet) NO(cuDeviceGetAttribute) NO(cuDeviceGetCount) NO(cuDeviceGetDevResource)
NO(cuDeviceGetUuid) NO(cuDevicePrimaryCtxRetain) NO(cuFuncGetAttribute) NO(cuFuncSetAttribute)
NO(cuFuncSetCacheConfig) NO(cuGetErrorName) NO(cuGetErrorString) NO(cuGreenCtxCreate)
NO(cuGreenCtxDestroy) NO(cuGreenCtxStreamCreate) NO(cuInit) NO(cuLaunchCooperativeKernel)
NO(cuLaunchKernel) NO(cuLinkAddData_v2) NO(cuLinkComplete) NO(cuLinkCreate_v2)
NO(cuLogsRegisterCallback) NO(cuLogsUnregisterCallback) NO(cuMemAddressFree)
NO(cuMemAddressReserve) NO(cuMemCreate) NO(cuMemExportToShareableHandle)
NO(cuMemGetAddressRange) NO(cuMemGetAddressRange_v2) NO(cuMemGetAllocationGranularity)
NO(cuMemGetAllocationPropertiesFromHandle) NO(cuMemImportFromShareableHandle) NO(cuMemMap)
NO(cuMemRelease) NO(cuMemRetainAllocationHandle) NO(cuMemSetAccess) NO(cuMemUnmap)
NO(cuMemsetD32Async) NO(cuModuleGetFunction) NO(cuModuleLoad) NO(cuModuleLoadData)
NO(cuModuleLoadDataEx) NO(cuModuleUnload) NO(cuMulticastAddDevice) NO(cuMulticastBindMem)
NO(cuMulticastCreate) NO(cuMulticastUnbind) NO(cuOccupancyMaxActiveBlocksPerMultiprocessor)
NO(cuPointerGetAttribute) NO(cuStreamWriteValue32) NO(cuTensorMapEncodeTiled)
// clang-format on

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  (void)device;
  *flags = 0;
  *active = 1;
  return success;
}
