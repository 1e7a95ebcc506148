/* SPDX-License-Identifier: MIT */
/* What the marks cost is taken out: the same random program is recorded by marks that cost nothing
 * and by marks that cost what a capture says. The table of the second without marking must be the
 * table of the first, in every row; as stamped it must be longer by just what was taken out. And
 * where marks cost less than they are said to, nothing becomes negative and the parts still add up.
 */
#include "check.h"
#include "clock/clock_map.h"
#include "inkmark/table.h"
#include "synth.h"

#include <inttypes.h>
#include <math.h>

enum { STEPS = 3000, KINDS = 8, DEEP = 6 };

typedef struct step {
  uint8_t called, kind, escape;
  uint32_t section;
  uint64_t payload, after; /* cycles since the record before it */
} step;

typedef struct program {
  uint64_t random;
  step steps[STEPS * 12];
  size_t count;
  uint64_t closing;
} program;

static const uint64_t costs[2][KINDS] = {{7, 11, 11, 5, 13, 17, 17, 23},
                                         {40, 41, 41, 42, 43, 44, 44, 45}};
static const uint64_t opening_cost = 29;

static uint32_t draw(program *p, uint32_t below) {
  p->random = p->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(p->random >> 33) % below;
}

static void put(program *p, int called, uint32_t kind, uint32_t section, uint64_t payload) {
  p->steps[p->count++] =
      (step){(uint8_t)called, (uint8_t)kind, 0, section, payload, 1 + draw(p, 200)};
}

/* One mark of no range; `ranges` picks which may come. */
static void put_simple(program *p, int called) {
  static const uint8_t kinds[] = {INK_KIND_MARK, INK_KIND_MARK, INK_KIND_MARK,    INK_KIND_MARK,
                                  INK_KIND_MARK, INK_KIND_ITER, INK_KIND_INSTANT, INK_KIND_ESCAPE};
  const uint32_t kind = kinds[draw(p, sizeof kinds)];
  put(p, called, kind, kind == INK_KIND_ITER ? 0 : 2 + draw(p, 5), draw(p, 9));
  if (kind == INK_KIND_ESCAPE)
    p->steps[p->count - 1].escape = INK_ESCAPE_VALUE_U64;
}

static void put_call(program *p) {
  uint32_t open[DEEP], depth = 0;
  for (uint32_t n = draw(p, 7); n; n--) {
    if (depth < DEEP && draw(p, 4) == 0) {
      open[depth++] = 2 + draw(p, 5);
      put(p, 1, INK_KIND_BEGIN, open[depth - 1], 0);
    } else if (depth && draw(p, 3) == 0) {
      put(p, 1, INK_KIND_END, open[--depth], 0);
    } else {
      put_simple(p, 1);
    }
  }
  while (depth)
    put(p, 1, INK_KIND_END, open[--depth], 0);
}

static void write_program(program *p, uint64_t seed, bool calls) {
  uint32_t open[DEEP], depth = 0;
  p->random = seed * 0x9e3779b97f4a7c15u + 99;
  p->count = 0;
  while (p->count < STEPS) {
    if (calls && draw(p, 12) == 0) {
      put_call(p);
    } else if (depth < DEEP && draw(p, 10) == 0) {
      open[depth++] = 2 + draw(p, 5);
      put(p, 0, INK_KIND_BEGIN, open[depth - 1], 0);
    } else if (depth && draw(p, 8) == 0) {
      put(p, 0, INK_KIND_END, open[--depth], 0);
    } else {
      for (uint32_t n = 1 + draw(p, 20); n; n--) /* long enough for runs */
        put_simple(p, 0);
    }
  }
  while (depth)
    put(p, 0, INK_KIND_END, open[--depth], 0);
  p->closing = 50;
}

static void write_costs(ink_writer *writer) {
  static const uint32_t kinds[][2] = {
      {INK_COST_OF_MARK, INK_KIND_MARK},       {INK_COST_OF_RANGE, INK_KIND_BEGIN},
      {INK_COST_OF_INSTANT, INK_KIND_INSTANT}, {INK_COST_OF_ITER, INK_KIND_ITER},
      {INK_COST_OF_VALUE, INK_KIND_ESCAPE},    {INK_COST_OF_ASYNC, INK_KIND_ASYNC_BEGIN}};
  ink_mark_cost list[16];
  uint32_t n = 0;
  ink_error error;
  for (uint32_t called = 0; called < 2; called++)
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      list[n++] =
          (ink_mark_cost){.what = kinds[i][0],
                          .samples = 24,
                          .flags = INK_COST_RECORDING | (called ? INK_COST_CALLED_FUNCTION : 0u),
                          .millicycles = costs[called][kinds[i][1]] * 1000,
                          .bound_millicycles = 250};
  list[n++] = (ink_mark_cost){.what = INK_COST_OF_OPENING,
                              .flags = INK_COST_RECORDING,
                              .samples = 3,
                              .millicycles = opening_cost * 1000,
                              .bound_millicycles = 250};
  NEED(ink_writer_mark_costs(
           writer, &(ink_mark_costs){.device = 0, .count = n, .costs = list, .note = ""}, &error),
       error);
}

/* Long after the track the SM's clock goes twice as fast: then every stretch of the whole capture is converted by its own
 * stamps, on another way through the tables. */
static void write_change(ink_writer *writer) {
  enum { EDGES = 40, APART = 1000000 };
  ink_edge edges[EDGES];
  const uint64_t later = 1000000000000;
  uint64_t cycles = 5000 + later - 1000000; /* where the track opens it is 5000 at 1000000 ns */
  for (uint64_t i = 0; i < EDGES; i++) {
    edges[i] = (ink_edge){cycles, cycles + 2, later + i * APART, 32};
    cycles += i < EDGES / 2 ? APART : 2 * APART;
  }
  const ink_sm_edges sm = {.sm = 0, .count = EDGES, .edges = edges};
  ink_error error;
  NEED(ink_writer_clock_edges(writer, &(ink_clock_edges){.when = INK_EDGES_AT_START, .sm_count = 1, .sms = &sm, .note = ""}, &error),
       error);
}

/* Records the program into a capture; marks cost `weight` times what they are said to. */
static ink_capture *record(const program *p, uint64_t weight, bool said, bool changes, uint32_t room,
                           const char *name) {
  synth_track track;
  synth_track_init(&track, room, 65536, false);
  track.header.grid_id = 7;
  uint64_t clock = 5000, owed = weight * opening_cost;
  synth_open(&track, clock, 1000000);
  for (size_t i = 0; i < p->count; i++) {
    const step *s = &p->steps[i];
    clock += s->after + owed;
    owed = weight * costs[s->called][s->kind];
    if (s->escape)
      synth_value(&track, s->called, s->escape, s->section, s->payload, SYNTH_HASH, clock);
    else {
      track.table_hash48 = s->called ? SYNTH_HASH : 0;
      synth_record(&track, s->called, s->kind, s->section, s->payload, clock);
    }
  }
  clock += p->closing + owed;
  synth_close(&track, clock, 1000000 + (clock - 5000));
  const char *path = synth_path(name);
  ink_writer *writer = synth_writer(path, room, 65536, false);
  if (said)
    write_costs(writer);
  if (changes)
    write_change(writer);
  synth_put(writer, &track);
  synth_finish(writer);
  synth_track_free(&track);
  ink_capture *capture = NULL;
  ink_error error;
  NEED(ink_capture_open(path, &capture, &error), error);
  remove(path);
  return capture;
}

static bool map_changes;

static ink_table *table_of(const ink_capture *capture, int by, bool without) {
  ink_table_options options = {.size = sizeof options,
                               .by = (enum ink_group_by)by,
                               .launch = UINT32_MAX,
                               .without_marking = without};
  ink_clock_map *map = NULL;
  ink_table *table = NULL;
  ink_error error;
  NEED(ink_clock_map_make(capture, &map, &error), error);
  map_changes = ink_clock_map_changes(map);
  NEED(ink_table_make(capture, map, &options, &table, &error), error);
  ink_clock_map_free(map);
  return table;
}

static void same_rows(const ink_table *got, const ink_table *want, const ink_table *stamped,
                      const char *name) {
  const ink_table_row *a, *b, *raw;
  size_t n = ink_table_rows(got, &a), m = ink_table_rows(want, &b);
  CHECK(n == m && ink_table_rows(stamped, &raw) == n && n > 3, "%s: %zu and %zu rows", name, n, m);
  for (size_t i = 0; i < n && n == m; i++) {
    CHECK(a[i].section == b[i].section && a[i].group == b[i].group && a[i].cut == b[i].cut &&
              a[i].depth == b[i].depth,
          "%s: row %zu is another", name, i);
    if (a[i].section != INK_SECTION_UNKNOWN) /* a gap that only marks filled is none without them */
      CHECK(a[i].count == b[i].count && a[i].min_cycles == b[i].min_cycles &&
                a[i].max_cycles == b[i].max_cycles && a[i].median_cycles == b[i].median_cycles &&
                a[i].p99_cycles == b[i].p99_cycles,
            "%s: row %zu (section %u): min %" PRIu64 " max %" PRIu64 ", not %" PRIu64 " %" PRIu64,
            name, i, a[i].section, a[i].min_cycles, a[i].max_cycles, b[i].min_cycles,
            b[i].max_cycles);
    CHECK(a[i].total_cycles == b[i].total_cycles, "%s: row %zu: %" PRIu64 ", not %" PRIu64, name, i,
          a[i].total_cycles, b[i].total_cycles);
    CHECK(a[i].total_cycles + a[i].marking_cycles == raw[i].total_cycles && !raw[i].marking_cycles,
          "%s: row %zu: %" PRIu64 " and %" PRIu64 " taken out are not %" PRIu64, name, i,
          a[i].total_cycles, a[i].marking_cycles, raw[i].total_cycles);
    /* nested ones have no time of their own */
    CHECK(a[i].count == a[i].nested || (a[i].marking_bound_cycles > 0 &&
                          a[i].marking_bound_cycles <= (double)a[i].marking_cycles),
          "%s: row %zu has a bound of %g", name, i, a[i].marking_bound_cycles);
  }
}

/* The same cycles as without a change of rate, and the same ns, since the SM of the tracks has one rate. */
static void same_on_the_other_way(const ink_table *timed, const ink_table *plain, const char *name) {
  const ink_table_row *a, *b;
  const size_t n = ink_table_rows(timed, &a), m = ink_table_rows(plain, &b);
  CHECK(n == m && n > 3, "%s: %zu and %zu rows", name, n, m);
  for (size_t i = 0; i < n && n == m; i++) {
    CHECK(a[i].section == b[i].section && a[i].group == b[i].group && a[i].count == b[i].count && a[i].cut == b[i].cut &&
              a[i].nested == b[i].nested && a[i].depth == b[i].depth && a[i].called == b[i].called && a[i].passes == b[i].passes &&
              a[i].inside_count == b[i].inside_count && a[i].self_known == b[i].self_known && a[i].twice == b[i].twice,
          "%s: row %zu is another", name, i);
    CHECK(a[i].total_cycles == b[i].total_cycles && a[i].self_cycles == b[i].self_cycles && a[i].min_cycles == b[i].min_cycles &&
              a[i].p1_cycles == b[i].p1_cycles && a[i].median_cycles == b[i].median_cycles && a[i].p99_cycles == b[i].p99_cycles &&
              a[i].max_cycles == b[i].max_cycles && a[i].max_iteration == b[i].max_iteration,
          "%s: row %zu: %" PRIu64 " cycles, not %" PRIu64, name, i, a[i].total_cycles, b[i].total_cycles);
    CHECK(a[i].marking_cycles == b[i].marking_cycles && fabs(a[i].marking_bound_cycles - b[i].marking_bound_cycles) < 1e-6,
          "%s: row %zu: marks %" PRIu64 ", not %" PRIu64, name, i, a[i].marking_cycles, b[i].marking_cycles);
    CHECK(fabs(a[i].total_ns - b[i].total_ns) <= 1e-4 * b[i].total_ns + 1e-3 && fabs(a[i].max_ns - b[i].max_ns) <= 1e-2 * b[i].max_ns + 1 &&
              fabs(a[i].min_ns - b[i].min_ns) <= 1e-2 * b[i].min_ns + 1,
          "%s: row %zu: %.9g ns, not %.9g", name, i, a[i].total_ns, b[i].total_ns);
  }
  const ink_kernel_total *c, *d;
  CHECK(ink_table_kernels(timed, &c) == 1, "%s: kernels", name);
  CHECK(ink_table_kernels(plain, &d) == 1, "%s: kernels", name);
  CHECK(c->unmarked_cycles == d->unmarked_cycles && c->unknown_cycles == d->unknown_cycles && c->marking_cycles == d->marking_cycles &&
            fabs(c->unmarked_ns - d->unmarked_ns) <= 1e-4 * d->unmarked_ns + 1e-3 && fabs(c->total_ns - d->total_ns) <= 1e-4 * d->total_ns,
        "%s: the totals are others: %.9g ns unmarked, not %.9g", name, c->unmarked_ns, d->unmarked_ns);
}

static void one_program(uint64_t seed, bool calls, uint32_t room) {
  static program p;
  char name[64];
  write_program(&p, seed, calls);
  ink_capture *free_marks = record(&p, 0, false, false, room, "free"),
              *dear = record(&p, 1, true, false, room, "dear"), *changed = record(&p, 1, true, true, room, "changed");
  for (int by = INK_BY_SECTION; by <= INK_BY_LAUNCH; by++) {
    snprintf(name, sizeof name, "seed %" PRIu64 " by %d room %u", seed, by, room);
    ink_table *want = table_of(free_marks, by, false), *got = table_of(dear, by, true);
    ink_table *stamped = table_of(dear, by, false), *nothing = table_of(free_marks, by, true);
    CHECK(!map_changes, "%s: a rate changes", name);
    same_rows(got, want, stamped, name);
    ink_table *timed = table_of(changed, by, true);
    CHECK(map_changes, "%s: no rate changes", name);
    same_on_the_other_way(timed, got, name);
    ink_table_free(timed);
    const ink_kernel_total *a = NULL, *b = NULL, *raw = NULL, *none = NULL;
    CHECK(ink_table_kernels(got, &a) == 1 && ink_table_kernels(want, &b) == 1 &&
              ink_table_kernels(stamped, &raw) == 1 && ink_table_kernels(nothing, &none) == 1,
          "%s: kernels", name);
    CHECK(a->without_marking && !raw->without_marking && !none->without_marking, "%s: says", name);
    CHECK(a->total_cycles + a->marking_cycles == raw->total_cycles, "%s: the raw total", name);
    CHECK(a->unmarked_cycles == b->unmarked_cycles, "%s: %" PRIu64 " unmarked, not %" PRIu64, name,
          a->unmarked_cycles, b->unmarked_cycles);
    if (room == 65536)
      CHECK(a->total_cycles == b->total_cycles && a->unknown_cycles == 0,
            "%s: total %" PRIu64 ", not %" PRIu64, name, a->total_cycles, b->total_cycles);
    else /* what the lost marks cost stays in the part that is unknown */
      CHECK(a->unknown_cycles > b->unknown_cycles &&
                a->total_cycles - a->unknown_cycles == b->total_cycles - b->unknown_cycles,
            "%s: the whole part is another", name);
    ink_table_free(want), ink_table_free(got), ink_table_free(stamped), ink_table_free(nothing);
  }
  ink_capture_free(free_marks);
  ink_capture_free(dear);
  ink_capture_free(changed);
}

/* Marks that cost nothing, said to cost a lot: what is left may be zero, not less, and adds up. */
static void overstated(uint64_t seed) {
  static program p;
  write_program(&p, seed, true);
  for (size_t i = 0; i < p.count; i++)
    p.steps[i].after = draw(&p, 3) ? draw(&p, 60) : 0;
  p.closing = 3;
  ink_capture *capture = record(&p, 0, true, false, 65536, "overstated");
  ink_table *table = table_of(capture, INK_BY_SECTION, true),
            *raw = table_of(capture, INK_BY_SECTION, false);
  const ink_table_row *rows, *raw_rows;
  const ink_kernel_total *total;
  size_t n = ink_table_rows(table, &rows), m = ink_table_rows(raw, &raw_rows);
  ink_table_kernels(table, &total);
  CHECK(n == m && n > 3, "%zu rows, not %zu", n, m);
  for (size_t i = 0; i < n && n == m; i++)
    CHECK(rows[i].total_cycles <= raw_rows[i].total_cycles &&
              rows[i].max_cycles <= raw_rows[i].max_cycles &&
              rows[i].total_cycles + rows[i].marking_cycles == raw_rows[i].total_cycles,
          "row %zu: %" PRIu64 " of %" PRIu64, i, rows[i].total_cycles, raw_rows[i].total_cycles);
  CHECK(total->marking_cycles && total->total_cycles < UINT64_C(1) << 40 &&
            total->unmarked_cycles <= total->total_cycles,
        "%" PRIu64 " cycles, %" PRIu64 " unmarked", total->total_cycles, total->unmarked_cycles);
  ink_table_free(table);
  ink_table_free(raw);
  ink_capture_free(capture);
}

int main(void) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    one_program(seed, seed % 2, 65536);
    one_program(seed, false, 512);
    one_program(seed, true, 512);
    overstated(seed);
  }
  return check_result("taken_out");
}
