/* SPDX-License-Identifier: MIT */
/* Streams: their order, the legacy default stream's order with the others, per-thread default
 * streams, host functions. A stream is little more than the op that its next one waits for. */
#include <pthread.h>
#include <stdlib.h>

#include "cudart.h"

/* Past this many ops in a stream the submitting thread runs them, as a real queue would block. */
#define MAX_PENDING 1024

static unsigned long long last_stream_id;

/* ---- handles ---- */

rt_stream *rt_stream_new(rt_gpu *gpu, unsigned flags, int priority) {
  rt_stream *stream = calloc(1, sizeof *stream);
  if (!stream)
    rt_refuse("out of memory");
  stream->gpu = gpu;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = ++last_stream_id;
  stream->next = gpu->streams;
  gpu->streams = stream;
  return stream;
}

static rt_stream *legacy_of(rt_gpu *gpu) {
  if (gpu->legacy)
    return gpu->legacy;
  rt_stream *stream = calloc(1, sizeof *stream);
  if (!stream)
    rt_refuse("out of memory");
  stream->gpu = gpu;
  stream->legacy = true;
  stream->id = ++last_stream_id;
  return gpu->legacy = stream;
}

static rt_stream *per_thread_of(rt_gpu *gpu) {
  for (rt_stream *stream = gpu->streams; stream; stream = stream->next)
    if (stream->per_thread && pthread_equal(stream->owner, pthread_self()))
      return stream;
  rt_stream *stream = rt_stream_new(gpu, cudaStreamDefault, 0);
  stream->per_thread = true;
  stream->owner = pthread_self();
  return stream;
}

cudaError_t rt_stream_of(cudaStream_t handle, rt_stream **stream) {
  if (!handle || handle == cudaStreamLegacy) {
    *stream = legacy_of(rt_current());
    return cudaSuccess;
  }
  if (handle == cudaStreamPerThread) {
    *stream = per_thread_of(rt_current());
    return cudaSuccess;
  }
  for (int i = 0; i < rt.config.devices; i++)
    for (rt_stream *at = rt.gpus[i].streams; at; at = at->next)
      if (at == handle && !at->destroyed) {
        *stream = at;
        return cudaSuccess;
      }
  return cudaErrorInvalidResourceHandle;
}

static bool is_blocking(const rt_stream *stream) {
  return !(stream->flags & cudaStreamNonBlocking);
}

static void free_stream(rt_stream *stream) {
  rt_stream **link = &stream->gpu->streams;
  while (*link && *link != stream)
    link = &(*link)->next;
  if (*link)
    *link = stream->next;
  rt_capture_forget_stream(stream);
  rt_op_release(stream->last);
  free(stream);
}

void rt_stream_op_done(rt_stream *stream) {
  stream->pending--;
  if (stream->destroyed && !stream->pending)
    free_stream(stream);
}

/* After all its work was cancelled: the streams of a device that is reset are gone. */
void rt_streams_reset(rt_gpu *gpu) {
  while (gpu->streams)
    free_stream(gpu->streams);
  if (!gpu->legacy)
    return;
  rt_op_release(gpu->legacy->last);
  free(gpu->legacy);
  gpu->legacy = NULL;
}

/* ---- order ---- */

void rt_stream_order(rt_stream *stream, rt_op *op) {
  rt_op_after(op, stream->last);
  if (stream->legacy) {
    for (rt_stream *other = stream->gpu->streams; other; other = other->next)
      if (is_blocking(other))
        rt_op_after(op, other->last);
  } else if (is_blocking(stream) && stream->gpu->legacy) {
    rt_op_after(op, stream->gpu->legacy->last);
  }
}

void rt_stream_set_last(rt_stream *stream, rt_op *op) {
  rt_op_hold(op);
  rt_op_release(stream->last);
  stream->last = op;
}

cudaError_t rt_stream_bound(rt_stream *stream) {
  return stream->pending > MAX_PENDING ? rt_wait(stream->gpu, stream->last) : cudaSuccess;
}

cudaError_t rt_stream_submit(rt_stream *stream, rt_work work, rt_op **op) {
  if (op)
    *op = NULL;
  if (stream->capture)
    return rt_capture_add(stream, work);
  /* the legacy stream would have to wait for a capture in progress */
  const cudaError_t forbidden = rt_capture_forbids_legacy(stream);
  if (forbidden) {
    rt_work_clear(&work);
    return forbidden;
  }
  rt_op *made = rt_op_new(stream->gpu, work);
  made->stream = stream;
  rt_stream_order(stream, made);
  rt_op_submit(made);
  rt_stream_set_last(stream, made);
  const cudaError_t error = rt_stream_bound(stream);
  if (op)
    *op = made;
  else
    rt_op_release(made);
  return error;
}

/* Everything that a synchronisation with the stream waits for. */
static rt_op *tail_of(rt_stream *stream) {
  if (!stream->legacy)
    return rt_op_hold(stream->last);
  rt_op *all = rt_op_new(stream->gpu, (rt_work){.kind = RT_JOIN});
  rt_stream_order(stream, all);
  rt_op_submit(all);
  return all;
}

/* ---- entry points ---- */

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority) {
  cudaError_t error = rt_enter();
  if (!error && (!stream || flags & ~(unsigned)cudaStreamNonBlocking))
    error = cudaErrorInvalidValue;
  if (!error) {
    if (priority > 0)
      priority = 0;
    if (priority < -5)
      priority = -5;
    *stream = rt_stream_new(rt_current(), flags, priority);
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return create(stream, cudaStreamDefault, 0);
}

RT_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return create(stream, flags, 0);
}

RT_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                                int priority) {
  return create(stream, flags, priority);
}

RT_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error && (stream->legacy || stream->per_thread))
    error = cudaErrorInvalidResourceHandle;
  if (!error) {
    rt_capture_forget_stream(stream);
    stream->destroyed = true;
    if (!stream->pending)
      free_stream(stream);
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  rt_call(__func__);
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    error = rt_capture_forbids_stream(stream);
  if (!error) {
    rt_op *tail = tail_of(stream);
    error = rt_wait(stream->gpu, tail);
    rt_op_release(tail);
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    error = rt_capture_forbids_stream(stream);
  if (!error) {
    rt_op *tail = tail_of(stream);
    rt_poke(tail);
    error = stream->gpu->sticky;
    if (!error && !rt_op_done(tail))
      error = cudaErrorNotReady;
    rt_op_release(tail);
  }
  return rt_leave(error);
}

static cudaError_t submit_host_call(cudaStream_t handle, rt_host_call call) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    error = rt_stream_submit(stream, (rt_work){.kind = RT_HOST, .u.host = call}, NULL);
  return rt_leave(error);
}

RT_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user) {
  return submit_host_call(stream, (rt_host_call){function, NULL, stream, user});
}

RT_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void *user, unsigned flags) {
  (void)flags;
  return submit_host_call(stream, (rt_host_call){NULL, callback, stream, user});
}

RT_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void *pointer, size_t bytes,
                                            unsigned flags) {
  (void)pointer, (void)bytes, (void)flags; /* all managed memory is visible to everybody */
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  return rt_leave(error);
}

/* ---- what a stream is ---- */

RT_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    *flags = stream->flags;
  return rt_leave(error);
}

RT_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    *priority = stream->priority;
  return rt_leave(error);
}

RT_API cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long *id) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    *id = stream->id;
  return rt_leave(error);
}

RT_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int *device) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    *device = stream->gpu->index;
  return rt_leave(error);
}

RT_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  const cudaError_t error = rt_enter();
  if (!error && least)
    *least = 0;
  if (!error && greatest)
    *greatest = -5;
  return rt_leave(error);
}
