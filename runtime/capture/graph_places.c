/* SPDX-License-Identifier: MIT */
/* Which node of which graph, and in which replay, each launch was, as activity saw it. */
#include "capture_private.h"

#include "inkmark/activity.h"

#include <stdlib.h>

typedef struct replays { /* of one graph */
  uint32_t correlation, count; /* of the newest call that launched it; how many there were */
  uint32_t nodes;              /* seen so far */
} replays;

typedef struct graph_walk {
  id_map graphs, nodes; /* graph: its place in `all`; graph and node: the node's number */
  INK_I_LIST(replays) all;
} graph_walk;

/* The graph's replays; NULL: out of memory. */
static replays *replays_of(graph_walk *w, uint32_t graph) {
  uint32_t at = id_map_get(&w->graphs, graph);
  if (at == INK_ID_NONE) {
    at = (uint32_t)w->all.count;
    if (!INK_I_ROOM(w->all) || !id_map_put(&w->graphs, graph, at))
      return NULL;
    w->all.items[w->all.count++] = (replays){0};
  }
  return &w->all.items[at];
}

/* Activities come by begin: the nodes of a graph are counted as they began for the first time. */
static bool take(graph_walk *w, const ink_activity *kernel, uint32_t place[3]) {
  replays *r = replays_of(w, kernel->graph);
  if (!r)
    return false;
  if (!r->count || kernel->correlation != r->correlation)
    r->count++;
  r->correlation = kernel->correlation;
  const uint64_t key = ink_mix64(kernel->graph) + kernel->graph_node;
  uint32_t node = id_map_get(&w->nodes, key);
  if (node == INK_ID_NONE) {
    node = r->nodes++;
    if (!id_map_put(&w->nodes, key, node))
      return false;
  }
  place[0] = kernel->graph;
  place[1] = node;
  place[2] = r->count - 1;
  return true;
}

ink_status ink_capture_graph_places(const ink_capture *capture, uint32_t (**out)[3], ink_error *error) {
  const ink_activity *const *all;
  const size_t n = ink_capture_activities(capture, &all, NULL), launches = capture->launches.count;
  uint32_t(*places)[3] = calloc(launches + 1, sizeof *places);
  graph_walk w = {0};
  bool fine = places != NULL;
  for (size_t i = 0; i < n && fine; i++) {
    uint32_t place[3] = {0};
    if (all[i]->kind != INK_ACTIVITY_KERNEL || !all[i]->graph)
      continue;
    const uint32_t launch = ink_activity_launch(capture, all[i]);
    fine = take(&w, all[i], place);
    for (int k = 0; k < 3 && launch < launches; k++)
      places[launch][k] = place[k];
  }
  id_map_free(&w.graphs);
  id_map_free(&w.nodes);
  free(w.all.items);
  if (!fine) {
    free(places);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the graphs' launches");
  }
  *out = places;
  return INK_OK;
}
