/* SPDX-License-Identifier: MIT */
/* Levels, rows and gaps of one track: see truth_slices.h. */
#include "truth_slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct level {
  uint64_t begin, stamp;
  int64_t row;
  uint32_t section;
} level;

typedef struct levels {
  const truth_context *c;
  uint32_t kernel;
  level items[2][64]; /* of the body, of called functions; [0] is the base */
  size_t count[2];
  bool called_row;  /* the called base has a row of its own */
  uint64_t claimed; /* by called functions, of the gap since the body's last stamp */
  truth_slice *slices;
  size_t slice_count, capacity;
  truth_cells *cells;
  uint64_t *unmarked;
} levels;

static void *room(void *items, size_t *capacity, size_t count, size_t size) {
  if (count < *capacity)
    return items;
  *capacity = *capacity ? 2 * *capacity : 64;
  items = realloc(items, *capacity * size);
  if (!items) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return items;
}

uint32_t truth_section_index(const truth_context *c, const char *name) {
  const ink_section_table *table;
  const ink_section *sections;
  uint32_t id;
  if (!name || !truth_section(c, name, &table, &id))
    return INK_SECTION_UNKNOWN;
  const size_t n = ink_capture_sections(c->capture, &sections);
  for (uint32_t i = 0; i < n; i++)
    if (sections[i].table == table && sections[i].id == id)
      return i;
  truth_fail("section '%s' is not in the list of all", name);
  return INK_SECTION_UNKNOWN;
}

static truth_cell *cell(levels *l, int64_t row, uint32_t section) {
  truth_cells *cells = l->cells;
  for (size_t i = 0; i < cells->count; i++)
    if (cells->items[i].kernel == l->kernel && cells->items[i].row == row &&
        cells->items[i].section == section)
      return &cells->items[i];
  cells->items = room(cells->items, &cells->capacity, cells->count, sizeof *cells->items);
  cells->items[cells->count] =
      (truth_cell){.kernel = l->kernel, .section = section, .row = row, .least = UINT64_MAX};
  return &cells->items[cells->count++];
}

/* `nested`: in another slice of its section, whose time holds its own. */
static void add_to_cell(truth_cell *to, uint64_t cycles, bool nested) {
  if (to->count < 32)
    to->values[to->count] = cycles;
  to->count++;
  to->nested += nested;
  to->total += nested ? 0 : cycles;
  to->least = cycles < to->least ? cycles : to->least;
  to->most = cycles > to->most ? cycles : to->most;
}

static bool is_open(const levels *l, uint32_t section) {
  for (int called = 0; called < 2; called++)
    for (size_t i = 1; i < l->count[called]; i++)
      if (l->items[called][i].section == section)
        return true;
  return false;
}

static void add_slice(levels *l, truth_slice slice) {
  l->slices = room(l->slices, &l->capacity, l->slice_count, sizeof *l->slices);
  l->slices[l->slice_count++] = slice;
  add_to_cell(cell(l, slice.row, slice.section), slice.end - slice.begin,
              is_open(l, slice.section));
  if (slice.called && l->count[0] == 1 && l->count[1] == 1)
    l->claimed += slice.end - slice.begin;
}

static void gap(levels *l, uint64_t now) {
  const level *base = &l->items[0][0];
  const uint64_t length = now - base->stamp, claimed = l->claimed;
  l->claimed = 0;
  if (length <= claimed)
    return;
  add_to_cell(cell(l, base->row, INK_SECTION_UNKNOWN), length - claimed, false);
  *l->unmarked += length - claimed;
}

static level *top(levels *l, bool called) {
  return &l->items[called][l->count[called] - 1];
}

static int64_t row_of(levels *l, bool called) {
  if (called && l->count[1] == 1 && !l->called_row)
    return top(l, false)->row;
  return top(l, called)->row;
}

static uint32_t depth_of(const levels *l, bool called) {
  return (uint32_t)(l->count[0] - 1 + (called ? l->count[1] : 0));
}

static uint64_t since(levels *l, bool called, uint64_t stamp) {
  const uint64_t body = top(l, false)->stamp;
  return called && body > stamp ? body : stamp;
}

static void body_changes(levels *l, uint64_t now, bool ends) {
  if (!ends && l->count[0] == 1)
    gap(l, now);
  l->called_row = false;
}

static void take_level(levels *l, const truth_step *step, uint32_t section) {
  const bool called = step->called;
  const uint64_t now = step->clock;
  const int64_t row = row_of(l, called);
  level ended;
  switch (step->kind) {
  case INK_KIND_MARK:
    add_slice(l, (truth_slice){section, depth_of(l, called), INK_KIND_MARK, called, row,
                               since(l, called, top(l, called)->stamp), now});
    break;
  case INK_KIND_BEGIN:
    if (!called)
      body_changes(l, now, false);
    top(l, called)->stamp = now;
    l->items[called][l->count[called]++] = (level){now, now, row, section};
    return;
  case INK_KIND_END:
    ended = *top(l, called);
    l->count[called]--;
    add_slice(l, (truth_slice){ended.section, depth_of(l, called), INK_KIND_BEGIN, called, row,
                               since(l, called, ended.begin), now});
    if (!called)
      body_changes(l, now, true);
    break;
  default: /* ITER */
    if (!called)
      body_changes(l, now, false);
    else if (l->count[1] == 1)
      l->called_row = true;
    top(l, called)->row = (int64_t)step->payload[0];
  }
  top(l, called)->stamp = now;
  if (!called && l->count[0] == 1)
    l->claimed = 0;
}

truth_slice *truth_slices(const truth_context *c, const truth_track *track, uint32_t kernel,
                          size_t *count, truth_cells *cells, uint64_t *unmarked) {
  levels l = {.c = c, .kernel = kernel, .cells = cells, .unmarked = unmarked, .count = {1, 1}};
  const uint64_t open = track->opening[2].value;
  l.items[0][0] = l.items[1][0] = (level){open, open, INK_ROW_NONE, INK_SECTION_UNKNOWN};
  for (size_t i = 0; i < track->steps.count; i++) {
    const truth_step *step = &track->steps.items[i];
    const uint32_t section =
        step->section ? truth_section_index(c, step->section) : INK_SECTION_UNKNOWN;
    if (!step->stored)
      continue;
    if (step->escape == INK_ESCAPE_SUM) {
      truth_cell *to = cell(&l, row_of(&l, step->called), section);
      to->summed = true;
      to->count += step->payload[0];
      to->total += step->payload[1];
      to->least = step->payload[2] < to->least ? step->payload[2] : to->least;
      to->most = step->payload[3] > to->most ? step->payload[3] : to->most;
    } else if (step->kind == INK_KIND_MARK || step->kind == INK_KIND_BEGIN ||
               step->kind == INK_KIND_END || step->kind == INK_KIND_ITER) {
      take_level(&l, step, section);
    }
  }
  gap(&l, track->closing[0].value);
  *count = l.slice_count;
  return l.slices;
}
