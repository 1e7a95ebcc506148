/* SPDX-License-Identifier: MIT */
/* Makes the findings: plain sentences about what stands out in a table, with the numbers that each rests on. */
#include "findings.h"

#include "capture/capture_match.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ink_status no_memory(const ink_table *table) {
  return ink_error_set(table->error, INK_ERROR_MEMORY, "out of memory for findings");
}

ink_status ink_findings_begin(ink_table *table) {
  table->launch_cycles = calloc(table->launch_count + 1, sizeof *table->launch_cycles);
  table->slow_launches = calloc(table->launch_count + 1, sizeof *table->slow_launches);
  return table->launch_cycles && table->slow_launches
             ? ink_match_waits(table->capture, table->options.waits_regex, &table->waits, table->error)
             : no_memory(table);
}

/* ---- while the table is made --------------------------------------------------------------- */

void ink_findings_end_launch(struct ink_cell_more *more) {
  if (more->launch_tracks >= INK_TRACKS_LEAST) {
    const double others =
        (double)(more->launch_total - more->launch_largest) / (double)(more->launch_tracks - 1);
    const double excess = (double)more->launch_largest - others;
    if ((double)more->launch_largest >= INK_LATE_FACTOR * others &&
        excess > (double)more->late_cycles - more->late_others) {
      more->late_cycles = more->launch_largest;
      more->late_others = others;
      more->late_tracks = more->launch_tracks;
      more->late_track = more->launch_track;
    }
  }
  more->launch_total = more->launch_tracks = more->launch_largest = 0;
}

static void keep_top(struct ink_cell_more *more, const ink_cell *cell) {
  uint32_t least = 0;
  if (more->top_count < INK_TOPS) {
    least = more->top_count++;
  } else {
    for (uint32_t i = 1; i < INK_TOPS; i++)
      if (more->tops[i].cycles < more->tops[least].cycles)
        least = i;
    if (cell->now_max <= more->tops[least].cycles)
      return;
  }
  more->tops[least] = (ink_top){.cycles = cell->now_max, .track = cell->track, .row = cell->now_max_row};
}

void ink_findings_fold(ink_cell *cell) {
  struct ink_cell_more *more = cell->more;
  if (more->launch != cell->now_launch || !more->launch_tracks)
    ink_findings_end_launch(more);
  more->launch = cell->now_launch;
  more->by_warp[cell->now_warp < INK_WARPS ? cell->now_warp : INK_WARPS - 1] += cell->now_total;
  more->launch_tracks++;
  more->launch_total += cell->now_total;
  if (cell->now_total > more->launch_largest) {
    more->launch_largest = cell->now_total;
    more->launch_track = cell->track;
  }
  keep_top(more, cell);
}

/* ---- when it is ----------------------------------------------------------------------------- */

ink_finding *ink_finding_add(ink_table *table, const char *id, uint32_t part, double cost_cycles) {
  if (!INK_I_ROOM(table->findings))
    return NULL;
  ink_finding *finding = &table->findings.items[table->findings.count++];
  *finding = (ink_finding){.id = id, .part = part, .cost_cycles = cost_cycles};
  return finding;
}

void ink_finding_number(ink_finding *finding, const char *name, double value) {
  if (finding->number_count == INK_FINDING_NUMBERS)
    return;
  finding->numbers[finding->number_count].name = name;
  finding->numbers[finding->number_count++].value = value;
}

const char *ink_finding_section(const ink_table *table, uint32_t section) {
  return section < table->section_count ? table->capture->sections.items[section].name : "(unmarked)";
}

static ink_stored_track track_of(const ink_table *table, uint64_t index) {
  ink_stored_track track;
  ink_capture_track(table->capture, index, &track);
  return track;
}

static uint64_t track_cycles(const ink_stored_track *track) {
  return track->header.state == INK_TRACK_CLOSED ? track->header.close_clock0 - track->header.open_clock1 : 0;
}

/* A block that takes longer than the others of its launch, in a section that does work. */
static ink_status late(ink_table *table, ink_cell *cell) {
  struct ink_cell_more *more = cell->more;
  ink_findings_end_launch(more);
  if (!more->late_cycles || cell->summed)
    return INK_OK;
  const ink_stored_track track = track_of(table, more->late_track);
  const double excess = (double)more->late_cycles - more->late_others;
  if (excess < INK_LATE_SHARE * (double)track_cycles(&track))
    return INK_OK;
  ink_finding *f = ink_finding_add(table, "late", cell->part, excess * (double)(more->late_tracks - 1));
  if (!f)
    return no_memory(table);
  const uint64_t block = ink_linear_block(&track.header);
  const uint32_t warp = track.header.thread / 32;
  char place[48] = "";
  if (warp)
    snprintf(place, sizeof place, ", warp %" PRIu32, warp);
  snprintf(f->text, sizeof f->text,
           "block %" PRIu64 "%s is late: %.1f x the mean of the other %" PRIu64 " tracks of launch %u in %.120s", block,
           place, (double)more->late_cycles / fmax(more->late_others, 1), more->late_tracks - 1, track.launch,
           ink_finding_section(table, cell->section));
  ink_finding_number(f, "launch", track.launch);
  ink_finding_number(f, "block", (double)block);
  ink_finding_number(f, "warp", warp);
  ink_finding_number(f, "cycles", (double)more->late_cycles);
  ink_finding_number(f, "others_mean_cycles", more->late_others);
  ink_finding_number(f, "tracks", (double)more->late_tracks);
  return INK_OK;
}

static int by_place(const void *left, const void *right) {
  const ink_top *a = left, *b = right;
  if (a->row != b->row)
    return a->row < b->row ? -1 : 1;
  return a->track < b->track ? -1 : a->track > b->track;
}

/* The row that most of the longest slices are of: [*first, returned). */
static uint32_t most_frequent(const ink_top *tops, uint32_t n, uint32_t *first) {
  uint32_t best = 0;
  *first = 0;
  for (uint32_t at = 0, end; at < n; at = end) {
    for (end = at; end < n && tops[end].row == tops[at].row;)
      end++;
    if (end - at > best) {
      best = end - at;
      *first = at;
    }
  }
  return *first + best;
}

static void outlier_text(const ink_table *table, const ink_cell *cell, const ink_top *tops, uint32_t n,
                         double factor, bool more, ink_finding *f) {
  const ink_stored_track first = track_of(table, tops[0].track);
  size_t used;
  if (tops[0].row == INK_ROW_NONE || tops[0].row == INK_ROW_UNKNOWN)
    used = (size_t)snprintf(f->text, sizeof f->text, "%.120s took %.1f x its median", ink_finding_section(table, cell->section),
                            factor);
  else
    used = (size_t)snprintf(f->text, sizeof f->text, "iteration %" PRId64 " of %.120s took %.1f x its median", tops[0].row,
                            ink_finding_section(table, cell->section), factor);
  used += (size_t)snprintf(f->text + used, sizeof f->text - used, " in %s%" PRIu32 " of %" PRIu64 " tracks (",
                           more ? "at least " : "", n, cell->tracks);
  uint64_t said = UINT64_MAX;
  uint32_t places = 0;
  for (uint32_t i = 0; i < n && places < 4; i++) { /* in the order of tracks: a block's warps stand together */
    const ink_stored_track track = track_of(table, tops[i].track);
    const uint64_t place = ink_mix64(track.launch) + ink_linear_block(&track.header);
    if (place == said)
      continue;
    used += (size_t)snprintf(f->text + used, sizeof f->text - used, "%slaunch %u block %" PRIu64,
                             places++ ? ", " : "", track.launch, ink_linear_block(&track.header));
    said = place;
  }
  snprintf(f->text + used, sizeof f->text - used, n > 4 ? ", ...)" : ")");
  ink_finding_number(f, "launch", first.launch);
  ink_finding_number(f, "block", (double)ink_linear_block(&first.header));
}

/* Whether the track is of a first launch that was slow as a whole. */
static bool is_of_slow_launch(const ink_table *table, uint64_t track) {
  return table->slow_launches[track_of(table, track).launch];
}

/* Finds slices far beyond the median of their section, among the longest slices of the tracks. */
static ink_status outlier(ink_table *table, ink_cell *cell) {
  const ink_kernel_total *total = &table->totals.items[cell->part];
  ink_top tops[INK_TOPS];
  uint32_t n = 0, first;
  double excess = 0, most = 0;
  if (cell->summed || cell->section >= table->section_count || cell->count < 2 * INK_TOPS || !total->tracks)
    return INK_OK;
  const double median = (double)ink_quantile_get(&cell->sketch, 0.5);
  for (uint32_t i = 0; i < cell->more->top_count; i++)
    if (median > 0 && (double)cell->more->tops[i].cycles > INK_OUTLIER_FACTOR * median &&
        !is_of_slow_launch(table, cell->more->tops[i].track))
      tops[n++] = cell->more->tops[i];
  qsort(tops, n, sizeof *tops, by_place);
  const uint32_t end = most_frequent(tops, n, &first);
  for (uint32_t i = first; i < end; i++) {
    excess += (double)tops[i].cycles - median;
    most = fmax(most, (double)tops[i].cycles);
  }
  if (end == first || excess / (end - first) < INK_OUTLIER_SHARE * (double)total->total_cycles / (double)total->tracks)
    return INK_OK;
  ink_finding *f = ink_finding_add(table, "outlier", cell->part, excess);
  if (!f)
    return no_memory(table);
  outlier_text(table, cell, tops + first, end - first, most / median, n == INK_TOPS && first == 0 && end == n, f);
  if (tops[first].row != INK_ROW_NONE && tops[first].row != INK_ROW_UNKNOWN)
    ink_finding_number(f, "iteration", (double)tops[first].row);
  ink_finding_number(f, "slices", end - first);
  ink_finding_number(f, "max_cycles", most);
  ink_finding_number(f, "median_cycles", median);
  return INK_OK;
}

/* ---- who waits for whom -------------------------------------------------------------------- */

typedef struct role_time { /* warps that pass the same sections are one role */
  uint64_t sections;       /* a hash of these */
  uint32_t first, last, warps, mask;
  double cycles, waiting, most;
  uint32_t most_section;   /* where it waits the most */
} role_time;

/* What each warp of a part did, from its cells; returns how many roles. */
static uint32_t find_roles(const ink_table *table, const uint32_t *cells, size_t count, role_time roles[INK_WARPS]) {
  role_time warps[INK_WARPS];
  uint32_t n = 0;
  memset(warps, 0, sizeof warps);
  for (size_t i = 0; i < count; i++) {
    const ink_cell *cell = ink_table_cell(table, cells[i]);
    const bool named = cell->section < table->section_count;
    for (uint32_t w = 0; !cell->summed && w < INK_WARPS; w++) {
      const double cycles = (double)cell->more->by_warp[w];
      if (cycles <= 0)
        continue;
      if (!cell->depth && !cell->called)
        warps[w].cycles += cycles;
      if (named)
        warps[w].sections += ink_mix64(cell->section + 1);
      if (!named || !table->waits[cell->section])
        continue;
      warps[w].waiting += cycles;
      if (cycles > warps[w].most) {
        warps[w].most = cycles;
        warps[w].most_section = cell->section;
      }
    }
  }
  for (uint32_t w = 0; w < INK_WARPS; w++) {
    uint32_t r = 0;
    if (warps[w].cycles <= 0)
      continue;
    while (r < n && roles[r].sections != warps[w].sections)
      r++;
    if (r == n) {
      roles[n++] = warps[w];
      roles[r].first = w;
    } else {
      roles[r].cycles += warps[w].cycles;
      roles[r].waiting += warps[w].waiting;
    }
    roles[r].last = w;
    roles[r].mask |= 1u << w;
    roles[r].warps++;
  }
  return n;
}

static double waits(const role_time *role) { return role->cycles > 0 ? role->waiting / role->cycles : 0; }

enum { NAME_BYTES = 120 };

enum { NOT_SEEN = INK_SECTION_UNKNOWN - 1 };

/* The role of each warp of each part, [part * INK_WARPS + warp]. It is INK_SECTION_UNKNOWN if PROF_ROLE named no
 * role, or not the same for all tracks. Returns NULL if memory ran out. */
static uint32_t *told_roles(const ink_table *table) {
  const size_t n = table->totals.count * INK_WARPS;
  uint32_t *told = malloc((n + 1) * sizeof *told);
  for (size_t i = 0; told && i < n; i++)
    told[i] = NOT_SEEN;
  for (uint64_t i = 0; told && i < table->capture->tracks.count; i++) {
    const ink_stored_track track = track_of(table, i);
    const uint32_t part = ink_table_part_of(table, track.launch, track.kernel);
    if (part >= table->totals.count)
      continue;
    const uint32_t warp = track.header.thread / 32, w = warp < INK_WARPS ? warp : INK_WARPS - 1;
    uint32_t *role = &told[(size_t)part * INK_WARPS + w];
    *role = *role == NOT_SEEN || *role == track.role ? track.role : INK_SECTION_UNKNOWN;
  }
  return told;
}

/* "Consumer (warps 1 to 3)"; true: it is one. */
static bool name_role(const ink_table *table, const role_time *role, const uint32_t *told, char text[NAME_BYTES]) {
  char warps[48];
  uint32_t name = told[role->first];
  for (uint32_t w = 0; w < INK_WARPS; w++)
    if ((role->mask >> w & 1) && told[w] != name)
      name = INK_SECTION_UNKNOWN;
  if (role->warps == 1)
    snprintf(warps, sizeof warps, "warp %u", role->first);
  else
    snprintf(warps, sizeof warps, "warps %u to %u", role->first, role->last);
  if (name < table->section_count)
    snprintf(text, NAME_BYTES, "%.60s (%s)", table->capture->sections.items[name].name, warps);
  else
    snprintf(text, NAME_BYTES, "%s", warps);
  return role->warps == 1 || name < table->section_count;
}

typedef struct work_place {
  uint32_t section;
  double cycles; /* of its own: without the sections inside */
} work_place;

/* The two sections in which a role's warps spend the most time, without sections that wait. 0 cycles: there is none. */
static void find_work(const ink_table *table, const uint32_t *cells, size_t count, const role_time *role,
                      work_place longest[2]) {
  longest[0] = longest[1] = (work_place){INK_SECTION_UNKNOWN, 0};
  for (size_t i = 0; i < count; i++) {
    const ink_cell *cell = ink_table_cell(table, cells[i]);
    if (cell->section >= table->section_count || cell->summed || table->waits[cell->section] || !cell->total)
      continue;
    const double own = 1 - fmin(1, (double)cell->child_cycles / (double)cell->total);
    work_place place = {cell->section, 0};
    for (uint32_t w = 0; w < INK_WARPS; w++)
      if (role->mask >> w & 1)
        place.cycles += own * (double)cell->more->by_warp[w];
    for (int at = 0; at < 2; at++)
      if (place.cycles > longest[at].cycles) {
        const work_place shorter = longest[at];
        longest[at] = place;
        place = shorter;
      }
  }
}

/* "; it works most in Work (34.5 %) and Store (33.3 %)": where the role that the others wait for is to be made faster. */
static void tell_work(const ink_table *table, const uint32_t *cells, size_t count, const role_time *role, bool one,
                      ink_finding *f) {
  work_place longest[2];
  const size_t used = strlen(f->text);
  find_work(table, cells, count, role, longest);
  if (longest[0].cycles <= 0 || role->cycles <= 0)
    return;
  const int more = snprintf(f->text + used, sizeof f->text - used, "; %s most in %.80s (%.1f %%)", one ? "it works" : "they work",
                            ink_finding_section(table, longest[0].section), 100 * longest[0].cycles / role->cycles);
  if (longest[1].cycles > 0 && more > 0 && used + (size_t)more < sizeof f->text)
    snprintf(f->text + used + more, sizeof f->text - used - (size_t)more, " and %.80s (%.1f %%)",
             ink_finding_section(table, longest[1].section), 100 * longest[1].cycles / role->cycles);
  ink_finding_number(f, "holding_work_share", longest[0].cycles / role->cycles);
}

/* `told` is made where it is needed, once for all parts. */
static ink_status waiting(ink_table *table, uint32_t part, const uint32_t *cells, size_t count, uint32_t **told) {
  role_time roles[INK_WARPS];
  const uint32_t n = find_roles(table, cells, count, roles);
  const role_time *most = NULL, *least = NULL;
  for (uint32_t i = 0; i < n; i++) {
    if (!most || waits(&roles[i]) > waits(most))
      most = &roles[i];
    if (!least || waits(&roles[i]) < waits(least))
      least = &roles[i];
  }
  if (n < 2 || waits(most) < INK_WAIT_MUCH || waits(least) > INK_WAIT_LITTLE || waits(least) * 2 > waits(most))
    return INK_OK;
  if (!*told && !(*told = told_roles(table)))
    return no_memory(table);
  ink_finding *f = ink_finding_add(table, "wait", part, most->waiting);
  if (!f)
    return no_memory(table);
  char who[NAME_BYTES], whom[NAME_BYTES];
  const uint32_t *of_part = *told + (size_t)part * INK_WARPS;
  const bool one = name_role(table, most, of_part, who), other_one = name_role(table, least, of_part, whom);
  int used = snprintf(f->text, sizeof f->text, "%s hold%s the others: %s wait%s %.1f %% of %s time, most in %.100s, %s ",
                      whom, other_one ? "s" : "", who, one ? "s" : "", 100 * waits(most),
                      one ? "its" : "their", ink_finding_section(table, most->most_section), whom);
  if (least->waiting > 0 && used > 0 && (size_t)used < sizeof f->text)
    snprintf(f->text + used, sizeof f->text - (size_t)used, "%.1f %%, most in %.100s", 100 * waits(least),
             ink_finding_section(table, least->most_section));
  else if (used > 0 && (size_t)used < sizeof f->text)
    snprintf(f->text + used, sizeof f->text - (size_t)used, "not at all");
  ink_finding_number(f, "waiting_warp", most->first);
  ink_finding_number(f, "waiting_share", waits(most));
  ink_finding_number(f, "waiting_cycles", most->waiting);
  ink_finding_number(f, "holding_warp", least->first);
  ink_finding_number(f, "holding_share", waits(least));
  ink_finding_number(f, "holding_cycles", least->waiting);
  tell_work(table, cells, count, least, other_one, f);
  return INK_OK;
}

/* ---- launches ------------------------------------------------------------------------------- */

static int compare_doubles(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

/* The first launch of a part against its others, by the time of a track. `times` has room for all. */
static ink_status first_launch(ink_table *table, uint32_t part, const uint32_t *its, size_t count, double *times) {
  const ink_launch *launches = table->capture->launches.items;
  double first = 0;
  uint32_t at = UINT32_MAX;
  size_t n = 0;
  for (size_t k = 0; k < count; k++) {
    const uint32_t i = its[k];
    if (!launches[i].track_count)
      continue;
    const double time = (double)table->launch_cycles[i] / (double)launches[i].track_count;
    if (at == UINT32_MAX) {
      at = i;
      first = time;
    } else if (!memcmp(launches[i].grid_dim, launches[at].grid_dim, sizeof launches[i].grid_dim)) {
      times[n++] = time;
    }
  }
  if (n)
    qsort(times, n, sizeof *times, compare_doubles);
  const double median = n ? times[n / 2] : 0, p90 = n ? times[n - 1 - n / 10] : 0;
  if (n < INK_LAUNCHES_LEAST || first < INK_FIRST_FACTOR * median || first < p90)
    return INK_OK;
  ink_finding *f = ink_finding_add(table, "first-launch", part, (first - median) * (double)launches[at].track_count);
  if (!f)
    return no_memory(table);
  table->slow_launches[at] = true;
  snprintf(f->text, sizeof f->text, "the first launch (%" PRIu32 ") took %.1f x the median of the other %zu", at,
           first / fmax(median, 1), n);
  ink_finding_number(f, "launch", at);
  ink_finding_number(f, "track_cycles", first);
  ink_finding_number(f, "others_median_cycles", median);
  ink_finding_number(f, "launches", (double)n + 1);
  return INK_OK;
}

/* ---- all of them --------------------------------------------------------------------------- */

typedef struct part_lists { /* of each part p: items[first[p], first[p + 1]), in rising order */
  size_t *first;
  uint32_t *items;
} part_lists;

/* Sorts the numbers from 0 to n by their parts. Numbers of no part (UINT32_MAX) are left out. */
static bool list_by_part(const ink_table *table, size_t n, uint32_t (*part_of)(const ink_table *, uint32_t), part_lists *out) {
  const size_t parts = table->totals.count;
  out->first = calloc(parts + 2, sizeof *out->first);
  out->items = malloc((n + 1) * sizeof *out->items);
  if (!out->first || !out->items)
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (part_of(table, i) < parts)
      out->first[part_of(table, i) + 2]++;
  for (size_t p = 0; p < parts; p++)
    out->first[p + 2] += out->first[p + 1];
  for (uint32_t i = 0; i < n; i++)
    if (part_of(table, i) < parts)
      out->items[out->first[part_of(table, i) + 1]++] = i;
  return true;
}

static uint32_t part_of_cell(const ink_table *table, uint32_t cell) { return ink_table_cell(table, cell)->part; }

static uint32_t part_of_launch(const ink_table *table, uint32_t launch) { return table->parts_of[launch]; }

static void free_lists(part_lists *lists) {
  free(lists->first);
  free(lists->items);
}

static ink_status first_launches(ink_table *table) {
  part_lists of = {0};
  double *times = malloc((table->launch_count + 1) * sizeof *times);
  ink_status status = times && list_by_part(table, table->launch_count, part_of_launch, &of) ? INK_OK : no_memory(table);
  for (uint32_t part = 0; part < table->totals.count && status == INK_OK; part++)
    status = first_launch(table, part, of.items + of.first[part], of.first[part + 1] - of.first[part], times);
  free_lists(&of);
  free(times);
  return status;
}

static ink_status waits_of_all(ink_table *table) {
  part_lists of = {0};
  uint32_t *told = NULL;
  ink_status status = list_by_part(table, table->cell_count, part_of_cell, &of) ? INK_OK : no_memory(table);
  for (uint32_t part = 0; part < table->totals.count && status == INK_OK; part++)
    if (!table->totals.items[part].marks_dropped)
      status = waiting(table, part, of.items + of.first[part], of.first[part + 1] - of.first[part], &told);
  free_lists(&of);
  free(told);
  return status;
}

static int by_cost(const void *left, const void *right) {
  const ink_finding *a = left, *b = right;
  if (a->cost_cycles != b->cost_cycles)
    return a->cost_cycles > b->cost_cycles ? -1 : 1;
  const int order = strcmp(a->id, b->id);
  return order ? order : strcmp(a->text, b->text);
}

ink_status ink_findings_make(ink_table *table) {
  ink_status status = first_launches(table);
  for (uint32_t i = 0; i < table->cell_count && status == INK_OK; i++) {
    ink_cell *cell = ink_table_cell(table, i);
    if (cell->section >= table->section_count || table->totals.items[cell->part].marks_dropped)
      continue;
    if (table->waits[cell->section])
      continue; /* what it takes is told by what is waited for */
    const size_t before = table->findings.count;
    status = late(table, cell);
    if (status == INK_OK && table->findings.count == before) /* a late block's slices are outliers too */
      status = outlier(table, cell);
  }
  if (status == INK_OK)
    status = waits_of_all(table);
  if (status == INK_OK)
    status = ink_findings_tails(table);
  if (table->findings.count)
    qsort(table->findings.items, table->findings.count, sizeof *table->findings.items, by_cost);
  return status == INK_OK ? ink_findings_held(table) : status;
}

size_t ink_table_findings(const ink_table *table, const ink_finding **out) {
  *out = table->findings.items;
  return table->findings.count;
}
