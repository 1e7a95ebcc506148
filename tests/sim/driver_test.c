/* SPDX-License-Identifier: MIT */
/* The simulated device as a driver: start, contexts, modules and libraries in each of them, launches,
 * memory, entry points by version, and both APIs on one memory. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 offset = 5;\n"
                          ".visible .entry add(.param .u64 at, .param .u32 n) {\n"
                          ".reg .b32 %r<4>; .reg .b64 %d<3>;\n"
                          "ld.param.u64 %d1, [at]; ld.param.u32 %r1, [n];\n"
                          "ld.global.u32 %r2, [offset]; add.u32 %r3, %r1, %r2;\n"
                          "st.global.u32 [%d1], %r3; ret;\n}\n";
static const char bad_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry broken( {\n";

static int failed;
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                               \
      failed = 1;                                                                                  \
    }                                                                                              \
  } while (0)
#define IS(call, code) CHECK((call) == (code))
#define FINE(call) IS(call, CUDA_SUCCESS)

static uint32_t launch(CUfunction add, CUdeviceptr at, uint32_t n) {
  uint32_t out = 0;
  void *args[] = {&at, &n};
  FINE(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
  FINE(cuMemcpyDtoH(&out, at, sizeof out));
  return out;
}

static void before_a_context(void) {
  int count;
  CUcontext context;
  CUmodule module;
  IS(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  IS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  FINE(cuInit(0));
  FINE(cuDeviceGetCount(&count));
  CHECK(count == 2);
  FINE(cuCtxGetCurrent(&context));
  CHECK(!context);
  IS(cuModuleLoadData(&module, ptx), CUDA_ERROR_INVALID_CONTEXT);
  IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
}

/* Two contexts of one device: each has its own variables of a module, and of a library. */
static void contexts(void) {
  CUcontext first, second, now;
  CUmodule module, other;
  CUlibrary library;
  CUkernel kernel;
  CUfunction add;
  CUdeviceptr at, offset, library_offset[2], twelve = 12;
  CUdevice device;
  FINE(cuDevicePrimaryCtxRetain(&first, 1));
  FINE(cuCtxSetCurrent(first));
  FINE(cuCtxGetDevice(&device));
  CHECK(device == 1);
  FINE(cuModuleLoadData(&module, ptx));
  FINE(cuModuleGetFunction(&add, module, "add"));
  IS(cuModuleGetFunction(&add, module, "subtract"), CUDA_ERROR_NOT_FOUND);
  FINE(cuModuleGetFunction(&add, module, "add"));
  FINE(cuMemAlloc(&at, 4));
  CHECK(launch(add, at, 1) == 6);
  FINE(cuModuleGetGlobal(&offset, NULL, module, "offset"));
  FINE(cuMemcpyHtoD(offset, &twelve, 4));
  CHECK(launch(add, at, 1) == 13);
  FINE(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
  FINE(cuLibraryGetKernel(&kernel, library, "add"));
  CHECK(launch((CUfunction)kernel, at, 2) == 7);
  FINE(cuLibraryGetGlobal(&library_offset[0], NULL, library, "offset"));

  FINE(cuCtxCreate(&second, NULL, 0, 1));
  FINE(cuCtxGetCurrent(&now));
  CHECK(now == second && now != first);
  FINE(cuModuleLoadData(&other, ptx));
  FINE(cuModuleGetFunction(&add, other, "add"));
  CHECK(launch(add, at, 1) == 6);
  FINE(cuLibraryGetGlobal(&library_offset[1], NULL, library, "offset"));
  CHECK(library_offset[0] != library_offset[1]);
  FINE(cuMemcpyHtoD(library_offset[1], &twelve, 4));
  CHECK(launch((CUfunction)kernel, at, 2) == 14);
  FINE(cuCtxDestroy(second));
  FINE(cuCtxGetCurrent(&now));
  CHECK(now == first);
  IS(cuModuleUnload(other), CUDA_ERROR_INVALID_HANDLE);
  CHECK(launch((CUfunction)kernel, at, 2) == 7);
  FINE(cuLibraryUnload(library));
  IS(cuLibraryGetKernel(&kernel, library, "add"), CUDA_ERROR_INVALID_HANDLE);
  FINE(cuModuleUnload(module));
  IS(cuModuleGetFunction(&add, module, "add"), CUDA_ERROR_INVALID_HANDLE);
  FINE(cuMemFree(at));
  FINE(cuCtxSetCurrent(NULL));
  FINE(cuDevicePrimaryCtxRelease(1));
}

static void launches(void) {
  CUmodule module;
  CUfunction add;
  CUdeviceptr at;
  int value;
  FINE(cuModuleLoadData(&module, ptx));
  FINE(cuModuleGetFunction(&add, module, "add"));
  FINE(cuMemAlloc(&at, 4));
  struct {
    CUdeviceptr at;
    uint32_t n;
  } packed = {at, 30};
  size_t bytes = sizeof packed;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
  FINE(cuLaunchKernelEx(&config, add, NULL, extra));
  FINE(cuMemcpyDtoH(&value, at, 4));
  CHECK(value == 35);
  IS(cuLaunchKernel(add, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE);
  CHECK(cudaGetLastError() == cudaSuccess); /* the driver's errors are not the runtime's */
  FINE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  CHECK(value == 1024);
  const char *name;
  FINE(cuFuncGetName(&name, add));
  CHECK(!strcmp(name, "add"));
  IS(cuModuleLoadData(&module, bad_ptx), CUDA_ERROR_INVALID_PTX);
  IS(cuModuleLoadData(&module, "\177ELF\2\1\1"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  FINE(cuMemFree(at));
}

/* The runtime's calls and the driver's see one device, one memory, one context. */
static void both(void) {
  CUcontext context, primary;
  CUdeviceptr start;
  size_t bytes;
  void *at = NULL;
  uint32_t host[4] = {0};
  CHECK(cudaSetDevice(0) == cudaSuccess && cudaMalloc(&at, 5000) == cudaSuccess);
  FINE(cuCtxGetCurrent(&context));
  FINE(cuDevicePrimaryCtxRetain(&primary, 0));
  CHECK(context == primary);
  FINE(cuMemsetD32((CUdeviceptr)at, 0xabcd1234, 3));
  FINE(cuMemsetD16((CUdeviceptr)at + 12, 0x55aa, 2));
  CHECK(cudaMemcpy(host, at, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(host[2] == 0xabcd1234 && host[3] == 0x55aa55aa);
  FINE(cuMemGetAddressRange(&start, &bytes, (CUdeviceptr)at + 100));
  CHECK(start == (CUdeviceptr)at && bytes == 5000);
  unsigned type = 0;
  FINE(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)at));
  CHECK(type == CU_MEMORYTYPE_DEVICE);
  IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host), CUDA_ERROR_INVALID_VALUE);
  CHECK(cudaFree(at) == cudaSuccess);
}

/* Allocators of others compute with how CUDA's allocations lie. */
static void alignment(void) {
  CUdeviceptr small, page, large;
  FINE(cuMemAlloc(&small, 1));
  FINE(cuMemAlloc(&page, 4096));
  FINE(cuMemAlloc(&large, (2 << 20) + 1));
  CHECK(small % 512 == 0 && page % 4096 == 0 && large % (2 << 20) == 0);
  FINE(cuMemFree(small));
  FINE(cuMemFree(page));
  FINE(cuMemFree(large));
}

static void entry_points(void) {
  void *found, *library = dlopen("libcuda.so.1", RTLD_NOW), *again = dlopen("libcuda.so", RTLD_NOW);
  CUdriverProcAddressQueryResult status;
  CHECK(library && library == again && dlsym(library, "cuMemAlloc_v2") == (void *)cuMemAlloc);
  FINE(cuGetProcAddress("cuMemAlloc", &found, 13000, 0, &status));
  CHECK(found == (void *)cuMemAlloc && status == CU_GET_PROC_ADDRESS_SUCCESS);
  FINE(cuGetProcAddress("cuCtxCreate", &found, 12000, 0, &status));
  CHECK(found == dlsym(library, "cuCtxCreate_v3"));
  FINE(cuGetProcAddress("cuCtxCreate", &found, 1000, 0, &status));
  CHECK(!found && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  FINE(cuGetProcAddress("cuNothing", &found, 13000, 0, &status));
  CHECK(!found && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  IS(cuGetProcAddress("cuNothing", &found, 13000, 0, NULL), CUDA_ERROR_NOT_FOUND);
  enum cudaDriverEntryPointQueryResult by_runtime;
  CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &found, 13000, 0, &by_runtime) == cudaSuccess &&
        found == (void *)cuMemAlloc);
  CUarray array;
  CUDA_ARRAY_DESCRIPTOR descriptor = {0};
  IS(cuArrayCreate(&array, &descriptor), CUDA_ERROR_NOT_SUPPORTED); /* and is named on stderr */
  CUgreenCtx green;
  IS(cuGreenCtxCreate(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_ERROR_NOT_SUPPORTED);
  const char *name;
  FINE(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &name));
  CHECK(!strcmp(name, "CUDA_ERROR_INVALID_CONTEXT"));
  int version;
  FINE(cuDriverGetVersion(&version));
  CHECK(version >= CUDA_VERSION); /* not older than any compiler of CUDA 13 */
}

int main(void) {
  before_a_context();
  contexts();
  both();
  launches();
  alignment();
  entry_points();
  return failed;
}
