/* SPDX-License-Identifier: MIT */
/* Replays the records of a ring, as the decoder cuts them, up to the newest. */
#include "cuda/hang_place.h"

#include "decode/decode_events.h"

#include <stdlib.h>

enum { DEPTH_MAX = 32, STEPS_MAX = 256 };

typedef struct ring_place {
  ink_i_section open[DEPTH_MAX];
  uint64_t open_clock[DEPTH_MAX];
  size_t depth;             /* may be above DEPTH_MAX */
  ink_i_section after;
  uint64_t newest_clock;
  int64_t iteration;
  bool has_iteration, any;
} ring_place;

static ink_status cut(ink_ring *ring, ink_error *error) {
  ring->payload = calloc(ring->count ? ring->count : 1, 1);
  if (!ring->payload)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a ring's records");
  ring->lost_front = true;
  ink_ring_cut(ring);
  return INK_OK;
}

static void apply(ring_place *p, const ink_record *r) {
  const ink_i_section section = {r->hash48, r->section};
  p->any = true;
  p->newest_clock = r->clock64;
  if (r->kind == INK_KIND_BEGIN) {
    if (p->depth < DEPTH_MAX) {
      p->open[p->depth] = section;
      p->open_clock[p->depth] = r->clock64;
    }
    p->depth++;
  } else if (r->kind == INK_KIND_END) {
    p->depth -= p->depth > 0;
    p->after = section;
  } else if (r->kind == INK_KIND_MARK) {
    p->after = section;
  } else if (r->kind == INK_KIND_ITER) {
    p->iteration = (int64_t)r->payload[0];
    p->has_iteration = true;
  }
}

static ink_status replay(const uint64_t *words, uint64_t count, uint64_t open_clock, uint64_t last_clock,
                         ring_place *out, ink_error *error) {
  ink_ring ring = {.words = words, .count = (size_t)count, .open_clock = open_clock, .close_clock = last_clock};
  const ink_status status = cut(&ring, error);
  if (status)
    return status;
  uint64_t upper = ring.first_upper;
  for (size_t at = ring.first; at < ring.count;) {
    ink_record record;
    at = ink_ring_record(&ring, at, &upper, &record);
    apply(out, &record);
  }
  free(ring.payload);
  return INK_OK;
}

/* Marks of called functions are inside of what the body has open, unless the body went on after them. */
ink_status ink_i_place_of(const ink_i_open_view *view, ink_i_place *out, ink_error *error) {
  ring_place rings[2] = {{.depth = 0}, {.depth = 0}};
  ink_status status = INK_OK;
  for (int i = 0; i < 2 && !status; i++)
    if (view->found[i].count)
      status = replay(view->words[i], view->found[i].count, view->track.open_clock1, view->found[i].reached_clock,
                      &rings[i], error);
  const bool called = rings[1].any && (!rings[0].any || rings[1].newest_clock >= rings[0].newest_clock);
  const ring_place *newer = &rings[called], *body = &rings[0];
  const ring_place *opened = newer->depth ? newer : body;
  *out = (ink_i_place){.after = newer->after.id ? newer->after : body->after,
                       .newest_clock = newer->newest_clock,
                       .iteration = body->iteration,
                       .has_iteration = body->has_iteration,
                       .has_records = newer->any,
                       .known = view->found[0].newest && view->found[1].newest};
  if (opened->depth && opened->depth <= DEPTH_MAX) {
    out->inside = opened->open[opened->depth - 1];
    out->inside_clock = opened->open_clock[opened->depth - 1];
  }
  return status;
}

ink_status ink_i_place_steps(const uint64_t *words, uint64_t count, uint64_t open_clock, uint64_t last_clock,
                             void (*step)(void *user, ink_i_section from, ink_i_section to), void *user,
                             ink_error *error) {
  if (count > STEPS_MAX) {
    words += count - STEPS_MAX;
    count = STEPS_MAX;
  }
  ink_ring ring = {.words = words, .count = (size_t)count, .open_clock = open_clock, .close_clock = last_clock};
  const ink_status status = cut(&ring, error);
  if (status)
    return status;
  uint64_t upper = ring.first_upper;
  ink_i_section before = {0, 0};
  for (size_t at = ring.first; at < ring.count;) {
    ink_record record;
    at = ink_ring_record(&ring, at, &upper, &record);
    const ink_i_section section = {record.hash48, record.section};
    if (record.kind != INK_KIND_MARK && record.kind != INK_KIND_BEGIN && record.kind != INK_KIND_END)
      continue;
    if (before.id)
      step(user, before, section);
    /* A thread in a range is told to be inside of it, and never after its begin. */
    before = record.kind == INK_KIND_BEGIN ? (ink_i_section){0, 0} : section;
  }
  free(ring.payload);
  return INK_OK;
}
