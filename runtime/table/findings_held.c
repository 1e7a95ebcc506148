/* SPDX-License-Identifier: MIT */
/* Where the others of a launch wait for a track that is late: its launch is decoded once more, for the costliest such
 * findings alone, and not where that would take long. */
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 5, WORDS_MAX = 4 << 20 };
#define HELD_SHARE 0.25 /* of what the late track is longer by */

typedef struct held {
  const ink_table *table;
  uint64_t block, warp; /* of the late track */
  bool is_late;
  struct {
    double late, others;
    uint64_t passes; /* by the others */
  } *sections;
} held;

static double number_of(const ink_finding *finding, const char *name) {
  for (uint32_t i = 0; i < finding->number_count; i++)
    if (!strcmp(finding->numbers[i].name, name))
      return finding->numbers[i].value;
  return 0;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  held *h = user;
  h->is_late = ink_linear_block(&track->stored->header) == h->block && track->stored->header.thread / 32 == h->warp;
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  held *h = user;
  if (slice->section >= h->table->section_count || !h->table->waits[slice->section] || slice->nested)
    return INK_OK;
  const double cycles = (double)(slice->end_cycles - slice->begin_cycles);
  if (h->is_late)
    h->sections[slice->section].late += cycles;
  else
    h->sections[slice->section].others += cycles;
  h->sections[slice->section].passes += !h->is_late;
  return INK_OK;
}

static uint64_t words_of(const ink_table *table, uint32_t launch) {
  const ink_launch *launches = table->capture->launches.items;
  uint64_t first = 0, words = 0;
  for (uint32_t i = 0; i < launch; i++)
    first += launches[i].track_count;
  for (uint64_t i = first; i < first + launches[launch].track_count && words <= WORDS_MAX; i++) {
    ink_stored_track track;
    ink_capture_track(table->capture, i, &track);
    words += track.ring_words + track.aux_words;
  }
  return words;
}

static void tell(ink_finding *f, const held *h) {
  const double others = number_of(f, "tracks") - 1;
  const double excess = number_of(f, "cycles") - number_of(f, "others_mean_cycles");
  double most = 0;
  uint32_t at = 0;
  for (uint32_t i = 0; i < h->table->section_count; i++) {
    const double more = h->sections[i].others / others - h->sections[i].late;
    at = more > most ? i : at;
    most = more > most ? more : most;
  }
  if (most < HELD_SHARE * excess || most <= 0)
    return;
  const double passes = (double)h->sections[at].passes / others;
  const size_t used = strlen(f->text);
  snprintf(f->text + used, sizeof f->text - used, ", and holds them %.0f cycles each in %.120s (%.0f a pass)", most,
           ink_finding_section(h->table, at), most / passes);
  ink_finding_number(f, "held_cycles", most);
  ink_finding_number(f, "held_passes", passes);
}

ink_status ink_findings_held(ink_table *table) {
  size_t looked = 0;
  held h = {.table = table, .sections = calloc(table->section_count + 1, sizeof *h.sections)};
  ink_status status = h.sections ? INK_OK : ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for findings");
  for (size_t i = 0; i < table->findings.count && looked < LOOKED_AT && status == INK_OK; i++) {
    ink_finding *f = &table->findings.items[i];
    const uint32_t launch = (uint32_t)number_of(f, "launch");
    if (strcmp(f->id, "late") || words_of(table, launch) > WORDS_MAX)
      continue;
    looked++;
    h.block = (uint64_t)number_of(f, "block");
    h.warp = (uint64_t)number_of(f, "warp");
    memset(h.sections, 0, (table->section_count + 1) * sizeof *h.sections);
    const ink_sink sink = {.user = &h, .track_begin = on_track_begin, .slice = on_slice};
    status = ink_decode(table->capture, table->map, launch, &sink, table->error);
    if (status == INK_OK)
      tell(f, &h);
  }
  free(h.sections);
  return status;
}
