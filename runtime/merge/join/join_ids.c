/* SPDX-License-Identifier: MIT */
/* Joins by ids that both files have: the grid id that the device tells, the correlation that CUPTI
 * gave the call. */
#include "join_private.h"

#include "merge/read/foreign_private.h"

#include "output/track_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct id_entry {
  uint64_t id;
  size_t item; /* a kernel of theirs, or a launch of ours */
} id_entry;

typedef struct id_list {
  id_entry *entries; /* by id */
  size_t count;
} id_list;

/* One kind of id, in both files. */
typedef struct id_pairs {
  const char *words;
  id_list theirs, ours;
  size_t *kernels; /* [launches of the device] of the same id, or SIZE_MAX */
  int64_t *offsets;
  size_t found, good;
} id_pairs;

static int by_id(const void *left, const void *right) {
  const id_entry *a = left, *b = right;
  return (a->id > b->id) - (a->id < b->id);
}

/* Ids mostly grow with time; sorting takes as much memory again. */
static void sort_ids(id_list *list) {
  size_t i = 1;
  while (i < list->count && list->entries[i - 1].id <= list->entries[i].id)
    i++;
  if (i < list->count)
    qsort(list->entries, list->count, sizeof *list->entries, by_id);
}

static int by_offset(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static size_t first_of(const id_list *list, uint64_t id) {
  size_t low = 0, high = list->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (list->entries[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* How many have that id: 0, 1, or 2 for several; the first. */
static int find(const id_list *list, uint64_t id, size_t *item) {
  size_t at = first_of(list, id);
  if (at == list->count || list->entries[at].id != id)
    return 0;
  *item = list->entries[at].item;
  return at + 1 < list->count && list->entries[at + 1].id == id ? 2 : 1;
}

static void pairs_free(id_pairs *p) {
  free(p->theirs.entries);
  free(p->ours.entries);
  free(p->kernels);
  free(p->offsets);
}

static uint64_t id_of_launch(const ink_join_launch *l, bool grid) {
  return grid ? l->grid_id : l->correlation > 0 ? (uint64_t)l->correlation : 0;
}

static uint64_t id_of_kernel(const ink_foreign_kernel *k, bool grid) {
  return grid ? k->grid_id : k->correlation > 0 ? (uint64_t)k->correlation : 0;
}

static bool agrees(const join_device *d, size_t i, size_t kernel) {
  const ink_join_launch *l = &d->launches[d->mine[i]];
  const ink_foreign_kernel *k = &d->kernels[kernel];
  return ink_join_sizes_agree(l, k) && ink_join_fits_length(l, k);
}

/* A bit for each id of ours: which of many kernels need no look. */
typedef struct id_filter {
  uint64_t *words;
  size_t bits; /* a power of two */
} id_filter;

static size_t filter_place(const id_filter *f, uint64_t id) {
  return (size_t)(id * 0x9e3779b97f4a7c15ull >> 32) & (f->bits - 1);
}

static bool filter_has(const id_filter *f, uint64_t id) {
  const size_t at = filter_place(f, id);
  return f->words[at / 64] >> at % 64 & 1;
}

static bool filter_make(id_filter *f, const id_list *ids) {
  for (f->bits = 1024; f->bits < 16 * ids->count && f->bits < UINT32_MAX;)
    f->bits *= 2;
  f->words = calloc(f->bits / 64, sizeof *f->words);
  for (size_t i = 0; f->words && i < ids->count; i++) {
    const size_t at = filter_place(f, ids->entries[i].id);
    f->words[at / 64] |= UINT64_C(1) << at % 64;
  }
  return f->words != NULL;
}

/* The kernels whose id some launch may have. */
static ink_status list_kernels(const join_device *d, int32_t theirs, bool grid, id_pairs *p) {
  id_filter filter = {0};
  size_t room = 0;
  ink_status status = filter_make(&filter, &p->ours) ? INK_OK : INK_ERROR_MEMORY;
  for (size_t k = 0; status == INK_OK && k < d->foreign->kernel_count; k++) {
    const uint64_t id = id_of_kernel(&d->kernels[k], grid);
    if (!id || !filter_has(&filter, id) || !ink_join_is_of(d, k, theirs))
      continue;
    void *entries = p->theirs.entries;
    status = ink_grow(&entries, p->theirs.count, &room, sizeof *p->theirs.entries);
    p->theirs.entries = entries;
    if (status == INK_OK)
      p->theirs.entries[p->theirs.count++] = (id_entry){id, k};
  }
  free(filter.words);
  return status;
}

/* Pairs of an id that one launch and one kernel have. */
static ink_status find_pairs(const join_device *d, int32_t theirs, bool grid, id_pairs *p,
                             ink_error *error) {
  p->ours.entries = malloc((d->count + 1) * sizeof *p->ours.entries);
  p->kernels = malloc((d->count + 1) * sizeof *p->kernels);
  p->offsets = malloc((d->count + 1) * sizeof *p->offsets);
  if (!p->ours.entries || !p->kernels || !p->offsets)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < d->count; i++)
    if (id_of_launch(&d->launches[d->mine[i]], grid))
      p->ours.entries[p->ours.count++] =
          (id_entry){id_of_launch(&d->launches[d->mine[i]], grid), i};
  if (list_kernels(d, theirs, grid, p) != INK_OK)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  sort_ids(&p->theirs);
  sort_ids(&p->ours);
  for (size_t i = 0; i < d->count; i++) {
    uint64_t id = id_of_launch(&d->launches[d->mine[i]], grid);
    size_t kernel, same;
    p->kernels[i] = SIZE_MAX;
    if (!id || find(&p->theirs, id, &kernel) != 1 || find(&p->ours, id, &same) != 1)
      continue;
    p->kernels[i] = kernel;
    p->found++;
    if (agrees(d, i, kernel))
      p->offsets[p->good++] = ink_join_offset(d, i, kernel);
  }
  return INK_OK;
}

/* Leaves the pairs that agree, if nine in ten do, and gives the offset of most of them. */
static bool check_pairs(join_device *d, id_pairs *p, int64_t *offset) {
  if (!p->good || p->good * 10 < p->found * 9)
    return false;
  qsort(p->offsets, p->good, sizeof *p->offsets, by_offset);
  *offset = p->offsets[p->good / 2];
  if (d->foreign->facts.base_known && (*offset > JOIN_FARTHEST_NS || *offset < -JOIN_FARTHEST_NS))
    return false;
  join_device at = *d; /* with nothing known of the clock but that */
  at.shift_ns = *offset;
  at.clock.drift_ppm = 0;
  size_t steady = 0;
  int64_t first = d->launches[d->mine[0]].begin_ns;
  int64_t span = d->launches[d->mine[d->count - 1]].begin_ns - first;
  double allowed = 1e6 + JOIN_DRIFT_MAX * (double)span; /* a drift, and what is no drift */
  for (size_t i = 0; i < d->count; i++) {
    if (p->kernels[i] == SIZE_MAX)
      continue;
    join_pair pair = ink_join_pair(&at, i, p->kernels[i]);
    if (agrees(d, i, p->kernels[i]) && ink_join_sticks_out(&pair, 0) <= allowed)
      steady++;
    else
      p->kernels[i] = SIZE_MAX;
  }
  return steady * 10 >= p->found * 9;
}

static void say_refused(join_device *d, const id_pairs *p) {
  size_t used = strlen(d->clock.note);
  if (p->found && used + 1 < sizeof d->clock.note)
    snprintf(d->clock.note + used, sizeof d->clock.note - used,
             "%s%s do not agree (%zu of %zu fit in size and length), so they were not used",
             used ? "; " : "", p->words, p->good, p->found);
}

static ink_status take(join_device *d, int64_t offset, ink_error *error) {
  d->shift_ns = offset;
  d->clock.drift_ppm = 0;
  d->clock.offset_ns = 0;
  return ink_join_fit_chosen(d, error);
}

ink_status ink_join_by_grid(join_device *d, int32_t theirs, ink_error *error) {
  id_pairs p = {.words = "grid ids"};
  int64_t offset;
  ink_status status = find_pairs(d, theirs, true, &p, error);
  if (status == INK_OK && check_pairs(d, &p, &offset)) {
    d->clock.grid_ids_trusted = true;
    for (size_t i = 0; i < d->count; i++) {
      d->chosen[i] = p.kernels[i];
      d->by_id[i] = p.kernels[i] != SIZE_MAX;
      d->confidence[i] = d->by_id[i];
    }
    status = take(d, offset, error);
  } else if (status == INK_OK) {
    say_refused(d, &p);
  }
  pairs_free(&p);
  return status;
}

/* What time found stays where the id says nothing: the launch has none, or shares it. */
static void override(join_device *d, const id_pairs *p, bool *taken) {
  for (size_t i = 0; i < d->count; i++)
    if (p->kernels[i] != SIZE_MAX)
      taken[p->kernels[i]] = true;
  for (size_t i = 0; i < d->count; i++) {
    uint64_t id = id_of_launch(&d->launches[d->mine[i]], false);
    size_t item;
    if (p->kernels[i] != SIZE_MAX) {
      d->chosen[i] = p->kernels[i];
      d->by_id[i] = true;
      d->confidence[i] = 1;
    } else if (d->chosen[i] != SIZE_MAX &&
               (taken[d->chosen[i]] || (id && !find(&p->theirs, id, &item)))) {
      d->chosen[i] = SIZE_MAX;
    }
  }
}

ink_status ink_join_by_correlation(join_device *d, int32_t theirs, size_t note_bytes,
                                   ink_error *error) {
  id_pairs p = {.words = "correlation ids"};
  int64_t offset;
  bool *taken = NULL;
  ink_status status = find_pairs(d, theirs, false, &p, error);
  if (status != INK_OK || !p.found)
    goto cleanup;
  if (!check_pairs(d, &p, &offset)) {
    say_refused(d, &p);
    goto cleanup;
  }
  taken = calloc(d->foreign->kernel_count + 1, sizeof *taken);
  if (!taken) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    goto cleanup;
  }
  override(d, &p, taken);
  d->clock.correlations_trusted = true;
  d->clock.note[note_bytes] = 0; /* what time alone left in doubt is settled */
  status = take(d, offset, error);
cleanup:
  free(taken);
  pairs_free(&p);
  return status;
}
