/* SPDX-License-Identifier: MIT */
/* Joins launches, which the device numbered, with the calls that made them, which the host saw: those of one device,
 * function and dimensions in the order of both, where there are as many of each. What a graph launched lies between its
 * neighbours. What is not certain is not joined. */
#include "capture_private.h"
#include "fnv.h"

#include <stdlib.h>
#include <string.h>

/* A launch of the capture, or a call. */
typedef struct side {
  uint64_t name;       /* hash of the function's last name; 0: it tells nothing */
  int32_t device;
  uint32_t dims[6];
  uint64_t order;      /* grid ids; calls: as they were made */
  uint32_t index;
  bool captured, unsure;
} side;

/* Of "k" in "ns::k<float, 4>" and "void ns::Loop<T>::k(T *) [with T=float]". 0: there is none. */
static uint64_t hash_last_name(const char *text) {
  const char *begin = text, *end = NULL;
  size_t depth = 0;
  for (; *text && !(*text == '(' && !depth && text != begin); text++) {
    if (*text == '<' || *text == '(')
      end = depth++ || end ? end : text;
    else if ((*text == '>' || *text == ')') && depth)
      depth--;
    else if (!depth && strchr(": *&", *text))
      begin = text + 1, end = NULL;
  }
  end = end ? end : text;
  return begin == end ? 0 : ink_fnv(INK_FNV_BEGIN, begin, end > begin ? (size_t)(end - begin) : 0);
}

static uint64_t name_of_kernel(const ink_capture *capture, uint32_t kernel) {
  const char *instance = capture->kernels.items[kernel].instance;
  return instance ? hash_last_name(instance) : 0;
}

static uint64_t name_of_call(const ink_host_launch *call) {
  char text[512];
  ink_activity_short_name(call->function, text, sizeof text);
  return hash_last_name(text);
}

static int compare_keys(const side *a, const side *b) {
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  if (a->name != b->name)
    return a->name < b->name ? -1 : 1;
  return memcmp(a->dims, b->dims, sizeof a->dims);
}

static int by_key(const void *left, const void *right) {
  const side *a = left, *b = right;
  const int keys = compare_keys(a, b);
  if (keys || a->captured != b->captured)
    return keys ? keys : a->captured - b->captured;
  if (a->order != b->order)
    return a->order < b->order ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

static int by_grid(const void *left, const void *right) {
  const side *a = left, *b = right;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  if (a->order != b->order)
    return a->order < b->order ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

typedef struct join {
  ink_capture *capture;
  const ink_host_launch *calls;
  side *sides;     /* [count] */
  size_t count, launches;
  bool lost;       /* of some launches nothing is left */
} join;

/* Names count where both sides have them: a kernel's track may be opened by a function that it calls. */
static bool name_sides(join *j) {
  id_map known[2] = {{0}, {0}};
  bool fine = true;
  for (size_t i = 0; i < j->count && fine; i++)
    fine = !j->sides[i].name || id_map_put(&known[j->sides[i].captured], j->sides[i].name, 1);
  for (size_t i = 0; i < j->count && fine; i++)
    if (id_map_get(&known[!j->sides[i].captured], j->sides[i].name) == INK_ID_NONE)
      j->sides[i].name = 0;
  id_map_free(&known[0]);
  id_map_free(&known[1]);
  return fine;
}

static bool make_sides(join *j) {
  const ink_capture *capture = j->capture;
  const capture_host *host = &capture->host;
  uint64_t *names = malloc((capture->kernels.count + 1) * sizeof *names);
  j->sides = calloc(capture->launches.count + host->launches.count + 1, sizeof *j->sides);
  for (size_t i = 0; names && i < capture->kernels.count; i++)
    names[i] = name_of_kernel(capture, (uint32_t)i);
  for (size_t i = 0; names && j->sides && i < capture->launches.count; i++) {
    const ink_launch *l = &capture->launches.items[i];
    side *s = &j->sides[j->count++];
    *s = (side){.device = l->device, .order = l->grid_id, .index = (uint32_t)i, .captured = true,
                .name = l->kernel < capture->kernels.count ? names[l->kernel] : 0};
    memcpy(s->dims, l->grid_dim, sizeof l->grid_dim);
    memcpy(s->dims + 3, l->block_dim, sizeof l->block_dim);
  }
  j->launches = j->count;
  for (size_t i = 0; names && j->sides && i < host->launches.count; i++) {
    const ink_host_launch *call = &j->calls[i];
    if (call->flags & (INK_HOST_GRAPH | INK_HOST_OUTSIDE))
      continue;
    side *s = &j->sides[j->count++];
    *s = (side){.device = call->device, .order = i, .index = (uint32_t)i, .name = name_of_call(call)};
    memcpy(s->dims, call->grid_dim, sizeof call->grid_dim);
    memcpy(s->dims + 3, call->block_dim, sizeof call->block_dim);
  }
  free(names);
  return names && j->sides && name_sides(j);
}

/* Calls of several threads that lie over each other: which came first is not known. */
static void find_unsure(const join *j, side *calls, size_t n) {
  for (size_t first = 0, i; first < n; first = i) {
    int64_t until = j->calls[calls[first].index].end_ns;
    bool several = false;
    for (i = first + 1; i < n && j->calls[calls[i].index].begin_ns < until; i++) {
      const ink_host_launch *call = &j->calls[calls[i].index];
      several = several || call->thread != j->calls[calls[first].index].thread;
      until = call->end_ns > until ? call->end_ns : until;
    }
    for (size_t k = first; k < i && several; k++)
      calls[k].unsure = true;
  }
}

/* Calls first, as sorted. Of a recording that broke off the last ones did not run any more. */
static void pair(join *j, side *group, size_t calls, size_t launches) {
  const bool cut = !j->capture->facts.complete || ink_capture_fact(j->capture, "unfinished");
  const bool as_many = calls == launches || (calls > launches && cut && !j->lost);
  find_unsure(j, group, calls);
  for (size_t i = 0; i < launches && as_many; i++)
    if (!group[i].unsure)
      j->capture->host.calls[group[calls + i].index] = group[i].index;
}

static void pair_groups(join *j) {
  qsort(j->sides, j->count, sizeof *j->sides, by_key);
  for (size_t first = 0, last; first < j->count; first = last) {
    size_t calls = 0;
    for (last = first; last < j->count && !compare_keys(&j->sides[first], &j->sides[last]); last++)
      calls += !j->sides[last].captured;
    pair(j, &j->sides[first], calls, last - first - calls);
  }
}

/* ---- graphs ---- */

/* Launches that are not joined, between two that are: they are of graphs among the calls [low, high). */
typedef struct gap {
  const side *launches;
  size_t n, low, high;
} gap;

static bool is_graph(const ink_host_launch *call, int32_t device) {
  return call->device == device && (call->flags & (INK_HOST_GRAPH | INK_HOST_OUTSIDE)) == INK_HOST_GRAPH;
}

/* As many of them for each graph, the same ones in the same order. */
static bool are_replays(const gap *g, size_t graphs) {
  const size_t each = graphs ? g->n / graphs : 0;
  if (!each || g->n % graphs)
    return false;
  for (size_t i = each; i < g->n; i++)
    if (compare_keys(&g->launches[i], &g->launches[i - each]))
      return false;
  return true;
}

/* A kernel's own call, of the shape of one of these launches, which stayed unjoined: the launch may be its. */
static bool may_be_of(const gap *g, const ink_host_launch *call) {
  if (call->device != g->launches->device || call->flags & (INK_HOST_GRAPH | INK_HOST_OUTSIDE))
    return false;
  for (size_t i = 0; i < g->n; i++)
    if (!memcmp(g->launches[i].dims, call->grid_dim, sizeof call->grid_dim) &&
        !memcmp(g->launches[i].dims + 3, call->block_dim, sizeof call->block_dim))
      return true;
  return false;
}

static void join_gap(join *j, const gap *g) {
  size_t graphs = 0, at = 0;
  for (size_t i = g->low; i < g->high; i++) {
    const ink_host_launch *call = &j->calls[i];
    graphs += is_graph(call, g->launches->device);
    if (may_be_of(g, call))
      return;
  }
  if (!are_replays(g, graphs))
    return;
  for (size_t i = g->low; i < g->high; i++)
    for (size_t k = 0; k < g->n / graphs && is_graph(&j->calls[i], g->launches->device); k++)
      j->capture->host.calls[g->launches[at++].index] = (uint32_t)i;
}

/* Every call is looked at once. */
static void join_graphs(join *j) {
  const uint32_t *calls = j->capture->host.calls;
  size_t n = 0, low = 0;
  for (size_t i = 0; i < j->count; i++)
    if (j->sides[i].captured)
      j->sides[n++] = j->sides[i];
  qsort(j->sides, n, sizeof *j->sides, by_grid);
  for (size_t i = 0; i < n;) {
    const uint32_t call = calls[j->sides[i].index];
    if (i && j->sides[i - 1].device != j->sides[i].device)
      low = 0;
    if (call != UINT32_MAX) {
      low = call >= low ? call + (size_t)1 : low;
      i++;
      continue;
    }
    gap g = {.launches = &j->sides[i], .low = low, .high = j->capture->host.launches.count};
    while (i < n && j->sides[i].device == g.launches->device && calls[j->sides[i].index] == UINT32_MAX)
      i++, g.n++;
    if (i < n && j->sides[i].device == g.launches->device)
      g.high = calls[j->sides[i].index];
    join_gap(j, &g);
  }
}

bool ink_join_host(ink_capture *capture) {
  join j = {.capture = capture, .calls = capture->host.launches.items};
  capture->host.calls = malloc((capture->launches.count + 1) * sizeof *capture->host.calls);
  bool fine = capture->host.calls != NULL;
  for (size_t i = 0; i < capture->launches.count && fine; i++)
    capture->host.calls[i] = UINT32_MAX;
  fine = fine && make_sides(&j);
  for (size_t k = 0; k < capture->kernels.count; k++)
    j.lost |= capture->kernels.items[k].missed || capture->kernels.items[k].tracks_lost;
  if (fine) {
    pair_groups(&j);
    join_graphs(&j);
  }
  free(j.sides);
  return fine;
}
