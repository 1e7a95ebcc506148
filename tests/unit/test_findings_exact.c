/* SPDX-License-Identifier: MIT */
/* Every text and number of the findings of drawn captures, as a digest for each kind of finding: launches whose blocks lie in waves over
 * the SMs, blocks that are late, iterations that take longer, warps that wait for others, first launches that are slow. Times
 * are whole multiples of others, so that many lie right at a bound. That the findings are right is what report.findings shows; this
 * one sees it when any moves. With a seed as second argument the findings of that capture are printed. */
#include "expected.h"
#include "inkmark/table.h"
#include "synth.h"

#include <inttypes.h>

#define PRINT(...) fprintf(expected_out, __VA_ARGS__)
enum { SEEDS = 900, SMS = 4, SLOTS = 3 };

static uint64_t state;
static uint32_t below(uint32_t n) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)((state >> 33) % n);
}

static uint32_t one_of(const uint32_t *values, uint32_t n) { return values[below(n)]; }
#define ONE_OF(...) one_of((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* What a capture's launches have in common. */
typedef struct plan {
  uint32_t rate, jitter; /* ns of 4 cycles; cycles that a section may be longer */
  uint32_t launches, grid[2], warps, rows, sms, slots, gap;
  uint32_t section_cycles[2], late_factor, late_row, first_factor, spike_factor, spike_part; /* factors in halves */
  uint32_t wait_part[3]; /* of a warp's iteration, in twentieths */
  uint32_t role_of[3], wide, keeps_first, odd_grid;
} plan;

static plan draw_plan(void) {
  plan p = {0};
  p.rate = ONE_OF(2, 4, 5);
  p.jitter = below(2) ? 0 : below(20);
  p.launches = ONE_OF(1, 2, 4, 5, 6, 9);
  p.grid[0] = ONE_OF(2, 3, 4, 5, 6, 8);
  p.grid[1] = ONE_OF(1, 1, 2);
  p.warps = ONE_OF(1, 2, 3, 3);
  p.rows = ONE_OF(0, 1, 2, 4, 8);
  p.sms = ONE_OF(1, 2, 3, 4);
  p.slots = ONE_OF(1, 1, 2, 3);
  p.gap = ONE_OF(0, 10, 100, 1000);
  p.section_cycles[0] = ONE_OF(100, 200, 300);
  p.section_cycles[1] = ONE_OF(100, 400);
  p.late_factor = ONE_OF(2, 2, 4, 5, 6, 7, 8);
  p.late_row = below(2);
  p.first_factor = ONE_OF(2, 2, 3, 4, 8);
  p.spike_factor = ONE_OF(2, 7, 8, 9, 20, 60);
  p.spike_part = ONE_OF(3, 8, 20);
  for (int i = 0; i < 3; i++) {
    p.wait_part[i] = i ? ONE_OF(0, 3, 6, 7, 10, 14) : ONE_OF(0, 0, 0, 1, 3, 7);
    p.role_of[i] = below(3);
  }
  p.wide = below(4) == 0;
  p.keeps_first = below(6) == 0;
  p.odd_grid = below(3) == 0;
  return p;
}

static uint64_t with_jitter(const plan *p, uint64_t cycles) { return cycles + (p->jitter ? below(p->jitter) : 0); }

/* Where a track ends that begins at `c`. `factor`: of all that it does, in halves. */
static uint64_t put_rows(synth_track *t, const plan *p, uint32_t warp, uint32_t factor, uint32_t row_factor, uint64_t c) {
  for (uint32_t row = 0; row < p->rows + 1; row++) {
    const bool last = row == p->rows; /* what stands behind the loop */
    const uint32_t spiked = p->spike_part && below(p->spike_part) == 0 && (row == 2 || below(4) == 0) ? p->spike_factor : 2;
    const uint64_t turn = (uint64_t)p->section_cycles[0] * factor / 2;
    if (!last)
      synth_record(t, 0, INK_KIND_ITER, 0, row, c += 1);
    synth_record(t, 0, INK_KIND_MARK, SYNTH_STEP, 0, c);
    c += with_jitter(p, turn * spiked / 2);
    if (p->wait_part[warp]) {
      synth_record(t, 0, INK_KIND_BEGIN, below(5) ? SYNTH_LINE_SEARCH : SYNTH_HESSIAN, 0, c);
      c += with_jitter(p, turn * p->wait_part[warp] / (20 - p->wait_part[warp]));
      synth_record(t, 0, INK_KIND_END, SYNTH_LINE_SEARCH, 0, c);
    }
    synth_record(t, 0, INK_KIND_MARK, warp == 2 ? SYNTH_GRADIENT : SYNTH_UPDATE, 0, c);
    c += with_jitter(p, (uint64_t)p->section_cycles[1] * (row == 1 ? row_factor : 2) / 2);
    if (below(12) == 0)
      synth_sum(t, 1 + below(2), (const uint64_t[4]){3, 60, 10, 30}, SYNTH_OTHER_HASH, c += 100);
  }
  return c;
}

static void put_launch(ink_writer *writer, const plan *p, uint32_t launch, uint32_t *ticket, uint64_t *now) {
  static const uint64_t roles[] = {0, INK_KERNEL_KEY(SYNTH_HASH, 2), INK_KERNEL_KEY(SYNTH_OTHER_HASH, 1)};
  uint64_t free_at[SMS][SLOTS], latest = *now;
  const uint32_t wide = p->wide && launch % 3 == 1; /* another grid */
  const uint32_t grid[2] = {p->grid[0] + wide, p->grid[1]}, late_block = below(grid[0] * grid[1]), kernel = launch % 4 == 3;
  for (int s = 0; s < SMS; s++)
    for (int k = 0; k < SLOTS; k++)
      free_at[s][k] = *now + 10 * (uint64_t)s;
  for (uint32_t b = 0; b < grid[0] * grid[1] - (p->odd_grid && launch == 2); b++) {
    const uint32_t sm = b % p->sms;
    uint64_t *slot = &free_at[sm][0], end = 0;
    for (uint32_t k = 1; k < p->slots; k++)
      slot = free_at[sm][k] < *slot ? &free_at[sm][k] : slot;
    const uint64_t begin = *slot;
    for (uint32_t warp = 0; warp < p->warps; warp++) {
      synth_track t;
      ink_error error;
      synth_track_init(&t, p->keeps_first ? 48 : 256, 32, p->keeps_first);
      t.table_hash48 = SYNTH_HASH;
      t.header.grid_id = launch + 1;
      t.header.kernel = (uint16_t)kernel;
      t.header.block_dim[0] = 32 * p->warps;
      t.header.grid_dim[0] = grid[0];
      t.header.grid_dim[1] = grid[1];
      t.header.block_index[0] = b % grid[0];
      t.header.block_index[1] = b / grid[0];
      t.header.thread = 32 * warp;
      t.header.ticket = (*ticket)++;
      t.header.role = roles[p->role_of[warp]];
      t.header.sm_open = sm;
      t.header.sm_close = sm;
      const uint64_t opened = begin + warp;
      const uint32_t first = launch == 0 ? p->first_factor : 2, late = b == late_block && warp == 0 ? p->late_factor : 2;
      synth_open(&t, opened, 1000000 + opened * p->rate / 4);
      const uint64_t c = put_rows(&t, p, warp, p->late_row ? first : first * late / 2, late, opened + 1);
      synth_close(&t, c, 1000000 + c * p->rate / 4);
      if (p->odd_grid && launch == 3 && b == 1)
        t.header.state = INK_TRACK_OPEN;
      NEED(ink_writer_track(writer, 0, &t.header, t.rings[0], t.rings[1], &error), error);
      synth_track_free(&t);
      end = c > end ? c : end;
    }
    *slot = end + p->gap;
    latest = end > latest ? end : latest;
  }
  *now = latest + 5000;
}

static void make_capture(const char *path, uint64_t seed) {
  state = seed * 977 + 5;
  for (int i = 0; i < 4; i++)
    below(2);
  const plan p = draw_plan();
  ink_error error;
  ink_writer *writer = synth_writer(path, p.keeps_first ? 48 : 256, 32, p.keeps_first);
  const ink_kernel_counts counts[] = {{.slot = 1, .key = INK_KERNEL_KEY(SYNTH_HASH, 3), .tracks = 100, .marks = 1000}};
  NEED(ink_writer_counts(writer, counts, 1, 0, 0, 0, &error), error);
  if (seed % 3 == 0)
    NEED(synth_costs(writer, &error), error);
  uint64_t now = 10000;
  uint32_t ticket = 0;
  for (uint32_t launch = 0; launch < p.launches; launch++)
    put_launch(writer, &p, launch, &ticket, &now);
  synth_finish(writer);
}

/* ---- what is said of them ---- */

static const char *const ids[] = {"late", "outlier", "wait", "first-launch", "tail"};
enum { IDS = sizeof ids / sizeof *ids };

static void one(uint64_t seed, bool print, uint64_t found[IDS + 1]) {
  const char *path = synth_path("findings_exact");
  static const char *const waits[] = {"Line|Hess", "Line", "^(Hess|Grad)", NULL};
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  uint64_t hash = UINT64_C(0xcbf29ce484222325), here[IDS + 1] = {0};
  make_capture(path, seed);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  remove(path);
  for (int way = 0; way < 4; way++) {
    const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX, .without_marking = way % 2, .findings = true,
                                       .by = way < 2 ? INK_BY_SECTION : INK_BY_BLOCK, .waits_regex = waits[(seed + (uint64_t)way / 2) % 4]};
    ink_table *table = NULL;
    const ink_finding *findings;
    char *text;
    size_t bytes;
    NEED(ink_table_make(capture, map, &options, &table, &error), error);
    FILE *file = open_memstream(&text, &bytes);
    for (size_t i = 0, n = ink_table_findings(table, &findings); i < n; i++) {
      size_t id = 0;
      while (id < IDS && strcmp(findings[i].id, ids[id]) != 0)
        id++;
      here[id]++;
      found[id]++;
      fprintf(file, "%s %u %.9g %s", findings[i].id, findings[i].part, findings[i].cost_cycles, findings[i].text);
      for (size_t k = 0; k < findings[i].number_count; k++)
        fprintf(file, " %s %.9g", findings[i].numbers[k].name, findings[i].numbers[k].value);
      fprintf(file, "\n");
    }
    fclose(file);
    for (size_t i = 0; i < bytes; i++)
      hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    if (print)
      printf("---- way %d\n%s", way, text);
    free(text);
    ink_table_free(table);
  }
  PRINT("seed %" PRIu64 ":", seed);
  for (int i = 0; i < IDS; i++)
    PRINT(" %s %" PRIu64, ids[i], here[i]);
  PRINT(" %016" PRIx64 "\n", hash);
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

int main(int argc, char **argv) {
  uint64_t found[IDS + 1] = {0};
  expected_begin();
  for (uint64_t seed = 0; seed < SEEDS; seed++)
    one(seed, argc > 2 && seed == strtoull(argv[2], NULL, 10), found);
  expected_end(argc > 1 ? argv[1] : "findings.txt");
  for (int i = 0; i < IDS; i++)
    CHECK(found[i] > 40, "%s: %" PRIu64 " found", ids[i], found[i]);
  CHECK(!found[IDS], "no other kinds");
  return check_result("findings_exact");
}
