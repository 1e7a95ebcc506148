/* SPDX-License-Identifier: MIT */
/* Streams, events, capture and graphs of the driver: handles and work are the runtime's. */
#include "driver.h"

/* ---- streams ---- */

DRV_API cuStreamCreate(CUstream *stream, unsigned flags) {
  DRV_FORWARD(cudaStreamCreateWithFlags(stream, flags));
}

DRV_API cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  DRV_FORWARD(cudaStreamCreateWithPriority(stream, flags, priority));
}

DRV_API cuStreamDestroy_v2(CUstream stream) { DRV_FORWARD(cudaStreamDestroy(stream)); }
DRV_API cuStreamSynchronize(CUstream stream) { DRV_FORWARD(cudaStreamSynchronize(stream)); }
DRV_API cuStreamQuery(CUstream stream) { DRV_FORWARD(cudaStreamQuery(stream)); }

DRV_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  DRV_FORWARD(cudaStreamWaitEvent(stream, event, flags));
}

DRV_API cuStreamGetFlags(CUstream stream, unsigned *flags) { DRV_FORWARD(cudaStreamGetFlags(stream, flags)); }

DRV_API cuStreamGetPriority(CUstream stream, int *priority) {
  DRV_FORWARD(cudaStreamGetPriority(stream, priority));
}

DRV_API cuStreamGetId(CUstream stream, unsigned long long *id) { DRV_FORWARD(cudaStreamGetId(stream, id)); }
DRV_API cuStreamGetDevice(CUstream stream, CUdevice *device) { DRV_FORWARD(cudaStreamGetDevice(stream, device)); }

/* A stream is its device's: of a device's contexts it gives the current one. */
DRV_API cuStreamGetCtx(CUstream stream, CUcontext *context) {
  int device;
  CUresult result = cuStreamGetDevice(stream, &device);
  if (result)
    return result;
  rt_lock();
  drv_context *here = drv_context_here();
  *context = here->gpu->index == device ? here : drv_primary(device);
  rt_unlock();
  return CUDA_SUCCESS;
}

DRV_API cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green) {
  if (green)
    *green = NULL;
  return cuStreamGetCtx(stream, context);
}

DRV_API cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user, unsigned flags) {
  DRV_FORWARD(cudaStreamAddCallback(stream, (cudaStreamCallback_t)callback, user, flags));
}

DRV_API cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, size_t bytes, unsigned flags) {
  DRV_FORWARD(cudaStreamAttachMemAsync(stream, (void *)pointer, bytes, flags));
}

/* ---- capture ---- */

DRV_API cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  DRV_FORWARD(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
}

DRV_API cuStreamEndCapture(CUstream stream, CUgraph *graph) { DRV_FORWARD(cudaStreamEndCapture(stream, graph)); }

DRV_API cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  DRV_FORWARD(cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)status));
}

DRV_API cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                  const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count) {
  DRV_FORWARD(cudaStreamGetCaptureInfo(stream, (enum cudaStreamCaptureStatus *)status, (unsigned long long *)id,
                                       graph, dependencies, (const cudaGraphEdgeData **)edges, count));
}

DRV_API cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                  const CUgraphNode **dependencies, size_t *count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, count);
}

DRV_API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  const CUresult result = drv_ready();
  return result ? result
                : drv_result(cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)mode));
}

/* ---- graphs: those of a capture; nodes made by hand are the runtime's only ---- */

DRV_API cuGraphCreate(CUgraph *graph, unsigned flags) { DRV_FORWARD(cudaGraphCreate(graph, flags)); }
DRV_API cuGraphDestroy(CUgraph graph) { DRV_FORWARD(cudaGraphDestroy(graph)); }

DRV_API cuGraphInstantiateWithFlags(CUgraphExec *made, CUgraph graph, unsigned long long flags) {
  DRV_FORWARD(cudaGraphInstantiateWithFlags(made, graph, flags));
}

DRV_API cuGraphInstantiateWithParams(CUgraphExec *made, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  DRV_FORWARD(cudaGraphInstantiateWithParams(made, graph, (cudaGraphInstantiateParams *)parameters));
}

DRV_API cuGraphLaunch(CUgraphExec graph, CUstream stream) { DRV_FORWARD(rt_graph_launch(graph, stream)); }
DRV_API cuGraphUpload(CUgraphExec graph, CUstream stream) { DRV_FORWARD(cudaGraphUpload(graph, stream)); }
DRV_API cuGraphExecDestroy(CUgraphExec graph) { DRV_FORWARD(cudaGraphExecDestroy(graph)); }

DRV_API cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  DRV_FORWARD(cudaGraphGetNodes(graph, nodes, count));
}

/* ---- events ---- */

DRV_API cuEventCreate(CUevent *event, unsigned flags) { DRV_FORWARD(cudaEventCreateWithFlags(event, flags)); }
DRV_API cuEventDestroy_v2(CUevent event) { DRV_FORWARD(cudaEventDestroy(event)); }
DRV_API cuEventRecord(CUevent event, CUstream stream) { DRV_FORWARD(cudaEventRecord(event, stream)); }

DRV_API cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  DRV_FORWARD(cudaEventRecordWithFlags(event, stream, flags));
}

DRV_API cuEventQuery(CUevent event) { DRV_FORWARD(cudaEventQuery(event)); }
DRV_API cuEventSynchronize(CUevent event) { DRV_FORWARD(cudaEventSynchronize(event)); }

DRV_API cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to) {
  DRV_FORWARD(cudaEventElapsedTime(ms, from, to));
}

DRV_API cuEventElapsedTime(float *ms, CUevent from, CUevent to) { return cuEventElapsedTime_v2(ms, from, to); }
