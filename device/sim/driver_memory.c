/* SPDX-License-Identifier: MIT */
/* Memory of the driver: allocations, copies, fills, what a pointer is. All of it is the runtime's. */
#include <string.h>

#include "driver.h"

static void *at(CUdeviceptr address) { return (void *)address; }

/* ---- allocation ---- */

DRV_API cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) {
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  DRV_FORWARD(cudaMalloc((void **)out, bytes));
}

DRV_API cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                           unsigned element_bytes) {
  (void)element_bytes;
  DRV_FORWARD(cudaMallocPitch((void **)out, pitch, width, height));
}

DRV_API cuMemFree_v2(CUdeviceptr address) { DRV_FORWARD(cudaFree(at(address))); }

DRV_API cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream) {
  DRV_FORWARD(cudaMallocAsync((void **)out, bytes, stream));
}

DRV_API cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  (void)pool;
  DRV_FORWARD(cudaMallocAsync((void **)out, bytes, stream));
}

DRV_API cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  DRV_FORWARD(cudaFreeAsync(at(address), stream));
}

DRV_API cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags) {
  DRV_FORWARD(cudaMallocManaged((void **)out, bytes, flags));
}

DRV_API cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
  DRV_FORWARD(cudaHostAlloc(out, bytes, flags));
}

DRV_API cuMemAllocHost_v2(void **out, size_t bytes) { DRV_FORWARD(cudaMallocHost(out, bytes)); }
DRV_API cuMemFreeHost(void *pointer) { DRV_FORWARD(cudaFreeHost(pointer)); }

DRV_API cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
  DRV_FORWARD(cudaHostRegister(pointer, bytes, flags));
}

DRV_API cuMemHostUnregister(void *pointer) { DRV_FORWARD(cudaHostUnregister(pointer)); }

DRV_API cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *pointer, unsigned flags) {
  DRV_FORWARD(cudaHostGetDevicePointer((void **)out, pointer, flags));
}

DRV_API cuMemHostGetFlags(unsigned *flags, void *pointer) { DRV_FORWARD(cudaHostGetFlags(flags, pointer)); }

DRV_API cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
  DRV_FORWARD(cudaMemGetInfo(free_bytes, total_bytes));
}

/* ---- pools: every allocation is immediate, so a pool is a name ---- */

DRV_API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  DRV_FORWARD(cudaDeviceGetDefaultMemPool(pool, properties ? properties->location.id : 0));
}

DRV_API cuMemPoolDestroy(CUmemoryPool pool) { return pool ? drv_ready() : CUDA_ERROR_INVALID_VALUE; }

DRV_API cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  (void)bytes;
  return pool ? drv_ready() : CUDA_ERROR_INVALID_VALUE;
}

DRV_API cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  (void)attribute;
  return pool && value ? drv_ready() : CUDA_ERROR_INVALID_VALUE;
}

DRV_API cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  if (!pool || !value)
    return CUDA_ERROR_INVALID_VALUE;
  if (attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    memset(value, 0, sizeof(cuuint64_t));
  else
    memset(value, 0, sizeof(int));
  return drv_ready();
}

DRV_API cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count) {
  (void)access, (void)count;
  return pool ? drv_ready() : CUDA_ERROR_INVALID_VALUE;
}

DRV_API cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
  (void)location;
  if (!pool || !flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return drv_ready();
}

/* ---- copies ---- */

#define COPY(name, parameters, to, from, kind)                                                     \
  DRV_API name parameters { DRV_FORWARD(cudaMemcpy(to, from, bytes, kind)); }
#define COPY_ASYNC(name, parameters, to, from, kind)                                               \
  DRV_API name parameters { DRV_FORWARD(cudaMemcpyAsync(to, from, bytes, kind, stream)); }

COPY(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), at(to), at(from), cudaMemcpyDefault)
COPY(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), at(to), from, cudaMemcpyHostToDevice)
COPY(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), to, at(from), cudaMemcpyDeviceToHost)
COPY(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), at(to), at(from),
     cudaMemcpyDeviceToDevice)
COPY_ASYNC(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), at(to), at(from),
           cudaMemcpyDefault)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream), at(to), from,
           cudaMemcpyHostToDevice)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream), to, at(from),
           cudaMemcpyDeviceToHost)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), at(to),
           at(from), cudaMemcpyDeviceToDevice)
COPY(cuMemcpyPeer, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes),
     ((void)to_context, at(to)), ((void)from_context, at(from)), cudaMemcpyDeviceToDevice)
COPY_ASYNC(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
           size_t bytes, CUstream stream), ((void)to_context, at(to)), ((void)from_context, at(from)),
           cudaMemcpyDeviceToDevice)

typedef struct rows {
  void *to;
  const void *from;
} rows;

/* False for CUDA arrays, which are not simulated. */
static bool rows_of(const CUDA_MEMCPY2D *p, rows *out) {
  if (!p || p->srcMemoryType == CU_MEMORYTYPE_ARRAY || p->dstMemoryType == CU_MEMORYTYPE_ARRAY)
    return false;
  const char *from = p->srcMemoryType == CU_MEMORYTYPE_HOST ? p->srcHost : at(p->srcDevice);
  char *to = p->dstMemoryType == CU_MEMORYTYPE_HOST ? p->dstHost : at(p->dstDevice);
  out->from = from + p->srcY * p->srcPitch + p->srcXInBytes;
  out->to = to + p->dstY * p->dstPitch + p->dstXInBytes;
  return true;
}

DRV_API cuMemcpy2D_v2(const CUDA_MEMCPY2D *p) {
  rows box;
  if (!rows_of(p, &box))
    return CUDA_ERROR_NOT_SUPPORTED;
  DRV_FORWARD(cudaMemcpy2D(box.to, p->dstPitch ? p->dstPitch : p->WidthInBytes, box.from,
                           p->srcPitch ? p->srcPitch : p->WidthInBytes, p->WidthInBytes, p->Height,
                           cudaMemcpyDefault));
}

DRV_API cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p) { return cuMemcpy2D_v2(p); }

DRV_API cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream stream) {
  rows box;
  if (!rows_of(p, &box))
    return CUDA_ERROR_NOT_SUPPORTED;
  DRV_FORWARD(cudaMemcpy2DAsync(box.to, p->dstPitch ? p->dstPitch : p->WidthInBytes, box.from,
                                p->srcPitch ? p->srcPitch : p->WidthInBytes, p->WidthInBytes, p->Height,
                                cudaMemcpyDefault, stream));
}

/* ---- fills ---- */

#define FILLS(bits, type, element)                                                                 \
  DRV_API cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t n) {                             \
    DRV_FORWARD(rt_fill_elements(at(to), n * element, 1, n * element, value, element, NULL));      \
  }                                                                                                \
  DRV_API cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t n, CUstream stream) {          \
    DRV_FORWARD(rt_fill_elements(at(to), n * element, 1, n * element, value, element, stream));    \
  }                                                                                                \
  DRV_API cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) { \
    DRV_FORWARD(rt_fill_elements(at(to), width * element, height, pitch, value, element, NULL));   \
  }                                                                                                \
  DRV_API cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, \
                                   CUstream stream) {                                              \
    DRV_FORWARD(rt_fill_elements(at(to), width * element, height, pitch, value, element, stream)); \
  }
FILLS(8, unsigned char, 1)
FILLS(16, unsigned short, 2)
FILLS(32, unsigned, 4)

/* ---- what a pointer is ---- */

static CUresult attribute_of(CUpointer_attribute attribute, const struct cudaPointerAttributes *p,
                             CUdeviceptr pointer, void *out) {
  const bool known = p->type != cudaMemoryTypeUnregistered;
  const bool host = p->type == cudaMemoryTypeHost;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *(CUcontext *)out = known ? drv_primary(p->device < 0 ? 0 : p->device) : NULL;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *(unsigned *)out = !known ? 0 : host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *(void **)out = p->devicePointer;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    *(void **)out = known ? p->hostPointer : NULL;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *(unsigned *)out = p->type == cudaMemoryTypeManaged;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *(int *)out = known ? p->device : -2;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE: {
    const rt_range *range = rt_range_of(at(pointer));
    *(size_t *)out = !range ? 0
                     : attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE ? range->bytes : (size_t)range->start;
    return CUDA_SUCCESS;
  }
  case CU_POINTER_ATTRIBUTE_MAPPED:
    *(unsigned *)out = known;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    *(unsigned *)out = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    *(void **)out = NULL;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

static CUresult describe(CUdeviceptr pointer, struct cudaPointerAttributes *attributes) {
  const CUresult result = drv_ready_here();
  return result ? result : drv_result(cudaPointerGetAttributes(attributes, at(pointer)));
}

DRV_API cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr pointer) {
  struct cudaPointerAttributes p;
  const CUresult result = describe(pointer, &p);
  if (result)
    return result;
  return p.type == cudaMemoryTypeUnregistered ? CUDA_ERROR_INVALID_VALUE
                                              : attribute_of(attribute, &p, pointer, out);
}

/* Of a pointer that nobody knows too: zeros. */
DRV_API cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **out,
                               CUdeviceptr pointer) {
  struct cudaPointerAttributes p;
  CUresult result = describe(pointer, &p);
  for (unsigned i = 0; i < count && !result; i++)
    result = attribute_of(attributes[i], &p, pointer, out[i]);
  return result;
}

DRV_API cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  (void)value, (void)attribute, (void)pointer;
  return drv_ready();
}

DRV_API cuMemGetAddressRange_v2(CUdeviceptr *start, size_t *bytes, CUdeviceptr pointer) {
  const CUresult result = drv_ready_here();
  if (result)
    return result;
  rt_lock();
  const rt_range *range = rt_range_of(at(pointer));
  if (range && start)
    *start = range->start;
  if (range && bytes)
    *bytes = range->bytes;
  rt_unlock();
  return range ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
