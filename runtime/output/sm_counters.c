/* SPDX-License-Identifier: MIT */
/* Counts what runs where, from the begins and ends of tracks and slices. */
#include "sm_counters.h"

#include "selection.h"
#include "track_events.h"

#include <stdlib.h>

enum { EDGES_MAX = 4 << 20 }; /* of sections; 24 bytes each */

static ink_status add(sm_counters *c, const counter_edge *edge) {
  void *edges = c->edges;
  ink_status status = ink_grow(&edges, c->count, &c->room, sizeof *c->edges);
  c->edges = edges;
  if (status == INK_OK)
    c->edges[c->count++] = *edge;
  return status;
}

static ink_status add_both(sm_counters *c, uint32_t sm, uint32_t section, int64_t begin_ns,
                           int64_t end_ns) {
  if (end_ns <= begin_ns || begin_ns < 0) /* of a damaged track: no time that a trace has */
    return INK_OK;
  ink_status status = add(c, &(counter_edge){begin_ns, c->device, sm, section, 1});
  return status == INK_OK ? add(c, &(counter_edge){end_ns, c->device, sm, section, -1}) : status;
}

static ink_status end_block(sm_counters *c) {
  if (!c->some)
    return INK_OK;
  c->some = false;
  ink_status status = add_both(c, c->sm, COUNTER_BLOCKS, c->begin_ns, c->end_ns);
  if (status != INK_OK)
    return status;
  return add_both(c, COUNTER_WHOLE_GPU, COUNTER_BLOCKS, c->begin_ns, c->end_ns);
}

ink_status sm_counters_track(sm_counters *c, uint32_t launch, int32_t device,
                             const ink_track *header, int64_t begin_ns, int64_t end_ns) {
  uint64_t block = ink_block_linear(header);
  if (c->some && c->launch == launch && c->block == block && c->sm == header->sm_open) {
    c->begin_ns = begin_ns < c->begin_ns ? begin_ns : c->begin_ns;
    c->end_ns = end_ns > c->end_ns ? end_ns : c->end_ns;
    return INK_OK;
  }
  ink_status status = end_block(c);
  c->some = true;
  c->launch = launch;
  c->device = device;
  c->block = block;
  c->sm = header->sm_open;
  c->begin_ns = begin_ns;
  c->end_ns = end_ns;
  return status;
}

ink_status sm_counters_section(sm_counters *c, ink_section_index section, int64_t begin_ns,
                               int64_t end_ns) {
  if (!c->sections || c->full || section == INK_SECTION_UNKNOWN)
    return INK_OK;
  c->full = c->count >= EDGES_MAX;
  return c->full ? INK_OK : add_both(c, c->sm, section, begin_ns, end_ns);
}

static int by_counter(const void *left, const void *right) {
  const counter_edge *a = left, *b = right;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  /* the whole GPU, then SM by SM */
  uint32_t sm_a = a->sm + 1, sm_b = b->sm + 1;
  if (sm_a != sm_b)
    return sm_a < sm_b ? -1 : 1;
  uint32_t section_a = a->section + 1, section_b = b->section + 1;
  if (section_a != section_b)
    return section_a < section_b ? -1 : 1;
  return (a->ns > b->ns) - (a->ns < b->ns);
}

static bool same(const counter_edge *a, const counter_edge *b) {
  return a->device == b->device && a->sm == b->sm && a->section == b->section;
}

ink_status sm_counters_end(sm_counters *c, const counter_user *user) {
  ink_status status = end_block(c);
  if (status != INK_OK)
    return status;
  if (c->count)
    qsort(c->edges, c->count, sizeof *c->edges, by_counter);
  int64_t value = 0;
  for (size_t i = 0; i < c->count; i++) {
    const counter_edge *e = &c->edges[i];
    bool first = !i || !same(e, e - 1);
    if (c->full && e->section != COUNTER_BLOCKS)
      continue;
    if (first) {
      value = 0;
      user->begin(user->user, e);
    }
    value += e->step;
    if (i + 1 == c->count || !same(e, e + 1) || e[1].ns != e->ns)
      user->value(user->user, e->ns, value);
  }
  return INK_OK;
}

void sm_counters_name(const counter_edge *of, const char *section, char *text, size_t size) {
  char sm[32];
  snprintf(sm, sizeof sm, "SM %u", of->sm);
  snprintf(text, size, "%s %.100s", of->sm == COUNTER_WHOLE_GPU ? "inkmark" : sm,
           of->section == COUNTER_BLOCKS ? "active blocks" : section);
}

void sm_counters_free(sm_counters *c) {
  free(c->edges);
}
