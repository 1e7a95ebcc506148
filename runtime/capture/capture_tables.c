/* SPDX-License-Identifier: MIT */
/* The names in a capture: section tables, their sections, and the kernels that slots stand for. */
#include "capture_private.h"
#include "source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture's names");
}

/* Keeps an allocation until the capture is freed; frees it at once when that fails. */
static bool adopt(ink_capture *capture, void *block) {
  if (block && INK_I_ROOM(capture->blocks)) {
    capture->blocks.items[capture->blocks.count++] = block;
    return true;
  }
  free(block);
  return false;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Cuts "A, B ,C" into names in place; returns how many, at most `room`. A comma in a name was stored as another
 * character. */
static uint32_t split_names(char *text, const char **names, uint32_t room) {
  uint32_t count = 0;
  for (char *at = text; at && count < room;) {
    char *comma = strchr(at, ',');
    if (comma)
      *comma = 0;
    while (is_space(*at))
      at++;
    char *end = at + strlen(at);
    while (end > at && is_space(end[-1]))
      *--end = 0;
    for (char *c = strchr(at, INK_NAME_COMMA); c; c = strchr(c, INK_NAME_COMMA))
      *c = ',';
    if (*at || comma) /* nothing after the last comma is no section */
      names[count++] = at;
    at = comma ? comma + 1 : NULL;
  }
  return count;
}

typedef struct placed_name {
  const char *text;
  uint32_t at;
} placed_name;

static int by_text(const void *left, const void *right) {
  const placed_name *a = left, *b = right;
  const int order = strcmp(a->text, b->text);
  return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* "f (a.cu:3)" -> "f (a.cu:3, 2)", "f" -> "f, 2". No name that ends like that is in a
 * table: names by hand have no comma, the rewriter's end with their line. */
static char *numbered(const char *text, uint32_t number) {
  const size_t n = strlen(text);
  const bool closed = n && text[n - 1] == ')';
  char *out = malloc(n + 16);
  if (out)
    snprintf(out, n + 16, "%.*s, %u%s", (int)(n - closed), text, (unsigned)number, closed ? ")" : "");
  return out;
}

/* The rewriter names a section by its call and line: of several on one line all but the first get a
 * number, in the order of the table, so that no output shows two alike. */
static bool tell_apart(ink_capture *capture, const char **names, uint32_t count) {
  placed_name *all = malloc((count + 1) * sizeof *all);
  bool fine = all != NULL;
  for (uint32_t i = 0; fine && i < count; i++)
    all[i] = (placed_name){names[i], i};
  if (fine)
    qsort(all, count, sizeof *all, by_text);
  for (uint32_t i = 1, same = 1; fine && i < count; i++) {
    same = *all[i].text && !strcmp(all[i - 1].text, all[i].text) ? same + 1 : 1;
    if (same == 1)
      continue;
    char *name = numbered(all[i].text, same);
    fine = adopt(capture, name);
    if (fine)
      names[all[i].at] = name;
  }
  free(all);
  return fine;
}

/* Of a table's own name, its file and its sections. */
static size_t longest_name(const char *const *texts) {
  size_t longest = strlen(texts[0]) > strlen(texts[1]) ? strlen(texts[0]) : strlen(texts[1]);
  for (const char *at = texts[2]; *at; at += *at == ',') {
    const size_t n = strcspn(at, ",");
    longest = n > longest ? n : longest;
    at += n;
  }
  return longest;
}

bool ink_table_texts(const void *payload, size_t bytes, ink_file_table *fixed, const char *texts[3]) {
  const char *at = (const char *)payload + sizeof *fixed, *end = (const char *)payload + bytes;
  if (bytes < sizeof *fixed)
    return false;
  memcpy(fixed, payload, sizeof *fixed);
  for (int i = 0; i < 3; i++) {
    const char *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
    if (!stop)
      return false;
    texts[i] = at;
    at = stop + 1;
  }
  return true;
}

ink_status ink_read_table(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                          ink_error *error) {
  ink_file_table fixed;
  const char *texts[3];
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds a section table that is too short");
  if (!ink_table_texts(payload, bytes, &fixed, texts))
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds a section table without its names");
  if (ink_capture_table(capture, fixed.hash48))
    return INK_OK; /* the same table from another file */
  uint32_t room = 1;
  for (const char *c = texts[2]; *c; c++)
    room += *c == ',';
  if (room > INK_SECTION_MAX + 1)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds a section table of %u names",
                         (unsigned)room);
  const size_t longest = longest_name(texts);
  if (longest > INK_NAME_BYTES_MAX)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds a section table with a name of %zu bytes", longest);
  char *copy = strdup(texts[2]);
  const char **names = malloc(room * sizeof *names);
  if (!adopt(capture, copy)) {
    free(names);
    return no_memory(error);
  }
  if (!adopt(capture, names) || !INK_I_ROOM(capture->tables) ||
      !id_map_put(&capture->table_map, fixed.hash48, (uint32_t)capture->tables.count))
    return no_memory(error);
  uint32_t count = split_names(copy, names, room);
  if (!tell_apart(capture, names, count))
    return no_memory(error);
  capture->tables.items[capture->tables.count++] = (ink_section_table){
      .name = texts[0], .file = texts[1], .line = fixed.line, .section_count = count,
      .hash48 = fixed.hash48, .sections = names};
  return INK_OK;
}

static ink_status take_count(ink_capture *capture, int32_t device, const ink_file_count *count,
                             ink_error *error) {
  uint64_t key = ink_slot_key(device, count->slot);
  uint32_t known = id_map_get(&capture->slot_map, key);
  if (known != INK_ID_NONE) {
    slot_count *old = &capture->slots.items[known];
    if (!old->over && old->count.key == count->key && count->tracks >= old->count.tracks &&
        count->missed >= old->count.missed) {
      old->count = *count;
      return INK_OK;
    }
  }
  if (capture->slots.count >= INK_ID_NONE - 1)
    return ink_error_set(error, INK_ERROR_LIMIT, "the capture names too many kernels");
  if (!INK_I_ROOM(capture->slots) ||
      !id_map_put(&capture->slot_map, key, (uint32_t)capture->slots.count))
    return no_memory(error);
  capture->slots.items[capture->slots.count++] =
      (slot_count){.device = device, .kernel = INK_ID_NONE, .count = *count};
  return INK_OK;
}

void ink_end_counts(ink_capture *capture, int32_t device) {
  for (size_t i = 0; i < capture->slots.count; i++)
    capture->slots.items[i].over |= capture->slots.items[i].device == device;
  for (size_t i = 0; i < capture->totals.count; i++)
    capture->totals.items[i].over |= capture->totals.items[i].device == device;
}

ink_status ink_read_counts(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                           ink_error *error) {
  ink_file_counts fixed;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds counts that are too short");
  memcpy(&fixed, payload, sizeof fixed);
  if ((bytes - sizeof fixed) / sizeof(ink_file_count) != fixed.count ||
      (bytes - sizeof fixed) % sizeof(ink_file_count))
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds counts of the wrong size");
  device_totals *totals = NULL;
  for (size_t i = 0; i < capture->totals.count; i++)
    if (capture->totals.items[i].device == fixed.device && !capture->totals.items[i].over)
      totals = &capture->totals.items[i];
  if (!totals) {
    if (!INK_I_ROOM(capture->totals))
      return no_memory(error);
    totals = &capture->totals.items[capture->totals.count++];
  }
  *totals = (device_totals){.device = fixed.device, .claims = fixed.claims, .unknown = fixed.unknown};
  for (uint32_t i = 0; i < fixed.count; i++) {
    ink_file_count count;
    memcpy(&count, payload + sizeof fixed + i * sizeof count, sizeof count);
    ink_status status = count.key ? take_count(capture, fixed.device, &count, error) : INK_OK;
    if (status != INK_OK)
      return status;
  }
  return INK_OK;
}

/* ---- after the last chunk ------------------------------------------------------------------ */

ink_status ink_index_sections(ink_capture *capture, ink_error *error) {
  for (size_t t = 0; t < capture->tables.count; t++) {
    const ink_section_table *table = &capture->tables.items[t];
    if (!INK_I_ROOM(capture->table_bases))
      return no_memory(error);
    capture->table_bases.items[capture->table_bases.count++] = (uint32_t)capture->sections.count;
    for (uint32_t i = 0; i < table->section_count; i++) {
      if (capture->sections.count >= INK_SECTION_UNKNOWN - 1)
        return ink_error_set(error, INK_ERROR_LIMIT, "the capture names too many sections");
      if (!INK_I_ROOM(capture->sections))
        return no_memory(error);
      capture->sections.items[capture->sections.count++] =
          (ink_section){.table = table, .name = table->sections[i], .id = i + 1};
    }
  }
  return INK_OK;
}

/* The kernel of a key and an instance (INK_ID_NONE: it is not known); made when it is new. INK_ID_NONE when out of
 * memory. */
/* The section that PROF_KERNEL named; "?" where the table is not known, or has no such section. */
static const char *section_of(const ink_section_table *table, uint64_t key) {
  const uint32_t section = (uint32_t)(key & 0xffff);
  return table && section >= 1 && section <= table->section_count ? table->sections[section - 1] : "?";
}

static uint32_t kernel_of(ink_capture *capture, id_map *map, uint64_t key, uint32_t instance) {
  const uint64_t place = instance == INK_ID_NONE ? key : ink_mix64(key) ^ (uint64_t)(instance + 1) << 32;
  uint32_t known = id_map_get(map, place);
  if (known != INK_ID_NONE)
    return known;
  uint32_t index = (uint32_t)capture->kernels.count;
  if (!INK_I_ROOM(capture->kernels) || !id_map_put(map, place, index))
    return INK_ID_NONE;
  const ink_section_table *table = key ? ink_capture_table(capture, key >> 16) : NULL;
  capture->kernels.items[capture->kernels.count++] = (ink_kernel){
      .key = key, .table = table, .name = section_of(table, key),
      .instance = instance == INK_ID_NONE ? NULL : capture->instances.items[instance].text};
  return index;
}

ink_status ink_index_kernels(ink_capture *capture, ink_error *error) {
  id_map map = {0};
  ink_status status = INK_OK;
  ink_walk walk = {0};
  for (size_t i = 0; i < capture->tracks.count && status == INK_OK; i++) {
    ink_walk_track(&walk, capture, i);
    track_ref *ref = &capture->tracks.items[i];
    if (ref->kernel == INK_ID_NONE) /* its counts came later, or never */
      ref->kernel = id_map_get(&capture->slot_map, ink_slot_key(ref->device,
                                                       ink_track_at(capture, i)->header.kernel));
    slot_count *slot = ref->kernel == INK_ID_NONE ? NULL : &capture->slots.items[ref->kernel];
    if (ref->instance == INK_ID_NONE && !ref->brief) /* its name came later, or never */
      ref->instance = ink_instance_of(capture, ref->device, ink_track_at(capture, i)->header.instance);
    if (ref->instance == INK_ID_NONE && !ref->brief)
      ref->instance = ink_instance_made_up(capture, ref->device, ink_track_at(capture, i)->header.instance);
    uint32_t kernel = kernel_of(capture, &map, slot ? slot->count.key : 0, ref->instance);
    if (kernel == INK_ID_NONE)
      status = no_memory(error);
    if (slot)
      slot->kernel = kernel;
    ref->kernel = kernel;
  }
  for (size_t i = 0; i < capture->slots.count && status == INK_OK; i++) {
    slot_count *slot = &capture->slots.items[i];
    if (slot->kernel == INK_ID_NONE && (slot->count.tracks || slot->count.missed)) {
      slot->kernel = kernel_of(capture, &map, slot->count.key, INK_ID_NONE);
      if (slot->kernel == INK_ID_NONE)
        status = no_memory(error);
    }
  }
  id_map_free(&map);
  return status;
}

typedef struct closed {
  uint64_t tracks, marks, counted_tracks, counted_marks, missed;
} closed;

/* Slots count by key. Of one with several instances nobody knows whose tracks were lost or missed: these are of a
 * kernel of their own, without an instance. */
static ink_status give_counts(ink_capture *capture, closed *sums, ink_error *error) {
  const size_t count = capture->kernels.count;
  for (size_t i = 0; i < count; i++) {
    const uint64_t key = capture->kernels.items[i].key;
    uint32_t to = (uint32_t)i, several = 0;
    bool first = true;
    closed all = sums[i];
    for (size_t k = 0; k < count; k++) {
      if (k == i || capture->kernels.items[k].key != key)
        continue;
      first = first && k > i;
      several++;
      if (!capture->kernels.items[k].instance)
        to = (uint32_t)k;
      all.tracks += sums[k].tracks;
      all.marks += sums[k].marks;
      all.counted_tracks += sums[k].counted_tracks;
      all.counted_marks += sums[k].counted_marks;
      all.missed += sums[k].missed;
    }
    if (!first)
      continue;
    const uint64_t lost = all.counted_tracks > all.tracks ? all.counted_tracks - all.tracks : 0;
    if (several && capture->kernels.items[to].instance && (lost || all.missed)) {
      if (!INK_I_ROOM(capture->kernels))
        return no_memory(error);
      to = (uint32_t)capture->kernels.count++;
      const ink_section_table *table = capture->kernels.items[i].table;
      capture->kernels.items[to] = (ink_kernel){.key = key, .table = table, .name = section_of(table, key)};
    }
    ink_kernel *kernel = &capture->kernels.items[to];
    kernel->missed = all.missed;
    kernel->tracks_lost = lost;
    if (lost && all.counted_marks > all.marks)
      kernel->marks_lost = all.counted_marks - all.marks;
  }
  return INK_OK;
}

/* What the devices count beyond what is stored was overwritten before it was drained. */
ink_status ink_count_kernels(ink_capture *capture, ink_error *error) {
  closed *sums = calloc(capture->kernels.count + 1, sizeof *sums);
  if (!sums)
    return no_memory(error);
  ink_walk walk = {0};
  for (size_t i = 0; i < capture->tracks.count; i++) {
    ink_walk_track(&walk, capture, i);
    const ink_track *header = &ink_track_at(capture, i)->header;
    uint32_t kernel = capture->tracks.items[i].kernel;
    bool is_closed = header->state == INK_TRACK_CLOSED;
    capture->kernels.items[kernel].tracks++;
    capture->facts.open_tracks += !is_closed;
    capture->facts.full_tracks += is_closed && (header->words > ink_i_kept_words(capture, i, 0) ||
                                                header->aux_words > ink_i_kept_words(capture, i, 1));
    sums[kernel].tracks += is_closed;
    sums[kernel].marks += ink_track_marks(header);
  }
  for (size_t i = 0; i < capture->slots.count; i++) {
    const slot_count *slot = &capture->slots.items[i];
    if (slot->kernel == INK_ID_NONE)
      continue;
    sums[slot->kernel].missed += slot->count.missed;
    sums[slot->kernel].counted_tracks += slot->count.tracks;
    sums[slot->kernel].counted_marks += slot->count.marks;
  }
  for (size_t i = 0; i < capture->kernels.count; i++)
    capture->kernels.items[i].marks_executed = sums[i].marks;
  const ink_status status = give_counts(capture, sums, error);
  for (size_t i = 0; i < capture->totals.count; i++)
    capture->facts.unknown_kernels += capture->totals.items[i].unknown;
  free(sums);
  return status;
}

/* ---- asking -------------------------------------------------------------------------------- */

const ink_section_table *ink_capture_table(const ink_capture *capture, uint64_t hash48) {
  uint32_t index = id_map_get(&capture->table_map, hash48);
  return index == INK_ID_NONE ? NULL : &capture->tables.items[index];
}

uint32_t ink_table_base(const ink_capture *capture, const ink_section_table *table) {
  return capture->table_bases.items[table - capture->tables.items];
}

size_t ink_capture_tables(const ink_capture *capture, const ink_section_table **out) {
  *out = capture->tables.items;
  return capture->tables.count;
}

size_t ink_capture_sections(const ink_capture *capture, const ink_section **out) {
  *out = capture->sections.items;
  return capture->sections.count;
}

size_t ink_capture_kernels(const ink_capture *capture, const ink_kernel **out) {
  *out = capture->kernels.items;
  return capture->kernels.count;
}
