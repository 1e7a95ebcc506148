/* SPDX-License-Identifier: MIT */
/* A small model of levels and rows as decode.h's opening comment lays them down: from the steps of
 * a whole track to the slices that the decoder must find, and from slices to the cells of a table.
 */
#ifndef INKMARK_TRUTH_SLICES_H
#define INKMARK_TRUTH_SLICES_H

#include "truth_private.h"

typedef struct truth_slice {
  uint32_t section, depth; /* section: index into ink_capture_sections */
  uint8_t kind, called;
  int64_t row;
  uint64_t begin, end;
} truth_slice;

typedef struct truth_cell {
  uint32_t kernel, section;
  int64_t row;
  bool summed;
  uint64_t count, nested, total, least, most;
  uint64_t values[32]; /* the durations, while there are no more than these */
} truth_cell;

typedef struct truth_cells {
  truth_cell *items;
  size_t count, capacity;
} truth_cells;

/* The section's index over all tables of the capture. */
uint32_t truth_section_index(const truth_context *c, const char *name);

/* Slices of one whole track, as they end; *count of them, freed by the caller. Adds to the cells
 * what the track adds to the table by iteration, and to *unmarked the cycles that no section
 * claims. */
truth_slice *truth_slices(const truth_context *c, const truth_track *track, uint32_t kernel,
                          size_t *count, truth_cells *cells, uint64_t *unmarked);

#endif
