/* SPDX-License-Identifier: MIT */
/* Instantiated graphs: a flat copy of the graph, in an order in which every node comes after what
 * it depends on. A launch makes one op a node; the ops' dependencies are the graph's edges. */
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

/* A node of the executable graph. */
typedef struct exec_node {
  rt_work work;
  enum cudaGraphNodeType type;
  rt_event *event;
  bool event_wait, disabled, is_sink;
  rt_gpu *gpu;
  const rt_node *source; /* the node it was made from: only compared */
  size_t *deps;          /* indices, all smaller than its own */
  size_t n_deps;
} exec_node;

struct CUgraphExec_st {
  exec_node *nodes;
  size_t n, capacity;
  rt_op *last; /* of the last launch, referenced: launches of one graph do not overlap */
  unsigned long long flags;
  uint32_t id; /* rising from 1 */
};
typedef struct CUgraphExec_st exec;

/* ---- flattening ---- */

static size_t append(exec *to, exec_node node) {
  if (to->n == to->capacity) {
    const size_t capacity = to->capacity ? to->capacity * 2 : 16;
    exec_node *grown = realloc(to->nodes, capacity * sizeof *grown);
    if (!grown)
      rt_refuse("out of memory");
    to->nodes = grown;
    to->capacity = capacity;
  }
  to->nodes[to->n] = node;
  return to->n++;
}

static void depend(exec_node *node, size_t dependency) {
  size_t *grown = realloc(node->deps, (node->n_deps + 1) * sizeof *grown);
  if (!grown)
    rt_refuse("out of memory");
  node->deps = grown;
  node->deps[node->n_deps++] = dependency;
}

static bool flatten(exec *to, const rt_graph *graph, size_t entry);

/* Appends one node whose dependencies are all placed. A child graph becomes an entry, its nodes and
 * an exit. False: a cycle in a child. */
static bool place(exec *to, const rt_node *node, size_t entry, const size_t *placed_at,
                  size_t *placed) {
  exec_node flat = {.type = node->type,
                    .event = node->event,
                    .event_wait = node->event_wait,
                    .disabled = node->disabled,
                    .gpu = node->gpu,
                    .source = node};
  if (!rt_work_clone(&flat.work, &node->work))
    rt_refuse("out of memory");
  for (size_t i = 0; i < node->n_deps; i++)
    depend(&flat, placed_at[node->deps[i]->index]);
  if (!node->n_deps && entry != SIZE_MAX)
    depend(&flat, entry);
  const size_t at = append(to, flat);
  *placed = at;
  if (!node->child)
    return true;

  if (!flatten(to, node->child, at))
    return false;
  exec_node exit_node = {.type = cudaGraphNodeTypeEmpty, .gpu = node->gpu};
  for (size_t i = at; i < to->n; i++)
    depend(&exit_node, i);
  *placed = append(to, exit_node);
  return true;
}

/* Always takes the first node that can be placed, so that the order is the same every time. False:
 * a cycle. */
static bool flatten(exec *to, const rt_graph *graph, size_t entry) {
  const size_t n = graph->n_nodes;
  size_t *placed_at = malloc((n + 1) * sizeof *placed_at);
  if (!placed_at)
    rt_refuse("out of memory");
  for (size_t i = 0; i < n; i++)
    placed_at[i] = SIZE_MAX;
  bool good = true;
  for (size_t done = 0, first = 0; done < n && good; done++) {
    size_t pick = SIZE_MAX;
    while (first < n && placed_at[first] != SIZE_MAX)
      first++;
    for (size_t i = first; i < n && pick == SIZE_MAX; i++) {
      if (placed_at[i] != SIZE_MAX)
        continue;
      bool ready = true;
      for (size_t d = 0; d < graph->nodes[i]->n_deps && ready; d++)
        ready = placed_at[graph->nodes[i]->deps[d]->index] != SIZE_MAX;
      if (ready)
        pick = i;
    }
    good = pick != SIZE_MAX && place(to, graph->nodes[pick], entry, placed_at, &placed_at[pick]);
  }
  free(placed_at);
  return good;
}

static void clear(exec *graph) {
  for (size_t i = 0; i < graph->n; i++) {
    rt_work_clear(&graph->nodes[i].work);
    free(graph->nodes[i].deps);
  }
  free(graph->nodes);
  graph->nodes = NULL;
  graph->n = graph->capacity = 0;
}

static cudaError_t build(exec *to, const rt_graph *graph) {
  if (!flatten(to, graph, SIZE_MAX)) {
    clear(to);
    return cudaErrorInvalidValue;
  }
  for (size_t i = 0; i < to->n; i++)
    to->nodes[i].is_sink = true;
  for (size_t i = 0; i < to->n; i++)
    for (size_t d = 0; d < to->nodes[i].n_deps; d++)
      to->nodes[to->nodes[i].deps[d]].is_sink = false;
  return cudaSuccess;
}

static cudaError_t instantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long flags) {
  cudaError_t error = rt_enter();
  if (!error && (!made || !graph))
    error = cudaErrorInvalidValue;
  if (!error && flags & cudaGraphInstantiateFlagDeviceLaunch)
    rt_refuse("graphs that are launched from the device are not simulated");
  if (!error) {
    exec *new_exec = calloc(1, sizeof *new_exec);
    if (!new_exec)
      rt_refuse("out of memory");
    static uint32_t last_id;
    new_exec->id = ++last_id;
    new_exec->flags = flags;
    error = build(new_exec, graph);
    if (error)
      free(new_exec);
    else
      *made = new_exec;
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph,
                                        unsigned long long flags) {
  return instantiate(made, graph, flags);
}

RT_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph,
                                                 unsigned long long flags) {
  return instantiate(made, graph, flags);
}

RT_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *made, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams *params) {
  if (!params)
    return cudaErrorInvalidValue;
  const cudaError_t error = instantiate(made, graph, params->flags);
  params->errNode_out = NULL;
  params->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
  return error;
}

RT_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graph, unsigned long long *flags) {
  if (!graph || !flags)
    return cudaErrorInvalidValue;
  *flags = graph->flags;
  return cudaSuccess;
}

RT_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  cudaError_t error = rt_enter();
  if (!error && !graph)
    error = cudaErrorInvalidValue;
  if (!error) {
    clear(graph); /* ops that still wait have their own copies of the work */
    rt_op_release(graph->last);
    free(graph);
  }
  return rt_leave(error);
}

/* ---- launching ---- */

static rt_op *launch_node(const exec *graph, size_t index, rt_op *const *ops, rt_stream *stream) {
  const exec_node *node = &graph->nodes[index];
  rt_work work = {.kind = RT_JOIN};
  if (!node->disabled && !rt_work_clone(&work, &node->work))
    rt_refuse("out of memory");
  rt_op *op = rt_op_new(node->gpu, work);
  op->stream = stream;
  op->graph = graph->id;
  op->graph_node = (uint64_t)graph->id << 32 | (index + 1);
  if (!node->n_deps) {
    rt_stream_order(stream, op);
    rt_op_after(op, graph->last);
  }
  for (size_t d = 0; d < node->n_deps; d++)
    rt_op_after(op, ops[node->deps[d]]);
  if (node->event_wait)
    rt_op_after(op, node->event->op);
  rt_op_submit(op);
  if (node->event && !node->event_wait) {
    rt_event_forget_nodes(node->event);
    rt_op_release(node->event->op);
    node->event->op = rt_op_hold(op);
  }
  return op;
}

static void submit_graph(exec *graph, rt_stream *stream) {
  rt_op **ops = calloc(graph->n + 1, sizeof *ops);
  if (!ops)
    rt_refuse("out of memory");
  rt_op *end = rt_op_new(stream->gpu, (rt_work){.kind = RT_JOIN});
  end->stream = stream;
  for (size_t i = 0; i < graph->n; i++) {
    ops[i] = launch_node(graph, i, ops, stream);
    if (graph->nodes[i].is_sink)
      rt_op_after(end, ops[i]);
  }
  if (!graph->n)
    rt_stream_order(stream, end);
  rt_op_submit(end);
  rt_stream_set_last(stream, end);
  rt_op_release(graph->last);
  graph->last = end;
  for (size_t i = 0; i < graph->n; i++)
    rt_op_release(ops[i]);
  free(ops);
}

cudaError_t rt_graph_launch(cudaGraphExec_t graph, cudaStream_t handle) {
  rt_call("cudaGraphLaunch");
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error && !graph)
    error = cudaErrorInvalidValue;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error && stream->capture)
    rt_refuse("a graph launch in a stream capture is not simulated");
  if (!error)
    error = rt_capture_forbids_legacy(stream);
  if (!error) {
    submit_graph(graph, stream);
    error = rt_stream_bound(stream);
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return rt_graph_launch(graph, stream);
}

RT_API cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t handle) {
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error && !graph)
    error = cudaErrorInvalidValue;
  if (!error)
    error = rt_stream_of(handle, &stream);
  return rt_leave(error);
}

/* ---- changing ---- */

static exec_node *find_node(exec *graph, const rt_node *source) {
  for (size_t i = 0; graph && source && i < graph->n; i++)
    if (graph->nodes[i].source == source)
      return &graph->nodes[i];
  return NULL;
}

static cudaError_t replace_and_leave(cudaError_t error, exec *graph, const rt_node *source,
                                     enum cudaGraphNodeType type, rt_work work) {
  exec_node *node = error ? NULL : find_node(graph, source);
  if (!error && (!node || node->type != type)) {
    rt_work_clear(&work);
    error = cudaErrorInvalidValue;
  }
  if (!error) {
    rt_work_clear(&node->work);
    node->work = work;
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                    const struct cudaKernelNodeParams *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_kernel_work(p, &work);
  return replace_and_leave(error, graph, node, cudaGraphNodeTypeKernel, work);
}

RT_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                    const struct cudaMemcpy3DParms *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_copy_3d_work(p, &work);
  return replace_and_leave(error, graph, node, cudaGraphNodeTypeMemcpy, work);
}

RT_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                      void *to, const void *from, size_t bytes,
                                                      enum cudaMemcpyKind kind) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  const rt_copy copy = {to, from, bytes, 1, 1, bytes, bytes, bytes, bytes, NULL};
  if (!error)
    error = rt_node_copy_work(copy, kind, &work);
  return replace_and_leave(error, graph, node, cudaGraphNodeTypeMemcpy, work);
}

RT_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                    const struct cudaMemsetParams *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_fill_work(p, &work);
  return replace_and_leave(error, graph, node, cudaGraphNodeTypeMemset, work);
}

static bool same_shape(const exec *a, const exec *b) {
  if (a->n != b->n)
    return false;
  for (size_t i = 0; i < a->n; i++) {
    const exec_node *left = &a->nodes[i], *right = &b->nodes[i];
    if (left->type != right->type || left->n_deps != right->n_deps)
      return false;
    if (left->n_deps && memcmp(left->deps, right->deps, left->n_deps * sizeof *left->deps))
      return false;
  }
  return true;
}

RT_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t graph, cudaGraph_t source,
                                       cudaGraphExecUpdateResultInfo *result) {
  cudaError_t error = rt_enter();
  if (!error && (!graph || !source || !result))
    error = cudaErrorInvalidValue;
  if (!error) {
    exec fresh = {0};
    error = build(&fresh, source);
    if (!error && !same_shape(graph, &fresh))
      error = cudaErrorGraphExecUpdateFailure;
    *result = (cudaGraphExecUpdateResultInfo){
        .result = error ? cudaGraphExecUpdateErrorTopologyChanged : cudaGraphExecUpdateSuccess};
    if (!error) {
      exec old = *graph;
      graph->nodes = fresh.nodes;
      graph->n = fresh.n;
      graph->capacity = fresh.capacity;
      /* the exec stays addressed by the nodes of the graph it was made from */
      for (size_t i = 0; i < old.n; i++)
        graph->nodes[i].source = old.nodes[i].source;
      old.last = NULL;
      clear(&old);
    } else {
      clear(&fresh);
    }
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t graph, cudaGraphNode_t source,
                                           unsigned enabled) {
  cudaError_t error = rt_enter();
  exec_node *node = error ? NULL : find_node(graph, source);
  if (!error && !node)
    error = cudaErrorInvalidValue;
  if (!error)
    node->disabled = !enabled;
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t graph, cudaGraphNode_t source,
                                           unsigned *enabled) {
  cudaError_t error = rt_enter();
  const exec_node *node = error ? NULL : find_node(graph, source);
  if (!error && (!node || !enabled))
    error = cudaErrorInvalidValue;
  if (!error)
    *enabled = !node->disabled;
  return rt_leave(error);
}
