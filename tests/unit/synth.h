/* SPDX-License-Identifier: MIT */
/* Makes captures for tests without any GPU: a synthetic track stores words into its rings the way
 * a kernel does, masked or stopping when full, and a capture takes the rings as downloaded. */
#ifndef INKMARK_TESTS_SYNTH_H
#define INKMARK_TESTS_SYNTH_H

#include "inkmark/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a track as a kernel records it -------------------------------------------------------- */

typedef struct synth_track {
  ink_track header;
  uint64_t *rings[2];       /* body, called */
  uint32_t records[2];
  bool keep_first;
  uint64_t table_hash48;    /* what escapes name; 0: records carry no table */
  unsigned char *ends[2];   /* [records] 1: the word ends a record; NULL: not noted */
} synth_track;

static inline void synth_track_init(synth_track *track, uint32_t records, uint32_t aux_records,
                                    bool keep_first) {
  memset(track, 0, sizeof *track);
  track->records[0] = records;
  track->records[1] = aux_records;
  track->keep_first = keep_first;
  for (int i = 0; i < 2; i++) {
    track->rings[i] = malloc(((size_t)track->records[i] + 1) * 8);
    /* What a ring holds where nothing was written: the last kernel's words, or the mark of
     * keep-first. */
    memset(track->rings[i], keep_first ? 0xff : 0x5a, ((size_t)track->records[i] + 1) * 8);
  }
  track->header.state = INK_TRACK_CLOSED;
  for (int i = 0; i < 3; i++)
    track->header.grid_dim[i] = track->header.block_dim[i] = 1;
}

static inline void synth_track_free(synth_track *track) {
  free(track->rings[0]);
  free(track->rings[1]);
}

static inline uint64_t *synth_count(synth_track *track, int called, bool extra) {
  if (called)
    return extra ? &track->header.aux_extra : &track->header.aux_words;
  return extra ? &track->header.extra : &track->header.words;
}

/* Stores one record of n words, payload first, as one mark. */
static inline void synth_words(synth_track *track, int called, const uint64_t *words, size_t n) {
  uint64_t *count = synth_count(track, called, false), records = track->records[called];
  bool fits = !track->keep_first || (*count <= records && n <= records - *count);
  for (size_t i = 0; i < n; i++) {
    uint64_t k = (*count)++;
    if (fits)
      track->rings[called][k % records] = words[i];
    if (track->ends[called])
      track->ends[called][k % records] = i + 1 == n;
  }
  *synth_count(track, called, true) += n - 1;
}

/* A record of one of the plain kinds; payload is ITER's row or the async key, wrapped in a TABLE
 * escape when the track has a table hash. */
static inline void synth_record(synth_track *track, int called, uint32_t kind, uint32_t section,
                                uint64_t payload, uint64_t clock) {
  uint64_t words[3];
  size_t n = 0;
  if (kind == INK_KIND_ITER || kind == INK_KIND_ASYNC_BEGIN || kind == INK_KIND_ASYNC_END)
    words[n++] = payload;
  words[n++] = INK_HEAD(kind, section, clock);
  if (track->table_hash48 && kind != INK_KIND_ITER)
    words[n++] = INK_ESCAPE_WORD(INK_ESCAPE_TABLE, track->table_hash48, clock);
  synth_words(track, called, words, n);
}

static inline void synth_value(synth_track *track, int called, uint32_t code, uint32_t section,
                               uint64_t value, uint64_t hash48, uint64_t clock) {
  uint64_t words[3] = {value, INK_HEAD(INK_KIND_INSTANT, section, clock),
                       INK_ESCAPE_WORD(code, hash48, clock)};
  synth_words(track, called, words, 3);
}

static inline void synth_clocks(synth_track *track, int called, uint64_t global_ns,
                                uint64_t clock) {
  uint64_t words[5] = {clock - 1, clock, global_ns, INK_HEAD(INK_KIND_INSTANT, 0, clock),
                       INK_ESCAPE_WORD(INK_ESCAPE_CLOCKS, 0, clock)};
  synth_words(track, called, words, 5);
}

static inline void synth_sum(synth_track *track, uint32_t section, const uint64_t sum[4],
                             uint64_t hash48, uint64_t clock) {
  uint64_t words[6] = {sum[0], sum[1], sum[2], sum[3],
                       INK_HEAD(INK_KIND_INSTANT, section, clock),
                       INK_ESCAPE_WORD(INK_ESCAPE_SUM, hash48, clock)};
  synth_words(track, 0, words, 6);
}

static inline void synth_open(synth_track *track, uint64_t clock, uint64_t global_ns) {
  track->header.open_clock0 = clock - 2;
  track->header.open_clock1 = clock; /* the body begins here */
  track->header.open_global_ns = global_ns;
}

static inline void synth_close(synth_track *track, uint64_t clock, uint64_t global_ns) {
  track->header.close_clock0 = clock; /* the body ends here */
  track->header.close_clock1 = clock + 2;
  track->header.close_global_ns = global_ns;
}

/* ---- a capture ----------------------------------------------------------------------------- */

#define SYNTH_SECTIONS "Step, LineSearch, UpdateConstraint, Hessian, Gradient, StepLast"
#define SYNTH_HASH UINT64_C(0x123456789abc)
#define SYNTH_OTHER_HASH UINT64_C(0xcba987654321)
enum { SYNTH_STEP = 1, SYNTH_LINE_SEARCH, SYNTH_UPDATE, SYNTH_HESSIAN, SYNTH_GRADIENT, SYNTH_LAST };

/* A writer with one device (index 0), two tables and kernel slot 0 = Step of "Solver". */
static inline ink_writer *synth_writer(const char *path, uint32_t records, uint32_t aux_records,
                                       bool keep_first) {
  ink_writer *writer = NULL;
  ink_error error;
  ink_device_info device = {.index = 0, .simulated = 1, .sm_count = 4, .capability = 75,
                            .clock_khz = 1000000, .track_count = 64,
                            .records_per_track = records, .aux_records_per_track = aux_records,
                            .flags = INK_BUFFER_ON | (keep_first ? INK_BUFFER_KEEP_FIRST : 0u),
                            .runtime_version = 13000, .driver_version = 13000,
                            .name = "synthetic device"};
  ink_kernel_counts counts = {.device = 0, .slot = 0, .key = INK_KERNEL_KEY(SYNTH_HASH, 1)};
  if (ink_writer_open(path, true, &writer, &error) != INK_OK ||
      ink_writer_fact(writer, "command", "synth", &error) != INK_OK ||
      ink_writer_table(writer, "Solver", SYNTH_SECTIONS, "solver.cu", 7, SYNTH_HASH, &error) !=
          INK_OK ||
      ink_writer_table(writer, "Other", "Alpha, Beta", "other.cu", 3, SYNTH_OTHER_HASH, &error) !=
          INK_OK ||
      ink_writer_device(writer, &device, &error) != INK_OK ||
      ink_writer_counts(writer, &counts, 1, 0, 0, 0, &error) != INK_OK) {
    fprintf(stderr, "synth: %s\n", error.message);
    exit(1);
  }
  return writer;
}

/* What marks cost: 5 cycles each in a kernel's body, 40 in a called function. */
static inline ink_status synth_costs(ink_writer *writer, ink_error *error) {
  ink_mark_cost costs[12];
  for (uint32_t i = 0; i < 12; i++)
    costs[i] = (ink_mark_cost){.what = INK_COST_OF_MARK + i % 6,
                               .flags = INK_COST_RECORDING | (i < 6 ? 0u : INK_COST_CALLED_FUNCTION),
                               .samples = 8, .millicycles = i < 6 ? 5000 : 40000,
                               .bound_millicycles = 500};
  const ink_mark_costs all = {.device = 0, .count = 12, .costs = costs, .note = "made up"};
  return ink_writer_mark_costs(writer, &all, error);
}

static inline void synth_put(ink_writer *writer, const synth_track *track) {
  ink_error error;
  if (ink_writer_track(writer, 0, &track->header, track->rings[0], track->rings[1], &error) !=
      INK_OK) {
    fprintf(stderr, "synth: %s\n", error.message);
    exit(1);
  }
}

static inline void synth_finish(ink_writer *writer) {
  ink_error error;
  if (ink_writer_close(writer, &error) != INK_OK) {
    fprintf(stderr, "synth: %s\n", error.message);
    exit(1);
  }
}

/* A path in the test's working directory that no other test uses. */
static inline const char *synth_path(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s.%ld.ink", name, (long)getpid());
  return path;
}

static inline void *synth_read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void *bytes = malloc(*size + 8);
  size_t n = fread(bytes, 1, *size, file);
  fclose(file);
  *size = n;
  return bytes;
}

#endif
