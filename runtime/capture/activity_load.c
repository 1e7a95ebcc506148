/* SPDX-License-Identifier: MIT */
/* Reads the activity of a capture: keeps pointers to the items in the file, sorts them, takes out
 * what inkmark itself did. */
#include "capture_private.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1 << 24 };

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the activities");
}

static ink_status damaged(ink_error *error, const char *what) {
  return ink_error_set(error, INK_ERROR_DAMAGED, "%s", what);
}

/* Times that no clock shows would overflow what is computed with them. */
static bool makes_sense(const ink_activity *a) {
  return a->kind >= INK_ACTIVITY_KERNEL && a->kind <= INK_ACTIVITY_DRIVER_CALL &&
         a->begin_ns <= a->end_ns && a->end_ns < INT64_MAX / 2;
}

static ink_status add_item(ink_capture *capture, const unsigned char *at, ink_error *error) {
  capture_activity *all = &capture->activity;
  const ink_activity *item = (const ink_activity *)(const void *)at; /* 8-aligned, as all is */
  if (!makes_sense(item))
    return damaged(error, "an activity whose kind or times make no sense");
  if (!INK_I_ROOM(all->items))
    return no_memory(error);
  all->items.items[all->items.count++] = item;
  return INK_OK;
}

static ink_status add_reading(ink_capture *capture, const unsigned char *at, ink_error *error) {
  capture_activity *all = &capture->activity;
  ink_activity_reading reading;
  memcpy(&reading, at, sizeof reading);
  if (reading.realtime_after_ns < reading.realtime_before_ns || reading.realtime_before_ns < 0 ||
      reading.realtime_after_ns > INT64_MAX / 2 || reading.ns > INT64_MAX / 2)
    return damaged(error, "a reading of CUPTI's clock that makes no sense");
  if (!INK_I_ROOM(all->readings))
    return no_memory(error);
  all->readings.items[all->readings.count++] = reading;
  return INK_OK;
}

static ink_status add_device(ink_capture *capture, const unsigned char *at, ink_error *error) {
  capture_activity *all = &capture->activity;
  ink_activity_device device;
  memcpy(&device, at, sizeof device);
  for (size_t i = 0; i < all->devices.count; i++)
    if (all->devices.items[i].index == device.index) {
      all->devices.items[i] = device; /* the newest holds */
      return INK_OK;
    }
  if (!INK_I_ROOM(all->devices))
    return no_memory(error);
  all->devices.items[all->devices.count++] = device;
  return INK_OK;
}

static ink_status add_own(ink_capture *capture, const unsigned char *at, ink_error *error) {
  capture_activity *all = &capture->activity;
  if (!INK_I_ROOM(all->own))
    return no_memory(error);
  memcpy(&all->own.items[all->own.count++], at, sizeof(uint32_t));
  return INK_OK;
}

ink_status ink_read_activity(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                             ink_error *error) {
  static const struct {
    size_t item_bytes;
    ink_status (*add)(ink_capture *, const unsigned char *, ink_error *);
  } parts[] = {
      [INK_ACTIVITY_PART_ITEMS] = {sizeof(ink_activity), add_item},
      [INK_ACTIVITY_PART_READINGS] = {sizeof(ink_activity_reading), add_reading},
      [INK_ACTIVITY_PART_DEVICES] = {sizeof(ink_activity_device), add_device},
      [INK_ACTIVITY_PART_OWN] = {sizeof(uint32_t), add_own},
  };
  ink_file_activity head;
  if (bytes < sizeof head)
    return damaged(error, "activities that are too short");
  memcpy(&head, payload, sizeof head);
  if (!head.part || head.part >= sizeof parts / sizeof *parts)
    return INK_OK; /* of a newer minor version */
  if (head.item_bytes < parts[head.part].item_bytes ||
      (head.part == INK_ACTIVITY_PART_ITEMS && head.item_bytes % 8) ||
      head.count > (bytes - sizeof head) / head.item_bytes)
    return damaged(error, "activities whose sizes do not fit");
  ink_status status = INK_OK;
  for (uint64_t i = 0; i < head.count && status == INK_OK; i++)
    status = parts[head.part].add(capture, payload + sizeof head + i * head.item_bytes, error);
  return status;
}

ink_status ink_read_activity_name(ink_capture *capture, const unsigned char *payload,
                                  uint64_t bytes, ink_error *error) {
  capture_activity *all = &capture->activity;
  uint64_t id;
  if (bytes <= sizeof id || payload[bytes - 1])
    return damaged(error, "an activity's name without its text");
  memcpy(&id, payload, sizeof id);
  if (bytes - sizeof id > INK_NAME_BYTES_MAX)
    return damaged(error, "an activity's name that is too long");
  if (!id || id > NAMES_MAX)
    return damaged(error, "an activity's name with an id that makes no sense");
  while (all->names.count < id) { /* ids come one after the other, but for what is damaged */
    if (!INK_I_ROOM(all->names))
      return no_memory(error);
    all->names.items[all->names.count++] = NULL;
  }
  all->names.items[id - 1] = (const char *)payload + sizeof id;
  return INK_OK;
}

static int by_begin(const void *left, const void *right) {
  const ink_activity *a = *(const ink_activity *const *)left;
  const ink_activity *b = *(const ink_activity *const *)right;
  if (a->begin_ns != b->begin_ns)
    return a->begin_ns < b->begin_ns ? -1 : 1;
  if (a->correlation != b->correlation) /* one after the other; a call before what it launched */
    return a->correlation < b->correlation ? -1 : 1;
  if (a->end_ns != b->end_ns) /* the outer one first */
    return a->end_ns > b->end_ns ? -1 : 1;
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  return (a->grid_id > b->grid_id) - (a->grid_id < b->grid_id);
}

/* ---- the join with launches: device and grid id are the driver's own, on both sides ---- */

static int compare_launch(const ink_launch *l, int32_t device, uint64_t grid_id) {
  if (l->device != device)
    return l->device < device ? -1 : 1;
  return (l->grid_id > grid_id) - (l->grid_id < grid_id);
}

static int by_grid(const void *left, const void *right, void *user) {
  const ink_launch *launches = user;
  const uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  const int order = compare_launch(&launches[i], launches[j].device, launches[j].grid_id);
  return order ? order : (i > j) - (i < j);
}

static ink_status index_launches(ink_capture *capture, ink_error *error) {
  const size_t n = capture->launches.count;
  uint32_t *order = malloc((n + 1) * sizeof *order);
  if (!order)
    return no_memory(error);
  for (size_t i = 0; i < n; i++)
    order[i] = (uint32_t)i;
  if (n)
    qsort_r(order, n, sizeof *order, by_grid, capture->launches.items);
  capture->activity.launches = order;
  return INK_OK;
}

uint32_t ink_activity_launch(const ink_capture *capture, const ink_activity *a) {
  const uint32_t *order = capture->activity.launches;
  size_t low = 0, high = order ? capture->launches.count : 0;
  const size_t n = high;
  if (a->kind != INK_ACTIVITY_KERNEL || !a->grid_id)
    return UINT32_MAX;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_launch(&capture->launches.items[order[middle]], a->device, a->grid_id) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  const bool found =
      low < n && !compare_launch(&capture->launches.items[order[low]], a->device, a->grid_id);
  return found ? order[low] : UINT32_MAX;
}

ink_status ink_index_activity(ink_capture *capture, ink_error *error) {
  capture_activity *all = &capture->activity;
  id_map own = {0};
  size_t kept = 0;
  for (size_t i = 0; i < all->own.count; i++)
    if (!id_map_put(&own, all->own.items[i], 1)) {
      id_map_free(&own);
      return no_memory(error);
    }
  for (size_t i = 0; i < all->items.count; i++) {
    const ink_activity *item = all->items.items[i];
    if (item->correlation && id_map_get(&own, item->correlation) != INK_ID_NONE)
      all->own_items++;
    else
      all->items.items[kept++] = item;
  }
  id_map_free(&own);
  all->items.count = kept;
  if (!kept)
    return INK_OK;
  qsort(all->items.items, kept, sizeof *all->items.items, by_begin);
  return index_launches(capture, error);
}

void ink_activity_free(ink_capture *capture) {
  capture_activity *all = &capture->activity;
  free(all->items.items);
  free(all->names.items);
  free(all->readings.items);
  free(all->devices.items);
  free(all->own.items);
  free(all->launches);
}

size_t ink_capture_activities(const ink_capture *capture, const ink_activity *const **out,
                              uint64_t *own) {
  *out = capture->activity.items.items;
  if (own) { /* most are not even stored, and counted in a fact */
    const char *counted = ink_capture_fact(capture, "activity_own");
    *own = capture->activity.own_items + (counted ? strtoull(counted, NULL, 10) : 0);
  }
  return capture->activity.items.count;
}

const char *ink_capture_activity_name(const ink_capture *capture, uint32_t name) {
  const capture_activity *all = &capture->activity;
  const char *text = name && name <= all->names.count ? all->names.items[name - 1] : NULL;
  return text ? text : "";
}

size_t ink_capture_activity_devices(const ink_capture *capture, const ink_activity_device **out) {
  *out = capture->activity.devices.items;
  return capture->activity.devices.count;
}

size_t ink_capture_activity_readings(const ink_capture *capture, const ink_activity_reading **out) {
  *out = capture->activity.readings.items;
  return capture->activity.readings.count;
}
