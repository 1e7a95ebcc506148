/* SPDX-License-Identifier: MIT */
/* Captures of a size and shape to order, for the host benchmarks. */
#ifndef INKMARK_BENCH_STREAMS_H
#define INKMARK_BENCH_STREAMS_H

#include "synth.h"

#include <time.h>

static inline double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may run on this machine */
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline uint32_t draw(uint64_t *state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

typedef struct shape {
  const char *name;
  uint32_t ring, aux_ring;
  uint32_t marks_per_iteration; /* 0: no ITER */
  bool nested, called;
} shape;

/* Fills one track's rings to the last word, in the way of a solver's loop. */
static inline void fill(synth_track *track, const shape *s, uint64_t *random) {
  uint64_t clock = 1000, row = 0;
  synth_open(track, clock, 1000);
  while (track->header.words < s->ring * 9 / 8) {
    if (s->marks_per_iteration)
      synth_record(track, 0, INK_KIND_ITER, 0, row++, clock += 4);
    uint32_t marks = s->marks_per_iteration ? s->marks_per_iteration : 5;
    for (uint32_t i = 0; i < marks; i++) {
      uint32_t section = 2 + i % 5;
      if (s->nested && i == 1)
        synth_record(track, 0, INK_KIND_BEGIN, section, 0, clock += 10);
      if (s->called && i == 2 && track->header.aux_words < s->aux_ring)
        synth_record(track, 1, INK_KIND_MARK, 1, 0, clock += 50 + draw(random, 20));
      clock += 100 * (i + 1) + draw(random, 64);
      synth_record(track, 0, s->nested && i == 1 ? INK_KIND_END : INK_KIND_MARK, section, 0, clock);
    }
  }
  synth_close(track, clock + 10, 1000 + (clock - 1000) / 2);
}

static inline void make_capture(const char *path, const shape *s, uint64_t records) {
  uint64_t random = 1;
  ink_writer *writer = synth_writer(path, s->ring, s->aux_ring, false);
  synth_track track;
  if (synth_costs(writer, NULL) != INK_OK)
    exit(1);
  synth_track_init(&track, s->ring, s->aux_ring, false);
  track.header.grid_dim[0] = (uint32_t)(records / s->ring);
  for (uint64_t i = 0; i < records / s->ring; i++) {
    track.header.words = track.header.extra = track.header.aux_words = track.header.aux_extra = 0;
    track.header.block_index[0] = (uint32_t)i;
    track.header.ticket = i;
    track.header.sm_open = track.header.sm_close = (uint32_t)i % 4;
    track.header.grid_id = 1;
    fill(&track, s, &random);
    synth_put(writer, &track);
  }
  synth_finish(writer);
  synth_track_free(&track);
}

#endif
