/* SPDX-License-Identifier: MIT */
/* The processes, tracks and times of another profiler's events, as its file is read for the first
 * time; and their descriptions. */
#include "convert.h"

#include "output/track_events.h"

#include <stdlib.h>
#include <string.h>

void convert_free(convert *c) {
  for (size_t i = 0; i < c->process_count; i++) {
    free(c->processes[i].name);
    free(c->processes[i].labels);
  }
  for (size_t i = 0; i < c->track_count; i++) {
    free(c->tracks[i].name);
    free(c->tracks[i].lane_uuids);
  }
  for (size_t i = 0; i < c->wait_count; i++)
    free(c->waits[i].bytes);
  free(c->processes);
  free(c->tracks);
  slice_log_free(&c->slices);
  free(c->placed);
  free(c->points);
  free(c->waits);
  free(c->waits_by_inner);
  flow_set_free(&c->flow_ids);
  text_table_free(&c->process_keys);
  text_table_free(&c->track_keys);
  text_table_free(&c->names);
  text_table_free(&c->categories);
  text_table_free(&c->arg_names);
  free(c->packet.bytes);
}

ink_status convert_name(char **name, const char *text) {
  char *copy = strdup(text);
  if (!copy)
    return INK_ERROR_MEMORY;
  free(*name);
  *name = copy;
  return INK_OK;
}

ink_status convert_process(convert *c, const char *key, size_t length, int64_t pid, uint32_t *out) {
  bool fresh;
  ink_status status = text_table_add(&c->process_keys, key, length, out, &fresh);
  if (status != INK_OK || !fresh)
    return status;
  void *processes = c->processes;
  status = ink_grow(&processes, c->process_count, &c->process_room, sizeof *c->processes);
  c->processes = processes;
  if (status == INK_OK)
    c->processes[c->process_count++] =
        (conv_process){.pid = pid >= 0 && pid <= INT32_MAX ? pid : -1};
  return status;
}

static ink_status add_track(convert *c, const char *key, size_t length, const conv_track *track,
                            uint32_t *out) {
  bool fresh;
  ink_status status = text_table_add(&c->track_keys, key, length, out, &fresh);
  if (status != INK_OK || !fresh)
    return status;
  if (c->track_count == CONV_TRACKS_MAX)
    return INK_ERROR_LIMIT;
  void *tracks = c->tracks;
  status = ink_grow(&tracks, c->track_count, &c->track_room, sizeof *c->tracks);
  c->tracks = tracks;
  if (status == INK_OK)
    c->tracks[c->track_count++] = *track;
  return status;
}

/* Keys of tracks: the number of the process, what sort it is, and its own key. */
static size_t track_key(char *text, size_t size, uint32_t process, char part, const char *key,
                        size_t length) {
  int n = snprintf(text, size, "%u\t%c\t%.*s", process, part, (int)(length < 4096 ? length : 4096),
                   key);
  return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

ink_status convert_track(convert *c, uint32_t process, const char *key, size_t length, char part,
                         int64_t tid, uint32_t *out) {
  char text[4200];
  uint32_t parent = UINT32_MAX;
  if (part && part != 'a') {
    ink_status status = convert_track(c, process, key, length, 0, tid, &parent);
    if (status != INK_OK)
      return status;
  }
  size_t n = track_key(text, sizeof text, process, part ? part : 'm', key, length);
  return add_track(c, text, n,
                   &(conv_track){.process = process,
                                 .parent = parent,
                                 .lane_count = 1,
                                 .tid = !part && tid > 0 && tid <= INT32_MAX ? tid : 0},
                   out);
}

ink_status convert_counter(convert *c, uint32_t process, const char *name, uint32_t *out) {
  char text[4200];
  size_t n = track_key(text, sizeof text, process, 'c', name, strlen(name));
  ink_status status = add_track(
      c, text, n,
      &(conv_track){.process = process, .parent = UINT32_MAX, .lane_count = 1, .counter = true},
      out);
  if (status == INK_OK && !c->tracks[*out].name)
    status = convert_name(&c->tracks[*out].name, name);
  return status;
}

ink_status convert_note_slice(convert *c, uint32_t track, int64_t begin_ns, int64_t end_ns) {
  if (c->slice_count >= UINT32_MAX - 1)
    return INK_ERROR_LIMIT;
  const slice_time slice = {begin_ns, end_ns, (uint32_t)c->slice_count};
  ink_status status = slice_log_add(&c->slices, &c->tracks[track].slices, &slice);
  if (status == INK_OK)
    c->slice_count++;
  c->noted_sum = convert_sum(c->noted_sum, track, begin_ns, end_ns);
  return status;
}

static ink_status note_point(convert *c, uint32_t track, const conv_point *point) {
  void *points = c->points;
  ink_status status = ink_grow(&points, c->point_count, &c->point_room, sizeof *c->points);
  c->points = points;
  if (status != INK_OK)
    return status;
  c->points[c->point_count] = *point;
  c->points[c->point_count++].track = track & CONV_TRACKS_MAX;
  return INK_OK;
}

ink_status convert_note_flow(convert *c, uint32_t track, int64_t ns, uint64_t id, bool starts) {
  return note_point(c, track,
                    &(conv_point){.ns = ns, .id = id, .slice = UINT32_MAX, .starts = starts});
}

ink_status convert_note_outward(convert *c, uint32_t track, int64_t ns, uint64_t id) {
  return note_point(
      c, track,
      &(conv_point){
          .ns = ns - c->base_ns, .id = id, .slice = UINT32_MAX, .starts = true, .outward = true});
}

/* ---- descriptions ------------------------------------------------------------------------------
 */

static void describe_process(convert *c, uint32_t index) {
  conv_process *p = &c->processes[index];
  char name[PERFETTO_NAME_BYTES];
  const char *key = c->process_keys.texts[index];
  if (p->name && p->labels)
    snprintf(name, sizeof name, "%.250s (%.100s)", p->name, p->labels);
  else if (p->name || p->labels)
    snprintf(name, sizeof name, "%.350s", p->name ? p->name : p->labels);
  else
    snprintf(name, sizeof name, "%s %.100s", p->gpu ? "GPU" : "process", key);
  p->uuid = perfetto_new_uuid(c->out);
  perfetto_describe(c->out, &(perfetto_track){.uuid = p->uuid, .name = name, .pid = p->pid});
}

static void describe_track(convert *c, uint32_t index) {
  conv_track *t = &c->tracks[index];
  const conv_process *p = &c->processes[t->process];
  const char *key = strrchr(c->track_keys.texts[index], '\t') + 1;
  char name[PERFETTO_NAME_BYTES];
  bool thread = t->tid && p->pid > 0 && !p->gpu;
  if (t->name)
    snprintf(name, sizeof name, "%.350s", t->name);
  else
    snprintf(name, sizeof name, "%s %.100s", p->gpu ? "stream" : "thread", key);
  t->uuid = perfetto_new_uuid(c->out);
  perfetto_describe(c->out,
                    &(perfetto_track){.uuid = t->uuid,
                                      .parent = t->parent != UINT32_MAX ? c->tracks[t->parent].uuid
                                                : thread                ? 0
                                                                        : p->uuid,
                                      .name = name,
                                      .rank = t->parent != UINT32_MAX ? 1 << 16 : 0,
                                      .pid = thread ? p->pid : -1,
                                      .tid = thread ? t->tid : 0,
                                      .counter = t->counter});
}

ink_status convert_new_lane(convert *c, uint32_t track) {
  conv_track *t = &c->tracks[track];
  char name[64];
  uint64_t *uuids = realloc(t->lane_uuids, t->lane_count * sizeof *uuids);
  if (!uuids)
    return INK_ERROR_MEMORY;
  t->lane_uuids = uuids;
  snprintf(name, sizeof name, "overlapping %u", t->lane_count);
  uuids[t->lane_count - 1] = perfetto_new_uuid(c->out);
  perfetto_describe(c->out, &(perfetto_track){.uuid = uuids[t->lane_count - 1],
                                              .parent = t->uuid,
                                              .name = name,
                                              .rank = (int32_t)t->lane_count,
                                              .pid = -1});
  t->lane_count++;
  c->lanes_added++;
  return INK_OK;
}

void convert_describe_late(convert *c, uint32_t index) {
  conv_track *t = &c->tracks[index];
  if (t->uuid)
    return;
  if (t->parent != UINT32_MAX)
    convert_describe_late(c, t->parent);
  if (!c->processes[t->process].uuid)
    describe_process(c, t->process);
  describe_track(c, index);
}

void convert_describe(convert *c) {
  for (uint32_t i = 0; i < c->process_count; i++)
    describe_process(c, i);
  for (uint32_t i = 0; i < c->track_count; i++) /* a track's parent was made before it */
    describe_track(c, i);
}
