/* SPDX-License-Identifier: MIT */
/* Memory: pitched and boxed copies, host memory, managed memory, symbols, and wrong ranges. */
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

__device__ int device_values[4] = {1, 2, 3, 4};
__constant__ float factors[2] = {0.5f, 2.0f};
__managed__ int shared_count = 5;

__global__ void scale(float *to)
{
  to[threadIdx.x] = factors[threadIdx.x] * (float)device_values[threadIdx.x];
  if (threadIdx.x == 0) shared_count += 1;
}

__global__ void increment(int *values, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i]++;
}

static void test_symbols(void)
{
  int back[4];
  void *address;
  size_t bytes = 0;
  shared_count = 6; /* host code reaches it before any other call of the runtime */
  OK(cudaMemcpyFromSymbol(back, device_values, sizeof back));
  CHECK_EQUAL(back[3], 4);
  const int two = 20;
  OK(cudaMemcpyToSymbol(device_values, &two, sizeof two, sizeof(int)));
  OK(cudaGetSymbolAddress(&address, device_values));
  OK(cudaGetSymbolSize(&bytes, device_values));
  CHECK_EQUAL(bytes, sizeof back);
  const float half[2] = {0.25f, 4.0f};
  OK(cudaMemcpyToSymbolAsync(factors, half, sizeof half, 0, cudaMemcpyHostToDevice, 0));
  CHECK_EQUAL(cudaMemcpyToSymbol(device_values, &two, sizeof two, 13), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaGetSymbolAddress(&address, back), cudaErrorInvalidSymbol);
  cudaGetLastError();

  float *to, result[2];
  OK(cudaMalloc(&to, sizeof result));
  scale<<<1, 2>>>(to);
  OK(cudaMemcpy(result, to, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result[0] == 0.25f);
  CHECK(result[1] == 80.0f);
  CHECK_EQUAL(shared_count, 7);
  OK(cudaFree(to));
}

static void test_boxes(void)
{
  enum { W = 20, H = 5, D = 3 };
  unsigned char host[D][H][W], back[D][H][W];
  for (int i = 0; i < W * H * D; i++) (&host[0][0][0])[i] = (unsigned char)(i * 7);
  memset(back, 0, sizeof back);

  void *rows;
  size_t pitch = 0;
  OK(cudaMallocPitch(&rows, &pitch, W, H));
  CHECK(pitch >= W && pitch % 512 == 0);
  OK(cudaMemset2D(rows, pitch, 9, W, H));
  OK(cudaMemcpy2D(rows, pitch, host[1], W, W, H - 1, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(back[1], W, rows, pitch, W, H, cudaMemcpyDeviceToHost));
  CHECK(!memcmp(back[1], host[1], W * (H - 1)));
  CHECK_EQUAL(back[1][H - 1][0], 9);
  CHECK_EQUAL(cudaMemcpy2D(rows, pitch, host, W - 1, W, 2, cudaMemcpyHostToDevice),
              cudaErrorInvalidPitchValue);

  cudaPitchedPtr box;
  OK(cudaMalloc3D(&box, make_cudaExtent(W, H, D)));
  OK(cudaMemset3D(box, 0x5a, make_cudaExtent(W, H, D)));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(host, W, W, H);
  p.dstPtr = box;
  p.srcPos = p.dstPos = make_cudaPos(3, 1, 1);
  p.extent = make_cudaExtent(W - 3, H - 1, D - 1);
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  cudaMemcpy3DParms q = {};
  q.srcPtr = box;
  q.dstPtr = make_cudaPitchedPtr(back, W, W, H);
  q.extent = make_cudaExtent(W, H, D);
  q.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&q));
  for (int z = 0; z < D; z++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        CHECK_EQUAL(back[z][y][x], x >= 3 && y >= 1 && z >= 1 ? host[z][y][x] : 0x5a);
  OK(cudaFree(rows));
  OK(cudaFree(box.ptr));
  cudaGetLastError();
}

static void test_host_and_managed(void)
{
  int *pinned, *alias, *managed, plain[64] = {0};
  OK(cudaMallocHost(&pinned, 64 * sizeof *pinned));
  OK(cudaHostGetDevicePointer(&alias, pinned, 0));
  OK(cudaMallocManaged(&managed, 64 * sizeof *managed));
  memset(pinned, 0, 64 * sizeof *pinned);
  for (int i = 0; i < 64; i++) managed[i] = i;
  OK(cudaHostRegister(plain, sizeof plain, cudaHostRegisterMapped));
  increment<<<2, 32>>>(alias, 64);
  increment<<<2, 32>>>(managed, 64);
  increment<<<2, 32>>>(plain, 64);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) {
    CHECK_EQUAL(pinned[i], 1);
    CHECK_EQUAL(managed[i], i + 1);
    CHECK_EQUAL(plain[i], 1);
  }
  OK(cudaHostUnregister(plain));
  CHECK_EQUAL(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);

  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, pinned + 3));
  CHECK_EQUAL(attributes.type, cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&attributes, managed));
  CHECK_EQUAL(attributes.type, cudaMemoryTypeManaged);
  OK(cudaPointerGetAttributes(&attributes, plain));
  CHECK_EQUAL(attributes.type, cudaMemoryTypeUnregistered);
  void *symbol;
  OK(cudaGetSymbolAddress(&symbol, device_values));
  OK(cudaPointerGetAttributes(&attributes, symbol));
  CHECK_EQUAL(attributes.type, cudaMemoryTypeDevice);
  OK(cudaFreeHost(pinned));
  OK(cudaFree(managed));
  cudaGetLastError();
}

static void test_registering(void)
{
  const size_t page = 4096;
  char *const host = (char *)mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *alias, *pinned;
  unsigned flags = 0;
  CHECK_EQUAL(cudaHostRegister(NULL, page, cudaHostRegisterMapped), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaHostRegister(host, 0, cudaHostRegisterMapped), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaHostRegister(host, page, 1u << 20), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaHostGetDevicePointer(&alias, host, 0), cudaErrorInvalidValue);
  OK(cudaHostRegister(host + page, page, cudaHostRegisterMapped | cudaHostRegisterPortable));
  OK(cudaHostGetDevicePointer(&alias, host + page + 12, 0));
  CHECK(alias == host + page + 12);
  CHECK_EQUAL(cudaHostGetDevicePointer(&alias, host + 2 * page, 0), cudaErrorInvalidValue);
  const size_t starts[] = {0, 0, 1, 1, 1}, pages[] = {2, 4, 1, 2, 3};
  for (int i = 0; i < 5; i++)
    CHECK_EQUAL(cudaHostRegister(host + starts[i] * page, pages[i] * page, cudaHostRegisterMapped),
                cudaErrorHostMemoryAlreadyRegistered);
  OK(cudaHostRegister(host, page, cudaHostRegisterDefault)); /* neighbours do not overlap */
  OK(cudaHostRegister(host + 2 * page, page, cudaHostRegisterDefault));
  CHECK_EQUAL(cudaHostUnregister(host + 4), cudaErrorHostMemoryNotRegistered);
  for (int i = 0; i < 3; i++) OK(cudaHostUnregister(host + (size_t)i * page));
  munmap(host + 2 * page, page);
  CHECK_EQUAL(cudaHostRegister(host, 4 * page, cudaHostRegisterMapped), cudaErrorInvalidValue);
  munmap(host, 4 * page);

  CHECK_EQUAL(cudaHostAlloc(&pinned, page, 1u << 20), cudaErrorInvalidValue);
  OK(cudaHostAlloc(&pinned, page, cudaHostAllocMapped | cudaHostAllocPortable));
  OK(cudaHostGetFlags(&flags, pinned));
  CHECK_EQUAL(flags, cudaHostAllocMapped | cudaHostAllocPortable);
  CHECK_EQUAL(cudaHostGetFlags(&flags, &flags), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaHostRegister(pinned, page, 0), cudaErrorHostMemoryAlreadyRegistered);
  CHECK_EQUAL(cudaHostUnregister(pinned), cudaErrorHostMemoryNotRegistered);
  OK(cudaFreeHost(pinned));
  cudaGetLastError();
}

/* What the device has is what the environment says, to the byte; other devices have as much. */
static void test_total(size_t mib)
{
  size_t free_bytes, total;
  void *all, *more;
  cudaDeviceProp properties;
  OK(cudaMemGetInfo(&free_bytes, &total));
  CHECK_EQUAL(total, mib << 20);
  OK(cudaGetDeviceProperties(&properties, 0));
  CHECK_EQUAL(properties.totalGlobalMem, total);
  OK(cudaMalloc(&all, free_bytes));
  CHECK_EQUAL(cudaMalloc(&more, 1), cudaErrorMemoryAllocation);
  OK(cudaHostAlloc(&more, 1 << 20, cudaHostAllocMapped)); /* takes none of it */
  OK(cudaMemGetInfo(&free_bytes, &total));
  CHECK_EQUAL(free_bytes, 0);
  OK(cudaFreeHost(more));
  OK(cudaFree(all));
  cudaGetLastError();
}

static void test_wrong_ranges(void)
{
  char *device, host[64];
  OK(cudaMalloc(&device, 32));
  CHECK_EQUAL(cudaMemcpy(device, host, 33, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaMemcpy(host, device + 1, 32, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaMemcpy(host, host + 8, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaMemcpy(device, host, 8, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
  CHECK_EQUAL(cudaMemset(device, 0, 33), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaMemset(host, 0, 8), cudaErrorInvalidValue);
  CHECK_EQUAL(cudaFree(device + 8), cudaErrorInvalidValue);
  OK(cudaMemcpy(device, host, 32, cudaMemcpyDefault));
  OK(cudaMemcpy(device, host, 0, cudaMemcpyHostToDevice));
  OK(cudaFree(device));
  CHECK_EQUAL(cudaFree(device), cudaErrorInvalidValue);
  OK(cudaFree(NULL));
  CHECK_EQUAL(cudaMemcpy(device, host, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  void *huge;
  CHECK_EQUAL(cudaMalloc(&huge, (size_t)1 << 60), cudaErrorMemoryAllocation);
  size_t free_before, free_now, total;
  OK(cudaMemGetInfo(&free_before, &total));
  OK(cudaMallocAsync(&huge, 1 << 20, 0));
  OK(cudaMemGetInfo(&free_now, &total));
  CHECK_EQUAL(free_before - free_now, 1 << 20);
  OK(cudaFreeAsync(huge, 0));
  OK(cudaStreamSynchronize(0));
  OK(cudaMemGetInfo(&free_now, &total));
  CHECK_EQUAL(free_before, free_now);
  CHECK_EQUAL(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  CHECK_EQUAL(cudaGetLastError(), cudaErrorMemoryAllocation);
  OK(cudaGetLastError());
}

int main(int argc, char **argv)
{
  test_symbols();
  test_registering();
  if (argc > 1) test_total((size_t)atoi(argv[1]));
  test_boxes();
  test_host_and_managed();
  test_wrong_ranges();
  return check_result();
}
