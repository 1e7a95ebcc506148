/* SPDX-License-Identifier: MIT */
/* The merged Perfetto trace: the other file's events converted, ours on tracks below its streams.
 */
#include "merged_perfetto.h"
#include "convert_notes.h"
#include "merge/read/foreign_private.h"
#include "merge/read/kineto.h"
#include "merged_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct merging {
  merged_whole *whole;
  merged_perfetto *ours; /* [count] */
  convert theirs;
  convert_report report;
  convert_progress progress;
  ink_file file;
} merging;

/* The stream's track of a kernel; UINT32_MAX: not found. */
static uint32_t stream_track(const merging *m, const ink_foreign_kernel *k) {
  char key[512], process[256];
  foreign_key(m->whole->foreign, k, process, sizeof process, key, sizeof key);
  uint32_t p = text_table_find(&m->theirs.process_keys, process, strlen(process));
  if (p == UINT32_MAX)
    return p;
  char text[600];
  snprintf(text, sizeof text, "%u\tm\t%s", p, key);
  return text_table_find(&m->theirs.track_keys, text, strlen(text));
}

/* Streams of kernels in JSON are no threads, and their processes are the GPUs'. */
static void mark_gpus(merging *m) {
  const ink_foreign *f = m->whole->foreign;
  for (size_t i = 0; i < f->place_count; i++) {
    const char *pid = f->places[i].pid.text;
    uint32_t process = text_table_find(&m->theirs.process_keys, pid, strlen(pid));
    if (process != UINT32_MAX)
      m->theirs.processes[process].gpu = true;
  }
}

static ink_status note_arrows(merging *m, merged_perfetto *w) {
  const placement *p = &w->sink.place;
  for (size_t i = 0; i < p->selection.launch_count; i++) {
    const placed_launch *l = &p->launches[i];
    if (!l->placed || l->kernel == SIZE_MAX)
      continue;
    const ink_foreign_kernel *k = &p->kernels[l->kernel];
    uint32_t track = stream_track(m, k);
    if (track == UINT32_MAX)
      continue;
    w->flows[i] = perfetto_new_uuid(&w->out);
    ink_status status = convert_note_outward(&m->theirs, track, k->begin_ns, w->flows[i]);
    if (status != INK_OK)
      return status;
  }
  return INK_OK;
}

/* Where the launches and the counters hang. */
static void set_parents(const merging *m, merged_perfetto *w) {
  const placement *p = &w->sink.place;
  for (size_t i = 0; i < p->selection.launch_count; i++) {
    const placed_launch *l = &p->launches[i];
    uint32_t track =
        l->placed && l->kernel != SIZE_MAX ? stream_track(m, &p->kernels[l->kernel]) : UINT32_MAX;
    if (track == UINT32_MAX)
      continue;
    const conv_track *t = &m->theirs.tracks[track];
    w->parents[i] = t->uuid;
    for (size_t d = 0; d < p->selection.device_count; d++)
      if (p->selection.devices[d].index == p->selection.launches[i].device)
        w->processes[d] = m->theirs.processes[t->process].uuid;
  }
}

static void tell(const merging *m) {
  placement all = m->ours[0].sink.place, *p = &all;
  const convert_report *r = &m->report;
  const convert *c = &m->theirs;
  all.label = NULL; /* of no capture */
  placement_say(
      p,
      "converted from '%s': %" PRIu64 " slices on %zu tracks, %" PRIu64 " instants, %" PRIu64
      " counter values, %" PRIu64 " arrows, %" PRIu64 " asynchronous ends%s",
      p->with, r->slices, c->track_count, r->instants, r->counter_values, c->flows, r->asyncs,
      r->cut_texts || r->too_deep ? "" : "; every argument kept");
  if (c->slices_on_lanes)
    placement_say(
        p, "%" PRIu64 " slices overlap others of their track and lie on %" PRIu64 " lanes below it",
        c->slices_on_lanes, c->lanes_added);
  if (c->flows_alone)
    placement_say(p,
                  "%" PRIu64 " ends of arrows were left out: their other end is not in the trace",
                  c->flows_alone);
  if (r->bad_times)
    placement_say(p, "%" PRIu64 " events were left out: their times are missing or absurd",
                  r->bad_times);
  if (r->cut_texts)
    placement_say(p, "%" PRIu64 " texts were cut at 16 KiB", r->cut_texts);
  if (r->too_deep)
    placement_say(p, "%" PRIu64 " values were left out: nested deeper than 64", r->too_deep);
  char text[900] = "";
  size_t used = 0;
  for (size_t i = 0; i < r->left_count && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%" PRIu64 ")", i ? ", " : "",
                             r->left[i].what, r->left[i].count);
  if (used)
    placement_say(p, "not converted: %s", text);
  if (r->keys[0])
    placement_say(p, "not converted, beside the events: %s", r->keys);
}

/* The first pass over JSON: made when its kernels were read, unless its times were odd. */
static ink_status note_json(merging *m, ink_error *error) {
  const placement *p = &m->ours[0].sink.place;
  convert_notes *notes = m->whole->notes;
  m->whole->notes = NULL;
  ink_status status = INK_OK;
  if (!notes) {
    ink_foreign *again = calloc(1, sizeof *again);
    notes = convert_notes_new();
    if (notes) {
      notes->base_known = true;
      notes->c.base_ns = p->facts->base_ns;
    }
    const foreign_listener listener = convert_notes_listener(notes);
    const foreign_reading how = {.listener = &listener};
    status = again && notes ? ink_kineto_read(again, p->with, &how, error) : INK_ERROR_MEMORY;
    ink_foreign_free(again);
  }
  if (status == INK_OK) {
    m->theirs = notes->c;
    m->report = notes->report;
    m->theirs.out = &m->ours[0].out;
    notes->c = (convert){0};
  }
  convert_notes_free(notes);
  return status;
}

static ink_status read_theirs(merging *m, bool second, ink_error *error) {
  const placement *p = &m->ours[0].sink.place;
  if (p->facts->kind == INK_FOREIGN_NSIGHT)
    return convert_nsight(&m->theirs, p->with, p->facts->base_ns, second, &m->progress, &m->report,
                          error);
  return second ? convert_json(&m->theirs, p->with, &m->progress, &m->report, error)
                : note_json(m, error);
}

static ink_status convert_theirs(merging *m, ink_error *error) {
  const placement *p = &m->ours[0].sink.place;
  convert *c = &m->theirs;
  uint64_t size = foreign_packed_bytes(p->foreign);
  m->progress =
      (convert_progress){p->options.progress, p->options.user, size ? size : 3 * p->facts->events};
  c->out = &m->ours[0].out;
  ink_status status = read_theirs(m, false, error);
  if (status != INK_OK)
    return status;
  mark_gpus(m);
  for (size_t i = 0; i < m->whole->count && status == INK_OK; i++)
    status = note_arrows(m, &m->ours[i]);
  if (status != INK_OK)
    return status;
  convert_start(c);
  convert_describe(c);
  status = convert_arrange(c);
  if (status != INK_OK)
    return status;
  for (size_t i = 0; i < m->whole->count; i++)
    set_parents(m, &m->ours[i]);
  status = read_theirs(m, true, error);
  if (status == INK_OK && c->next_slice != c->slice_count)
    status = INK_ERROR_IO;
  if (status == INK_ERROR_IO && error->status != INK_ERROR_IO)
    ink_error_set(error, status, "'%s' changed while it was read", p->with);
  return status;
}

static ink_status put_all(merging *m, ink_error *error) {
  ink_status status = INK_OK;
  for (size_t i = 0; i < m->whole->count && status == INK_OK; i++) {
    merged_sink *sink = &m->whole->sinks[i];
    status = merged_perfetto_init(&m->ours[i], sink, &m->file, (unsigned)i, NULL);
    if (status == INK_OK && m->whole->count > 1)
      status = merged_name_processes(&m->ours[i], i, sink->place.who);
  }
  if (status == INK_OK)
    status = convert_theirs(m, error);
  for (size_t i = 0; i < m->whole->count && status == INK_OK; i++)
    status = merged_perfetto_put(&m->ours[i]);
  return status;
}

ink_status merged_write_perfetto(merged_whole *whole, const char *path, ink_error *error) {
  if (whole->sinks[0].place.facts->kind == INK_FOREIGN_PERFETTO)
    return merged_append_perfetto(whole, path, error);
  merging *m = calloc(1, sizeof *m);
  merged_perfetto *ours = calloc(whole->count + 1, sizeof *ours);
  if (!m || !ours) {
    free(m);
    free(ours);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  }
  m->whole = whole;
  m->ours = ours;
  m->file.fd = -1;
  ink_status status = ink_file_open(&m->file, path, error);
  if (status == INK_OK)
    status = put_all(m, error);
  if (status == INK_OK)
    status = ink_file_close(&m->file, error);
  if (status == INK_OK)
    tell(m);
  else if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  for (size_t i = 0; i < whole->count; i++)
    merged_perfetto_free(&ours[i], &whole->sinks[i]);
  convert_free(&m->theirs);
  ink_file_abandon(&m->file);
  free(ours);
  free(m);
  return status;
}
