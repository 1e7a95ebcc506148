/* SPDX-License-Identifier: MIT */
/* Interned texts, defaults and tracks of a Perfetto trace. Field numbers are those of Perfetto's
 * protos/perfetto/trace. */
#include "packet_state.h"

#include "merge/try.h"
#include "output/perfetto_packets.h"
#include "output/track_events.h"

#include <stdlib.h>

enum { INTERNED_VALUE = 29, INTERNED_STAGE = 24, TRACK_STATIC_NAME = 10, TRACK_ATRACE_NAME = 13 };
enum { STAGE_CATEGORY = 4, STAGE_COMPUTE = 2 }; /* InternedGpuRenderStageSpecification */
enum { PARENTS_MAX = 64, TEXT_MAX = 16 * 1024 };

void packet_state_free(packet_state *s) {
  for (size_t i = 0; i < s->sequence_count; i++) {
    for (int k = 0; k < INTERNED_KINDS; k++)
      id_map_free(&s->sequences[i].texts[k]);
    id_map_free(&s->sequences[i].compute);
  }
  free(s->sequences);
  free(s->tracks);
  id_map_free(&s->sequence_index);
  id_map_free(&s->track_index);
  text_table_free(&s->texts);
  *s = (packet_state){0};
}

ink_status packet_state_sequence(packet_state *s, uint32_t id, packet_sequence **out) {
  const uint32_t i = id_map_get(&s->sequence_index, id);
  if (i != INK_ID_NONE) {
    *out = &s->sequences[i];
    return INK_OK;
  }
  void *sequences = s->sequences;
  const ink_status status = ink_grow(&sequences, s->sequence_count, &s->sequence_room, sizeof *s->sequences);
  s->sequences = sequences;
  if (status != INK_OK || !id_map_put(&s->sequence_index, id, (uint32_t)s->sequence_count))
    return INK_ERROR_MEMORY;
  s->sequences[s->sequence_count] = (packet_sequence){.id = id};
  *out = &s->sequences[s->sequence_count++];
  return INK_OK;
}

/* A table that was large for one packet is not cleared again and again. */
static void forget(id_map *map) {
  if (map->mask > 8 * map->count + 256)
    id_map_free(map);
  else if (map->count)
    id_map_clear(map);
}

void packet_state_clear(packet_sequence *sequence) {
  for (int i = 0; i < INTERNED_KINDS; i++)
    forget(&sequence->texts[i]);
  forget(&sequence->compute);
  sequence->lost = false;
  sequence->clock = 0;
  sequence->track = 0;
}

static ink_status intern_one(packet_state *s, id_map *map, id_map *compute, pb_message entry) {
  pb_field f;
  uint64_t iid = 0;
  uint32_t text;
  const unsigned char *bytes = NULL;
  size_t size = 0;
  bool computes = false;
  while (pb_scan(&entry, &f)) {
    computes |= f.number == STAGE_CATEGORY && f.value == STAGE_COMPUTE;
    if (f.number == INTERNED_IID && f.wire == PB_VARINT)
      iid = f.value;
    if (f.number != INTERNED_TEXT || f.wire != PB_BYTES)
      continue;
    bytes = f.bytes;
    size = f.size < TEXT_MAX ? f.size : TEXT_MAX;
  }
  if (!bytes)
    return INK_OK;
  const unsigned char *end = memchr(bytes, 0, size); /* texts are C's here */
  TRY(text_table_add(&s->texts, (const char *)bytes, end ? (size_t)(end - bytes) : size, &text, NULL));
  if (compute && computes && !id_map_put(compute, iid, 1))
    return INK_ERROR_MEMORY;
  return id_map_put(map, iid, text) ? INK_OK : INK_ERROR_MEMORY;
}

ink_status packet_state_intern(packet_state *s, packet_sequence *sequence, pb_message interned) {
  static const uint32_t fields[INTERNED_KINDS] = {
      [NAMES_OF_CATEGORIES] = INTERNED_CATEGORY, [NAMES_OF_EVENTS] = INTERNED_EVENT_NAME,
      [NAMES_OF_ARGUMENTS] = INTERNED_ARG_NAME,  [NAMES_OF_VALUES] = INTERNED_VALUE,
      [NAMES_OF_STAGES] = INTERNED_STAGE};
  pb_field f;
  while (pb_scan(&interned, &f))
    for (int i = 0; i < INTERNED_KINDS; i++)
      if (f.number == fields[i] && f.wire == PB_BYTES)
        TRY(intern_one(s, &sequence->texts[i], i == NAMES_OF_STAGES ? &sequence->compute : NULL, pb_inside(&f)));
  return INK_OK;
}

void packet_state_defaults(packet_sequence *sequence, pb_message defaults) {
  pb_field f, inner;
  while (pb_scan(&defaults, &f)) {
    if (f.number == DEFAULTS_CLOCK_ID && f.wire == PB_VARINT)
      sequence->clock = (unsigned)f.value;
    if (f.number != DEFAULTS_TRACK_EVENT)
      continue;
    for (pb_message m = pb_inside(&f); pb_scan(&m, &inner);)
      if (inner.number == EVENT_DEFAULTS_TRACK && inner.wire == PB_VARINT)
        sequence->track = inner.value;
  }
}

const char *packet_state_text(const packet_state *s, const packet_sequence *sequence, enum packet_interned kind,
                              uint64_t iid) {
  const uint32_t text = id_map_get(&sequence->texts[kind], iid);
  return text == INK_ID_NONE ? NULL : s->texts.texts[text];
}

ink_status packet_state_track(packet_state *s, uint64_t uuid, uint32_t *out) {
  *out = id_map_get(&s->track_index, uuid);
  if (*out != INK_ID_NONE)
    return INK_OK;
  void *tracks = s->tracks;
  const ink_status status = ink_grow(&tracks, s->track_count, &s->track_room, sizeof *s->tracks);
  s->tracks = tracks;
  if (status != INK_OK)
    return status;
  if (s->track_count >= UINT32_MAX - 1)
    return INK_ERROR_LIMIT;
  *out = (uint32_t)s->track_count;
  if (!id_map_put(&s->track_index, uuid, *out))
    return INK_ERROR_MEMORY;
  s->tracks[s->track_count++] = (packet_track){.uuid = uuid, .name = UINT32_MAX};
  return INK_OK;
}

ink_status packet_state_implicit(packet_state *s, const packet_sequence *sequence, uint32_t *out) {
  TRY(packet_state_track(s, ~(uint64_t)sequence->id, out));
  s->tracks[*out].implicit = true;
  return INK_OK;
}

/* A track's name, or that of the process or thread that it is. */
static bool name_field(const pb_field *f, pb_field *name) {
  if (f->wire != PB_BYTES)
    return false;
  *name = *f;
  if (f->number == TRACK_NAME || f->number == TRACK_STATIC_NAME || f->number == TRACK_ATRACE_NAME)
    return true;
  const uint32_t wanted = f->number == TRACK_PROCESS ? PROCESS_NAME : f->number == TRACK_THREAD ? THREAD_NAME : 0;
  for (pb_message m = pb_inside(f); wanted && pb_scan(&m, name);)
    if (name->number == wanted && name->wire == PB_BYTES)
      return true;
  return false;
}

ink_status packet_state_describe(packet_state *s, pb_message descriptor) {
  pb_field f, name;
  uint64_t uuid = 0, parent = 0;
  uint32_t text = UINT32_MAX, track;
  while (pb_scan(&descriptor, &f)) {
    if (f.number == TRACK_UUID && f.wire == PB_VARINT)
      uuid = f.value;
    else if (f.number == TRACK_PARENT && f.wire == PB_VARINT)
      parent = f.value;
    else if (name_field(&f, &name))
      TRY(text_table_add(&s->texts, (const char *)name.bytes, strnlen((const char *)name.bytes, name.size), &text, NULL));
  }
  TRY(packet_state_track(s, uuid, &track));
  packet_track *t = &s->tracks[track];
  t->parent = parent ? parent : t->parent;
  t->name = text != UINT32_MAX ? text : t->name;
  return INK_OK;
}

uint32_t packet_state_root(const packet_state *s, uint32_t track) {
  for (int i = 0; i < PARENTS_MAX; i++) { /* a damaged file may have circles */
    const uint32_t parent = s->tracks[track].parent ? id_map_get(&s->track_index, s->tracks[track].parent) : INK_ID_NONE;
    if (parent == INK_ID_NONE)
      break;
    track = parent;
  }
  return track;
}
