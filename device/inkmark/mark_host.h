// SPDX-License-Identifier: MIT
// Private: the host side of a marked file. Its static objects hand libinkmark, where one is present,
// the setter of this file's buffer symbol, the section tables and the entry points of the CUDA runtime
// that the program is linked with. Where libinkmark is absent they do nothing: the file links and
// runs, dormant.
#ifndef INKMARK_MARK_HOST_H
#define INKMARK_MARK_HOST_H

#if !defined(INKMARK_NO_COST) // which spares a file the kernel, see docs/cost.md
#include "inkmark/mark_cost.cuh"
#endif
#include "inkmark/mark_clock.cuh"

#if defined(__CUDA_ARCH__)

#define INK_I_REGISTER_TABLE(name, sections)

#else

#include "inkmark/module.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define INK_I_REGISTER_TABLE(name, sections)                                                       \
  namespace {                                                                                      \
  const ::ink_i::table_registrar ink_registrar(name, sections, __FILE__, __LINE__);                \
  }

namespace ink_i {
namespace { // one set a file: the files of a program may be linked with different CUDA runtimes

// A function of libinkmark: linked in or preloaded (then dlsym finds it), or, where `inkmark record` has set
// both variables, in the library that INKMARK_LIBRARY names. This header is in other people's products: a
// set-uid program, or one with file capabilities, loads nothing that its user's environment names.
inline void *find_runtime(const char *function) {
  void *found = dlsym(RTLD_DEFAULT, function);
  const char *library = found || !secure_getenv("INKMARK_RECORD") ? nullptr : secure_getenv("INKMARK_LIBRARY");
  if (library && *library) {
    void *handle = dlopen(library, RTLD_NOW);
    if (handle)
      found = dlsym(handle, function);
  }
  return found;
}

inline int cuda_name(char *name, size_t bytes, int device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess && bytes) {
    strncpy(name, properties.name, bytes - 1);
    name[bytes - 1] = 0;
  }
  return error;
}

inline const ink_cuda_api *cuda_api() {
  static ink_cuda_api api = {};
  api.bytes = sizeof api;
  api.get_device_count = [](int *n) -> int { return cudaGetDeviceCount(n); };
  api.get_device = [](int *device) -> int { return cudaGetDevice(device); };
  api.set_device = [](int device) -> int { return cudaSetDevice(device); };
  api.device_synchronize = []() -> int { return cudaDeviceSynchronize(); };
  api.get_attribute = [](int *value, int attribute, int device) -> int {
    return cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, device);
  };
  api.device_name = cuda_name;
  api.malloc_device = [](void **at, size_t bytes) -> int { return cudaMalloc(at, bytes); };
  api.free_device = [](void *at) -> int { return cudaFree(at); };
  api.malloc_host = [](void **at, size_t bytes) -> int { return cudaMallocHost(at, bytes); };
  api.free_host = [](void *at) -> int { return cudaFreeHost(at); };
  api.copy_async = [](void *to, const void *from, size_t bytes, int kind, void *stream) -> int {
    return cudaMemcpyAsync(to, from, bytes, (cudaMemcpyKind)kind, (cudaStream_t)stream);
  };
  api.set_async = [](void *to, int byte, size_t bytes, void *stream) -> int {
    return cudaMemsetAsync(to, byte, bytes, (cudaStream_t)stream);
  };
  api.stream_create = [](void **stream) -> int {
    return cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking);
  };
  api.stream_destroy = [](void *stream) -> int { return cudaStreamDestroy((cudaStream_t)stream); };
  api.stream_synchronize = [](void *stream) -> int {
    return cudaStreamSynchronize((cudaStream_t)stream);
  };
  api.runtime_version = [](int *version) -> int { return cudaRuntimeGetVersion(version); };
  api.driver_version = [](int *version) -> int { return cudaDriverGetVersion(version); };
  api.peek_last_error = []() -> int { return cudaPeekAtLastError(); };
  api.get_last_error = []() -> int { return cudaGetLastError(); };
  api.error_string = [](int code) -> const char * { return cudaGetErrorString((cudaError_t)code); };
  api.exchange_capture_mode = [](int *mode) -> int {
    cudaStreamCaptureMode exchanged = (cudaStreamCaptureMode)*mode;
    const cudaError_t error = cudaThreadExchangeStreamCaptureMode(&exchanged);
    *mode = (int)exchanged;
    return error;
  };
  api.copy_2d_async = [](void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, int kind, void *stream) -> int {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, (cudaMemcpyKind)kind,
                             (cudaStream_t)stream);
  };
  api.memory = [](size_t *free_bytes, size_t *total_bytes) -> int {
    return cudaMemGetInfo(free_bytes, total_bytes);
  };
  api.set_2d_async = [](void *to, size_t pitch, int byte, size_t width, size_t height,
                        void *stream) -> int {
    return cudaMemset2DAsync(to, pitch, byte, width, height, (cudaStream_t)stream);
  };
  api.host_register = [](void *at, size_t bytes) -> int {
    return cudaHostRegister(at, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
  };
  api.host_unregister = [](void *at) -> int { return cudaHostUnregister(at); };
  api.host_device_pointer = [](void **device, void *at) -> int {
    return cudaHostGetDevicePointer(device, at, 0);
  };
  return &api;
}

inline int set_buffer(void *, void *buffer) {
  ink_buffer *pointer = (ink_buffer *)buffer;
  return cudaMemcpyToSymbol(INK_BUFFER_SYMBOL, &pointer, sizeof pointer);
}
inline int set_buffer_in(void *, void *buffer, void *stream) {
  ink_buffer *pointer = (ink_buffer *)buffer; // pageable memory: read before the call returns
  return cudaMemcpyToSymbolAsync(INK_BUFFER_SYMBOL, &pointer, sizeof pointer, 0, cudaMemcpyHostToDevice,
                                 (cudaStream_t)stream);
}

// A launch's own error: cudaPeekAtLastError might give one that the program has left on this thread.
inline int launch(const void *kernel, unsigned blocks, unsigned threads, void **arguments, void *stream) {
  return cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, (cudaStream_t)stream);
}

// What ties globaltimer to the host's clock, and what ties every SM's clock to globaltimer.
inline int launch_clock_kernel(u64 *ns, ink_edge_slot *slots, u32 slot_count, u32 blocks, u64 few_cycles,
                               u64 most_cycles, void *stream) {
  void *arguments[] = {&ns, &slots, &slot_count, &few_cycles, &most_cycles};
  return launch((const void *)clock_kernel, blocks, 1, arguments, stream);
}
inline int launch_read_globaltimer(void *, uint64_t *device_ns, void *stream) {
  return launch_clock_kernel((u64 *)device_ns, nullptr, 0, 1, 0, 0, stream);
}
inline int launch_catch_edges(void *, ink_edge_slot *slots, uint32_t slot_count, uint32_t blocks,
                              uint64_t few_cycles, uint64_t most_cycles, void *stream) {
  return launch_clock_kernel(nullptr, slots, slot_count, blocks, few_cycles, most_cycles, stream);
}

#if defined(INKMARK_NO_COST)
constexpr int (*launch_mark_cost)(void *, void *, uint64_t *, void *) = nullptr;
#else
inline int launch_mark_cost(void *, void *buffer, uint64_t *samples, void *stream) {
  prof_buffer argument = {(ink_buffer *)buffer};
  void *arguments[] = {&argument, &samples};
  return launch((const void *)mark_cost_kernel, 1, INK_COST_THREADS, arguments, stream);
}
#endif

struct table_registrar {
  ink_table_desc desc;
  table_registrar(const char *name, const char *sections, const char *file, unsigned line) {
    desc = {INK_MODULE_ABI, sizeof desc, name, sections, file, line, 0, hash48(name, sections)};
    if (void *found = find_runtime("ink_register_table"))
      ((ink_register_table_fn *)found)(&desc);
  }
};

struct module_registrar {
  ink_module_desc desc;
  module_registrar() {
    desc = {INK_MODULE_ABI, sizeof desc, __FILE__, set_buffer, launch_read_globaltimer, nullptr,
            launch_mark_cost, launch_catch_edges, set_buffer_in, nullptr, 0};
    if (void *found = find_runtime("ink_register_module")) {
      desc.cuda = cuda_api();
      ((ink_register_module_fn *)found)(&desc);
    }
  }
  ~module_registrar() { // an object that is dlclose'd takes its symbol with it
    if (void *found = desc.cuda ? find_runtime("ink_unregister_module") : nullptr)
      ((ink_unregister_module_fn *)found)(&desc);
  }
};

module_registrar file_registrar;

} // namespace
} // namespace ink_i

#endif
#endif
