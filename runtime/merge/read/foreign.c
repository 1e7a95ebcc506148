/* SPDX-License-Identifier: MIT */
/* The kernels of another profiler's trace: what the readers add, each name and type once. */
#include "foreign_private.h"

#include "number_text.h"
#include "output/track_events.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ink_status ink_foreign_intern(ink_foreign *f, const char *text, size_t length, uint32_t *out) {
  ink_status status = text_table_add(&f->name_table, text, length, out, NULL);
  f->names = f->name_table.texts;
  f->name_count = f->name_table.count;
  return status;
}

static const foreign_place *find_place(const ink_foreign *f, const ink_foreign_type *t) {
  for (size_t i = 0; i < f->place_count; i++)
    if (f->places[i].device == t->device && f->places[i].stream == t->stream)
      return &f->places[i];
  return NULL;
}

const foreign_place *ink_foreign_find_place(const ink_foreign *f, const ink_foreign_kernel *k) {
  return find_place(f, k->type);
}

ink_status ink_foreign_place(ink_foreign *f, const ink_foreign_type *t, const trace_id *pid,
                             const trace_id *tid) {
  if (f->last_place < f->place_count && f->places[f->last_place].device == t->device &&
      f->places[f->last_place].stream == t->stream)
    return INK_OK;
  const foreign_place *found = find_place(f, t);
  if (found) {
    f->last_place = (size_t)(found - f->places);
    return INK_OK;
  }
  void *places = f->places;
  ink_status status = ink_grow(&places, f->place_count, &f->place_room, sizeof *f->places);
  f->places = places;
  if (status != INK_OK)
    return status;
  foreign_place *place = &f->places[f->place_count];
  *place = (foreign_place){.device = t->device, .stream = t->stream, .pid = *pid, .tid = *tid};
  f->last_place = f->place_count++;
  return INK_OK;
}

ink_status foreign_place_track(ink_foreign *f, const ink_foreign_type *t, uint64_t track, uint64_t root) {
  const trace_id none = {0};
  const ink_status status = ink_foreign_place(f, t, &none, &none);
  if (status == INK_OK && !f->places[f->last_place].track) {
    f->places[f->last_place].track = track;
    f->places[f->last_place].root = root;
  }
  return status;
}

ink_status ink_foreign_add(ink_foreign *f, const ink_foreign_type *type,
                           const ink_foreign_kernel *kernel) {
  static_assert(sizeof *type == 56, "types are told apart by their bytes, so they have no padding");
  uint32_t number;
  ink_status status = text_table_add(&f->types, (const char *)type, sizeof *type, &number, NULL);
  if (status != INK_OK)
    return status;
  void *kernels = f->kernels;
  status = ink_grow(&kernels, f->kernel_count, &f->kernel_room, sizeof *f->kernels);
  f->kernels = kernels;
  if (status != INK_OK)
    return status;
  f->kernels[f->kernel_count] = *kernel;
  f->kernels[f->kernel_count++].type = (const void *)f->types.texts[number];
  return INK_OK;
}

/* One of the categories, of which a comma-separated list may stand there. "Kernel" before 2022; "kernel_dispatch" and
 * the like are rocprofiler's. */
bool foreign_is_kernel(const char *list) {
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
    at += strspn(at, " ");
    const size_t length = strcspn(at, ", ");
    static const char dispatch[] = "kernel_dispatch";
    const size_t n = sizeof dispatch - 1;
    if ((length == 6 && ink_i_begins_with(at, "kernel")) ||
        (length >= n && !strncmp(at + length - n, dispatch, n)))
      return true;
  }
  return false;
}

/* XLA's "regs:32 static_shared:0 dynamic_shared:0 grid:16,1,1 block:256,1,1 occ_pct:100", with
 * spaces or line breaks. */
void foreign_xla_dimension(const char *text, const char *key, uint32_t out[3]) {
  const char *at = strstr(text, key);
  if (!at || (at != text && at[-1] != ' ' && at[-1] != '\n'))
    return;
  at += strlen(key);
  for (int i = 0; i < 3; i++) {
    char *end;
    unsigned long long value = strtoull(at, &end, 10);
    if (end == at || *at == '-' || !value || value > INT32_MAX || (i < 2 && *end != ',')) {
      out[0] = 0;
      return;
    }
    out[i] = (uint32_t)value;
    at = end + 1;
  }
}

void foreign_note_category(ink_foreign *f, const char *category) {
  char text[sizeof *f->categories];
  if (f->kernel_count || f->category_count == FOREIGN_CATEGORIES || !*category)
    return;
  snprintf(text, sizeof text, "%s", category);
  for (size_t i = 0; i < f->category_count; i++)
    if (!strcmp(f->categories[i], text))
      return;
  memcpy(f->categories[f->category_count++], text, sizeof text);
}

/* Kineto wrote Unix microseconds as ts, and no base, until early 2024. Times of this range are dates from 2008
 * to 2049, and no machine runs for 38 years: they are Unix time. */
bool foreign_are_dates(const ink_foreign *f) {
  const int64_t first = INT64_C(1200000000000000000), last = INT64_C(2500000000000000000);
  for (size_t i = 0; i < f->kernel_count; i++)
    if (f->kernels[i].begin_ns < first || f->kernels[i].end_ns > last)
      return false;
  return f->kernel_count > 0;
}

void ink_foreign_free(ink_foreign *f) {
  if (!f)
    return;
  text_table_free(&f->name_table);
  text_table_free(&f->types);
  id_map_free(&f->packets.track_highs);
  id_map_free(&f->packets.sequences);
  free(f->places);
  free(f->edits.list);
  free(f->kernels);
  free(f);
}

const ink_foreign_facts *ink_foreign_get_facts(const ink_foreign *f) {
  return &f->facts;
}

size_t ink_foreign_kernels(const ink_foreign *f, const ink_foreign_kernel **out) {
  *out = f->kernels;
  return f->kernel_count;
}

const char *ink_foreign_name(const ink_foreign *f, uint32_t name) {
  return name < f->name_count ? f->names[name] : NULL;
}
