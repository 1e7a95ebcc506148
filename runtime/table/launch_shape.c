/* SPDX-License-Identifier: MIT */
/* How a launch's blocks lay over the SMs: how many ran at a time, in how many waves, and how much of the slots' time
 * was used. Of the headers of tracks alone. */
#include "findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRACKS_MAX = 1 << 20 }; /* of a launch, so that memory stays bounded; larger ones are not looked at */

typedef struct block_span { /* from the first opening to the last closing of its tracks */
  uint64_t block, begin_cycles, end_cycles;
  double begin_ns;
  int32_t device;
  uint32_t sm;
} block_span;

typedef struct launch_shape {
  uint64_t blocks, slots, last; /* last: blocks of the last wave */
  double elapsed_ns, busy_ns;
  double outside_ns;    /* of each block, in neither of the two */
  double skew_ns;       /* from the first SM's first block to the last SM's */
  double behind_ns;     /* the SM that ends last, behind the mean of all SMs' ends */
  double in_order;      /* the share of blocks that do not begin before the block with the number before theirs */
  uint32_t last_sm;     /* which that is */
} launch_shape;

static int by_begin(const void *left, const void *right) {
  const block_span *a = left, *b = right;
  if (a->sm != b->sm)
    return a->sm < b->sm ? -1 : 1;
  return a->begin_cycles < b->begin_cycles ? -1 : a->begin_cycles > b->begin_cycles;
}

static int by_block(const void *left, const void *right) {
  const block_span *a = left, *b = right;
  return a->block < b->block ? -1 : a->block > b->block;
}

static int by_cycles(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

/* The blocks of one launch, whose tracks are [first, end); 0: not all of them were recorded, or not to their end. */
static uint64_t gather(const ink_table *table, uint64_t first, uint64_t end, block_span *out) {
  uint64_t n = 0;
  for (uint64_t i = first; i < end; i++) {
    ink_stored_track track;
    ink_capture_track(table->capture, i, &track);
    const ink_track *h = &track.header;
    const uint64_t block = ink_linear_block(h);
    if (h->state != INK_TRACK_CLOSED || h->close_clock0 < h->open_clock1 || h->sm_open != h->sm_close)
      return 0;
    if (n && out[n - 1].block == block) {
      if (h->open_clock1 < out[n - 1].begin_cycles)
        out[n - 1].begin_cycles = h->open_clock1;
      if (h->close_clock0 > out[n - 1].end_cycles)
        out[n - 1].end_cycles = h->close_clock0;
      continue;
    }
    out[n++] = (block_span){.block = block, .begin_cycles = h->open_clock1, .end_cycles = h->close_clock0,
                            .device = track.device, .sm = h->sm_open};
  }
  return n;
}

/* The most blocks that one SM ran at a time: its own clock tells exactly. `ends` has room for all of them. */
static uint64_t most_at_a_time(const block_span *spans, uint64_t n, uint64_t *ends) {
  uint64_t most = 0, over = 0;
  for (uint64_t i = 0; i < n; i++)
    ends[i] = spans[i].end_cycles;
  qsort(ends, n, sizeof *ends, by_cycles);
  for (uint64_t i = 0; i < n; i++) {
    while (over < i && ends[over] <= spans[i].begin_cycles)
      over++;
    most = i + 1 - over > most ? i + 1 - over : most;
  }
  return most;
}

static void measure(const ink_table *table, block_span *spans, uint64_t n, uint64_t *ends, launch_shape *out) {
  double begin = INFINITY, end = -INFINITY, last_begin = -INFINITY, ends_ns = 0, sms = 0;
  const int64_t zero = ink_clock_map_ns(table->map, spans[0].device, spans[0].sm, spans[0].begin_cycles);
  *out = (launch_shape){.blocks = n};
  qsort(spans, n, sizeof *spans, by_begin);
  for (uint64_t at = 0, last; at < n; at = last) {
    for (last = at; last < n && spans[last].sm == spans[at].sm;)
      last++;
    out->slots += most_at_a_time(spans + at, last - at, ends);
    double sm_end = -INFINITY;
    for (uint64_t i = at; i < last; i++) {
      block_span *s = &spans[i];
      const double from = (double)(ink_clock_map_ns(table->map, s->device, s->sm, s->begin_cycles) - zero);
      const double lasted =
          ink_clock_map_duration_ns(table->map, s->device, s->sm, s->end_cycles - s->begin_cycles);
      s->begin_ns = from;
      begin = fmin(begin, from);
      sm_end = fmax(sm_end, from + lasted);
      out->busy_ns += lasted;
    }
    last_begin = fmax(last_begin, spans[at].begin_ns);
    out->last_sm = sm_end > end ? spans[at].sm : out->last_sm;
    end = fmax(end, sm_end);
    ends_ns += sm_end;
    sms++;
  }
  out->elapsed_ns = end - begin;
  out->skew_ns = last_begin - begin;
  out->behind_ns = end - ends_ns / sms;
  qsort(spans, n, sizeof *spans, by_block);
  for (uint64_t i = 1; i < n; i++)
    out->in_order += spans[i].begin_ns >= spans[i - 1].begin_ns;
  out->in_order = n > 1 ? out->in_order / (double)(n - 1) : 1;
  out->last = n % out->slots ? n % out->slots : out->slots;
}

/* Opening and closing a track hold a slot too, as far as what that takes was measured. */
static double outside_ns(const ink_kernel_total *total) {
  const double rate = total->total_cycles ? total->total_ns / (double)total->total_cycles : 0;
  return total->without_marking && total->tracks ? total->outside_cycles * rate / (double)total->tracks : 0;
}

static double busy_of(const launch_shape *shape) { return shape->busy_ns + shape->outside_ns * (double)shape->blocks; }

static double all_of(const launch_shape *shape) {
  return (shape->elapsed_ns + shape->outside_ns) * (double)shape->slots;
}

static double use_of(const launch_shape *shape) { return all_of(shape) > 0 ? busy_of(shape) / all_of(shape) : 1; }

static double waste_of(const launch_shape *shape) { return all_of(shape) - busy_of(shape); }

static ink_status tell(ink_table *table, uint32_t part, uint32_t launch, const launch_shape *shape) {
  const ink_kernel_total *total = &table->totals.items[part];
  const double rate = total->total_ns > 0 ? (double)total->total_cycles / total->total_ns : 1;
  const uint64_t waves = (shape->blocks + shape->slots - 1) / shape->slots;
  ink_finding *f = ink_finding_add(table, "tail", part, waste_of(shape) * rate);
  if (!f)
    return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for findings");
  snprintf(f->text, sizeof f->text,
           "tail: %" PRIu64 " blocks on %" PRIu64 " slots, %" PRIu64 " waves, the last %.0f %% full; %.0f %% of the slots' "
           "time is used; SM %" PRIu32 " ends last, %.0f %% of the launch behind the mean of the SMs (launch %" PRIu32 ")",
           shape->blocks, shape->slots, waves, 100.0 * (double)shape->last / (double)shape->slots, 100 * use_of(shape),
           shape->last_sm, 100 * shape->behind_ns / shape->elapsed_ns, launch);
  ink_finding_number(f, "launch", launch);
  ink_finding_number(f, "blocks", (double)shape->blocks);
  ink_finding_number(f, "slots", (double)shape->slots);
  ink_finding_number(f, "waves", (double)waves);
  ink_finding_number(f, "last_wave_share", (double)shape->last / (double)shape->slots);
  ink_finding_number(f, "used_share", use_of(shape));
  ink_finding_number(f, "elapsed_ns", shape->elapsed_ns);
  ink_finding_number(f, "start_skew_ns", shape->skew_ns);
  ink_finding_number(f, "last_sm", shape->last_sm);
  ink_finding_number(f, "last_sm_behind_ns", shape->behind_ns);
  ink_finding_number(f, "in_order_share", shape->in_order);
  return INK_OK;
}

/* Of each part the launch that wastes the most. */
ink_status ink_findings_tails(ink_table *table) {
  const uint64_t n = ink_capture_track_count(table->capture);
  const ink_launch *launches = table->capture->launches.items;
  uint64_t longest = 0, first = 0;
  for (size_t i = 0; i < table->launch_count; i++)
    if (launches[i].track_count > longest && launches[i].track_count <= TRACKS_MAX)
      longest = launches[i].track_count;
  block_span *spans = malloc((longest + 1) * sizeof *spans);
  uint64_t *ends = malloc((longest + 1) * sizeof *ends);
  launch_shape *worst = calloc(table->totals.count + 1, sizeof *worst);
  uint32_t *worst_at = calloc(table->totals.count + 1, sizeof *worst_at);
  ink_status status = spans && ends && worst && worst_at ? INK_OK : INK_ERROR_MEMORY;
  for (uint32_t i = 0; i < table->launch_count && status == INK_OK && first < n; i++) {
    const uint64_t end = first + launches[i].track_count;
    const uint64_t grid = ink_launch_blocks(&launches[i]);
    const uint32_t part = table->parts_of[i];
    launch_shape shape;
    const uint64_t blocks = part != UINT32_MAX && grid <= end - first && end - first <= TRACKS_MAX ? gather(table, first, end, spans) : 0;
    first = end;
    if (blocks < INK_TRACKS_LEAST || blocks != grid)
      continue;
    measure(table, spans, blocks, ends, &shape);
    shape.outside_ns = outside_ns(&table->totals.items[part]);
    if (shape.blocks > shape.slots && use_of(&shape) < INK_TAIL_USE &&
        (!worst[part].blocks || waste_of(&shape) > waste_of(&worst[part]))) {
      worst[part] = shape;
      worst_at[part] = i;
    }
  }
  for (uint32_t part = 0; part < table->totals.count && status == INK_OK; part++)
    if (worst[part].blocks)
      status = tell(table, part, worst_at[part], &worst[part]);
  free(spans);
  free(ends);
  free(worst);
  free(worst_at);
  return status == INK_ERROR_MEMORY ? ink_error_set(table->error, status, "out of memory for findings") : status;
}
