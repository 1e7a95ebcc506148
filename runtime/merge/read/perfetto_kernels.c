/* SPDX-License-Identifier: MIT */
/* Begins and ends of a Perfetto trace as kernels: in the order of time, as its trace processor pairs them, and with
 * the device and stream that arguments or the names of tracks tell. */
#include "perfetto_kernels.h"

#include "merge/try.h"
#include "number_text.h"
#include "output/track_events.h"

#include <stdlib.h>
#include <string.h>

void packet_kernels_free(packet_kernels *k) {
  free(k->list);
  free(k->points);
  *k = (packet_kernels){0};
}

ink_status packet_kernels_add(packet_kernels *k, const packet_kernel *kernel) {
  void *list = k->list;
  if (k->count >= UINT32_MAX - 1)
    return INK_ERROR_LIMIT;
  const ink_status status = ink_grow(&list, k->count, &k->room, sizeof *k->list);
  k->list = list;
  if (status == INK_OK)
    k->list[k->count++] = *kernel;
  return status;
}

ink_status packet_kernels_point(packet_kernels *k, uint32_t track, int64_t ns, bool end, uint32_t kernel) {
  void *points = k->points;
  if (k->point_count >= UINT32_MAX - 1)
    return INK_ERROR_LIMIT;
  const ink_status status = ink_grow(&points, k->point_count, &k->point_room, sizeof *k->points);
  k->points = points;
  if (status == INK_OK) {
    k->points[k->point_count] = (packet_point){ns, track, kernel, (uint32_t)k->point_count, end};
    k->point_count++;
  }
  return status;
}

/* ---- arguments ---------------------------------------------------------------------------------
 */

/* The number that a text ends with, as "Agent-4" and "stream 7"; false: none. */
static bool last_number(const char *text, int64_t *out) {
  const char *end = text + strlen(text);
  while (end > text && (end[-1] < '0' || end[-1] > '9'))
    end--;
  const char *start = end;
  while (start > text && start[-1] >= '0' && start[-1] <= '9')
    start--;
  if (start == end || end - start > 18)
    return false;
  *out = strtoll(start, NULL, 10);
  return true;
}

static void set_dimension(uint32_t *to, int64_t value) {
  *to = value > 0 && value <= INT32_MAX ? (uint32_t)value : 0;
}

/* PyTorch's names, Nsight Systems' and rocprofiler's. */
void packet_kernel_argument(packet_kernel *k, const char *name, int64_t number, const char *text) {
  static const struct {
    const char *name;
    enum { DEVICE, STREAM, CORRELATION, BEGIN, END, PROCESS, DIMENSION } what;
    unsigned axis;
  } known[] = {{"device", DEVICE, 0},           {"deviceId", DEVICE, 0},
               {"agent", DEVICE, 0},            {"stream", STREAM, 0},
               {"streamId", STREAM, 0},         {"stream_id", STREAM, 0},
               {"queue", STREAM, 0},            {"correlation", CORRELATION, 0},
               {"correlationId", CORRELATION, 0}, {"corr_id", CORRELATION, 0},
               {"begin_ns", BEGIN, 0},          {"end_ns", END, 0},
               {"globalPid", PROCESS, 0},       {"gridX", DIMENSION, 0},
               {"gridY", DIMENSION, 1},         {"gridZ", DIMENSION, 2},
               {"blockX", DIMENSION, 3},        {"blockY", DIMENSION, 4},
               {"blockZ", DIMENSION, 5}};
  size_t i = 0;
  while (i < sizeof known / sizeof *known && strcmp(known[i].name, name))
    i++;
  if (i == sizeof known / sizeof *known || (text && !last_number(text, &number)))
    return;
  switch (known[i].what) {
  case DEVICE:
    k->has_device = number >= 0 && number <= INT32_MAX;
    k->type.device = k->has_device ? (int32_t)number : 0;
    break;
  case STREAM:
    if (k->has_stream && !strcmp(name, "queue")) /* a stream says more */
      break;
    k->has_stream = true;
    k->type.stream = number;
    break;
  case CORRELATION:
    k->correlation = number;
    break;
  case BEGIN:
    k->begin_ns = number;
    break;
  case END:
    k->end_ns = number;
    break;
  case PROCESS: /* of a serialized id, those bits are the pid */
    k->type.process = number >> 24 & 0xffffff;
    break;
  case DIMENSION:
    set_dimension(known[i].axis < 3 ? &k->type.grid_dim[known[i].axis] : &k->type.block_dim[known[i].axis - 3],
                  number);
    break;
  }
}

/* ---- tracks ------------------------------------------------------------------------------------
 */

static int by_time(const void *left, const void *right) {
  const packet_point *a = left, *b = right;
  if (a->track != b->track)
    return a->track < b->track ? -1 : 1;
  if (a->ns != b->ns)
    return a->ns < b->ns ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

/* Each end is that of the innermost begin. Kernels that have none keep end_ns INT64_MIN. */
static ink_status pair_points(packet_kernels *k) {
  uint32_t *open = NULL;
  size_t depth = 0, room = 0;
  if (k->point_count)
    qsort(k->points, k->point_count, sizeof *k->points, by_time);
  for (size_t i = 0; i < k->point_count; i++) {
    const packet_point *p = &k->points[i];
    if (i && p->track != p[-1].track)
      depth = 0;
    if (p->end) {
      if (depth && open[--depth] != UINT32_MAX)
        k->list[open[depth]].end_ns = p->ns;
      continue;
    }
    void *stack = open;
    const ink_status status = ink_grow(&stack, depth, &room, sizeof *open);
    open = stack;
    if (status != INK_OK) {
      free(open);
      return status;
    }
    open[depth++] = p->kernel;
  }
  free(open);
  return INK_OK;
}

static const char *after_word(const char *text, const char *const *words, size_t n) {
  for (; *text; text++)
    for (size_t i = 0; i < n; i++)
      if (ink_i_begins_with(text, words[i]))
        return text + strlen(words[i]);
  return NULL;
}

/* The first number behind one of the words; false: none. */
static bool number_after(const char *text, const char *const *words, size_t n, int64_t *out) {
  const char *at = after_word(text, words, n);
  if (!at)
    return false;
  at += strcspn(at, "0123456789");
  if (!*at || strspn(at, "0123456789") > 9)
    return false;
  *out = strtoll(at, NULL, 10);
  return true;
}

/* "GPU 1" of a process, "COMPUTE AGENT [4] QUEUE [0]" of a track. */
static void name_by_tracks(const packet_state *s, packet_kernel *k) {
  static const char *const devices[] = {"GPU", "agent", "device"}, *const streams[] = {"stream", "queue"};
  int64_t number;
  uint32_t track = k->track;
  for (int level = 0; level < 16 && track != INK_ID_NONE; level++) {
    const packet_track *t = &s->tracks[track];
    const char *name = t->name != UINT32_MAX ? s->texts.texts[t->name] : "";
    if (!k->has_stream && number_after(name, streams, 2, &number)) {
      k->type.stream = number;
      k->has_stream = true;
    }
    if (!k->has_device && number_after(name, devices, 3, &number)) {
      k->type.device = (int32_t)number;
      k->has_device = true;
    }
    track = t->parent ? id_map_get(&s->track_index, t->parent) : INK_ID_NONE;
  }
  if (!k->has_stream) /* a number that no stream has */
    k->type.stream = -1 - (int64_t)k->track;
}

static ink_status put_kernel(const packet_state *s, packet_kernel *k, int64_t base_ns, ink_foreign *f) {
  ink_foreign_kernel out = {.correlation = k->correlation};
  ink_foreign_type *t = &k->type;
  f->facts.kernels_left_out++;
  if (t->name == UINT32_MAX || k->end_ns < k->begin_ns ||
      __builtin_add_overflow(k->begin_ns, base_ns, &out.begin_ns) ||
      __builtin_add_overflow(k->end_ns, base_ns, &out.end_ns) || out.end_ns > INT64_MAX / 2 ||
      out.begin_ns < -(INT64_MAX / 2))
    return INK_OK;
  f->facts.kernels_left_out--;
  bool sizes = true;
  for (int i = 0; i < 3; i++)
    sizes &= t->grid_dim[i] && t->block_dim[i];
  for (int i = 0; i < 3 && !sizes; i++)
    t->grid_dim[i] = t->block_dim[i] = 0;
  uint64_t track = 0, root = 0;
  if (k->track != UINT32_MAX) {
    name_by_tracks(s, k);
    const packet_track *on = &s->tracks[k->track];
    track = on->implicit ? 0 : on->uuid;
    root = on->implicit ? 0 : s->tracks[packet_state_root(s, k->track)].uuid;
  }
  TRY(foreign_place_track(f, t, track, root));
  return ink_foreign_add(f, t, &out);
}

ink_status packet_kernels_put(packet_kernels *k, const packet_state *s, int64_t base_ns, ink_foreign *f) {
  TRY(pair_points(k));
  for (size_t i = 0; i < k->count; i++)
    TRY(put_kernel(s, &k->list[i], base_ns, f));
  return INK_OK;
}
