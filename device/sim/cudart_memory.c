/* SPDX-License-Identifier: MIT */
/* Allocation: device, pinned, managed and registered memory, and the table that says which is
 * which. Device addresses are host pointers; what a kernel may touch is the machine's to check. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart.h"

enum { PITCH = 512 };

static struct {
  rt_range *ranges; /* by start */
  size_t n, capacity;
} table;

/* ---- the table ---- */

/* The number of ranges that start at or before the address. */
static size_t count_up_to(uintptr_t address) {
  size_t low = 0, high = table.n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (table.ranges[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const rt_range *rt_range_of(const void *pointer) {
  const size_t n = count_up_to((uintptr_t)pointer);
  if (!n)
    return NULL;
  const rt_range *range = &table.ranges[n - 1];
  return (uintptr_t)pointer - range->start < range->bytes ? range : NULL;
}

static void insert(rt_range range) {
  if (table.n == table.capacity) {
    const size_t capacity = table.capacity ? table.capacity * 2 : 64;
    rt_range *grown = realloc(table.ranges, capacity * sizeof *grown);
    if (!grown)
      rt_refuse("out of memory");
    table.ranges = grown;
    table.capacity = capacity;
  }
  const size_t at = count_up_to(range.start);
  memmove(&table.ranges[at + 1], &table.ranges[at], (table.n - at) * sizeof range);
  table.ranges[at] = range;
  table.n++;
}

static void erase(const rt_range *range) {
  const size_t at = (size_t)(range - table.ranges);
  table.n--;
  memmove(&table.ranges[at], &table.ranges[at + 1], (table.n - at) * sizeof *range);
}

static const rt_range *range_starting_at(const void *pointer) {
  const rt_range *range = rt_range_of(pointer);
  return range && range->start == (uintptr_t)pointer ? range : NULL;
}

/* ---- which device reaches what ---- */

static bool reaches(const rt_gpu *gpu, const rt_range *range) {
  if (range->kind != RT_MEMORY_DEVICE)
    return true;
  return range->device != gpu->index && gpu->peer[range->device];
}

static void map(rt_gpu *gpu, const rt_range *range) {
  if (gpu->opened && reaches(gpu, range))
    sim_memory_map(gpu->device, (void *)range->start, range->bytes);
}

static void unmap(rt_gpu *gpu, const rt_range *range) {
  if (gpu->opened && reaches(gpu, range))
    sim_memory_unmap(gpu->device, (void *)range->start);
}

void rt_memory_opened(rt_gpu *gpu) {
  for (size_t i = 0; i < table.n; i++)
    map(gpu, &table.ranges[i]);
}

static void add(rt_range range) {
  insert(range);
  for (int i = 0; i < rt.config.devices; i++)
    map(&rt.gpus[i], &range);
}

static void drop(const rt_range *range) {
  for (int i = 0; i < rt.config.devices; i++)
    unmap(&rt.gpus[i], range);
  erase(range);
}

/* ---- device memory ---- */

/* As CUDA's addresses lie: small allocations share a page of 2 MiB, large ones begin one. */
static size_t alignment_of(size_t bytes) {
  return bytes >= 1u << 20 ? 2u << 20 : bytes >= 4096 ? 4096 : 512;
}

static cudaError_t allocate(void **pointer, size_t bytes) {
  if (!pointer)
    return cudaErrorInvalidValue;
  if (!bytes) {
    *pointer = NULL;
    return cudaSuccess;
  }
  rt_gpu *gpu = rt_current();
  if (bytes > rt.memory_bytes - gpu->used_bytes)
    return cudaErrorMemoryAllocation;
  void *made = sim_memory_alloc(gpu->device, bytes, alignment_of(bytes));
  if (!made)
    return cudaErrorMemoryAllocation;
  gpu->used_bytes += bytes;
  add((rt_range){(uintptr_t)made, bytes, RT_MEMORY_DEVICE, gpu->index, 0});
  *pointer = made;
  return cudaSuccess;
}

void rt_memory_free_now(void *pointer) {
  const rt_range *range = range_starting_at(pointer);
  if (!range || range->kind != RT_MEMORY_DEVICE)
    return;
  rt_gpu *gpu = &rt.gpus[range->device];
  gpu->used_bytes -= range->bytes;
  drop(range);
  sim_memory_free(gpu->device, pointer);
}

/* The machine has freed the device's memory. Host memory that was allocated or registered for it
 * goes with it too, as with the real device's context; what was registered stays the program's. */
void rt_memory_reset(rt_gpu *gpu) {
  for (size_t i = table.n; i--;) {
    const rt_range range = table.ranges[i];
    if (range.device != gpu->index)
      continue;
    drop(&table.ranges[i]);
    if (range.kind == RT_MEMORY_PINNED || range.kind == RT_MEMORY_MANAGED)
      munmap((void *)range.start, range.bytes);
  }
  gpu->used_bytes = 0;
  memset(gpu->peer, 0, sizeof gpu->peer);
  for (size_t i = 0; i < table.n; i++)
    map(gpu, &table.ranges[i]);
}

RT_API cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  cudaError_t error = rt_enter();
  if (!error)
    error = rt_capture_forbids();
  if (!error)
    error = allocate(pointer, bytes);
  return rt_leave(error);
}

RT_API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  if (!pitch || width > SIZE_MAX - PITCH)
    return cudaErrorInvalidValue;
  const size_t row = (width + PITCH - 1) / PITCH * PITCH;
  if (height && row > SIZE_MAX / height)
    return cudaErrorMemoryAllocation;
  const cudaError_t error = cudaMalloc(pointer, row * height);
  if (!error)
    *pitch = row;
  return error;
}

RT_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent) {
  if (extent.height && extent.depth > SIZE_MAX / extent.height)
    return cudaErrorMemoryAllocation;
  void *pointer;
  size_t pitch;
  const cudaError_t error =
      cudaMallocPitch(&pointer, &pitch, extent.width, extent.height * extent.depth);
  if (!error)
    *pitched = (struct cudaPitchedPtr){pointer, pitch, extent.width, extent.height};
  return error;
}

static cudaError_t free_host_or_managed(const rt_range *range) {
  const rt_range copy = *range;
  drop(range);
  munmap((void *)copy.start, copy.bytes);
  return cudaSuccess;
}

/* cudaFree waits for the device, as the real one does. */
static cudaError_t free_device(void *pointer) {
  if (!pointer)
    return cudaSuccess;
  const rt_range *range = range_starting_at(pointer);
  if (!range || (range->kind != RT_MEMORY_DEVICE && range->kind != RT_MEMORY_MANAGED))
    return cudaErrorInvalidValue;
  const cudaError_t error = rt_wait_gpu(&rt.gpus[range->device]);
  range = range_starting_at(pointer); /* the lock was given back meanwhile */
  if (!range)
    return cudaErrorInvalidValue;
  if (range->kind == RT_MEMORY_MANAGED)
    return free_host_or_managed(range);
  rt_memory_free_now(pointer);
  return error;
}

RT_API cudaError_t cudaFree(void *pointer) {
  cudaError_t error = rt_enter();
  if (!error)
    rt_current();
  if (!error)
    error = rt_capture_forbids();
  if (!error)
    error = free_device(pointer);
  return rt_leave(error);
}

/* ---- stream-ordered ---- */

RT_API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t handle) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error && stream->capture)
    rt_refuse("cudaMallocAsync in a stream capture is not simulated");
  if (!error)
    error = allocate(pointer, bytes);
  return rt_leave(error);
}

RT_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t handle) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error && stream->capture)
    rt_refuse("cudaFreeAsync in a stream capture is not simulated");
  if (!error && pointer) {
    const rt_range *range = range_starting_at(pointer);
    if (!range || range->kind != RT_MEMORY_DEVICE)
      error = cudaErrorInvalidValue;
    else
      error = rt_stream_submit(stream, (rt_work){.kind = RT_FREE, .u.free_pointer = pointer}, NULL);
  }
  return rt_leave(error);
}

/* ---- host memory ---- */

static cudaError_t allocate_host(void **pointer, size_t bytes, enum rt_memory_kind kind,
                                 unsigned flags) {
  if (!pointer)
    return cudaErrorInvalidValue;
  if (!bytes) {
    *pointer = NULL;
    return kind == RT_MEMORY_MANAGED ? cudaErrorInvalidValue : cudaSuccess;
  }
  const int device = rt_current()->index;
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return cudaErrorMemoryAllocation;
  add((rt_range){(uintptr_t)made, bytes, kind, device, flags});
  *pointer = made;
  return cudaSuccess;
}

RT_API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  cudaError_t error = rt_enter();
  if (!error)
    error = rt_capture_forbids();
  if (!error && (flags & ~known))
    error = cudaErrorInvalidValue;
  if (!error)
    error = allocate_host(pointer, bytes, RT_MEMORY_PINNED, flags);
  return rt_leave(error);
}

RT_API cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

RT_API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  cudaError_t error = rt_enter();
  if (!error)
    error = rt_capture_forbids();
  if (!error && flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
    error = cudaErrorInvalidValue;
  if (!error)
    error = allocate_host(pointer, bytes, RT_MEMORY_MANAGED, flags);
  return rt_leave(error);
}

RT_API cudaError_t cudaFreeHost(void *pointer) {
  cudaError_t error = rt_enter();
  if (!error)
    error = rt_capture_forbids();
  if (!error && pointer) {
    const rt_range *range = range_starting_at(pointer);
    if (!range || range->kind != RT_MEMORY_PINNED)
      error = cudaErrorInvalidValue;
    for (int i = 0; i < rt.config.devices && !error; i++)
      if (rt.gpus[i].opened)
        error = rt_wait_gpu(&rt.gpus[i]);
    if (!error && (range = range_starting_at(pointer)))
      error = free_host_or_managed(range);
  }
  return rt_leave(error);
}

/* True when a known range holds any byte of it. */
static bool overlaps(const void *pointer, size_t bytes) {
  const size_t n = count_up_to((uintptr_t)pointer + bytes - 1);
  const rt_range *last = n ? &table.ranges[n - 1] : NULL; /* ranges do not overlap each other */
  return last && last->start + last->bytes > (uintptr_t)pointer;
}

/* True when all its pages are mapped into the process. */
static bool is_mapped(const void *pointer, size_t bytes) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t begin = (uintptr_t)pointer & ~(page - 1);
  return !msync((void *)begin, (uintptr_t)pointer + bytes - begin, MS_ASYNC);
}

RT_API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
  const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                         cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  cudaError_t error = rt_enter();
  if (!error && (!pointer || !bytes || bytes > UINTPTR_MAX - (uintptr_t)pointer ||
                 (flags & ~known)))
    error = cudaErrorInvalidValue;
  if (!error && overlaps(pointer, bytes))
    error = cudaErrorHostMemoryAlreadyRegistered;
  if (!error && !is_mapped(pointer, bytes))
    error = cudaErrorInvalidValue;
  if (!error)
    add((rt_range){(uintptr_t)pointer, bytes, RT_MEMORY_REGISTERED, rt_current()->index, flags});
  return rt_leave(error);
}

RT_API cudaError_t cudaHostUnregister(void *pointer) {
  cudaError_t error = rt_enter();
  const rt_range *range = range_starting_at(pointer);
  if (!error && (!range || range->kind != RT_MEMORY_REGISTERED))
    error = cudaErrorHostMemoryNotRegistered;
  if (!error)
    drop(range);
  return rt_leave(error);
}

RT_API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  cudaError_t error = rt_enter();
  const rt_range *range = rt_range_of(host);
  if (!error && (flags || !device || !range || range->kind == RT_MEMORY_DEVICE))
    error = cudaErrorInvalidValue;
  if (!error)
    *device = host;
  return rt_leave(error);
}

RT_API cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
  cudaError_t error = rt_enter();
  const rt_range *range = rt_range_of(host);
  if (!error && (!flags || !range || range->kind != RT_MEMORY_PINNED))
    error = cudaErrorInvalidValue;
  if (!error)
    *flags = range->flags | cudaHostAllocMapped;
  return rt_leave(error);
}

/* ---- asking ---- */

RT_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  const cudaError_t error = rt_enter();
  if (!error) {
    if (total_bytes)
      *total_bytes = rt.memory_bytes;
    if (free_bytes)
      *free_bytes = rt.memory_bytes - rt_current()->used_bytes;
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                            const void *pointer) {
  const cudaError_t error = rt_enter();
  if (!error) {
    const rt_range *range = rt_range_of(pointer);
    const enum cudaMemoryType types[] = {
        [RT_MEMORY_DEVICE] = cudaMemoryTypeDevice,
        [RT_MEMORY_PINNED] = cudaMemoryTypeHost,
        [RT_MEMORY_MANAGED] = cudaMemoryTypeManaged,
        [RT_MEMORY_REGISTERED] = cudaMemoryTypeHost,
    };
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -2};
    if (range) {
      attributes->type = types[range->kind];
      attributes->device = range->device;
      attributes->devicePointer = (void *)(uintptr_t)pointer;
      attributes->hostPointer = range->kind == RT_MEMORY_DEVICE ? NULL : (void *)(uintptr_t)pointer;
    } else {
      for (int i = 0; i < rt.config.devices; i++)
        if (rt.gpus[i].opened && sim_memory_has(rt.gpus[i].device, pointer, 1)) {
          attributes->type = cudaMemoryTypeDevice;
          attributes->device = i;
          attributes->devicePointer = (void *)(uintptr_t)pointer;
          break;
        }
      if (attributes->type == cudaMemoryTypeUnregistered)
        attributes->hostPointer = (void *)(uintptr_t)pointer;
    }
  }
  return rt_leave(error);
}

/* Only describes; what would use the description is not simulated. */
RT_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          enum cudaChannelFormatKind kind) {
  return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* Hints: all memory is in one place here. */
RT_API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                        struct cudaMemLocation location, unsigned flags,
                                        cudaStream_t handle) {
  (void)location, (void)flags;
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  const rt_range *range = rt_range_of(pointer);
  if (!error && (!range || range->kind != RT_MEMORY_MANAGED ||
                 bytes > range->bytes - ((uintptr_t)pointer - range->start)))
    error = cudaErrorInvalidValue;
  return rt_leave(error);
}

RT_API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation location) {
  (void)bytes, (void)advice, (void)location;
  cudaError_t error = rt_enter();
  const rt_range *range = rt_range_of(pointer);
  if (!error && (!range || range->kind != RT_MEMORY_MANAGED))
    error = cudaErrorInvalidValue;
  return rt_leave(error);
}

/* ---- peers ---- */

static cudaError_t check_peer(int peer) {
  if (peer < 0 || peer >= rt.config.devices)
    return cudaErrorInvalidDevice;
  return peer == rt_current()->index ? cudaErrorInvalidDevice : cudaSuccess;
}

RT_API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  cudaError_t error = rt_enter();
  const int devices = rt.config.devices;
  if (!error && (device < 0 || device >= devices || peer < 0 || peer >= devices))
    error = cudaErrorInvalidDevice;
  if (!error)
    *can = device != peer;
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  cudaError_t error = rt_enter();
  if (!error && flags)
    error = cudaErrorInvalidValue;
  if (!error)
    error = check_peer(peer);
  rt_gpu *gpu = error ? NULL : rt_current();
  if (gpu && gpu->peer[peer])
    error = cudaErrorPeerAccessAlreadyEnabled;
  if (gpu && !error) {
    gpu->peer[peer] = true;
    for (size_t i = 0; i < table.n; i++)
      if (table.ranges[i].kind == RT_MEMORY_DEVICE && table.ranges[i].device == peer)
        map(gpu, &table.ranges[i]);
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  cudaError_t error = rt_enter();
  if (!error)
    error = check_peer(peer);
  rt_gpu *gpu = error ? NULL : rt_current();
  if (gpu && !gpu->peer[peer])
    error = cudaErrorPeerAccessNotEnabled;
  if (gpu && !error) {
    for (size_t i = 0; i < table.n; i++)
      if (table.ranges[i].kind == RT_MEMORY_DEVICE && table.ranges[i].device == peer)
        unmap(gpu, &table.ranges[i]);
    gpu->peer[peer] = false;
  }
  return rt_leave(error);
}

/* ---- the default pool: allocation is immediate, so its settings change nothing ---- */

struct CUmemPoolHandle_st {
  int device;
};
static struct CUmemPoolHandle_st default_pools[RT_MAX_DEVICES];

static cudaError_t default_pool(cudaMemPool_t *pool, int device) {
  cudaError_t error = rt_enter();
  if (!error && !pool)
    error = cudaErrorInvalidValue;
  if (!error && (device < 0 || device >= rt.config.devices))
    error = cudaErrorInvalidDevice;
  if (!error) {
    default_pools[device].device = device;
    *pool = &default_pools[device];
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  return default_pool(pool, device);
}

RT_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  return default_pool(pool, device);
}

RT_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                           void *value) {
  (void)attribute;
  const cudaError_t error = rt_enter();
  return rt_leave(error || (pool && value) ? error : cudaErrorInvalidValue);
}

RT_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  (void)bytes;
  const cudaError_t error = rt_enter();
  return rt_leave(error || pool ? error : cudaErrorInvalidValue);
}
