/* SPDX-License-Identifier: MIT */
/* Graphs: nodes, dependencies, and nodes made by hand. What a node does is the same rt_work that a
 * stream takes. Instantiating and launching is in cudart_graph_exec.c. */
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

/* ---- nodes ---- */

rt_graph *rt_graph_new(void) {
  rt_graph *graph = calloc(1, sizeof *graph);
  if (!graph)
    rt_refuse("out of memory");
  return graph;
}

void rt_graph_free(rt_graph *graph) {
  if (!graph)
    return;
  for (size_t i = 0; i < graph->n_nodes; i++) {
    rt_node *node = graph->nodes[i];
    rt_work_clear(&node->work);
    rt_graph_free(node->child);
    free(node->deps);
    free(node);
  }
  free(graph->nodes);
  free(graph);
}

void rt_node_depend(rt_node *node, rt_node *dependency) {
  for (size_t i = 0; i < node->n_deps; i++)
    if (node->deps[i] == dependency)
      return;
  rt_node **grown = realloc(node->deps, (node->n_deps + 1) * sizeof *grown);
  if (!grown)
    rt_refuse("out of memory");
  node->deps = grown;
  node->deps[node->n_deps++] = dependency;
}

rt_node *rt_graph_add(rt_graph *graph, enum cudaGraphNodeType type, rt_work work,
                      rt_node *const *deps, size_t n_deps) {
  rt_node *node = calloc(1, sizeof *node);
  rt_node **grown = realloc(graph->nodes, (graph->n_nodes + 1) * sizeof *grown);
  if (!node || !grown)
    rt_refuse("out of memory");
  graph->nodes = grown;
  node->graph = graph;
  node->type = type;
  node->work = work;
  node->index = graph->n_nodes;
  for (size_t i = 0; i < n_deps; i++)
    rt_node_depend(node, deps[i]);
  graph->nodes[graph->n_nodes++] = node;
  return node;
}

rt_graph *rt_graph_clone(const rt_graph *graph) {
  rt_graph *clone = rt_graph_new();
  for (size_t i = 0; i < graph->n_nodes; i++) {
    const rt_node *from = graph->nodes[i];
    rt_work work;
    if (!rt_work_clone(&work, &from->work))
      rt_refuse("out of memory");
    rt_node *to = rt_graph_add(clone, from->type, work, NULL, 0);
    to->event = from->event;
    to->event_wait = from->event_wait;
    to->gpu = from->gpu;
    to->disabled = from->disabled;
    if (from->child)
      to->child = rt_graph_clone(from->child);
  }
  for (size_t i = 0; i < graph->n_nodes; i++)
    for (size_t d = 0; d < graph->nodes[i]->n_deps; d++)
      rt_node_depend(clone->nodes[i], clone->nodes[graph->nodes[i]->deps[d]->index]);
  return clone;
}

RT_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
  cudaError_t error = rt_enter();
  if (!error && (!graph || flags))
    error = cudaErrorInvalidValue;
  if (!error)
    *graph = rt_graph_new();
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  cudaError_t error = rt_enter();
  if (!error && !graph)
    error = cudaErrorInvalidValue;
  if (!error)
    rt_graph_free(graph);
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
  cudaError_t error = rt_enter();
  if (!error && (!clone || !graph))
    error = cudaErrorInvalidValue;
  if (!error)
    *clone = rt_graph_clone(graph);
  return rt_leave(error);
}

/* ---- nodes by hand ---- */

static cudaError_t check_node(const cudaGraphNode_t *node, const rt_graph *graph,
                              rt_node *const *deps, size_t n_deps) {
  if (!node || !graph || (n_deps && !deps))
    return cudaErrorInvalidValue;
  for (size_t i = 0; i < n_deps; i++)
    if (!deps[i] || deps[i]->graph != graph)
      return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t rt_node_kernel_work(const struct cudaKernelNodeParams *p, rt_work *work) {
  if (!p)
    return cudaErrorInvalidValue;
  if (p->extra)
    rt_refuse("kernel nodes with packed arguments ('extra') are not simulated");
  const rt_shape shape = {.grid = p->gridDim, .block = p->blockDim, .dynamic_shared_bytes = p->sharedMemBytes};
  return rt_launch_prepare(rt_current(), rt_kernel_find(p->func), &shape, p->kernelParams, work);
}

/* The source is read at each launch of the graph. */
cudaError_t rt_node_copy_work(rt_copy copy, enum cudaMemcpyKind kind, rt_work *work) {
  bool synchronous = true;
  const cudaError_t error = rt_copy_prepare(&copy, kind, &synchronous);
  if (!error)
    *work = (rt_work){.kind = RT_COPY, .u.copy = copy};
  return error;
}

cudaError_t rt_node_copy_3d_work(const struct cudaMemcpy3DParms *p, rt_work *work) {
  rt_copy copy;
  const cudaError_t error = rt_copy_from_3d(p, &copy);
  return error ? error : rt_node_copy_work(copy, p->kind, work);
}

cudaError_t rt_node_fill_work(const struct cudaMemsetParams *p, rt_work *work) {
  if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
    return cudaErrorInvalidValue;
  if (p->width > SIZE_MAX / p->elementSize)
    return cudaErrorInvalidValue;
  const rt_fill fill = {
      p->dst, p->width * p->elementSize, p->height, 1, p->pitch, 0, p->value, p->elementSize};
  const cudaError_t error = rt_fill_check(&fill);
  if (!error)
    *work = (rt_work){.kind = RT_FILL, .u.fill = fill};
  return error;
}

static rt_work host_work(const struct cudaHostNodeParams *p) {
  return (rt_work){.kind = RT_HOST, .u.host = {p->fn, NULL, NULL, p->userData}};
}

/* Adds what `error` and `work` say; gives the lock back. */
static cudaError_t add_and_leave(cudaError_t error, cudaGraphNode_t *node, rt_graph *graph,
                                 const cudaGraphNode_t *deps, size_t n_deps,
                                 enum cudaGraphNodeType type, rt_work work) {
  if (!error) {
    error = check_node(node, graph, deps, n_deps);
    if (error)
      rt_work_clear(&work);
  }
  if (!error) {
    rt_node *made = rt_graph_add(graph, type, work, deps, n_deps);
    made->gpu = rt_current();
    *node = made;
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *deps, size_t n_deps,
                                          const struct cudaKernelNodeParams *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_kernel_work(p, &work);
  return add_and_leave(error, node, graph, deps, n_deps, cudaGraphNodeTypeKernel, work);
}

RT_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *deps, size_t n_deps,
                                          const struct cudaMemcpy3DParms *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_copy_3d_work(p, &work);
  return add_and_leave(error, node, graph, deps, n_deps, cudaGraphNodeTypeMemcpy, work);
}

RT_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *deps, size_t n_deps, void *to,
                                            const void *from, size_t bytes,
                                            enum cudaMemcpyKind kind) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  const rt_copy copy = {to, from, bytes, 1, 1, bytes, bytes, bytes, bytes, NULL};
  if (!error)
    error = rt_node_copy_work(copy, kind, &work);
  return add_and_leave(error, node, graph, deps, n_deps, cudaGraphNodeTypeMemcpy, work);
}

RT_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *deps, size_t n_deps,
                                          const struct cudaMemsetParams *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_fill_work(p, &work);
  return add_and_leave(error, node, graph, deps, n_deps, cudaGraphNodeTypeMemset, work);
}

RT_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *deps, size_t n_deps,
                                        const struct cudaHostNodeParams *p) {
  cudaError_t error = rt_enter();
  if (!error && (!p || !p->fn))
    error = cudaErrorInvalidValue;
  const rt_work work = error ? (rt_work){0} : host_work(p);
  return add_and_leave(error, node, graph, deps, n_deps, cudaGraphNodeTypeHost, work);
}

RT_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *deps, size_t n_deps) {
  const cudaError_t error = rt_enter();
  return add_and_leave(error, node, graph, deps, n_deps, cudaGraphNodeTypeEmpty, (rt_work){0});
}

RT_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *deps, size_t n_deps,
                                              cudaGraph_t child) {
  cudaError_t error = rt_enter();
  if (!error)
    error = check_node(node, graph, deps, n_deps);
  if (!error && !child)
    error = cudaErrorInvalidValue;
  if (!error) {
    rt_node *made = rt_graph_add(graph, cudaGraphNodeTypeGraph, (rt_work){0}, deps, n_deps);
    made->child = rt_graph_clone(child);
    made->gpu = rt_current();
    *node = made;
  }
  return rt_leave(error);
}

static cudaError_t add_event_node(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps, size_t n_deps, cudaEvent_t event,
                                  bool wait) {
  cudaError_t error = rt_enter();
  if (!error)
    error = check_node(node, graph, deps, n_deps);
  if (!error && !event)
    error = cudaErrorInvalidValue;
  if (!error) {
    rt_node *made =
        rt_graph_add(graph, wait ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord,
                     (rt_work){.kind = wait ? RT_JOIN : RT_EVENT}, deps, n_deps);
    made->event = event;
    made->event_wait = wait;
    made->gpu = event->gpu;
    *node = made;
  }
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *deps, size_t n_deps,
                                               cudaEvent_t event) {
  return add_event_node(node, graph, deps, n_deps, event, false);
}

RT_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *deps, size_t n_deps,
                                             cudaEvent_t event) {
  return add_event_node(node, graph, deps, n_deps, event, true);
}

/* ---- dependencies and questions ---- */

RT_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *edges, size_t n) {
  (void)edges;
  cudaError_t error = rt_enter();
  if (!error && n && (!graph || !from || !to))
    error = cudaErrorInvalidValue;
  for (size_t i = 0; i < n && !error; i++)
    if (!from[i] || !to[i] || from[i] == to[i] || from[i]->graph != graph || to[i]->graph != graph)
      error = cudaErrorInvalidValue;
  for (size_t i = 0; i < n && !error; i++)
    rt_node_depend(to[i], from[i]);
  return rt_leave(error);
}

static cudaError_t list_nodes(const rt_graph *graph, rt_node **nodes, size_t *n, bool roots_only) {
  if (!graph || !n)
    return cudaErrorInvalidValue;
  size_t count = 0;
  for (size_t i = 0; i < graph->n_nodes; i++) {
    if (roots_only && graph->nodes[i]->n_deps)
      continue;
    if (nodes && count < *n)
      nodes[count] = graph->nodes[i];
    count++;
  }
  for (size_t i = count; nodes && i < *n; i++)
    nodes[i] = NULL;
  if (!nodes || count < *n)
    *n = count;
  return cudaSuccess;
}

RT_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) {
  cudaError_t error = rt_enter();
  if (!error)
    error = list_nodes(graph, nodes, n, false);
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) {
  cudaError_t error = rt_enter();
  if (!error)
    error = list_nodes(graph, nodes, n, true);
  return rt_leave(error);
}

RT_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
  cudaError_t error = rt_enter();
  if (!error && (!node || !type))
    error = cudaErrorInvalidValue;
  if (!error)
    *type = node->type;
  return rt_leave(error);
}

/* ---- changing a node ---- */

static cudaError_t replace_and_leave(cudaError_t error, rt_node *node, enum cudaGraphNodeType type,
                                     rt_work work) {
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

RT_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaKernelNodeParams *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_kernel_work(p, &work);
  return replace_and_leave(error, node, cudaGraphNodeTypeKernel, work);
}

RT_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemcpy3DParms *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_copy_3d_work(p, &work);
  return replace_and_leave(error, node, cudaGraphNodeTypeMemcpy, work);
}

RT_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemsetParams *p) {
  cudaError_t error = rt_enter();
  rt_work work = {0};
  if (!error)
    error = rt_node_fill_work(p, &work);
  return replace_and_leave(error, node, cudaGraphNodeTypeMemset, work);
}

RT_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                              const struct cudaHostNodeParams *p) {
  cudaError_t error = rt_enter();
  if (!error && (!p || !p->fn))
    error = cudaErrorInvalidValue;
  const rt_work work = error ? (rt_work){0} : host_work(p);
  return replace_and_leave(error, node, cudaGraphNodeTypeHost, work);
}
