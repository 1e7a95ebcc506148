/* SPDX-License-Identifier: MIT */
/* The parts of kernels that a table keeps apart: what ran on one device, as one function. */
#include "table_private.h"

#include "inkmark/activity.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of_name(const char *name) {
  uint64_t hash = 0;
  for (; *name; name++)
    hash = ink_mix64(hash + (unsigned char)*name);
  return hash;
}

/* The index of a name; INK_ID_NONE: it is not there. */
static uint32_t find_name(const ink_table *table, uint64_t hash, const char *name) {
  uint32_t i = id_map_get(&table->instance_map, hash);
  while (i != INK_ID_NONE && strcmp(table->instance_names[i], name))
    i = table->instance_next[i];
  return i;
}

static bool make_name_room(ink_table *table) {
  if (table->instance_count < table->instance_room)
    return true;
  const size_t room = 2 * table->instance_room + 16;
  const char **names = realloc(table->instance_names, room * sizeof *names);
  if (names)
    table->instance_names = names;
  uint32_t *next = names ? realloc(table->instance_next, room * sizeof *next) : NULL;
  if (!next)
    return false;
  table->instance_next = next;
  table->instance_room = room;
  return true;
}

/* Each name once, so that equal names are equal pointers. NULL: out of memory. */
static const char *intern(ink_table *table, const char *name) {
  const uint64_t hash = hash_of_name(name);
  const uint32_t known = find_name(table, hash, name), at = (uint32_t)table->instance_count;
  if (known != INK_ID_NONE)
    return table->instance_names[known];
  const uint32_t first = id_map_get(&table->instance_map, hash);
  if (at == INK_ID_NONE || !make_name_room(table) || !id_map_put(&table->instance_map, hash, at))
    return NULL;
  table->instance_next[at] = first;
  return table->instance_names[table->instance_count++] = name;
}

/* BY_INSTANCE: kernels of one section are one. */
static bool find_first_kernels(ink_table *table) {
  const size_t n = table->capture->kernels.count;
  id_map seen = {0};
  bool fine = (table->first_kernels = malloc((n + 1) * sizeof *table->first_kernels)) != NULL;
  for (uint32_t i = 0; i < n && fine; i++) {
    const uint64_t key = table->capture->kernels.items[i].key;
    const uint32_t first = id_map_get(&seen, key);
    table->first_kernels[i] = first != INK_ID_NONE ? first : i;
    if (first == INK_ID_NONE)
      fine = id_map_put(&seen, key, i);
  }
  id_map_free(&seen);
  return fine;
}

ink_status ink_table_find_instances(ink_table *table) {
  const ink_activity *const *all;
  const size_t n = ink_capture_activities(table->capture, &all, NULL);
  const size_t launches = table->capture->launches.count;
  if (table->options.by == INK_BY_INSTANCE && !find_first_kernels(table))
    return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
  for (size_t i = 0; i < table->capture->kernels.count; i++) {
    const char *name = table->capture->kernels.items[i].instance;
    if (name && !intern(table, name))
      return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
  }
  if (!n)
    return INK_OK;
  table->instances = calloc(launches + 1, sizeof *table->instances);
  bool fine = table->instances != NULL;
  for (size_t i = 0; i < n && fine; i++) {
    if (all[i]->kind != INK_ACTIVITY_KERNEL)
      continue;
    const uint32_t launch = ink_activity_launch(table->capture, all[i]);
    const char *name = ink_capture_activity_name(table->capture, all[i]->name);
    if (launch < launches && name[0])
      fine = (table->instances[launch] = intern(table, name)) != NULL;
  }
  return fine ? INK_OK : ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for the table");
}

uint32_t ink_table_kernel_of(const ink_table *table, uint32_t kernel) {
  return table->first_kernels ? table->first_kernels[kernel] : kernel;
}

int64_t ink_table_instance_of(const ink_table *table, uint32_t launch, uint32_t kernel) {
  const char *own = table->capture->kernels.items[kernel].instance;
  const char *name = own ? own : table->instances ? table->instances[launch] : NULL;
  const uint32_t at = name ? find_name(table, hash_of_name(name), name) : INK_ID_NONE;
  return at == INK_ID_NONE ? -1 : (int64_t)at;
}

const char *ink_table_instance(const ink_table *table, int64_t group) {
  return group >= 0 && (uint64_t)group < table->instance_count ? table->instance_names[group] : NULL;
}

static bool is_of(const ink_table *table, const ink_kernel_total *part, const ink_kernel_total *wanted) {
  return part->kernel == wanted->kernel &&
         (part->device == wanted->device || table->options.by == INK_BY_DEVICE) &&
         part->instance == wanted->instance;
}

static uint64_t hash_of_part(const ink_table *table, const ink_kernel_total *part) {
  const uint32_t device = table->options.by == INK_BY_DEVICE ? 0 : (uint32_t)part->device;
  return ink_mix64((uint64_t)device << 32 | part->kernel) + ink_mix64((uint64_t)(uintptr_t)part->instance);
}

static uint32_t add_part(ink_table *table, const ink_kernel_total *part) {
  const uint64_t hash = hash_of_part(table, part);
  const uint32_t at = (uint32_t)table->totals.count;
  if (at == INK_ID_NONE || !INK_I_ROOM(table->totals))
    return UINT32_MAX;
  if (at >= table->part_note_room) {
    const size_t room = 2 * table->part_note_room + 16;
    part_note *more = realloc(table->part_notes, room * sizeof *more);
    if (!more)
      return UINT32_MAX;
    table->part_notes = more;
    table->part_note_room = room;
  }
  table->part_notes[at] = (part_note){.next = id_map_get(&table->part_index, hash)};
  if (!id_map_put(&table->part_index, hash, at))
    return UINT32_MAX;
  table->totals.items[table->totals.count++] = *part;
  return at;
}

static uint32_t find_part(ink_table *table, const ink_kernel_total *wanted) {
  if (table->part < table->totals.count && is_of(table, &table->totals.items[table->part], wanted))
    return table->part;
  uint32_t i = id_map_get(&table->part_index, hash_of_part(table, wanted));
  while (i != INK_ID_NONE && !is_of(table, &table->totals.items[i], wanted))
    i = table->part_notes[i].next;
  return i != INK_ID_NONE ? i : add_part(table, wanted);
}

static uint64_t part_key(uint32_t launch, uint32_t kernel) { return (uint64_t)kernel << 32 | launch; }

/* What activity saw of the launch, else what its tracks say themselves. */
uint32_t ink_table_part(ink_table *table, uint32_t launch, int32_t device, uint32_t kernel) {
  const bool apart = table->options.by != INK_BY_INSTANCE;
  const char *seen = table->instances ? table->instances[launch] : NULL;
  const ink_kernel_total wanted = {
      .kernel = ink_table_kernel_of(table, kernel), .device = device,
      .instance = !apart ? NULL : seen ? seen : table->capture->kernels.items[kernel].instance};
  const uint32_t part = find_part(table, &wanted);
  if (part == UINT32_MAX)
    return UINT32_MAX;
  if (table->part_notes[part].launch != launch + 1) {
    table->part_notes[part].launch = launch + 1;
    table->totals.items[part].launches++;
  }
  return id_map_put(&table->part_map, part_key(launch, kernel), part) ? part : UINT32_MAX;
}

uint32_t ink_table_part_of(const ink_table *table, uint32_t launch, uint32_t kernel) {
  return id_map_get(&table->part_map, part_key(launch, kernel));
}

/* What is known of a kernel as a whole, told once. Kernels without a track are parts too. */
static ink_status tell_losses(ink_table *table) {
  const size_t n = table->capture->kernels.count;
  uint32_t *first = malloc((n + 1) * sizeof *first);
  bool fine = first != NULL;
  for (size_t k = 0; k < n && fine; k++)
    first[k] = UINT32_MAX;
  for (size_t i = table->totals.count; i-- > 0 && fine;)
    first[table->totals.items[i].kernel] = (uint32_t)i;
  for (uint32_t k = 0; k < n && fine; k++) {
    const ink_kernel *kernel = &table->capture->kernels.items[k];
    if (!table->wanted[k] || ink_table_kernel_of(table, k) != k)
      continue;
    const uint32_t part = first[k] != UINT32_MAX ? first[k] : add_part(table, &(ink_kernel_total){.kernel = k});
    fine = part != UINT32_MAX;
    if (!fine)
      break;
    table->totals.items[part].missed = kernel->missed;
    table->totals.items[part].tracks_lost = kernel->tracks_lost;
    table->totals.items[part].marks_lost = kernel->marks_lost;
  }
  free(first);
  return fine ? INK_OK : INK_ERROR_MEMORY;
}

typedef struct part_order {
  ink_kernel_total total;
  uint32_t was;
} part_order;

static int compare_parts(const void *left, const void *right) {
  const part_order *a = left, *b = right;
  if (a->total.kernel != b->total.kernel)
    return a->total.kernel < b->total.kernel ? -1 : 1;
  if (a->total.device != b->total.device)
    return a->total.device < b->total.device ? -1 : 1;
  return a->was < b->was ? -1 : a->was > b->was;
}

ink_status ink_table_sort_parts(ink_table *table) {
  ink_status status = INK_ERROR_MEMORY;
  if (tell_losses(table) != INK_OK)
    return status;
  const size_t n = table->totals.count;
  part_order *order = calloc(n + 1, sizeof *order);
  uint32_t *is = calloc(n + 1, sizeof *is);
  for (size_t i = 0; i < n && order; i++)
    order[i] = (part_order){table->totals.items[i], (uint32_t)i};
  if (order && is) {
    qsort(order, n, sizeof *order, compare_parts);
    for (size_t i = 0; i < n; i++) {
      table->totals.items[i] = order[i].total;
      is[order[i].was] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < table->cell_count; i++)
      ink_table_cell(table, i)->part = is[ink_table_cell(table, i)->part];
    for (size_t i = 0; i < table->passes.count; i++)
      table->passes.items[i].part = is[table->passes.items[i].part];
    for (size_t i = 0; i < table->launch_count; i++)
      if (table->parts_of[i] != UINT32_MAX)
        table->parts_of[i] = is[table->parts_of[i]];
    for (size_t i = 0; table->part_map.entries && i <= table->part_map.mask; i++)
      if (table->part_map.entries[i].value != INK_ID_NONE)
        table->part_map.entries[i].value = is[table->part_map.entries[i].value];
    for (size_t i = 0; i < table->problem_count; i++)
      table->problem_parts[i] = is[table->problem_parts[i]];
    status = INK_OK;
  }
  free(order);
  free(is);
  return status;
}
