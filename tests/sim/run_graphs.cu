/* SPDX-License-Identifier: MIT */
/* Stream capture, graphs by hand, updates, and the rules of a capture in global mode. */
#include <cuda_runtime.h>

#include "check.h"

__global__ void add(int *value, int n) { atomicAdd(value, n); }
__global__ void twice(int *value) { *value *= 2; }
__global__ void sum(int *to, const int *a, const int *b) { *to = *a + *b; }

static void CUDART_CB count_call(void *n) { ++*(int *)n; }

static void test_fork_and_join(void)
{
  cudaStream_t a, b;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int *v, result[3], calls = 0;
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreate(&b));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaMalloc(&v, sizeof result));
  OK(cudaMemset(v, 0, sizeof result));

  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, a>>>(v, 1);
  OK(cudaEventRecord(fork, a));
  OK(cudaStreamWaitEvent(b, fork, 0));
  add<<<1, 1, 0, b>>>(v + 1, 10);
  twice<<<1, 1, 0, a>>>(v);
  OK(cudaEventRecord(join, b));
  OK(cudaStreamWaitEvent(a, join, 0));
  sum<<<1, 1, 0, a>>>(v + 2, v, v + 1);
  OK(cudaLaunchHostFunc(a, count_call, &calls));
  enum cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(b, &status));
  CHECK_EQUAL(status, cudaStreamCaptureStatusActive);
  OK(cudaStreamEndCapture(a, &graph));
  OK(cudaStreamIsCapturing(b, &status));
  CHECK_EQUAL(status, cudaStreamCaptureStatusNone);

  size_t n = 0;
  OK(cudaGraphGetNodes(graph, NULL, &n));
  CHECK_EQUAL(n, 5);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(exec, a));
  OK(cudaStreamSynchronize(a));
  OK(cudaMemcpy(result, v, sizeof result, cudaMemcpyDeviceToHost));
  CHECK_EQUAL(result[0], 14); /* ((0+1)*2+1)*2+1)*2 */
  CHECK_EQUAL(result[1], 30);
  CHECK_EQUAL(result[2], 44);
  CHECK_EQUAL(calls, 3);
  OK(cudaGraphExecDestroy(exec));
}

static void test_by_hand(void)
{
  cudaGraph_t graph, child, clone;
  cudaGraphExec_t exec;
  cudaGraphNode_t clear, kernel, copy, nested;
  int *v, result = 0, n = 3;
  OK(cudaMalloc(&v, sizeof *v));
  OK(cudaGraphCreate(&child, 0));
  void *twice_args[] = {&v};
  cudaKernelNodeParams twice_params = {(void *)twice, dim3(1), dim3(1), 0, twice_args, NULL};
  OK(cudaGraphAddKernelNode(&kernel, child, NULL, 0, &twice_params));
  OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill = {v, 0, 7, 4, 1, 1};
  OK(cudaGraphAddMemsetNode(&clear, graph, NULL, 0, &fill));
  void *add_args[] = {&v, &n};
  cudaKernelNodeParams params = {(void *)add, dim3(1), dim3(2), 0, add_args, NULL};
  OK(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &params));
  OK(cudaGraphAddChildGraphNode(&nested, graph, &kernel, 1, child));
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, &nested, 1, &result, v, 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphDestroy(child));
  n = 1000; /* the node has its own copy */
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, 0));
  OK(cudaDeviceSynchronize());
  CHECK_EQUAL(result, (7 + 3 * 2) * 2);

  n = 4;
  OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
  OK(cudaGraphLaunch(exec, 0));
  OK(cudaDeviceSynchronize());
  CHECK_EQUAL(result, (7 + 4 * 2) * 2);

  OK(cudaGraphClone(&clone, graph));
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(exec, clone, &info));
  OK(cudaGraphLaunch(exec, 0));
  OK(cudaDeviceSynchronize());
  CHECK_EQUAL(result, (7 + 3 * 2) * 2);
  OK(cudaGraphAddEmptyNode(&clear, clone, NULL, 0));
  CHECK_EQUAL(cudaGraphExecUpdate(exec, clone, &info), cudaErrorGraphExecUpdateFailure);
  CHECK_EQUAL(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  cudaGetLastError();
  OK(cudaGraphExecDestroy(exec));

  cudaGraphNode_t first, second;
  cudaGraph_t circle;
  OK(cudaGraphCreate(&circle, 0));
  OK(cudaGraphAddEmptyNode(&first, circle, NULL, 0));
  OK(cudaGraphAddEmptyNode(&second, circle, &first, 1));
  OK(cudaGraphAddDependencies(circle, &second, &first, NULL, 1));
  CHECK_EQUAL(cudaGraphInstantiate(&exec, circle, 0), cudaErrorInvalidValue);
  cudaGetLastError();
}

static cudaError_t end(cudaStream_t stream)
{
  cudaGraph_t graph = NULL;
  const cudaError_t error = cudaStreamEndCapture(stream, &graph);
  CHECK(error ? !graph : graph != NULL);
  cudaGetLastError();
  return error;
}

static void test_rules(void)
{
  cudaStream_t a, b, blocking;
  cudaEvent_t event;
  int *v;
  void *p;
  OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  OK(cudaStreamCreate(&blocking));
  OK(cudaEventCreate(&event));
  OK(cudaMalloc(&v, 4));

  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  CHECK_EQUAL(cudaMalloc(&p, 4), cudaErrorStreamCaptureUnsupported);
  add<<<1, 1, 0, a>>>(v, 1);
  CHECK_EQUAL(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
  CHECK_EQUAL(end(a), cudaErrorStreamCaptureInvalidated);

  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  CHECK_EQUAL(cudaStreamSynchronize(a), cudaErrorStreamCaptureUnsupported);
  CHECK_EQUAL(end(a), cudaErrorStreamCaptureInvalidated);

  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  CHECK_EQUAL(mode, cudaStreamCaptureModeGlobal);
  OK(cudaMalloc(&p, 4)); /* allowed now */
  OK(cudaStreamSynchronize(b));
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  OK(end(a));

  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
  OK(cudaMalloc(&p, 4));
  OK(end(a));

  OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
  CHECK_EQUAL(cudaMemset(v, 0, 4), cudaErrorStreamCaptureImplicit);
  CHECK_EQUAL(end(blocking), cudaErrorStreamCaptureInvalidated);

  OK(cudaEventRecord(event, b));
  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CHECK_EQUAL(cudaStreamWaitEvent(a, event, 0), cudaErrorStreamCaptureIsolation);
  CHECK_EQUAL(end(a), cudaErrorStreamCaptureInvalidated);

  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  OK(cudaEventRecord(event, a));
  OK(cudaStreamWaitEvent(b, event, 0));
  add<<<1, 1, 0, b>>>(v, 1);
  CHECK_EQUAL(end(b), cudaErrorStreamCaptureUnmatched);
  CHECK_EQUAL(end(a), cudaErrorStreamCaptureInvalidated);

  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  OK(cudaEventRecord(event, a));
  OK(cudaStreamWaitEvent(b, event, 0));
  add<<<1, 1, 0, b>>>(v, 1);
  CHECK_EQUAL(end(a), cudaErrorStreamCaptureUnjoined);
  CHECK_EQUAL(end(a), cudaErrorIllegalState);
  CHECK_EQUAL(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
              cudaErrorStreamCaptureUnsupported);
  cudaGetLastError();
}

int main(void)
{
  test_fork_and_join();
  test_by_hand();
  test_rules();
  OK(cudaGetLastError());
  return check_result();
}
