/* SPDX-License-Identifier: MIT */
/* What a kernel's fault leaves behind: which error, that every later call returns it, that the
 * device's memory is gone and shared host memory holds what was stored, which blocks stopped, and
 * that a reset makes the device usable again. */
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum fault {
  TRAP, TRAP_OF_ONE_LANE, ASSERT,
  LOAD_NULL, LOAD_PAST_END, STORE_PAST_END, STORE_BEFORE, STORE_FREED, STORE_PLAIN_HOST,
  STORE_PAST_MAPPED, STORE_UNREGISTERED, STORE_ACROSS_END, ATOMIC_PAST_END, REDUCTION_NULL,
  SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC, LOCAL_LOAD, LOCAL_STORE,
  MISALIGNED_LOAD, MISALIGNED_STORE, MISALIGNED_ATOMIC, MISALIGNED_SHARED, MISALIGNED_VECTOR,
  FAULTS
};

static const struct {
  const char *name;
  cudaError_t error;
} expected[FAULTS] = {
    {"trap", cudaErrorLaunchFailure},
    {"trap of one lane", cudaErrorLaunchFailure},
    {"assert", cudaErrorAssert},
    {"load at null", cudaErrorIllegalAddress},
    {"load past the end", cudaErrorIllegalAddress},
    {"store past the end", cudaErrorIllegalAddress},
    {"store before the beginning", cudaErrorIllegalAddress},
    {"store to freed memory", cudaErrorIllegalAddress},
    {"store to plain host memory", cudaErrorIllegalAddress},
    {"store past mapped host memory", cudaErrorIllegalAddress},
    {"store to unregistered host memory", cudaErrorIllegalAddress},
    {"store across the end", cudaErrorIllegalAddress},
    {"atomic past the end", cudaErrorIllegalAddress},
    {"reduction at null", cudaErrorIllegalAddress},
    {"load outside of shared memory", cudaErrorIllegalAddress},
    {"store outside of shared memory", cudaErrorIllegalAddress},
    {"atomic outside of shared memory", cudaErrorIllegalAddress},
    {"load outside of local memory", cudaErrorIllegalAddress},
    {"store outside of local memory", cudaErrorIllegalAddress},
    {"misaligned load", cudaErrorMisalignedAddress},
    {"misaligned store", cudaErrorMisalignedAddress},
    {"misaligned atomic", cudaErrorMisalignedAddress},
    {"misaligned shared", cudaErrorMisalignedAddress},
    {"misaligned vector", cudaErrorMisalignedAddress},
};

enum { BLOCKS = 64, STEPS = 32, AT_ONCE = 16, BAD_BLOCK = 5, BAD_STEP = 7, WORDS = 14 };

struct pointers {
  int *memory;      /* WORDS on the device */
  int *freed;       /* was as large */
  int *mapped;      /* a page of host memory that is mapped; the next is the program's alone */
  int *unregistered;
  int *plain;
  int none;         /* 0, which the compiler does not know */
};

__device__ int counted = 41;

__device__ void local_fault(bool store, pointers p, int far)
{
  volatile int array[8];
  for (int i = 0; i < 8; i++) array[i] = i + p.none;
  if (store) array[far] = 1;
  else p.memory[0] = array[far];
  p.memory[1] = array[p.none];
}

__device__ void commit(int fault, pointers p)
{
  __shared__ volatile int shared[WORDS];
  const int far = (1 << 20) + p.none;
  char *const bytes = (char *)p.memory;
  shared[threadIdx.x % WORDS] = 1;
  switch (fault) {
  case TRAP: __trap(); break;
  case TRAP_OF_ONE_LANE:
    if (threadIdx.x == 13) asm volatile("trap;");
    break;
  case ASSERT: assert(p.none == 1); break;
  case LOAD_NULL: p.memory[0] = *(volatile int *)(size_t)p.none; break;
  case LOAD_PAST_END: p.memory[0] = ((volatile int *)p.memory)[WORDS + p.none]; break;
  case STORE_PAST_END: p.memory[WORDS + p.none] = 1; break;
  case STORE_BEFORE: p.memory[p.none - 1] = 1; break;
  case STORE_FREED: p.freed[0] = 1; break;
  case STORE_PLAIN_HOST: p.plain[0] = 1; break;
  case STORE_PAST_MAPPED: p.mapped[1024 + p.none] = 1; break;
  case STORE_UNREGISTERED: p.unregistered[0] = 1; break;
  case STORE_ACROSS_END:
    asm volatile("st.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(p.memory + WORDS - 2), "r"(1));
    break;
  case ATOMIC_PAST_END: p.memory[0] = atomicAdd(p.memory + WORDS + p.none, 1); break;
  case REDUCTION_NULL: atomicMax((int *)(size_t)p.none, 1); break;
  case SHARED_LOAD: p.memory[0] = shared[far]; break;
  case SHARED_STORE: shared[far] = 1; break;
  case SHARED_ATOMIC: atomicAdd((int *)&shared[far], 1); break;
  case LOCAL_LOAD: local_fault(false, p, far); break;
  case LOCAL_STORE: local_fault(true, p, far); break;
  case MISALIGNED_LOAD: p.memory[0] = *(volatile int *)(bytes + 1 + p.none); break;
  case MISALIGNED_STORE: *(volatile short *)(bytes + 1 + p.none) = 1; break;
  case MISALIGNED_ATOMIC: atomicAdd((int *)(bytes + 2 + p.none), 1); break;
  case MISALIGNED_SHARED: *(volatile int *)((char *)shared + 2 + p.none) = 1; break;
  case MISALIGNED_VECTOR:
    asm volatile("st.global.v2.b32 [%0], {%1, %1};" ::"l"(bytes + 4), "r"(1));
    break;
  }
}

/* Every block says in shared host memory how far it is; one of them goes wrong. */
__global__ void faulty(int fault, pointers p, volatile int *progress, volatile int *in_device)
{
  for (int step = 1; step <= STEPS; step++) {
    if (threadIdx.x == 0) {
      progress[blockIdx.x] = step;
      in_device[blockIdx.x] = step;
      __threadfence_system();
    }
    __syncthreads();
    if (blockIdx.x == BAD_BLOCK && step == BAD_STEP) commit(fault, p);
  }
}

__global__ void behind(volatile int *progress) { progress[BLOCKS] = 1; }

__global__ void count(int *to) { *to = ++counted; }

/* Memory of two mappings of one memfd: what a kernel stores through one is seen in the other. */
struct shared_host {
  int fd;
  int *program, *reader;
  size_t bytes;
};

static shared_host share(size_t bytes)
{
  shared_host s = {memfd_create("progress", MFD_CLOEXEC), NULL, NULL, bytes};
  CHECK(s.fd >= 0 && !ftruncate(s.fd, (off_t)bytes));
  s.program = (int *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, 0);
  s.reader = (int *)mmap(NULL, bytes, PROT_READ, MAP_SHARED, s.fd, 0);
  close(s.fd);
  if (s.program == MAP_FAILED || s.reader == MAP_FAILED) exit(1);
  return s;
}

static void unshare(shared_host s)
{
  munmap(s.program, s.bytes);
  munmap(s.reader, s.bytes);
}

/* Every call that needs the device says the same, again and again. */
static void check_sticky(cudaError_t error, int *memory, int *pinned, int *registered,
                         cudaStream_t stream, cudaEvent_t event)
{
  int value = 77, *made = NULL;
  unsigned flags;
  size_t bytes;
  void *symbol;
  cudaStream_t other;
  cudaEvent_t another;
  CHECK_EQUAL(cudaDeviceSynchronize(), error);
  CHECK_EQUAL(cudaGetLastError(), error);
  CHECK_EQUAL(cudaGetLastError(), error);
  CHECK_EQUAL(cudaPeekAtLastError(), error);
  CHECK_EQUAL(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost), error);
  CHECK_EQUAL(cudaMemcpyAsync(&value, memory, 4, cudaMemcpyDeviceToHost, stream), error);
  CHECK_EQUAL(cudaMemcpy2D(&value, 4, memory, 4, 4, 1, cudaMemcpyDeviceToHost), error);
  CHECK_EQUAL(cudaMemcpyFromSymbol(&value, counted, 4), error);
  CHECK_EQUAL(value, 77); /* the device's memory is not readable any more */
  CHECK_EQUAL(cudaMemset(memory, 0, 4), error);
  CHECK_EQUAL(cudaMalloc(&made, 64), error);
  CHECK_EQUAL(cudaMallocAsync(&made, 64, stream), error);
  CHECK_EQUAL(cudaMallocManaged(&made, 64), error);
  CHECK_EQUAL(cudaHostAlloc(&made, 64, cudaHostAllocMapped), error);
  CHECK_EQUAL(cudaMallocHost(&made, 64), error);
  CHECK(made == NULL);
  CHECK_EQUAL(cudaFree(memory), error);
  CHECK_EQUAL(cudaFreeHost(pinned), error);
  CHECK_EQUAL(cudaHostRegister(&value, sizeof value, cudaHostRegisterMapped), error);
  CHECK_EQUAL(cudaHostUnregister(registered), error);
  CHECK_EQUAL(cudaHostGetDevicePointer(&made, pinned, 0), error);
  CHECK_EQUAL(cudaHostGetFlags(&flags, pinned), error);
  CHECK_EQUAL(cudaMemGetInfo(&bytes, &bytes), error);
  CHECK_EQUAL(cudaGetSymbolAddress(&symbol, counted), error);
  CHECK_EQUAL(cudaStreamCreate(&other), error);
  CHECK_EQUAL(cudaStreamQuery(stream), error);
  CHECK_EQUAL(cudaStreamSynchronize(stream), error);
  CHECK_EQUAL(cudaEventCreate(&another), error);
  CHECK_EQUAL(cudaEventRecord(event, stream), error);
  CHECK_EQUAL(cudaEventQuery(event), error);
  CHECK_EQUAL(cudaEventSynchronize(event), error);
  count<<<1, 1>>>(memory);
  CHECK_EQUAL(cudaGetLastError(), error);
}

/* What each block had reached: the bad one its step, those that ran beside it some step, those that
 * had not begun none. */
static void check_progress(const int *progress)
{
  int stopped = 0;
  CHECK_EQUAL(progress[BAD_BLOCK], BAD_STEP);
  for (int b = 0; b < AT_ONCE; b++) {
    CHECK(progress[b] >= 1 && progress[b] <= STEPS);
    stopped += progress[b] < STEPS;
  }
  CHECK(stopped > 1);
  for (int b = AT_ONCE; b < BLOCKS; b++) CHECK_EQUAL(progress[b], 0);
  CHECK_EQUAL(progress[BLOCKS], 0); /* the launches behind it */
}

/* A device that was reset starts anew: no error, variables as the program has them. */
static void check_usable(void)
{
  int *memory, value = 0;
  OK(cudaGetLastError());
  OK(cudaMalloc(&memory, 4));
  count<<<1, 1>>>(memory);
  OK(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(value, 42);
  OK(cudaFree(memory));
}

static void try_fault(int fault)
{
  const int failed_before = checks_failed;
  shared_host progress = share((BLOCKS + 1) * sizeof(int));
  static int plain[4];
  pointers p = {};
  int *on_device, *alias, *pinned;
  cudaStream_t stream, other;
  cudaEvent_t event;
  check_usable();
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  OK(cudaEventCreate(&event));
  OK(cudaMalloc(&p.memory, WORDS * sizeof(int)));
  OK(cudaMalloc(&p.freed, WORDS * sizeof(int)));
  OK(cudaMalloc(&on_device, BLOCKS * sizeof(int)));
  OK(cudaFree(p.freed));
  OK(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped));
  int *const two_pages = (int *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(two_pages != MAP_FAILED);
  OK(cudaHostRegister(two_pages, 4096, cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&p.mapped, two_pages, 0));
  p.plain = plain;
  p.unregistered = plain + 1;
  OK(cudaHostRegister(p.unregistered, sizeof(int), cudaHostRegisterMapped));
  OK(cudaHostUnregister(p.unregistered));
  OK(cudaHostRegister(progress.program, progress.bytes, cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&alias, progress.program, 0));

  faulty<<<BLOCKS, 32, 0, stream>>>(fault, p, alias, on_device);
  behind<<<1, 1, 0, stream>>>(alias);
  behind<<<1, 1>>>(alias);
  OK(cudaGetLastError()); /* the launch itself succeeds */
  CHECK_EQUAL(cudaStreamSynchronize(stream), expected[fault].error);
  check_progress(progress.reader);
  check_sticky(expected[fault].error, p.memory, pinned, progress.program, stream, event);

  OK(cudaSetDevice(1)); /* another device knows nothing of it */
  check_usable();
  CHECK_EQUAL(cudaSetDevice(0), expected[fault].error);
  OK(cudaDeviceReset());
  check_usable();
  check_progress(progress.reader);
  CHECK_EQUAL(cudaHostUnregister(progress.program), cudaErrorHostMemoryNotRegistered);
  CHECK_EQUAL(cudaFreeHost(pinned), cudaErrorInvalidValue); /* freed by the reset */
  CHECK_EQUAL(cudaGetLastError(), cudaErrorInvalidValue);
  progress.program[BLOCKS] = 9; /* registered memory stays the program's own */
  CHECK_EQUAL(progress.reader[BLOCKS], 9);
  unshare(progress);
  munmap(two_pages, 8192);
  OK(cudaDeviceReset()); /* variables too begin again */
  if (checks_failed != failed_before) fprintf(stderr, "^ after: %s\n", expected[fault].name);
}

int main(void)
{
  for (int fault = 0; fault < FAULTS; fault++) {
    OK(cudaSetDevice(1));
    OK(cudaDeviceReset());
    OK(cudaSetDevice(0));
    try_fault(fault);
  }
  return check_result();
}
