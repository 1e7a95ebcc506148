/* SPDX-License-Identifier: MIT */
/* Which kernels of the other file a launch of ours could be: those of its name and size, or, where
 * the other file knows no kernel of that name, those of its size. Launches of one kernel and one
 * size share a list. */
#include "join_private.h"

#include "merge/read/foreign_private.h"

#include <stdlib.h>
#include <string.h>

static bool size_known(const ink_foreign_type *type) {
  return type->grid_dim[0] && type->block_dim[0];
}

bool ink_join_sizes_agree(const ink_join_launch *l, const ink_foreign_kernel *k) {
  return !size_known(k->type) || (!memcmp(l->grid_dim, k->type->grid_dim, sizeof l->grid_dim) &&
                            !memcmp(l->block_dim, k->type->block_dim, sizeof l->block_dim));
}

static int compare_sizes(const uint32_t *a_grid, const uint32_t *a_block, const uint32_t *b_grid,
                         const uint32_t *b_block) {
  for (int i = 0; i < 3; i++)
    if (a_grid[i] != b_grid[i])
      return a_grid[i] < b_grid[i] ? -1 : 1;
  for (int i = 0; i < 3; i++)
    if (a_block[i] != b_block[i])
      return a_block[i] < b_block[i] ? -1 : 1;
  return 0;
}

static int by_begin(const void *left, const void *right, void *user) {
  const ink_join_launch *launches = user;
  size_t a = *(const size_t *)left, b = *(const size_t *)right;
  int64_t at = launches[a].begin_ns, bt = launches[b].begin_ns;
  return at != bt ? (at > bt) - (at < bt) : (a > b) - (a < b);
}

static int by_kernel(const void *left, const void *right, void *user) {
  const join_device *d = user;
  const ink_join_launch *a = &d->launches[d->mine[*(const size_t *)left]];
  const ink_join_launch *b = &d->launches[d->mine[*(const size_t *)right]];
  return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

/* A launch with what its group is found by. */
typedef struct member {
  size_t at; /* in join_device.mine */
  bool by_name;
  const ink_join_launch *launch;
} member;

/* Kernel, where its name is known to the other file, then size. */
static int by_group(const void *left, const void *right) {
  const member *a = left, *b = right;
  if (a->by_name != b->by_name)
    return a->by_name ? -1 : 1;
  if (a->by_name && a->launch->kernel != b->launch->kernel)
    return a->launch->kernel < b->launch->kernel ? -1 : 1;
  return compare_sizes(a->launch->grid_dim, a->launch->block_dim, b->launch->grid_dim,
                       b->launch->block_dim);
}

/* What kernels of the device have in common: there are few of these, and many kernels. */
typedef struct kind {
  const ink_foreign_type *type;
  size_t rank; /* of its size among the sizes, those of unknown size first */
  size_t group; /* that was asked last: so many there were */
  bool wanted;  /* in that */
  bool size_known;
} kind;

static int by_size(const void *left, const void *right) {
  const kind *a = left, *b = right;
  return compare_sizes(a->type->grid_dim, a->type->block_dim, b->type->grid_dim,
                       b->type->block_dim);
}

static int by_index(const void *left, const void *right) {
  size_t a = *(const size_t *)left, b = *(const size_t *)right;
  return (a > b) - (a < b);
}

typedef struct lists {
  kind *kinds; /* of the device's kernels, by size */
  size_t kind_count, sizes;
  uint32_t *slots; /* [slot_count], a power of two: kinds by their type's address, number + 1 */
  size_t slot_count;
  size_t *sorted; /* the kernels of the device by size, those of unknown size first, then by begin */
  uint32_t *sorted_kinds; /* [count], each one's in kinds */
  size_t count;
  size_t unknown;    /* that many of them have no size */
  signed char *same; /* [names of the file] the name of this kernel of ours: 1, another: -1, not
                        compared yet: 0 */
  bool *taken;       /* [names of the file] the name of some kernel of ours */
  size_t room;       /* of the device's candidates */
  size_t *order;     /* [launches of the device] scratch */
} lists;

static bool is_taken(const join_device *d, const lists *l, const ink_foreign_type *type) {
  const uint32_t forms[] = {type->name, type->short_name, type->mangled};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (forms[i] < d->foreign->name_count && l->taken[forms[i]])
      return true;
  return false;
}

static bool is_named(const join_device *d, lists *l, const char *ours,
                     const ink_foreign_type *type) {
  const uint32_t forms[] = {type->name, type->short_name, type->mangled};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const char *text = ink_foreign_name(d->foreign, forms[i]);
    if (!text)
      continue;
    if (!l->same[forms[i]])
      l->same[forms[i]] = ink_join_name_equal(ours, text) ? 1 : -1;
    if (l->same[forms[i]] > 0) {
      l->taken[forms[i]] = true;
      return true;
    }
  }
  return false;
}

/* The first in [from, count) that is not smaller than the launch's size. */
static size_t size_begin(const lists *l, const ink_join_launch *launch, bool after) {
  size_t low = l->unknown, high = l->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const ink_foreign_type *type = l->kinds[l->sorted_kinds[middle]].type;
    int order = compare_sizes(type->grid_dim, type->block_dim, launch->grid_dim, launch->block_dim);
    if (order < 0 || (after && order == 0))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool append(join_device *d, lists *l, size_t kernel) {
  if (d->candidate_count == l->room) {
    size_t room = l->room ? l->room * 2 : 1024;
    size_t *grown = realloc(d->candidates, room * sizeof *grown);
    if (!grown)
      return false;
    d->candidates = grown;
    l->room = room;
  }
  d->candidates[d->candidate_count++] = kernel;
  return true;
}

/* Does that one of the sorted kernels belong into the group that is filled, the last? */
static bool is_wanted(const join_device *d, lists *l, const ink_join_launch *launch, bool by_name, size_t sorted) {
  kind *k = &l->kinds[l->sorted_kinds[sorted]];
  if (k->group != d->group_count) {
    k->group = d->group_count;
    k->wanted = by_name ? is_named(d, l, launch->name, k->type) : !is_taken(d, l, k->type);
  }
  return k->wanted;
}

static bool fill_group(join_device *d, lists *l, const ink_join_launch *launch, bool by_name) {
  join_group *group = &d->groups[d->group_count++];
  *group = (join_group){.first = d->candidate_count, .by_name = by_name};
  size_t end = size_begin(l, launch, true);
  for (size_t i = size_begin(l, launch, false); i < end; i++)
    if (is_wanted(d, l, launch, by_name, i) && !append(d, l, l->sorted[i]))
      return false;
  for (size_t i = 0; by_name && i < l->unknown; i++)
    if (is_wanted(d, l, launch, by_name, i) && !append(d, l, l->sorted[i]))
      return false;
  group->count = d->candidate_count - group->first;
  /* Kernels are numbered by begin; those of one size are in that order. */
  if (group->count && by_name && l->unknown)
    qsort(d->candidates + group->first, group->count, sizeof *d->candidates, by_index);
  return true;
}

/* The type's slot, or the free one where it belongs. */
static uint32_t *slot_of(const lists *l, const ink_foreign_type *type) {
  size_t at = (size_t)((uintptr_t)type * 0x9e3779b97f4a7c15ull >> 32) & (l->slot_count - 1);
  while (l->slots[at] && l->kinds[l->slots[at] - 1].type != type)
    at = (at + 1) & (l->slot_count - 1);
  return &l->slots[at];
}

static bool list_kinds(const join_device *d, lists *l, int32_t theirs) {
  const text_table *types = &d->foreign->types;
  l->kinds = malloc((types->count + 1) * sizeof *l->kinds);
  if (!l->kinds)
    return false;
  for (size_t i = 0; i < types->count; i++) {
    const ink_foreign_type *type = (const void *)types->texts[i];
    if (ink_join_type_is_of(d, type, theirs))
      l->kinds[l->kind_count++] = (kind){.type = type, .size_known = size_known(type)};
  }
  qsort(l->kinds, l->kind_count, sizeof *l->kinds, by_size);
  for (size_t i = 1; i < l->kind_count; i++)
    l->kinds[i].rank = l->kinds[i - 1].rank + (by_size(&l->kinds[i - 1], &l->kinds[i]) != 0);
  l->sizes = l->kind_count ? l->kinds[l->kind_count - 1].rank + 1 : 0;
  for (l->slot_count = 2; l->slot_count < 2 * l->kind_count;)
    l->slot_count *= 2;
  l->slots = calloc(l->slot_count, sizeof *l->slots);
  for (size_t i = 0; l->slots && i < l->kind_count; i++)
    *slot_of(l, l->kinds[i].type) = (uint32_t)i + 1;
  return l->slots != NULL;
}

/* Kernels are numbered by begin. */
static bool sort_kernels(const join_device *d, lists *l, int32_t theirs) {
  size_t total = ink_foreign_kernels(d->foreign, &(const ink_foreign_kernel *){NULL});
  l->sorted = malloc((total + 1) * sizeof *l->sorted);
  l->sorted_kinds = malloc((total + 1) * sizeof *l->sorted_kinds);
  uint32_t *kinds = malloc((total + 1) * sizeof *kinds); /* number + 1; 0: of another device */
  size_t *next = list_kinds(d, l, theirs) ? calloc(l->sizes + 1, sizeof *next) : NULL;
  bool done = l->sorted && l->sorted_kinds && kinds && next;
  for (size_t i = 0; done && i < total; i++) {
    kinds[i] = *slot_of(l, d->kernels[i].type);
    if (kinds[i]) {
      const kind *k = &l->kinds[kinds[i] - 1];
      next[k->rank + 1]++;
      l->unknown += !k->size_known;
    }
  }
  for (size_t i = 1; done && i <= l->sizes; i++)
    next[i] += next[i - 1];
  l->count = done ? next[l->sizes] : 0;
  for (size_t i = 0; done && i < total; i++)
    if (kinds[i]) {
      size_t place = next[l->kinds[kinds[i] - 1].rank]++;
      l->sorted[place] = i;
      l->sorted_kinds[place] = kinds[i] - 1;
    }
  free(kinds);
  free(next);
  return done;
}

/* Which of our kernels the other file knows by name. */
static void find_names(const join_device *d, lists *l, member *members) {
  size_t *order = l->order, names = d->foreign->name_count;
  for (size_t i = 0; i < d->count; i++)
    order[i] = i;
  qsort_r(order, d->count, sizeof *order, by_kernel, (void *)d);
  bool named = false;
  for (size_t i = 0; i < d->count; i++) {
    const ink_join_launch *launch = &d->launches[d->mine[order[i]]];
    if (!i || d->launches[d->mine[order[i - 1]]].kernel != launch->kernel) {
      memset(l->same, 0, names);
      named = false;
      for (size_t k = 0; k < l->kind_count; k++)
        named |= is_named(d, l, launch->name, l->kinds[k].type);
    }
    members[order[i]] = (member){order[i], named, launch};
  }
}

ink_status ink_join_groups(join_device *d, int32_t theirs, ink_error *error) {
  lists l = {0};
  bool done = false;
  size_t names = d->foreign->name_count;
  member *members = malloc((d->count + 1) * sizeof *members);
  d->group_of = malloc((d->count + 1) * sizeof *d->group_of);
  d->groups = malloc((d->count + 1) * sizeof *d->groups);
  l.same = malloc(names + 1);
  l.taken = calloc(names + 1, sizeof *l.taken);
  l.order = malloc((d->count + 1) * sizeof *l.order);
  if (!members || !d->group_of || !d->groups || !l.same || !l.taken || !l.order ||
      !sort_kernels(d, &l, theirs))
    goto cleanup;
  qsort_r(d->mine, d->count, sizeof *d->mine, by_begin, (void *)d->launches);
  find_names(d, &l, members);
  qsort(members, d->count, sizeof *members, by_group);
  for (size_t i = 0; i < d->count; i++) {
    const member *m = &members[i];
    if (!i || members[i - 1].launch->kernel != m->launch->kernel)
      memset(l.same, 0, names);
    if ((!i || by_group(&members[i - 1], m)) && !fill_group(d, &l, m->launch, m->by_name))
      goto cleanup;
    d->group_of[m->at] = (uint32_t)(d->group_count - 1);
  }
  done = true;
cleanup:
  free(members);
  free(l.kinds);
  free(l.slots);
  free(l.sorted);
  free(l.sorted_kinds);
  free(l.same);
  free(l.taken);
  free(l.order);
  return done ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

void ink_join_groups_free(join_device *d) {
  free(d->group_of);
  free(d->groups);
  free(d->candidates);
  d->group_of = NULL;
  d->groups = NULL;
  d->candidates = NULL;
  d->group_count = d->candidate_count = 0;
}

size_t ink_join_first_from(const join_device *d, const join_group *group, int64_t from_ns) {
  size_t low = 0, high = group->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (d->kernels[d->candidates[group->first + middle]].begin_ns < from_ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
