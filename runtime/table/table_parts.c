/* SPDX-License-Identifier: MIT */
/* The parts of kernels that a table keeps apart: what ran on one device, as one function. */
#include "table_private.h"

#include "inkmark/activity.h"

#include <stdlib.h>
#include <string.h>

/* Each name once, so that equal names are equal pointers. NULL: out of memory. */
static const char *intern(ink_table *table, const char *name) {
  for (size_t i = 0; i < table->instance_count; i++)
    if (!strcmp(table->instance_names[i], name))
      return table->instance_names[i];
  const char **more =
      realloc(table->instance_names, (table->instance_count + 1) * sizeof *table->instance_names);
  if (!more)
    return NULL;
  table->instance_names = more;
  return more[table->instance_count++] = name;
}

ink_status ink_table_find_instances(ink_table *table) {
  const ink_activity *const *all;
  const size_t n = ink_capture_activities(table->capture, &all, NULL);
  const size_t launches = table->capture->launches.count;
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
  const ink_kernel *kernels = table->capture->kernels.items;
  for (uint32_t i = 0; i < kernel && table->options.by == INK_BY_INSTANCE; i++)
    if (kernels[i].key == kernels[kernel].key)
      return i;
  return kernel;
}

int64_t ink_table_instance_of(const ink_table *table, uint32_t launch, uint32_t kernel) {
  const char *own = table->capture->kernels.items[kernel].instance;
  const char *name = own ? own : table->instances ? table->instances[launch] : NULL;
  for (size_t i = 0; name && i < table->instance_count; i++)
    if (!strcmp(table->instance_names[i], name))
      return (int64_t)i;
  return -1;
}

const char *ink_table_instance(const ink_table *table, int64_t group) {
  return group >= 0 && (uint64_t)group < table->instance_count ? table->instance_names[group] : NULL;
}

static bool is_of(const ink_table *table, const ink_kernel_total *part, const ink_kernel_total *wanted) {
  return part->kernel == wanted->kernel &&
         (part->device == wanted->device || table->options.by == INK_BY_DEVICE) &&
         part->instance == wanted->instance;
}

static uint32_t add_part(ink_table *table, const ink_kernel_total *part) {
  if (!ink_list_room((void **)&table->totals.items, &table->totals.capacity, table->totals.count,
                     sizeof *table->totals.items))
    return UINT32_MAX;
  if (table->totals.count >= table->launch_of_room) {
    const size_t room = 2 * table->launch_of_room + 16;
    uint32_t *more = realloc(table->launch_of, room * sizeof *more);
    if (!more)
      return UINT32_MAX;
    table->launch_of = more;
    table->launch_of_room = room;
  }
  table->launch_of[table->totals.count] = 0;
  table->totals.items[table->totals.count] = *part;
  return (uint32_t)table->totals.count++;
}

static uint32_t find_part(ink_table *table, const ink_kernel_total *wanted) {
  if (table->part < table->totals.count && is_of(table, &table->totals.items[table->part], wanted))
    return table->part;
  for (size_t i = 0; i < table->totals.count; i++)
    if (is_of(table, &table->totals.items[i], wanted))
      return (uint32_t)i;
  return add_part(table, wanted);
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
  if (table->launch_of[part] != launch + 1) {
    table->launch_of[part] = launch + 1;
    table->totals.items[part].launches++;
  }
  return id_map_put(&table->part_map, part_key(launch, kernel), part) ? part : UINT32_MAX;
}

uint32_t ink_table_part_of(const ink_table *table, uint32_t launch, uint32_t kernel) {
  return id_map_get(&table->part_map, part_key(launch, kernel));
}

/* What is known of a kernel as a whole, told once. Kernels without a track are parts too. */
static ink_status tell_losses(ink_table *table) {
  for (uint32_t k = 0; k < table->capture->kernels.count; k++) {
    const ink_kernel *kernel = &table->capture->kernels.items[k];
    size_t first = 0;
    if (!table->wanted[k] || ink_table_kernel_of(table, k) != k)
      continue;
    while (first < table->totals.count && table->totals.items[first].kernel != k)
      first++;
    if (first == table->totals.count && add_part(table, &(ink_kernel_total){.kernel = k}) == UINT32_MAX)
      return INK_ERROR_MEMORY;
    table->totals.items[first].missed = kernel->missed;
    table->totals.items[first].tracks_lost = kernel->tracks_lost;
    table->totals.items[first].marks_lost = kernel->marks_lost;
  }
  return INK_OK;
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
