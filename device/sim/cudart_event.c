/* SPDX-License-Identifier: MIT */
/* Events. A record is an op that takes the device's time; waiting for the event is waiting for that
 * op. Elapsed times are simulated time: only kernels take any, copies take none. */
#include <stdlib.h>

#include "cudart.h"

static rt_event *events;

static cudaError_t event_of(cudaEvent_t handle, rt_event **event) {
  for (rt_event *at = events; at; at = at->next)
    if (at == handle) {
      *event = at;
      return cudaSuccess;
    }
  return cudaErrorInvalidResourceHandle;
}

void rt_event_forget_nodes(rt_event *event) {
  free(event->nodes);
  event->nodes = NULL;
  event->n_nodes = 0;
  event->capture = NULL;
}

void rt_events_drop(rt_capture *capture) {
  for (rt_event *at = events; at; at = at->next)
    if (at->capture == capture)
      rt_event_forget_nodes(at);
}

RT_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  cudaError_t error = rt_enter();
  const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!error && (!event || flags & ~known))
    error = cudaErrorInvalidValue;
  if (!error && flags & cudaEventInterprocess)
    rt_refuse("interprocess events are not simulated");
  if (!error) {
    rt_event *made = calloc(1, sizeof *made);
    if (!made)
      rt_refuse("out of memory");
    made->flags = flags;
    made->gpu = rt_current();
    made->next = events;
    events = made;
    *event = made;
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

RT_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  cudaError_t error = rt_enter();
  rt_event *event;
  if (!error)
    error = event_of(handle, &event);
  if (!error) {
    rt_event **link = &events;
    while (*link != event)
      link = &(*link)->next;
    *link = event->next;
    rt_op_release(event->op);
    rt_event_forget_nodes(event);
    free(event);
  }
  return rt_leave(error);
}

static cudaError_t record(rt_event *event, rt_stream *stream) {
  if (stream->capture)
    return rt_capture_record(stream, event);
  if (event->gpu != stream->gpu)
    return cudaErrorInvalidResourceHandle;
  rt_op *op;
  const cudaError_t error = rt_stream_submit(stream, (rt_work){.kind = RT_EVENT}, &op);
  if (!op)
    return error;
  rt_event_forget_nodes(event);
  rt_op_release(event->op);
  event->op = op;
  return error;
}

RT_API cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  cudaError_t error = rt_enter();
  rt_event *event;
  rt_stream *stream;
  if (!error)
    error = event_of(handle, &event);
  if (!error)
    error = rt_stream_of(stream_handle, &stream);
  if (!error)
    error = record(event, stream);
  return rt_leave(error);
}

RT_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                            unsigned flags) {
  if (flags & cudaEventRecordExternal)
    rt_refuse("external event records are not simulated");
  return cudaEventRecord(event, stream);
}

/* The same op seen from another stream: that stream's next work waits for it. */
static cudaError_t wait_for(rt_stream *stream, rt_event *event) {
  if (stream->capture || event->capture)
    return rt_capture_wait(stream, event);
  if (rt_op_done(event->op))
    return cudaSuccess;
  rt_op *join = rt_op_new(stream->gpu, (rt_work){.kind = RT_JOIN});
  join->stream = stream;
  rt_stream_order(stream, join);
  rt_op_after(join, event->op);
  rt_op_submit(join);
  rt_stream_set_last(stream, join);
  rt_op_release(join);
  return cudaSuccess;
}

RT_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle,
                                       unsigned flags) {
  if (flags & cudaEventWaitExternal)
    rt_refuse("external event waits are not simulated");
  cudaError_t error = rt_enter();
  rt_event *event;
  rt_stream *stream;
  if (!error)
    error = event_of(handle, &event);
  if (!error)
    error = rt_stream_of(stream_handle, &stream);
  if (!error)
    error = wait_for(stream, event);
  return rt_leave(error);
}

RT_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  rt_call(__func__);
  cudaError_t error = rt_enter();
  rt_event *event;
  if (!error)
    error = event_of(handle, &event);
  if (!error && event->capture)
    error = cudaErrorCapturedEvent;
  if (!error)
    error = rt_capture_forbids();
  if (!error)
    error = rt_wait(event->gpu, event->op);
  return rt_leave(error);
}

RT_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
  cudaError_t error = rt_enter();
  rt_event *event;
  if (!error)
    error = event_of(handle, &event);
  if (!error && event->capture)
    error = cudaErrorCapturedEvent;
  if (!error)
    error = rt_capture_forbids();
  if (!error) {
    rt_op *op = rt_op_hold(event->op);
    rt_poke(op);
    error = event->gpu->sticky;
    if (!error && !rt_op_done(op))
      error = cudaErrorNotReady;
    rt_op_release(op);
  }
  return rt_leave(error);
}

static cudaError_t elapsed(const rt_event *from, const rt_event *to, float *ms) {
  if ((from->flags | to->flags) & cudaEventDisableTiming)
    return cudaErrorInvalidResourceHandle;
  if (from->gpu != to->gpu || !from->op || !to->op)
    return cudaErrorInvalidResourceHandle;
  if (!rt_op_done(from->op) || !rt_op_done(to->op))
    return cudaErrorNotReady;
  *ms = (float)((double)(int64_t)(to->op->done_ns - from->op->done_ns) / 1e6);
  return cudaSuccess;
}

RT_API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from_handle, cudaEvent_t to_handle) {
  cudaError_t error = rt_enter();
  rt_event *from, *to;
  if (!error && !ms)
    error = cudaErrorInvalidValue;
  if (!error)
    error = event_of(from_handle, &from);
  if (!error)
    error = event_of(to_handle, &to);
  if (!error)
    error = elapsed(from, to, ms);
  return rt_leave(error);
}
