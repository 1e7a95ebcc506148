/* SPDX-License-Identifier: MIT */
/* Private: tracks that are open, from one drain to the next: what is certain of their rings, and since when. */
#ifndef INK_CUDA_DRAIN_OPEN_H
#define INK_CUDA_DRAIN_OPEN_H

#include "cuda/drain_runs.h"
#include "cuda/session_private.h"
#include "decode/open_ring.h"

/* What is known of one open track. */
typedef struct ink_i_follow {
  uint64_t ticket;              /* + 1 */
  uint64_t drains, due;         /* that saw it open; at which its words are stored next */
  int64_t seen_ns, changed_ns;  /* CLOCK_MONOTONIC of the first drain that saw it, and of the last that found more */
  bool stored, whole;           /* its header is in the capture; and nothing more will come of it */
  struct {
    uint64_t first, reached, reached_clock; /* as stored last */
    bool exact;
    uint64_t seen_clock;             /* as last found, stored or not */
  } ring[2];
} ink_i_follow;

/* One open track as two copies of its rings show it. */
typedef struct ink_i_open_view {
  ink_track track;              /* words and flags too */
  const uint64_t *words[2];     /* of the body, of called functions: what is certain, oldest first */
  ink_open_words found[2];
  bool fresh[2];                /* there is more than what was stored last */
  ink_i_follow *follow;
  uint32_t slot;
} ink_i_open_view;
typedef ink_status ink_i_open_sink(ink_session *session, ink_i_device *device, const ink_i_open_view *view, void *user,
                                   ink_error *error);

/* Copies the rings of the `n` slots in d->wanted, ascending, whose tracks were open in d->headers, and hands what
 * is certain of each to `sink`. One that closed meanwhile is left out. `ended`: no kernel runs any more; `news`:
 * only words that were not stored yet. */
ink_status ink_i_open_view_each(ink_session *session, ink_i_device *device, uint32_t n, bool ended, bool news,
                                ink_i_open_sink *sink, void *user, ink_error *error);
/* Stores those that are new or have more words than what was stored of them: as parts in live mode. At first often,
 * then seldom, unless it is the `last` time or live mode. */
ink_status ink_i_open_store(ink_session *session, ink_i_device *device, uint32_t n, bool last, bool ended,
                            ink_error *error);
/* The slot's track, made anew where it is another one; NULL: out of memory. */
ink_i_follow *ink_i_follow_of(ink_i_device *device, uint32_t slot, uint64_t ticket);
void ink_i_follow_end(ink_i_device *device, uint32_t slot);
void ink_i_follows_free(ink_i_device *device);

/* drain_left.c: stores tracks that threads have left open, as such, and gives their slots back. */
ink_status ink_i_drain_left(ink_session *session, ink_i_device *device, ink_error *error);

/* drain_held.c: a drain of a device whose closed tracks wait for it. */
ink_status ink_i_drain_held(ink_session *session, ink_i_device *device, ink_error *error);
/* Lists the slots that were open at the last drain in d->wanted; how many. */
uint32_t ink_i_drain_list_open(ink_i_device *device);

#endif
