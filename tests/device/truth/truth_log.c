/* SPDX-License-Identifier: MIT */
/* Reads the simulator's log of clock reads (device/sim/sim_log.h) and finds a thread's lines in it.
 */
#include "truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *items, size_t *capacity, size_t count, size_t size) {
  if (count < *capacity)
    return items;
  *capacity = *capacity ? 2 * *capacity : 1024;
  items = realloc(items, *capacity * size);
  if (!items) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return items;
}

static bool read_clock(truth_log *log, const char *line) {
  truth_read r = {.order = log->read_count};
  uint64_t ptx_line, source_line;
  char what[16];
  if (sscanf(line, "%15s %d %" SCNu64 " %u %u %u %u %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %lf",
             what, &r.device, &r.grid, &r.block[0], &r.block[1], &r.block[2], &r.thread, &r.sm,
             &ptx_line, &source_line, &r.value, &r.ns) != 12)
    return false;
  r.globaltimer = strcmp(what, "globaltimer") == 0;
  log->reads = grow(log->reads, &log->read_capacity, log->read_count, sizeof r);
  log->reads[log->read_count++] = r;
  return true;
}

static bool read_grid(truth_log *log, const char *line) {
  truth_grid g = {0};
  char function[512];
  if (sscanf(line, "grid %d %" SCNu64 " %511s %u %u %u %u %u %u %lf %lf", &g.device, &g.grid,
             function, &g.grid_dim[0], &g.grid_dim[1], &g.grid_dim[2], &g.block_dim[0],
             &g.block_dim[1], &g.block_dim[2], &g.begin_ns, &g.end_ns) != 11)
    return false;
  g.function = strdup(function);
  log->grids = grow(log->grids, &log->grid_capacity, log->grid_count, sizeof g);
  log->grids[log->grid_count++] = g;
  return true;
}

static bool read_sm(truth_log *log, const char *line) {
  int device;
  unsigned sm;
  uint64_t start, hz;
  if (sscanf(line, "sm %d %u %" SCNu64 " %" SCNu64, &device, &sm, &start, &hz) != 4 || sm >= 64)
    return false;
  if (device == 0)
    log->sm_start[sm] = start;
  return true;
}

#define ORDER(a, b)                                                                                \
  if ((a) != (b))                                                                                  \
  return (a) < (b) ? -1 : 1

static int compare_threads(const truth_read *a, const truth_read *b) {
  ORDER(a->device, b->device);
  ORDER(a->grid, b->grid);
  for (int i = 2; i >= 0; i--)
    ORDER(a->block[i], b->block[i]);
  ORDER(a->thread, b->thread);
  return 0;
}

static int compare_reads(const void *left, const void *right) {
  const truth_read *a = left, *b = right;
  const int threads = compare_threads(a, b);
  if (threads)
    return threads;
  return a->order < b->order ? -1 : 1;
}

static int compare_grids(const void *left, const void *right) {
  const truth_grid *a = left, *b = right;
  ORDER(a->device, b->device);
  ORDER(a->grid, b->grid);
  return 0;
}

bool truth_log_read(const char *path, truth_log *log) {
  *log = (truth_log){0};
  FILE *file = fopen(path, "re");
  if (!file) {
    fprintf(stderr, "cannot open '%s'\n", path);
    return false;
  }
  char line[1024];
  bool fine = true;
  while (fine && fgets(line, sizeof line, file)) {
    fine = strchr(line, '\n') != NULL && (strncmp(line, "grid ", 5) == 0 ? read_grid(log, line)
                                          : strncmp(line, "sm ", 3) == 0 ? read_sm(log, line)
                                                                         : read_clock(log, line));
    if (!fine)
      fprintf(stderr, "%s: not a line of the log: %s\n", path, line);
  }
  fclose(file);
  if (log->read_count)
    qsort(log->reads, log->read_count, sizeof *log->reads, compare_reads);
  if (log->grid_count)
    qsort(log->grids, log->grid_count, sizeof *log->grids, compare_grids);
  return fine;
}

void truth_log_free(truth_log *log) {
  for (size_t i = 0; i < log->grid_count; i++)
    free(log->grids[i].function);
  free(log->grids);
  free(log->reads);
  *log = (truth_log){0};
}

const truth_read *truth_log_thread(const truth_log *log, int device, uint64_t grid,
                                   const uint32_t block[3], uint32_t thread, size_t *count) {
  const truth_read key = {
      .device = device, .grid = grid, .thread = thread, .block = {block[0], block[1], block[2]}};
  size_t low = 0, high = log->read_count;
  while (low < high) { /* the first that is not below the key */
    const size_t middle = low + (high - low) / 2;
    if (compare_threads(&log->reads[middle], &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  size_t end = low;
  while (end < log->read_count && compare_threads(&log->reads[end], &key) == 0)
    end++;
  *count = end - low;
  return end == low ? NULL : &log->reads[low];
}

const truth_grid *truth_log_grid(const truth_log *log, const char *function, size_t nth) {
  char mangled[256];
  const size_t length = strcspn(function, "<");
  snprintf(mangled, sizeof mangled, "%zu%.*s%s", length, (int)length, function,
           function[length] ? function + length + 1 : "");
  for (size_t i = 0; i < log->grid_count; i++)
    if (strstr(log->grids[i].function, mangled) && nth-- == 0)
      return &log->grids[i];
  return NULL;
}
