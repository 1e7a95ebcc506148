/* SPDX-License-Identifier: MIT */
/* From steps to the words that must be in a track's rings: each step gets the cycle of its clock
 * read from the log, and becomes words as record.h lays them out. */
#include "truth_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t truth_records(const truth_run *run) {
  return run->records ? run->records : 1024;
}

uint64_t truth_tracks(const truth_run *run) {
  return run->tracks ? run->tracks : 64;
}

bool truth_section(const truth_context *c, const char *name, const ink_section_table **table,
                   uint32_t *id) {
  const char *colons = strstr(name, "::");
  const ink_section_table *tables;
  const size_t n = ink_capture_tables(c->capture, &tables);
  for (size_t i = 0; colons && i < n; i++) {
    const size_t length = strlen(tables[i].name);
    if (length != (size_t)(colons - name) || strncmp(tables[i].name, name, length) != 0)
      continue;
    for (uint32_t s = 0; s < tables[i].section_count; s++)
      if (strcmp(tables[i].sections[s], colons + 2) == 0) {
        *table = &tables[i];
        *id = s + 1;
        return true;
      }
  }
  truth_fail("the capture knows no section '%s'", name);
  return false;
}

/* ---- cycles -------------------------------------------------------------------------------- */

typedef struct sum_state {
  const char *section;
  uint64_t begun, count, total, least, most;
} sum_state;

typedef struct sum_states {
  sum_state items[16];
  size_t count;
} sum_states;

static sum_state *find_sum(sum_states *sums, const char *section) {
  for (size_t i = 0; i < sums->count; i++)
    if (strcmp(sums->items[i].section, section) == 0)
      return &sums->items[i];
  if (sums->count == sizeof sums->items / sizeof *sums->items) {
    fprintf(stderr, "a model sums too many sections\n");
    exit(1);
  }
  sum_state *sum = &sums->items[sums->count++];
  *sum = (sum_state){.section = section, .least = UINT64_MAX};
  return sum;
}

static bool take_sum(sum_states *sums, truth_step *step) {
  sum_state *sum = find_sum(sums, step->section);
  if (!step->stored && step->kind == INK_KIND_BEGIN) {
    sum->begun = step->clock;
  } else if (!step->stored) {
    const uint64_t cycles = step->clock - sum->begun;
    sum->count++;
    sum->total += cycles;
    sum->least = cycles < sum->least ? cycles : sum->least;
    sum->most = cycles > sum->most ? cycles : sum->most;
  } else {
    CHECK(sum->count == step->payload[0], "the model sums %s %" PRIu64 " times, its steps %" PRIu64,
          step->section, step->payload[0], sum->count);
    step->payload[1] = sum->total;
    step->payload[2] = sum->least;
    step->payload[3] = sum->most;
    *sum = (sum_state){.section = sum->section, .least = UINT64_MAX};
  }
  return true;
}

static size_t reads_of(const truth_step *step) {
  return step->escape == INK_ESCAPE_CLOCKS ? 3 : 1;
}

static bool triple(const truth_read *reads) {
  return !reads[0].globaltimer && reads[1].globaltimer && !reads[2].globaltimer;
}

bool truth_assign(truth_track *track, const truth_read *reads, size_t count, bool opened) {
  size_t at = 0;
  if (opened) {
    if (!triple(reads) || (track->closed && !triple(reads + count - 3))) {
      truth_fail("block %u thread %u does not open and close with a clock triple",
                 track->linear_block, track->thread);
      return false;
    }
    memcpy(track->opening, reads, sizeof track->opening);
    if (track->closed)
      memcpy(track->closing, reads + count - 3, sizeof track->closing);
    at = 3;
  }
  sum_states sums = {.count = 0};
  for (size_t i = 0; i < track->steps.count; i++) {
    truth_step *step = &track->steps.items[i];
    const bool clocks = step->escape == INK_ESCAPE_CLOCKS;
    if (clocks ? !triple(reads + at) : reads[at].globaltimer) {
      truth_fail("block %u thread %u: step %zu is not the read that the log has there",
                 track->linear_block, track->thread, i);
      return false;
    }
    if (clocks) {
      step->before = reads[at].value;
      step->ns = reads[at + 1].value;
    }
    at += reads_of(step);
    step->clock = reads[at - 1].value;
    if (step->escape == INK_ESCAPE_SUM)
      take_sum(&sums, step);
  }
  return true;
}

/* ---- words --------------------------------------------------------------------------------- */

static void put(truth_ring *ring, uint64_t word) {
  if (ring->count == ring->capacity) {
    ring->capacity = ring->capacity ? 2 * ring->capacity : 256;
    ring->words = realloc(ring->words, ring->capacity * sizeof *ring->words);
    if (!ring->words) {
      fprintf(stderr, "out of memory\n");
      exit(1);
    }
  }
  ring->words[ring->count++] = word;
}

/* One record; `own` is the table of the track's kernel, which body marks need not name. */
static void put_record(truth_ring *ring, truth_step *step, const ink_section_table *own,
                       const ink_section_table *table, uint32_t id) {
  step->at = ring->count;
  const uint64_t hash = table ? table->hash48 : 0;
  switch (step->escape) {
  case 0:
    if (step->kind == INK_KIND_ITER || step->kind == INK_KIND_ASYNC_BEGIN ||
        step->kind == INK_KIND_ASYNC_END)
      put(ring, step->payload[0]);
    put(ring, INK_HEAD(step->kind, id, step->clock));
    if (table && (step->called || table != own))
      put(ring, INK_ESCAPE_WORD(INK_ESCAPE_TABLE, hash, step->clock));
    break;
  case INK_ESCAPE_CLOCKS:
    put(ring, step->before);
    put(ring, step->clock);
    put(ring, step->ns);
    put(ring, INK_HEAD(INK_KIND_INSTANT, 0, step->clock));
    put(ring, INK_ESCAPE_WORD(INK_ESCAPE_CLOCKS, 0, step->clock));
    break;
  default:
    for (int i = 0; i < (step->escape == INK_ESCAPE_SUM ? 4 : 1); i++)
      put(ring, step->payload[i]);
    put(ring, INK_HEAD(INK_KIND_INSTANT, id, step->clock));
    put(ring, INK_ESCAPE_WORD(step->escape, hash, step->clock));
  }
  step->words = (uint32_t)(ring->count - step->at);
  ring->extra += step->words - 1;
}

/* Rows: the row that a step is in are its words. Of a section that is passed twice in a row only the last pass is. */
static void put_row_step(truth_ring *ring, truth_steps *steps, size_t index, uint32_t rows, uint32_t id, bool checked) {
  truth_step *step = &steps->items[index];
  const uint32_t words = INK_ROWS_WORDS(rows), sections = INK_ROWS_SECTIONS(rows);
  if (step->kind == INK_KIND_ITER) {
    for (uint32_t i = 0; i < words; i++)
      put(ring, 0);
    ring->words[ring->count - words] = step->payload[0];
    ring->words[ring->count - words + 1] = step->clock;
    ring->extra += words - 1;
  }
  step->at = ring->count - words;
  step->words = words;
  if (step->kind == INK_KIND_ITER)
    return;
  for (size_t i = 0; i < index; i++) {
    truth_step *before = &steps->items[i];
    if (before->stored && !before->called && before->at == step->at && before->kind == step->kind &&
        before->section && strcmp(before->section, step->section) == 0)
      before->stored = false;
  }
  uint32_t slot = id - 1;
  if (step->kind != INK_KIND_MARK)
    slot = sections + 2 * (id - 1) + (step->kind == INK_KIND_END);
  unsigned char *slots = (unsigned char *)(ring->words + step->at + 2);
  uint32_t was, now = (uint32_t)step->clock;
  memcpy(&was, slots + 4 * slot, sizeof was);
  memcpy(slots + 4 * slot, &now, sizeof now);
  if (checked && was) {
    memcpy(&was, slots + 4 * (INK_ROWS_SLOTS(rows) - 1), sizeof was);
    was++;
    memcpy(slots + 4 * (INK_ROWS_SLOTS(rows) - 1), &was, sizeof was);
  }
}

/* keep last: the newest words; keep first: whole records, up to the first that did not fit. */
static void choose_kept(const truth_run *run, truth_steps *steps, const truth_ring rings[2]) {
  const uint64_t room = truth_records(run);
  bool full[2] = {false, false};
  for (size_t i = 0; i < steps->count; i++) {
    truth_step *step = &steps->items[i];
    const truth_ring *ring = &rings[step->called];
    if (!step->words)
      continue;
    if (run->keep_first) {
      full[step->called] |= step->at + step->words > room;
      step->kept = !full[step->called];
    } else {
      step->kept = (ring->count <= room || step->at >= ring->count - room) && step->words <= room;
    }
  }
}

void truth_words(const truth_context *c, truth_track *track, truth_ring rings[2]) {
  const ink_section_table *own = NULL;
  uint32_t own_id;
  truth_section(c, track->launch->kernel, &own, &own_id);
  for (size_t i = 0; i < track->steps.count; i++) {
    truth_step *step = &track->steps.items[i];
    const ink_section_table *table = NULL;
    uint32_t id = 0;
    const uint32_t rows = step->called ? 0 : track->launch->rows;
    if ((!step->stored && !rows) || (step->section && !truth_section(c, step->section, &table, &id)))
      continue;
    if (rows)
      put_row_step(&rings[0], &track->steps, i, rows, id, INK_ROWS_CHECKED(rows));
    else
      put_record(&rings[step->called], step, own, table, id);
  }
  choose_kept(c->run, &track->steps, rings);
}
