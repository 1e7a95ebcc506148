/* SPDX-License-Identifier: MIT */
/* Stream capture: which streams take part, what their next node depends on, and the rules on what a
 * thread may not do meanwhile (CUDA programming guide, "Creating a Graph Using Stream Capture").
 * A broken rule spoils the capture: it goes on failing until it is ended. */
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

struct rt_capture {
  rt_graph *graph;
  rt_stream *origin;
  enum cudaStreamCaptureMode mode;
  pthread_t thread;
  bool invalid;
  unsigned long long id;
  rt_capture *next;
};

static rt_capture *captures;
static unsigned long long last_capture_id;

/* ---- rules ---- */

static bool is_mine(const rt_capture *capture) {
  return pthread_equal(capture->thread, pthread_self());
}

/* The thread's own mode decides which captures forbid it unsafe calls. */
static bool forbids(const rt_capture *capture) {
  switch (rt_self()->capture_mode) {
  case cudaStreamCaptureModeRelaxed:
    return false;
  case cudaStreamCaptureModeThreadLocal:
    return is_mine(capture) && capture->mode != cudaStreamCaptureModeRelaxed;
  case cudaStreamCaptureModeGlobal:
    return capture->mode == cudaStreamCaptureModeGlobal ||
           (is_mine(capture) && capture->mode != cudaStreamCaptureModeRelaxed);
  }
  return true;
}

cudaError_t rt_capture_forbids(void) {
  cudaError_t error = cudaSuccess;
  for (rt_capture *capture = captures; capture; capture = capture->next) {
    if (!forbids(capture))
      continue;
    capture->invalid = true;
    error = cudaErrorStreamCaptureUnsupported;
  }
  return error;
}

cudaError_t rt_capture_forbids_legacy(rt_stream *stream) {
  if (!stream->legacy)
    return cudaSuccess;
  cudaError_t error = cudaSuccess;
  for (rt_stream *other = stream->gpu->streams; other; other = other->next) {
    if (!other->capture || other->flags & cudaStreamNonBlocking)
      continue;
    other->capture->invalid = true;
    error = cudaErrorStreamCaptureImplicit;
  }
  return error;
}

cudaError_t rt_capture_forbids_stream(rt_stream *stream) {
  if (stream->capture) {
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  const cudaError_t error = rt_capture_forbids_legacy(stream);
  return error ? error : rt_capture_forbids();
}

/* ---- tails ---- */

void rt_capture_forget_stream(rt_stream *stream) {
  if (stream->capture && stream->capture->origin == stream) {
    stream->capture->invalid = true;
    stream->capture->origin = NULL;
  }
  free(stream->tails);
  stream->tails = NULL;
  stream->n_tails = 0;
  stream->capture = NULL;
}

static bool has_node(rt_node *const *nodes, size_t n, const rt_node *node) {
  for (size_t i = 0; i < n; i++)
    if (nodes[i] == node)
      return true;
  return false;
}

static void add_tails(rt_stream *stream, rt_node *const *nodes, size_t n) {
  rt_node **grown = realloc(stream->tails, (stream->n_tails + n + 1) * sizeof *grown);
  if (!grown)
    rt_refuse("out of memory");
  stream->tails = grown;
  for (size_t i = 0; i < n; i++)
    if (!has_node(stream->tails, stream->n_tails, nodes[i]))
      stream->tails[stream->n_tails++] = nodes[i];
}

static enum cudaGraphNodeType node_type(enum rt_work_kind kind) {
  switch (kind) {
  case RT_KERNEL:
    return cudaGraphNodeTypeKernel;
  case RT_COPY:
    return cudaGraphNodeTypeMemcpy;
  case RT_FILL:
    return cudaGraphNodeTypeMemset;
  case RT_HOST:
    return cudaGraphNodeTypeHost;
  case RT_EVENT:
    return cudaGraphNodeTypeEventRecord;
  case RT_FREE:
  case RT_JOIN:
    break;
  }
  return cudaGraphNodeTypeEmpty;
}

cudaError_t rt_capture_add(rt_stream *stream, rt_work work) {
  rt_capture *capture = stream->capture;
  if (capture->invalid) {
    rt_work_clear(&work);
    return cudaErrorStreamCaptureInvalidated;
  }
  rt_node *node =
      rt_graph_add(capture->graph, node_type(work.kind), work, stream->tails, stream->n_tails);
  node->gpu = stream->gpu;
  stream->n_tails = 0;
  add_tails(stream, &node, 1);
  return cudaSuccess;
}

/* ---- events in a capture ---- */

cudaError_t rt_capture_record(rt_stream *stream, rt_event *event) {
  rt_capture *capture = stream->capture;
  if (capture->invalid)
    return cudaErrorStreamCaptureInvalidated;
  rt_event_forget_nodes(event);
  rt_op_release(event->op);
  event->op = NULL;
  event->capture = capture;
  event->nodes = malloc((stream->n_tails + 1) * sizeof *event->nodes);
  if (!event->nodes)
    rt_refuse("out of memory");
  if (stream->n_tails) /* memcpy wants no null pointer, not even for nothing */
    memcpy(event->nodes, stream->tails, stream->n_tails * sizeof *event->nodes);
  event->n_nodes = stream->n_tails;
  return cudaSuccess;
}

cudaError_t rt_capture_wait(rt_stream *stream, rt_event *event) {
  if (stream->capture && stream->capture->invalid)
    return cudaErrorStreamCaptureInvalidated;
  if (event->capture && event->capture->invalid)
    return cudaErrorStreamCaptureInvalidated;
  if (!event->capture) { /* the captured work would depend on work outside */
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (stream->legacy) {
    event->capture->invalid = true;
    return cudaErrorStreamCaptureImplicit;
  }
  if (stream->capture && stream->capture != event->capture) {
    stream->capture->invalid = event->capture->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  stream->capture = event->capture;
  add_tails(stream, event->nodes, event->n_nodes);
  return cudaSuccess;
}

/* ---- begin and end ---- */

static cudaError_t begin(rt_stream *stream, enum cudaStreamCaptureMode mode) {
  if (mode > cudaStreamCaptureModeRelaxed)
    return cudaErrorInvalidValue;
  if (stream->legacy)
    return cudaErrorStreamCaptureUnsupported;
  if (stream->capture)
    return cudaErrorIllegalState;
  rt_capture *capture = calloc(1, sizeof *capture);
  if (!capture)
    rt_refuse("out of memory");
  capture->graph = rt_graph_new();
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = pthread_self();
  capture->id = ++last_capture_id;
  capture->next = captures;
  captures = capture;
  stream->capture = capture;
  return cudaSuccess;
}

RT_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    error = begin(stream, mode);
  return rt_leave(error);
}

static void mark_ancestors(rt_node *node, bool *seen) {
  if (seen[node->index])
    return;
  seen[node->index] = true;
  for (size_t i = 0; i < node->n_deps; i++)
    mark_ancestors(node->deps[i], seen);
}

/* Every captured node must lead back into the stream that the capture began in. */
static bool is_joined(const rt_capture *capture) {
  const rt_graph *graph = capture->graph;
  bool *seen = calloc(graph->n_nodes + 1, sizeof *seen);
  if (!seen)
    rt_refuse("out of memory");
  for (size_t i = 0; i < capture->origin->n_tails; i++)
    mark_ancestors(capture->origin->tails[i], seen);
  bool all = true;
  for (size_t i = 0; i < graph->n_nodes; i++)
    all = all && seen[i];
  free(seen);
  return all;
}

static void drop_capture(rt_capture *capture) {
  for (int i = 0; i < rt.config.devices; i++)
    for (rt_stream *stream = rt.gpus[i].streams; stream; stream = stream->next)
      if (stream->capture == capture)
        rt_capture_forget_stream(stream);
  rt_events_drop(capture);
  rt_capture **link = &captures;
  while (*link != capture)
    link = &(*link)->next;
  *link = capture->next;
  free(capture);
}

static cudaError_t end(rt_stream *stream, rt_graph **graph) {
  rt_capture *capture = stream->capture;
  if (!capture)
    return cudaErrorIllegalState;
  if (capture->mode != cudaStreamCaptureModeRelaxed && !is_mine(capture))
    return cudaErrorStreamCaptureWrongThread;
  if (capture->origin && capture->origin != stream) {
    capture->invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  cudaError_t error = cudaSuccess;
  if (capture->invalid)
    error = cudaErrorStreamCaptureInvalidated;
  else if (!is_joined(capture))
    error = cudaErrorStreamCaptureUnjoined;
  if (error)
    rt_graph_free(capture->graph);
  else
    *graph = capture->graph;
  drop_capture(capture);
  return error;
}

RT_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  rt_graph *captured = NULL;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    error = end(stream, &captured);
  if (graph)
    *graph = captured;
  return rt_leave(error);
}

/* ---- asking ---- */

static enum cudaStreamCaptureStatus status_of(const rt_stream *stream) {
  if (!stream->capture)
    return cudaStreamCaptureStatusNone;
  return stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                  : cudaStreamCaptureStatusActive;
}

RT_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                         enum cudaStreamCaptureStatus *status) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error && !status)
    error = cudaErrorInvalidValue;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    *status = status_of(stream);
  return rt_leave(error);
}

RT_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                            enum cudaStreamCaptureStatus *status,
                                            unsigned long long *id, cudaGraph_t *graph,
                                            const cudaGraphNode_t **dependencies,
                                            const cudaGraphEdgeData **edges,
                                            size_t *n_dependencies) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error && !status)
    error = cudaErrorInvalidValue;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error) {
    *status = status_of(stream);
    if (*status == cudaStreamCaptureStatusActive) {
      if (id)
        *id = stream->capture->id;
      if (graph)
        *graph = stream->capture->graph;
      if (dependencies)
        *dependencies = stream->tails;
      if (edges)
        *edges = NULL;
      if (n_dependencies)
        *n_dependencies = stream->n_tails;
    }
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
  cudaError_t error = rt_enter();
  if (!error && (!mode || *mode > cudaStreamCaptureModeRelaxed))
    error = cudaErrorInvalidValue;
  if (!error) {
    const enum cudaStreamCaptureMode before = rt_self()->capture_mode;
    rt_self()->capture_mode = *mode;
    *mode = before;
  }
  return rt_leave(error);
}
