/* SPDX-License-Identifier: MIT */
/* A table while it is made (table.c) and when it is finished into rows (table_rows.c). */
#ifndef INKMARK_TABLE_PRIVATE_H
#define INKMARK_TABLE_PRIVATE_H

#include "decode/decode_events.h"
#include "inkmark/table.h"
#include "quantile.h"

/* One section of one kernel in one group. What a track adds is gathered in now_* and folded in when
 * another track comes: a track has one SM, so mostly one scale from cycles to ns, and the imbalance
 * needs its total. */
typedef struct ink_cell {
  uint64_t visit;          /* table->visit when this cell was made ready for it */
  uint64_t now_count, now_total, now_min, now_max;
  int64_t now_max_row;     /* of now_max */
  ink_cost now_cost;       /* taken out of now_total */
  ink_quantile sketch;     /* together with the above in one or two cache lines */
  double now_scale;
  uint64_t track;          /* whose now_* these are; UINT64_MAX: none yet */
  struct ink_cell *follow; /* the cell visited after this one, last time */
  int64_t group;
  uint32_t part, section, next; /* next cell with the same hash */
  uint32_t depth;
  uint8_t called, summed, twice, inside_count;
  uint32_t inside[INK_ROW_INSIDE_MAX];
  uint64_t nested, nested_cycles; /* slices inside of others of the section; not in the total */
  uint64_t child_cycles;   /* of slices that lay directly in its own */
  uint64_t count, cut, total, min, max, tracks;
  uint64_t max_track;      /* where max was */
  int64_t max_row;
  /* Of the launch that is being added, and of those before: each one's largest track times its tracks. */
  uint32_t launch, now_launch;
  uint64_t launch_tracks, launch_largest;
  double uneven;
  struct ink_cell_more *more; /* where findings are wanted */
  uint32_t now_warp;
  double total_ns, min_ns, max_ns, bound_ns;
  ink_cost cost;
  double now_bound_scale, now_bound_each; /* of a cycle, of a stretch */
  /* Where rates change, in timed tables, each stretch has its own ns; else they follow at the fold. */
  double now_ns, now_min_ns, now_max_ns, now_bound_ns;
  ink_quantile sketch_ns;  /* of timed tables, in INK_NS_PARTS of an ns */
} ink_cell;

#define INK_NS_PARTS 16

enum { INK_PROBLEMS_KEPT = 100 };

typedef struct ink_passes { /* of one iteration of one part */
  int64_t row;
  uint64_t count;
  uint32_t part, next; /* next one with the same hash */
} ink_passes;

typedef struct crossing_moment { /* of one launch: a begin or an end */
  uint64_t block;
  int64_t ns;
  int32_t step; /* 1, -1 */
} crossing_moment;

typedef struct crossing_cell {
  ink_crossing_total total;
  ink_quantile cycles, ns;
  INK_I_LIST(crossing_moment) moments;
  uint32_t launch, next;     /* launch: of the moments; next: cell with the same hash */
  double open_ns, span_ns;   /* over the blocks so far: time of all ranges, and from first begin to last end */
} crossing_cell;

typedef struct part_note {
  uint32_t launch; /* the last one that it had a track in, + 1 */
  uint32_t next;   /* part with the same hash */
} part_note;

struct ink_table {
  const ink_capture *capture; /* only while the table is made */
  const ink_clock_map *map;   /* as long */
  ink_error *error;
  ink_table_options options;
  bool *waits;             /* [sections] where findings are wanted; else NULL */
  INK_I_LIST(ink_finding) findings;
  uint64_t *launch_cycles; /* [launches] of all tracks; with `waits` */
  bool *slow_launches;     /* [launches] first ones that were slow as a whole; with `waits` */
  uint32_t warp;
  /* Where the decoder is. */
  uint32_t kernel, part, launch;
  uint64_t track;
  int64_t group;
  ink_line line;
  double bound_scale, bound_each; /* of the line: what a cycle, and what a stretch adds to a bound */
  double cycle_ns;         /* of the slowest rate that its SM had */
  bool timed;              /* some SM changed its rate: every stretch is converted by itself */
  double gap_ns;           /* timed: of this track's gaps */
  uint64_t gap_cycles;
  ink_costs costs;         /* of costs_device; all zero where nothing is taken out */
  int32_t costs_device;
  /* A visit is a stretch of runs in one track, group and depth: cells made ready for it need no
   * further look. */
  uint64_t visit, visit_track;
  int64_t visit_group;
  uint32_t visit_depth, visit_parent;
  /* What has been added up. */
  ink_cell **blocks;
  uint32_t cell_count;
  id_map cell_map;
  ink_cell *latest;        /* visited */
  INK_I_LIST(ink_passes) passes; /* BY_ITERATION */
  id_map pass_map;
  size_t pass_at;          /* the latest: the next one is likely the one behind it */
  ink_cell **cache;        /* [cache_room]: by section, the last for the unmarked */
  size_t cache_room, section_count;
  uint8_t *seen;           /* [section_count] */
  bool *wanted;            /* [kernels] */
  uint32_t *parts_of;      /* [launches]: of its first track; UINT32_MAX: not in the table */
  id_map part_map;         /* launch and kernel: the part that its tracks are in */
  id_map part_index;       /* hash of what makes a part: the part that was made last */
  part_note *part_notes;   /* [parts] */
  size_t part_note_room;
  uint32_t *first_kernels; /* [kernels] BY_INSTANCE: the first of the same section */
  const char **instances;  /* [launches] the functions' names, or NULL; the array may be NULL */
  const char **instance_names; /* each name once: what a group BY_INSTANCE is an index into */
  uint32_t *instance_next; /* [instance_room] the one with the same hash */
  id_map instance_map;
  size_t instance_count, instance_room, launch_count;
  /* The results. */
  INK_I_LIST(ink_kernel_total) totals; /* of parts, sorted at the end */
  ink_table_row *rows;
  uint64_t *histograms; /* [row_count][INK_HISTOGRAM_BINS], or NULL */
  size_t row_count;
  ink_section_index *unseen; /* in rising order */
  size_t (*unseen_of)[2];    /* [kernels]: first and count in `unseen` */
  size_t kernel_count;
  ink_problem *problems;    /* [INK_PROBLEMS_KEPT] */
  uint32_t problem_parts[INK_PROBLEMS_KEPT];
  size_t problem_count;
  uint64_t problem_total;
  INK_I_LIST(crossing_cell) crossing_cells;
  id_map crossing_map;
  ink_crossing_total *crossings; /* [crossing_cells.count] */
};

/* table_crossings.c */
ink_status ink_table_crossing(ink_table *table, const ink_crossing *crossing);
ink_status ink_table_finish_crossings(ink_table *table);
void ink_table_free_crossings(ink_table *table);

/* Folds are done; makes the rows and packs the totals. */
ink_status ink_table_finish(ink_table *table);

/* table_parts.c: the functions that launches are of, where the capture knows them. */
ink_status ink_table_find_instances(ink_table *table);
int64_t ink_table_instance_of(const ink_table *table, uint32_t launch, uint32_t kernel); /* -1: not known */
/* The part that a launch belongs to; UINT32_MAX: out of memory. */
uint32_t ink_table_part(ink_table *table, uint32_t launch, int32_t device, uint32_t kernel);
/* BY_INSTANCE the first kernel of the same section stands for all. */
uint32_t ink_table_kernel_of(const ink_table *table, uint32_t kernel);
/* Sorts the parts, and the cells with them. */
ink_status ink_table_sort_parts(ink_table *table);

/* table_cells.c */
ink_cell *ink_table_cell(const ink_table *table, uint32_t index);
/* The cell of a section at a row, ready for what the current track adds; NULL: out of memory. */
ink_cell *ink_table_visit(ink_table *table, uint32_t section, int64_t row);
void ink_table_fold(const ink_table *table, ink_cell *cell);
void ink_cell_end_launch(ink_cell *cell);
void ink_table_free_cells(ink_table *table);

/* Adds a SUM up in cycles; *out is NULL where it says nothing. */
ink_status ink_table_sum(ink_table *table, const ink_event *event, ink_cell **out,
                         uint64_t *cycles);

/* table_timed.c: an event of a timed table. */
ink_status ink_table_timed(ink_table *table, const ink_event *event);

/* What lay directly in a slice of `parent` is not that section's own time; false: out of memory. */
static inline bool ink_table_child(ink_table *table, uint32_t parent, int64_t row, uint64_t cycles) {
  if (parent >= table->section_count || !cycles || table->options.by == INK_BY_ITERATION)
    return true;
  ink_cell *cell = ink_table_visit(table, parent, row);
  if (!cell)
    return false;
  cell->child_cycles += cycles;
  return true;
}
/* One more pass of an iteration; false: out of memory. */
bool ink_table_pass(ink_table *table, int64_t row);

static inline void ink_cell_inside(ink_cell *cell, uint32_t parent) {
  if (parent == INK_PARENT_UNKNOWN || parent == cell->section)
    return;
  for (uint32_t i = 0; i < cell->inside_count; i++)
    if (cell->inside[i] == parent)
      return;
  if (cell->inside_count < INK_ROW_INSIDE_MAX)
    cell->inside[cell->inside_count++] = parent;
}

static inline void ink_cell_note(ink_cell *cell, const ink_event *event) {
  ink_cell_inside(cell, event->parent);
  if (event->depth < cell->depth)
    cell->depth = event->depth;
  cell->called &= event->called;
}

#endif
