/* SPDX-License-Identifier: MIT */
/* Random marked programs run through a plain model that knows everything, and through rings and the
 * decoder, which know what was kept; what the decoder says must be what the model knows, and
 * "unknown" only where a record that it depends on was lost. The model shares no code with the
 * decoder: it computes each slice forwards, while the program runs. */
#include "check.h"
#include "inkmark/table.h"
#include "marked_program.h"

#include <inttypes.h>

/* ---- what was kept ------------------------------------------------------------------------- */

typedef struct kept {
  long first, end; /* numbers [first, end) */
  bool lost_front, lost_back;
} kept;

static kept what_is_kept(const model *m, int ring, uint64_t base) {
  uint64_t room = m->track.records[ring], used = 0;
  kept k = {0, m->numbers[ring], false, false};
  for (long i = 0; base && i < m->numbers[ring]; i++)
    used += m->words[ring][i];
  if (base && used < room) {
    fprintf(stderr, "the program's %" PRIu64 " words are too few for a ring of %" PRIu64 "\n", used,
            room);
    exit(1);
  }
  used = 0;
  if (m->track.keep_first) {
    long n = 0;
    while (n < m->numbers[ring] && used + m->words[ring][n] <= room)
      used += m->words[ring][n++];
    k.end = n;
    k.lost_back = n < m->numbers[ring];
    return k;
  }
  long n = m->numbers[ring];
  while (n > 0 && used + m->words[ring][n - 1] <= room)
    used += m->words[ring][--n];
  k.first = n;
  k.lost_front = n > 0 || base;
  return k;
}

static bool is_kept(const kept k[2], dep d) {
  if (d.number < 0) /* the opening: known unless something after it was overwritten */
    return !k[d.ring].lost_front;
  return d.number >= k[d.ring].first && d.number < k[d.ring].end;
}

/* ---- comparing ----------------------------------------------------------------------------- */

enum { SLICES_KEPT = 4000 };

typedef struct compare {
  ink_slice slices[SLICES_KEPT]; /* that have a section, for the checks on sums */
  ink_point sums[SLICES_KEPT];
  size_t slice_count, sum_count;
  const model *m;
  kept k[2];
  size_t next;
  uint32_t other_base;
  uint64_t problems, ends, points, asyncs;
  ink_decoded_track track;
  char name[128];
} compare;

static const expected *next_of(compare *c, int what, uint64_t end, int called) {
  /* Slices, points and asyncs each come in order; the list has all of them in order. */
  for (size_t i = c->next; i < c->m->count; i++) {
    const expected *e = &c->m->list[i];
    if (!is_kept(c->k, e->self))
      continue;
    if (e->end == end && e->called == called && e->what == what) {
      for (size_t j = c->next; j < i; j++)
        CHECK(!is_kept(c->k, c->m->list[j].self), "%s: event %zu at %" PRIu64 " was left out",
              c->name, j, c->m->list[j].end);
      c->next = i + 1;
      return e;
    }
    break;
  }
  CHECK(false, "%s: an event at %" PRIu64 " that the program never made", c->name, end);
  return NULL;
}

static uint32_t section_index(const compare *c, uint32_t section) {
  if (section == INK_SECTION_UNKNOWN)
    return section;
  return section >= 100 ? c->other_base + section - 101 : section - 1;
}

static void check_row(compare *c, const expected *e, int64_t row) {
  bool lost = c->k[0].lost_front || c->k[0].lost_back || c->k[1].lost_front || c->k[1].lost_back;
  if (!lost) {
    CHECK(row == e->row, "%s: row %" PRId64 ", the program was in %" PRId64, c->name, row, e->row);
    return;
  }
  bool known = is_kept(c->k, e->row_set);
  CHECK(row == e->row || row == INK_ROW_UNKNOWN, "%s: row %" PRId64 " is neither %" PRId64
        " nor unknown", c->name, row, e->row);
  if (!e->called) /* of the body exactly what was kept is known */
    CHECK((row == INK_ROW_UNKNOWN) == !known, "%s: row %" PRId64 ", known %d, really %" PRId64,
          c->name, row, known, e->row);
  else if (e->end < c->track.partial_after_cycles && is_kept(c->k, e->last_body) && known &&
           (!c->k[1].lost_front || c->next > 200))
    CHECK(row == e->row || c->k[1].lost_front, "%s: row is unknown but need not be", c->name);
}

static ink_status on_slice(void *user, const ink_slice *s) {
  compare *c = user;
  if (c->slice_count < SLICES_KEPT)
    c->slices[c->slice_count] = *s;
  c->slice_count++;
  if (s->cut == 2) { /* the END was dropped: only where the newest words were */
    CHECK(c->k[s->called].lost_back, "%s: a range never ended, but nothing was dropped", c->name);
    CHECK(s->called || s->end_cycles == c->track.close_cycles, "%s: ends before the close", c->name);
    return INK_OK;
  }
  const expected *e = next_of(c, SLICE, s->end_cycles, s->called);
  if (!e)
    return INK_ERROR_STOPPED;
  c->ends++;
  bool begin_known = is_kept(c->k, e->stamp) && (!e->uses_body || is_kept(c->k, e->body_stamp));
  if (e->uses_body && c->k[0].lost_back && e->end > c->track.partial_after_cycles)
    begin_known = begin_known && is_kept(c->k, e->last_body) &&
                  e->last_body.number + 1 < c->k[0].end;
  CHECK(s->kind == e->kind, "%s: kind %d, not %d", c->name, s->kind, e->kind);
  CHECK(s->section == section_index(c, e->section), "%s: section %u, not %u", c->name, s->section,
        section_index(c, e->section));
  if (!s->cut)
    CHECK(s->begin_cycles == e->begin,
          "%s: kind %d called %d [%" PRIu64 ", %" PRIu64 "] began at %" PRIu64, c->name, s->kind,
          s->called, s->begin_cycles, s->end_cycles, e->begin);
  CHECK(s->begin_cycles <= e->begin && s->begin_cycles >= c->m->open_clock,
        "%s: a begin that is no lower limit", c->name);
  bool edge = e->uses_body && c->k[0].lost_back;
  if (!edge)
    CHECK((s->cut == 0) == begin_known, "%s: cut %d, but its begin is %sknown", c->name, s->cut,
          begin_known ? "" : "not ");
  else
    CHECK(s->cut == 0 || !begin_known || e->end > c->track.partial_after_cycles, "%s: cut",
          c->name);
  if (!e->called || is_kept(c->k, e->last_body))
    CHECK(s->depth == e->depth, "%s: depth %u, not %u, at %" PRIu64, c->name, s->depth, e->depth,
          e->end);
  check_row(c, e, s->row);
  return INK_OK;
}

static ink_status on_point(void *user, const ink_point *p) {
  compare *c = user;
  const expected *e = next_of(c, POINT, p->cycles, p->called);
  if (!e)
    return INK_ERROR_STOPPED;
  c->points++;
  if (p->escape == INK_ESCAPE_SUM && c->sum_count < SLICES_KEPT)
    c->sums[c->sum_count++] = *p;
  CHECK(p->kind == e->kind && p->escape == e->escape, "%s: point of kind %d.%d, not %d.%d",
        c->name, p->kind, p->escape, e->kind, e->escape);
  CHECK(p->section == section_index(c, e->section), "%s: section %u", c->name, p->section);
  if (e->escape == INK_ESCAPE_SUM)
    CHECK(p->value.sum.count == 3 && p->value.sum.total_cycles == e->value, "%s: sum", c->name);
  else
    CHECK(p->value.u64 == e->value, "%s: value %" PRIx64 ", not %" PRIx64, c->name, p->value.u64,
          e->value);
  check_row(c, e, p->row);
  return INK_OK;
}

static ink_status on_async(void *user, const ink_async *a) {
  compare *c = user;
  if (a->cut == 2) /* its end was dropped */
    return INK_OK;
  const expected *e = next_of(c, ASYNC, a->end_cycles, a->called);
  if (!e)
    return INK_ERROR_STOPPED;
  c->asyncs++;
  bool known = is_kept(c->k, e->stamp);
  CHECK((a->cut == 0) == known, "%s: async cut %d", c->name, a->cut);
  CHECK(a->cut || a->begin_cycles == e->begin, "%s: async begin %" PRIu64 ", not %" PRIu64,
        c->name, a->begin_cycles, e->begin);
  CHECK(a->key == e->value && a->section == section_index(c, e->section), "%s: async", c->name);
  return INK_OK;
}

static ink_status on_problem(void *user, const ink_problem *problem) {
  compare *c = user;
  c->problems++;
  CHECK(false, "%s: problem '%s' at word %" PRIu64, c->name, problem->text, problem->word);
  return INK_OK;
}

static ink_status on_begin(void *user, const ink_decoded_track *track) {
  ((compare *)user)->track = *track;
  return INK_OK;
}

static void check_track(compare *c, const uint64_t base[2]) {
  const ink_track *header = &c->m->track.header;
  uint64_t executed = 0, records = 0;
  for (int i = 0; i < 2; i++) {
    executed += base[i] + (uint64_t)c->m->numbers[i];
    records += (uint64_t)(c->k[i].end - c->k[i].first);
  }
  CHECK(c->track.marks_executed == executed, "%s: executed %" PRIu64 ", not %" PRIu64, c->name,
        c->track.marks_executed, executed);
  CHECK(c->track.marks_kept == records, "%s: kept %" PRIu64 ", not %" PRIu64, c->name,
        c->track.marks_kept, records);
  CHECK(c->track.marks_kept + c->track.marks_dropped == c->track.marks_executed, "%s", c->name);
  CHECK(c->track.open_cycles == header->open_clock1 && c->track.close_cycles == header->close_clock0,
        "%s: opened or closed elsewhere", c->name);
  size_t left = 0;
  for (size_t i = c->next; i < c->m->count; i++)
    left += is_kept(c->k, c->m->list[i].self);
  CHECK(left == 0, "%s: %zu kept events did not come", c->name, left);
  bool front = c->k[0].lost_front || c->k[1].lost_front, back = c->k[0].lost_back || c->k[1].lost_back;
  CHECK((c->track.partial_before_cycles != 0) == front, "%s: partial before %" PRIu64, c->name,
        c->track.partial_before_cycles);
  CHECK((c->track.partial_after_cycles != UINT64_MAX) == back, "%s: partial after", c->name);
}

static int by_begin(const void *left, const void *right) {
  const ink_slice *a = left, *b = right;
  return a->begin_cycles < b->begin_cycles ? -1 : a->begin_cycles > b->begin_cycles;
}

/* What no slice covers is unmarked: the union of all slices, computed the long way. */
static void check_unmarked(compare *c) {
  uint64_t covered = 0, until = c->track.open_cycles;
  if (c->slice_count > SLICES_KEPT || c->track.marks_dropped)
    return;
  qsort(c->slices, c->slice_count, sizeof *c->slices, by_begin);
  for (size_t i = 0; i < c->slice_count; i++) {
    uint64_t begin = c->slices[i].begin_cycles, end = c->slices[i].end_cycles;
    begin = begin > until ? begin : until;
    if (end > begin) {
      covered += end - begin;
      until = end;
    }
  }
  uint64_t total = c->track.close_cycles - c->track.open_cycles;
  CHECK(c->track.unmarked_cycles == total - covered, "%s: %" PRIu64 " unmarked, not %" PRIu64,
        c->name, c->track.unmarked_cycles, total - covered);
}

/* A slice is nested where a range of its section is around it, looked for the long way. */
static void check_nested(const compare *c) {
  if (c->slice_count > 400 || c->track.marks_dropped)
    return;
  for (size_t i = 0; i < c->slice_count; i++) {
    const ink_slice *s = &c->slices[i];
    bool surely = false, perhaps = false;
    for (size_t j = 0; j < c->slice_count; j++) {
      const ink_slice *range = &c->slices[j];
      if (i == j || range->kind != INK_KIND_BEGIN || range->section != s->section)
        continue;
      surely |= range->begin_cycles < s->begin_cycles && range->end_cycles > s->end_cycles;
      perhaps |= range->begin_cycles <= s->begin_cycles && range->end_cycles >= s->end_cycles;
    }
    CHECK(s->nested ? perhaps : !surely, "%s: a slice of section %u at %" PRIu64 " is %snested",
          c->name, s->section, s->end_cycles, s->nested ? "" : "not ");
  }
}

/* The table is made on another way through the decoder (runs) than the slices seen here. */
static void check_table(compare *c, const ink_capture *capture, const ink_clock_map *map) {
  ink_table *table = NULL;
  ink_error error;
  ink_table_options options = {.size = sizeof options, .by = INK_BY_ITERATION,
                               .launch = UINT32_MAX};
  if (c->slice_count > SLICES_KEPT)
    return;
  NEED(ink_table_make(capture, map, &options, &table, &error), error);
  const ink_table_row *rows;
  size_t n = ink_table_rows(table, &rows), used = 0;
  uint64_t unmarked = 0;
  for (size_t r = 0; r < n; r++) {
    uint64_t count = 0, cut = 0, nested = 0, total = 0, least = UINT64_MAX, most = 0;
    if (rows[r].section == INK_SECTION_UNKNOWN) {
      unmarked += rows[r].total_cycles;
      continue;
    }
    for (size_t i = 0; i < c->slice_count; i++) {
      const ink_slice *s = &c->slices[i];
      if (s->section != rows[r].section || s->row != rows[r].group)
        continue;
      uint64_t cycles = s->end_cycles - s->begin_cycles;
      used++;
      cut += s->cut != 0;
      if (s->cut)
        continue;
      count++;
      nested += s->nested;
      total += s->nested ? 0 : cycles;
      least = cycles < least ? cycles : least;
      most = cycles > most ? cycles : most;
    }
    if (rows[r].summed) /* its sums are nonsense on purpose */
      continue;
    CHECK(rows[r].count == count && rows[r].cut == cut && rows[r].nested == nested &&
              rows[r].total_cycles == total,
          "%s: row of section %u in %" PRId64 ": %" PRIu64 " of %" PRIu64 ", not %" PRIu64
          " of %" PRIu64, c->name, rows[r].section, rows[r].group, rows[r].total_cycles,
          rows[r].count, total, count);
    CHECK(!count || (rows[r].min_cycles == least && rows[r].max_cycles == most), "%s: extremes",
          c->name);
  }
  CHECK(used == c->slice_count, "%s: %zu slices are in no row", c->name, c->slice_count - used);
  CHECK(unmarked == c->track.unmarked_cycles, "%s: rows have %" PRIu64 " unmarked, the track %"
        PRIu64, c->name, unmarked, c->track.unmarked_cycles);
  ink_table_free(table);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  ((compare *)user)->track = *track;
  return INK_OK;
}

static ink_status no_record(void *user, uint64_t head, uint64_t cycles, ink_section_index section,
                            int64_t row, uint8_t called) {
  (void)user, (void)head, (void)cycles, (void)section, (void)row, (void)called;
  return INK_OK;
}

static void one(uint64_t seed, int steps, const uint32_t rings[2], bool keep_first, bool calls,
                bool tables, const uint64_t base[2], uint64_t open_clock) {
  static model m;
  static expected list[MOST * 2];
  memset(&m, 0, sizeof m);
  m.list = list;
  m.random = seed * 0x9e3779b97f4a7c15u + 12345;
  m.unique_keys = seed % 2 || rings[0] < 65536 || rings[1] < 65536 || base[0];
  m.called_row_epoch = -1;
  m.last_body = (dep){0, -1};
  synth_track_init(&m.track, rings[0], rings[1], keep_first);
  m.track.table_hash48 = tables ? SYNTH_HASH : 0;
  m.track.header.words = base[0]; /* as many one-word marks went before, all overwritten */
  m.track.header.aux_words = base[1];
  m.track.header.grid_id = 7;
  m.clock = m.open_clock = open_clock;
  for (int i = 0; i < 2; i++) {
    m.stack[i][0] = (model_level){.stamp = i ? 0 : open_clock, .stamp_dep = {i, -1},
                                  .row_dep = {i, -1}, .row = INK_ROW_NONE};
    begins[i][0] = (begin_of){open_clock, {i, -1}};
  }
  synth_open(&m.track, open_clock, 1000000);
  run_program(&m, steps, calls);
  synth_close(&m.track, m.clock + 5, 1000000 + (m.clock - open_clock) / 2);

  const char *path = synth_path("model");
  ink_writer *writer = synth_writer(path, rings[0], rings[1], keep_first);
  synth_put(writer, &m.track);
  synth_finish(writer);
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  static compare c;
  memset(&c, 0, sizeof c);
  c.m = &m;
  c.k[0] = what_is_kept(&m, 0, base[0]);
  c.k[1] = what_is_kept(&m, 1, base[1]);
  c.other_base = 6;
  snprintf(c.name, sizeof c.name, "seed %d steps %d rings %u/%u %s%s%s%s", (int)seed, steps,
           rings[0], rings[1], keep_first ? "first" : "last", calls ? " calls" : "",
           tables ? " tables" : "", base[0] ? " past 2^32" : "");
  ink_sink sink = {.user = &c, .slice = on_slice, .point = on_point, .async = on_async,
                   .problem = on_problem, .track_begin = on_begin, .track_end = on_track_end};
  if (seed % 2)
    sink.record = no_record; /* then the decoder takes no record together with others */
  ink_status status = ink_decode(capture, map, UINT32_MAX, &sink, &error);
  CHECK(status == INK_OK, "%s: status %d", c.name, (int)status);
  if (status == INK_OK)
    check_track(&c, base);
  if (status == INK_OK) {
    check_table(&c, capture, map);
    check_unmarked(&c);
    check_nested(&c);
  }
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
  synth_track_free(&m.track);
}

int main(void) {
  static const uint32_t sizes[] = {4, 64, 65536};
  uint64_t seed = 1;
  const uint64_t none[2] = {0, 0};
  for (int s = 0; s < 9; s++)
    for (int mode = 0; mode < 8; mode++) {
      const uint32_t rings[2] = {sizes[s / 3], sizes[s % 3]};
      int most = rings[0] == 65536 ? 20000 : 300;
      for (int i = 0; i < 12; i++) {
        uint64_t open = i % 3 == 0 ? (UINT64_C(5) << 48) - 2000 : 1000 + seed;
        one(seed++, i == 0 ? 0 : i < 6 ? i : 1 + most * i / 12, rings, mode & 1, mode & 2, mode & 4,
            none, open);
      }
    }
  /* Counts near and beyond 2^32: as if so many marks had gone before, which the program's own
   * overwrite to the last. */
  static const uint64_t far[] = {(UINT64_C(1) << 32) - 50, (UINT64_C(1) << 32) + 3,
                                 (UINT64_C(7) << 40) + 61};
  for (int f = 0; f < 3; f++)
    for (int s = 0; s < 3; s++)
      for (int calls = 0; calls < 2; calls++) {
        const uint32_t rings[2] = {sizes[s], calls && s == 2 ? 64 : sizes[s]};
        const uint64_t base[2] = {far[f], calls ? far[2 - f] : 0};
        if (s < 2 || !calls)
          one(seed++, s == 2 ? 59000 : 6000, rings, false, calls, false, base, 5000);
      }
  return check_result("decode_model");
}
