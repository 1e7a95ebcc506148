/* SPDX-License-Identifier: MIT */
/* Two devices: own memory and variables, peers, sticky errors and their end by a reset. */
#include <cuda_runtime.h>
#include <string.h>

#include "check.h"

__device__ int here = 1;

__global__ void add_here(int *to) { *to += here; }
__global__ void change(int n) { here = n; }
__global__ void store(int *to, int n) { *to = n; }

static void test_own_variables(void)
{
  int *a, *b, result;
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&a, 4));
  OK(cudaMemset(a, 0, 4));
  change<<<1, 1>>>(100);
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&b, 4));
  OK(cudaMemset(b, 0, 4));
  add_here<<<1, 1>>>(b);
  OK(cudaMemcpy(&result, b, 4, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result, 1);
  OK(cudaSetDevice(0));
  add_here<<<1, 1>>>(a);
  OK(cudaMemcpy(&result, a, 4, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result, 100);
  OK(cudaMemcpyPeer(b, 1, a, 0, 4));
  OK(cudaMemcpy(&result, b, 4, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result, 100);
}

static void test_streams_and_events(void)
{
  cudaStream_t zero, one;
  cudaEvent_t event;
  int *a, result;
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&a, 4));
  OK(cudaStreamCreate(&zero));
  OK(cudaEventCreate(&event));
  OK(cudaSetDevice(1));
  OK(cudaStreamCreate(&one));
  store<<<1, 1, 0, zero>>>(a, 1); /* the stream belongs to the other device */
  CHECK_EQUAL(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  CHECK_EQUAL(cudaEventRecord(event, one), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  OK(cudaSetDevice(0));
  store<<<1, 1, 0, zero>>>(a, 7);
  OK(cudaEventRecord(event, zero));
  OK(cudaSetDevice(1));
  OK(cudaStreamWaitEvent(one, event, 0));
  OK(cudaMemcpyAsync(&result, a, 4, cudaMemcpyDeviceToHost, one));
  OK(cudaStreamSynchronize(one));
  CHECK_EQUAL(result, 7);
}

static void test_peers_and_reset(void)
{
  int *a, *b, *reached, can = 0, result = 0;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK_EQUAL(can, 1);
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&b, 4));
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&a, 4));
  OK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK_EQUAL(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  cudaGetLastError();
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&reached, 4)); /* made after peer access was enabled */
  OK(cudaSetDevice(0));
  store<<<1, 1>>>(b, 11);
  store<<<1, 1>>>(reached, 12);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&result, b, 4, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result, 11);
  OK(cudaMemcpy(&result, reached, 4, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result, 12);

  OK(cudaSetDevice(1));
  store<<<1, 1>>>(a, 13); /* but device 1 may not reach device 0 */
  CHECK_EQUAL(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  CHECK_EQUAL(cudaMemcpy(&result, b, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
  CHECK_EQUAL(cudaGetLastError(), cudaErrorIllegalAddress);
  CHECK_EQUAL(cudaGetLastError(), cudaErrorIllegalAddress);
  OK(cudaSetDevice(0)); /* device 0 is well */
  OK(cudaMemcpy(&result, a, 4, cudaMemcpyDeviceToHost));
  cudaSetDevice(1);
  OK(cudaDeviceReset());
  OK(cudaGetLastError());
  CHECK_EQUAL(cudaMemcpy(&result, b, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  cudaGetLastError();
  OK(cudaMalloc(&b, 4));
  OK(cudaMemset(b, 0, 4));
  change<<<1, 1>>>(5);
  add_here<<<1, 1>>>(b); /* the module is loaded anew */
  OK(cudaMemcpy(&result, b, 4, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result, 5);
}

int main(void)
{
  int n = 0;
  OK(cudaGetDeviceCount(&n));
  CHECK_EQUAL(n, 2);
  CHECK_EQUAL(cudaSetDevice(2), cudaErrorInvalidDevice);
  cudaGetLastError();
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 1));
  CHECK(!strcmp(properties.name, "inkmark simulated GPU (no real clock)"));
  CHECK_EQUAL(properties.major * 10 + properties.minor, 90);
  test_own_variables();
  test_streams_and_events();
  test_peers_and_reset();
  return check_result();
}
