/* SPDX-License-Identifier: MIT */
/* GPUs whose clocks are known to the cycle, the captures that tracks on them leave, and how far what
 * a clock map makes of these is from the truth. Everything is drawn from a seed. */
#ifndef INKMARK_TESTS_TRUE_CLOCK_H
#define INKMARK_TESTS_TRUE_CLOCK_H

#include "inkmark/decode.h"
#include "synth.h"

#include <math.h>

enum {
  TRUE_SMS = 6,
  TRUE_CHANGES = 4,
  TRUE_PROBES = 64,
  TRUE_EDGES_NS = 3000000 /* what catching edges takes at most; the tracks begin after it */
};

typedef struct true_kind {
  const char *name;
  double step_ns;
  int tracks;          /* on each SM */
  double long_ns;      /* the longest track */
  double span_ns;      /* over which they lie */
  int changes;         /* of the rate */
  double clocks_ns;    /* between clock triples in a track; 0: none */
  bool short_sm;       /* the last SM sees one block of 300 ns only */
  bool edges;          /* a kernel caught edges on every SM before and after */
} true_kind;

static const true_kind true_kinds[] = {
    {"many tracks", 32, 100, 2e6, 1e8, 0, 0, false, false},
    {"many tracks", 1024, 100, 2e6, 1e8, 0, 0, false, false},
    {"many tracks, an hour", 32, 100, 2e6, 3.6e12, 0, 0, false, false},
    {"few tracks", 32, 4, 3e6, 1e7, 0, 0, false, false},
    {"few tracks", 1000, 4, 3e6, 1e7, 0, 0, false, false},
    {"coarse timer", 1000000, 100, 2e7, 1e9, 0, 0, false, false},
    {"one SM with one short block", 32, 60, 2e6, 1e8, 0, 0, true, false},
    {"one SM with one short block", 1024, 60, 2e6, 1e8, 0, 0, true, false},
    {"rate changes between tracks", 32, 200, 1e5, 1e8, 2, 0, false, false},
    {"rate changes in long tracks", 32, 3, 3e7, 1e8, 2, 1e5, false, false},
    {"rate changes in long tracks", 1024, 3, 3e7, 1e8, 2, 1e5, false, false},
    {"edges, many tracks", 32, 100, 2e6, 1e8, 0, 0, false, true},
    {"edges, many tracks", 1024, 100, 2e6, 1e8, 0, 0, false, true},
    {"edges, many tracks, an hour", 32, 100, 2e6, 3.6e12, 0, 0, false, true},
    {"edges, few tracks", 32, 4, 3e6, 1e7, 0, 0, false, true},
    {"edges, few tracks", 1000, 4, 3e6, 1e7, 0, 0, false, true},
    {"edges, coarse timer", 1000000, 100, 2e7, 1e9, 0, 0, false, true},
    {"edges, one SM with one short block", 32, 60, 2e6, 1e8, 0, 0, true, true},
    {"edges, one SM with one short block", 1024, 60, 2e6, 1e8, 0, 0, true, true},
    {"edges, rate changes between tracks", 32, 200, 1e5, 1e8, 2, 0, false, true},
    {"edges, rate changes in long tracks", 32, 3, 3e7, 1e8, 2, 1e5, false, true},
    {"edges, rate changes in long tracks", 1024, 3, 3e7, 1e8, 2, 1e5, false, true},
};
#define TRUE_KINDS (sizeof true_kinds / sizeof *true_kinds)

typedef struct true_gpu {
  const true_kind *kind;
  uint64_t random, epoch_ns;
  uint64_t skew[TRUE_SMS];
  double factor[TRUE_SMS];            /* of the rate */
  double at_ns[TRUE_CHANGES + 1], hz[TRUE_CHANGES + 1]; /* from at_ns on, all SMs */
  int changes;
} true_gpu;

typedef struct true_score { /* of one run; INFINITY where the map stated no bound */
  double error_ns, bound_ns, slope_ppm, offset_ns;
  bool within;
  uint32_t changed;
} true_score;

static inline double true_draw(true_gpu *g) { /* [0, 1) */
  g->random = g->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t z = (g->random ^ g->random >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  return (double)((z ^ z >> 32) >> 11) * 0x1p-53;
}

static inline uint64_t true_timer(const true_gpu *g, double t_ns) {
  uint64_t step = (uint64_t)g->kind->step_ns, ns = g->epoch_ns + (uint64_t)t_ns;
  return ns - ns % step;
}

static inline uint64_t true_cycles(const true_gpu *g, uint32_t sm, double t_ns) {
  double cycles = 0;
  for (int i = 0; i <= g->changes; i++) {
    double end = i < g->changes && g->at_ns[i + 1] < t_ns ? g->at_ns[i + 1] : t_ns;
    if (end > g->at_ns[i])
      cycles += (end - g->at_ns[i]) * g->hz[i] * 1e-9 * g->factor[sm];
  }
  return g->skew[sm] + (uint64_t)cycles;
}

static inline void true_make(true_gpu *g, const true_kind *kind, uint64_t seed) {
  *g = (true_gpu){.kind = kind, .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
  g->epoch_ns = UINT64_C(1700000000000000000) + (uint64_t)(true_draw(g) * 1e9);
  g->changes = kind->changes;
  for (int i = 0; i <= kind->changes; i++) {
    g->hz[i] = 1e9 + true_draw(g) * 1e9;
    g->at_ns[i] = i ? kind->span_ns * (i + true_draw(g) * 0.5) / (kind->changes + 1) : 0;
    g->at_ns[i] += i && kind->edges ? TRUE_EDGES_NS : 0;
  }
  for (int i = 0; i < TRUE_SMS; i++) {
    g->skew[i] = (uint64_t)(true_draw(g) * 0x1p47);
    g->factor[i] = 1 + (true_draw(g) - 0.5) * 1e-4;
  }
}

/* Three reads, a few cycles apart. */
static inline void true_triple(true_gpu *g, uint32_t sm, double t_ns, uint64_t *before,
                               uint64_t *global_ns, uint64_t *after) {
  *before = true_cycles(g, sm, t_ns);
  *global_ns = true_timer(g, t_ns + true_draw(g) * 8);
  *after = true_cycles(g, sm, t_ns + 8 + true_draw(g) * 8);
}

static inline void true_track(true_gpu *g, ink_writer *writer, uint32_t sm, double from,
                              double to) {
  static uint64_t ticket;
  synth_track t;
  synth_track_init(&t, 2048, 4, false);
  t.header.sm_open = t.header.sm_close = sm;
  t.header.ticket = t.header.grid_id = ++ticket;
  true_triple(g, sm, from, &t.header.open_clock0, &t.header.open_global_ns,
              &t.header.open_clock1);
  if (g->kind->clocks_ns > 0)
    for (double at = from + g->kind->clocks_ns; at < to - 1000; at += g->kind->clocks_ns) {
      uint64_t words[5];
      true_triple(g, sm, at, &words[0], &words[2], &words[1]);
      words[3] = INK_HEAD(INK_KIND_INSTANT, 0, words[1]);
      words[4] = INK_ESCAPE_WORD(INK_ESCAPE_CLOCKS, 0, words[1]);
      synth_words(&t, 0, words, 5);
    }
  true_triple(g, sm, to, &t.header.close_clock0, &t.header.close_global_ns,
              &t.header.close_clock1);
  synth_put(writer, &t);
  synth_track_free(&t);
}

typedef struct true_range {
  double from, to;
} true_range;

/* Writes the tracks of every SM one after the other; says where stamps of each may lie. */
static inline void true_tracks(true_gpu *g, ink_writer *writer, true_range *ranges) {
  const true_kind *kind = g->kind;
  for (uint32_t sm = 0; sm < TRUE_SMS; sm++) {
    bool one = kind->short_sm && sm == TRUE_SMS - 1;
    int n = one ? 1 : kind->tracks;
    for (int i = 0; i < n; i++) {
      double room = kind->span_ns / n, length = one ? 300 : kind->long_ns;
      length = fmin(length, room * 0.9) * (one ? 1 : 0.3 + 0.7 * true_draw(g));
      double from = 1000 + room * i + true_draw(g) * (room - length);
      from += kind->edges ? TRUE_EDGES_NS : 0;
      true_track(g, writer, sm, from, from + length);
      ranges[sm * (uint32_t)kind->tracks + (uint32_t)i] = (true_range){from, from + length};
    }
    for (int i = n; i < kind->tracks; i++)
      ranges[sm * (uint32_t)kind->tracks + (uint32_t)i] = ranges[sm * (uint32_t)kind->tracks];
  }
}

/* What the kernel of mark_clock.cuh does, with reads that take 8 to 16 ns each. */
static inline uint32_t true_catch(true_gpu *g, uint32_t sm, double from_ns, ink_edge *edges) {
  const double few_ns = 1e5, most_ns = 2e6;
  uint32_t caught = 0;
  double now = from_ns;
  uint64_t before = true_cycles(g, sm, now), between, old_ns;
  old_ns = true_timer(g, now += 4 + true_draw(g) * 4);
  between = true_cycles(g, sm, now += 4 + true_draw(g) * 4);
  while (caught < 32 && now - from_ns < (caught < 2 ? most_ns : few_ns)) {
    uint64_t ns = true_timer(g, now += 4 + true_draw(g) * 4);
    uint64_t after = true_cycles(g, sm, now += 4 + true_draw(g) * 4);
    if (ns == old_ns) {
      before = between;
      between = after;
      continue;
    }
    edges[caught++] = (ink_edge){before, after, ns, (uint32_t)(ns - old_ns)};
    before = true_cycles(g, sm, now += 3 * caught);
    old_ns = true_timer(g, now += 4 + true_draw(g) * 4);
    between = true_cycles(g, sm, now += 4 + true_draw(g) * 4);
  }
  return caught;
}

static inline void true_edges(true_gpu *g, ink_writer *writer, double from_ns, uint32_t when) {
  static ink_edge edges[TRUE_SMS][32];
  ink_sm_edges sms[TRUE_SMS];
  ink_error error;
  for (uint32_t sm = 0; sm < TRUE_SMS; sm++) {
    uint32_t count = true_catch(g, sm, from_ns + true_draw(g) * 5000, edges[sm]);
    sms[sm] = (ink_sm_edges){.sm = sm, .count = count, .edges = edges[sm]};
  }
  const ink_clock_edges all = {.when = when, .sm_count = TRUE_SMS, .sms = sms, .note = ""};
  if (ink_writer_clock_edges(writer, &all, &error) != INK_OK)
    exit(1);
}

static inline double true_error(const true_gpu *g, const ink_clock_map *map, uint32_t sm,
                                double t_ns, uint64_t *cycles) {
  *cycles = true_cycles(g, sm, t_ns);
  return (double)(ink_clock_map_ns(map, 0, sm, *cycles) - (int64_t)g->epoch_ns) - t_ns;
}

static inline true_score true_judge(true_gpu *g, const ink_clock_map *map,
                                    const true_range *ranges) {
  const ink_clock_quality *q;
  ink_clock_map_quality(map, &q);
  true_score score = {.within = true, .changed = q->sms_changed,
                      .bound_ns = q->bound_ns == INT64_MAX ? INFINITY : (double)q->bound_ns};
  uint32_t tracks = (uint32_t)g->kind->tracks;
  for (uint32_t sm = 0; sm < TRUE_SMS; sm++) {
    uint64_t cycles;
    for (uint32_t i = 0; i < TRUE_PROBES; i++) {
      const true_range *r = &ranges[sm * tracks + (uint32_t)(true_draw(g) * tracks)];
      double part = i == 0 ? 0 : i == 1 ? 1 : true_draw(g);
      r = i < 2 ? &ranges[sm * tracks + (i ? tracks - 1 : 0)] : r;
      double off = fabs(true_error(g, map, sm, r->from + (r->to - r->from) * part, &cycles));
      score.error_ns = fmax(score.error_ns, off);
      score.within &= off <= score.bound_ns + 1; /* a stamp is a whole cycle */
      score.within &= off <= ink_clock_map_bound_ns(map, 0, sm, cycles) + 1;
    }
    double middle = ranges[sm * tracks + tracks / 2].from;
    if (g->kind->short_sm && sm == TRUE_SMS - 1)
      continue;
    score.offset_ns = fmax(score.offset_ns, fabs(true_error(g, map, sm, middle, &cycles)));
    if (!g->changes) {
      double hz = g->hz[0] * g->factor[sm];
      score.slope_ppm =
          fmax(score.slope_ppm, fabs(ink_clock_map_sm_hz(map, 0, sm) / hz - 1) * 1e6);
    }
  }
  return score;
}

static inline true_score true_run(const true_kind *kind, uint64_t seed) {
  true_gpu g;
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  const char *path = synth_path("true_clock");
  true_range *ranges = calloc((size_t)kind->tracks * TRUE_SMS, sizeof *ranges);
  ink_writer *writer = synth_writer(path, 2048, 4, false);
  ink_device_info device = {.records_per_track = 2048, .aux_records_per_track = 4,
                            .name = "device"};
  true_make(&g, kind, seed);
  if (!ranges || ink_writer_device(writer, &device, &error) != INK_OK)
    exit(1);
  if (kind->edges)
    true_edges(&g, writer, 1000, INK_EDGES_AT_START);
  true_tracks(&g, writer, ranges);
  if (kind->edges)
    true_edges(&g, writer, kind->span_ns + 2 * TRUE_EDGES_NS, INK_EDGES_AT_END);
  synth_finish(writer);
  if (ink_capture_open(path, &capture, &error) != INK_OK ||
      ink_clock_map_make(capture, &map, &error) != INK_OK) {
    fprintf(stderr, "true_clock: %s\n", error.message);
    exit(1);
  }
  remove(path);
  true_score score = true_judge(&g, map, ranges);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  free(ranges);
  return score;
}

static int true_compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

/* Sorts. */
static inline double true_percentile(double *values, size_t n, double percent) {
  if (!n)
    return NAN;
  qsort(values, n, sizeof *values, true_compare);
  size_t at = (size_t)ceil((double)n * percent / 100);
  return values[at ? at - 1 : 0];
}

#endif
