/* SPDX-License-Identifier: MIT */
/* Streams, events, host functions: order, interleaving, what runs without a kernel's step. */
#include <cuda_runtime.h>
#include <string.h>

#include "check.h"

/* Waits for the other kernel to say its part: two of them end only if their blocks interleave. */
__global__ void talk(volatile int *mine, volatile int *other, int rounds)
{
  for (int i = 1; i <= rounds; i++) {
    *mine = i;
    while (*other < i) {
    }
  }
}

__global__ void append(int *list, int value)
{
  const int n = list[0];
  list[1 + n] = value;
  list[0] = n + 1;
}

__global__ void wait_for(volatile int *flag)
{
  while (!*flag) {
  }
}

static void test_interleaving(void)
{
  cudaStream_t a, b;
  int *flags;
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreate(&b));
  OK(cudaMalloc(&flags, 8));
  OK(cudaMemset(flags, 0, 8));
  talk<<<1, 1, 0, a>>>(flags, flags + 1, 20);
  talk<<<1, 1, 0, b>>>(flags + 1, flags, 20);
  OK(cudaStreamSynchronize(a));
  OK(cudaDeviceSynchronize());
  int result[2];
  OK(cudaMemcpy(result, flags, 8, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result[0], 20);
  CHECK_EQUAL(result[1], 20);
  OK(cudaStreamDestroy(a));
  OK(cudaStreamDestroy(b));
  OK(cudaFree(flags));
}

/* The legacy stream waits for blocking streams and they for it; non-blocking ones do neither. */
static void test_legacy_order(void)
{
  cudaStream_t a, b;
  int *list, result[8];
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreate(&b));
  OK(cudaMalloc(&list, sizeof result));
  OK(cudaMemset(list, 0, sizeof result));
  append<<<1, 1, 0, a>>>(list, 1);
  append<<<1, 1, 0, cudaStreamLegacy>>>(list, 2);
  append<<<1, 1, 0, b>>>(list, 3);
  append<<<1, 1, 0, cudaStreamLegacy>>>(list, 4);
  append<<<1, 1, 0, a>>>(list, 5);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(result, list, sizeof result, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result[0], 5);
  for (int i = 1; i <= 5; i++) CHECK_EQUAL(result[i], i);
  OK(cudaStreamDestroy(a));
  OK(cudaStreamDestroy(b));
  OK(cudaFree(list));
}

static void test_events(void)
{
  cudaStream_t a, b;
  cudaEvent_t go, begin, end;
  int *list, result[4];
  OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  OK(cudaEventCreateWithFlags(&go, cudaEventDisableTiming));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaMalloc(&list, sizeof result));
  OK(cudaMemset(list, 0, sizeof result));
  OK(cudaDeviceSynchronize());

  OK(cudaEventRecord(begin, a));
  append<<<1, 1, 0, a>>>(list, 1);
  OK(cudaEventRecord(go, a));
  OK(cudaStreamWaitEvent(b, go, 0));
  append<<<1, 1, 0, b>>>(list, 2);
  OK(cudaEventRecord(end, b));
  OK(cudaStreamWaitEvent(a, end, 0));
  append<<<1, 1, 0, a>>>(list, 3);
  CHECK_EQUAL(cudaEventElapsedTime(NULL, begin, end), cudaErrorInvalidValue);
  float ms = -1;
  CHECK_EQUAL(cudaEventElapsedTime(&ms, begin, end), cudaErrorNotReady);
  OK(cudaStreamSynchronize(a));
  OK(cudaEventQuery(end));
  OK(cudaEventElapsedTime(&ms, begin, end));
  CHECK(ms > 0);
  CHECK_EQUAL(cudaEventElapsedTime(&ms, begin, go), cudaErrorInvalidResourceHandle);
  OK(cudaMemcpy(result, list, sizeof result, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result[0], 3);
  for (int i = 1; i <= 3; i++) CHECK_EQUAL(result[i], i);
  OK(cudaEventDestroy(go));
  CHECK_EQUAL(cudaEventDestroy(go), cudaErrorInvalidResourceHandle);
  OK(cudaStreamDestroy(a));
  CHECK_EQUAL(cudaStreamSynchronize(a), cudaErrorInvalidResourceHandle);
  OK(cudaStreamDestroy(b));
  cudaGetLastError();
}

/* A kernel hangs until the host says so; a copy in another stream must not need it to end. */
static void test_copy_beside_kernel(void)
{
  cudaStream_t kernels, copies;
  int *flag, *data, value = 42, back = 0;
  OK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  OK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
  OK(cudaMalloc(&data, sizeof *data));
  *flag = 0;
  wait_for<<<1, 1, 0, kernels>>>(flag);
  OK(cudaMemcpyAsync(data, &value, sizeof value, cudaMemcpyHostToDevice, copies));
  value = 0; /* the copy has taken it: the source is pageable */
  OK(cudaMemcpyAsync(&back, data, sizeof back, cudaMemcpyDeviceToHost, copies));
  OK(cudaStreamSynchronize(copies));
  CHECK_EQUAL(back, 42);
  CHECK_EQUAL(cudaStreamQuery(kernels), cudaErrorNotReady);
  OK(cudaStreamQuery(copies));
  *flag = 1;
  OK(cudaStreamSynchronize(kernels));
  OK(cudaStreamQuery(kernels));
  OK(cudaFreeHost(flag));
  OK(cudaFree(data));
}

static char order[16];

static void CUDART_CB note(void *letter)
{
  strncat(order, (const char *)letter, 1);
  int n;
  CHECK_EQUAL(cudaGetDeviceCount(&n), cudaErrorNotPermitted);
}

static void CUDART_CB callback(cudaStream_t stream, cudaError_t status, void *letter)
{
  (void)stream;
  CHECK_EQUAL(status, 0);
  strncat(order, (const char *)letter, 1);
}

static void test_host_functions(void)
{
  cudaStream_t a;
  int *list;
  OK(cudaStreamCreate(&a));
  OK(cudaMalloc(&list, 64));
  OK(cudaMemset(list, 0, 64));
  OK(cudaLaunchHostFunc(a, note, (void *)"1"));
  append<<<1, 1, 0, a>>>(list, 1);
  OK(cudaStreamAddCallback(a, callback, (void *)"2", 0));
  OK(cudaLaunchHostFunc(a, note, (void *)"3"));
  CHECK_EQUAL(strlen(order), 0); /* nothing runs before somebody waits */
  OK(cudaStreamSynchronize(a));
  CHECK(!strcmp(order, "123"));
  OK(cudaStreamDestroy(a));
  OK(cudaFree(list));
}

/* More than the runtime queues: the oldest are run. */
static void test_long_queue(void)
{
  cudaStream_t a;
  int *list, n = 0;
  OK(cudaStreamCreate(&a));
  OK(cudaMalloc(&list, 4 * 3001));
  OK(cudaMemset(list, 0, 4 * 3001));
  for (int i = 0; i < 3000; i++) append<<<1, 1, 0, a>>>(list, i);
  OK(cudaStreamDestroy(a)); /* its work goes on */
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&n, list, sizeof n, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(n, 3000);
  OK(cudaFree(list));
}

int main(void)
{
  test_interleaving();
  test_legacy_order();
  test_events();
  test_copy_beside_kernel();
  test_host_functions();
  test_long_queue();
  CHECK_EQUAL(cudaGetLastError(), cudaErrorNotReady); /* the query's; launches added none */
  return check_result();
}
