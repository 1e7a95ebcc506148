/* SPDX-License-Identifier: MIT */
/* A merged trace where theirs is a Perfetto trace: its packets byte for byte, ours behind them, on sequences and
 * tracks with ids that it does not use and on its own clock, so that nothing of it is read differently. */
#include "merge/read/foreign_private.h"
#include "merge/write/trace_copy.h"
#include "merged_perfetto.h"
#include "merged_private.h"

#include "merge/try.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct append {
  merged_whole *whole;
  merged_perfetto *ours; /* [count] */
  ink_file file;
} append;

/* A number that none of their sequences has, from `from` on. */
static unsigned free_sequence(const foreign_packets *p, unsigned from) {
  while (id_map_get(&p->sequences, from) != INK_ID_NONE)
    from++;
  return from;
}

/* Ids of tracks are of one upper half; it may be taken where the same capture was merged before. */
static void keep_ids_apart(const foreign_packets *p, perfetto *out) {
  const uint64_t high = UINT64_C(0xffffff) << 32;
  for (size_t i = 0; i <= p->track_highs.count && id_map_get(&p->track_highs, out->uuid_base >> 32) != INK_ID_NONE; i++)
    out->uuid_base = (out->uuid_base & ~high) | ((out->uuid_base + (UINT64_C(1) << 32)) & high);
}

/* Below the track that the kernel's slice is on; where it is on none, below a track of ours for its stream. */
static uint64_t parent_of(merged_perfetto *w, const int64_t *streams, size_t i) {
  const placement *p = &w->sink.place;
  const ink_foreign_kernel *k = &p->kernels[p->launches[i].kernel];
  const foreign_place *place = ink_foreign_find_place(p->foreign, k);
  if (place && place->track)
    return place->track;
  for (size_t same = 0; same < i; same++)
    if (w->parents[same] && streams[same] == k->type->stream &&
        p->selection.launches[same].device == p->selection.launches[i].device)
      return w->parents[same];
  return merged_perfetto_stream(w, p->selection.launches[i].device, k->type->stream);
}

/* The process that counters of a device hang under: that of the tracks of its kernels, or one of ours. */
static void find_process(merged_perfetto *w, size_t device) {
  const placement *p = &w->sink.place;
  const int32_t index = p->selection.devices[device].index;
  for (size_t i = 0; i < p->selection.launch_count && !w->processes[device]; i++) {
    if (!p->launches[i].placed || p->launches[i].kernel == SIZE_MAX || p->selection.launches[i].device != index)
      continue;
    const foreign_place *place = ink_foreign_find_place(p->foreign, &p->kernels[p->launches[i].kernel]);
    w->processes[device] = place ? place->root : 0;
  }
  if (w->processes[device])
    return;
  char name[128];
  snprintf(name, sizeof name, "GPU %d, inkmark%s", index,
           ink_selection_simulated(&p->selection, index) ? " (simulated clock)" : "");
  w->processes[device] = perfetto_new_uuid(&w->out);
  perfetto_describe(&w->out, &(perfetto_track){.uuid = w->processes[device], .name = name, .pid = -1});
}

static ink_status set_parents(merged_perfetto *w) {
  const placement *p = &w->sink.place;
  const size_t n = p->selection.launch_count;
  int64_t *streams = calloc(n + 1, sizeof *streams);
  if (!streams)
    return INK_ERROR_MEMORY;
  for (size_t d = 0; d < p->selection.device_count; d++)
    find_process(w, d);
  for (size_t i = 0; i < n; i++) {
    if (!p->launches[i].placed || p->launches[i].kernel == SIZE_MAX)
      continue;
    w->parents[i] = parent_of(w, streams, i);
    streams[i] = p->kernels[p->launches[i].kernel].type->stream;
  }
  free(streams);
  return INK_OK;
}

static ink_status put_capture(append *a, size_t index, unsigned *sequence) {
  merged_sink *sink = &a->whole->sinks[index];
  merged_perfetto *w = &a->ours[index];
  const placement *p = &sink->place;
  const foreign_packets *theirs = &a->whole->foreign->packets;
  *sequence = free_sequence(theirs, *sequence + 1);
  const merged_home home = {.sequence = *sequence, .clock = theirs->clock, .ns = p->kernels[0].begin_ns,
                            .clock_ns = p->kernels[0].begin_ns - p->facts->base_ns};
  TRY(merged_perfetto_init(w, sink, &a->file, (unsigned)index, &home));
  keep_ids_apart(theirs, &w->out);
  if (a->whole->count > 1)
    TRY(merged_name_processes(w, index, sink->place.who));
  TRY(set_parents(w));
  return merged_perfetto_put(w);
}

static ink_status put_all(append *a, ink_error *error) {
  const placement *p = &a->whole->sinks[0].place;
  trace_copy in;
  ink_status status = trace_copy_open(&in, p->with, error);
  if (status == INK_OK)
    status = trace_copy_copy(&in, &a->file, UINT64_MAX, p, error);
  trace_copy_close(&in);
  unsigned sequence = 0;
  for (size_t i = 0; i < a->whole->count && status == INK_OK; i++)
    status = put_capture(a, i, &sequence);
  return status;
}

static void tell(const append *a) {
  placement all = a->ours[0].sink.place; /* of no capture */
  const foreign_packets *theirs = &a->whole->foreign->packets;
  all.label = NULL;
  placement_say(&all, "every packet of '%s' is kept as it is (%" PRIu64 "), ours are behind them", all.with, theirs->count);
  if (theirs->lost)
    placement_say(&all,
                  "%" PRIu64 " of its events refer to names that are not in it, as where the beginning of a trace is lost; "
                  "kernels among them took no part",
                  theirs->lost);
}

ink_status merged_append_perfetto(merged_whole *whole, const char *path, ink_error *error) {
  append a = {.whole = whole, .ours = calloc(whole->count + 1, sizeof *a.ours), .file.fd = -1};
  if (!a.ours)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  ink_status status = ink_file_open(&a.file, path, error);
  if (status == INK_OK)
    status = put_all(&a, error);
  if (status == INK_OK)
    status = ink_file_close(&a.file, error);
  if (status == INK_OK)
    tell(&a);
  else if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  for (size_t i = 0; i < whole->count; i++)
    merged_perfetto_free(&a.ours[i], &whole->sinks[i]);
  ink_file_abandon(&a.file);
  free(a.ours);
  return status;
}
