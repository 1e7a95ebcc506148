/* SPDX-License-Identifier: MIT */
/* Every number of the tables of drawn captures, in each grouping, as a digest for each kind of thing: two devices, kernels with template
 * instances and roles, ranges in each other and across threads, sums, values, iterations, lost words and tracks, and clocks that
 * change their rate. That the numbers are right is what test_table, report.recomputed and the other tests of reports show; this one sees it when
 * any moves. What each grouping counts is checked against the sections' own counts. With a seed as second argument what is
 * digested of that capture is printed. */
#include "expected.h"
#include "inkmark/critical.h"
#include "inkmark/table.h"
#include "inkmark/variance.h"
#include "synth.h"

#include <inttypes.h>
#include <math.h>

#define PRINT(...) fprintf(expected_out, __VA_ARGS__)
enum { SEEDS = 132, GROUPINGS = 9 };

static uint64_t state;
static uint32_t below(uint32_t n) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)((state >> 33) % n);
}

/* ---- captures ---- */

typedef struct clocks { /* of one SM: ns follow from cycles by a rate that changes once */
  uint64_t begin, turn;
  double first, second;
} clocks;

static uint64_t ns_of(const clocks *c, uint64_t cycles) {
  const double before = (double)(cycles < c->turn ? cycles - c->begin : c->turn - c->begin), behind = cycles > c->turn ? (double)(cycles - c->turn) : 0;
  return 1000000 + (uint64_t)(before * c->first + behind * c->second);
}

static void put_section(synth_track *t, int called, uint32_t kind, uint32_t section, uint64_t payload, uint64_t clock) {
  synth_record(t, called, kind, section, payload, clock);
}

/* What one iteration does: marks, ranges in each other, calls, sums, values, ranges across threads. */
static uint64_t put_body(synth_track *t, uint64_t c, int depth, uint32_t thread) {
  static const uint32_t scopes[] = {INK_ESCAPE_BLOCK, INK_ESCAPE_CLUSTER, INK_ESCAPE_GRID};
  for (uint32_t n = 1 + below(5); n; n--) {
    const uint32_t section = 2 + below(5);
    const int called = below(5) == 0;
    switch (below(9)) {
    case 0:
      if (depth < 3) {
        put_section(t, called, INK_KIND_BEGIN, section, 0, c += 5 + below(20));
        if (!called)
          c = put_body(t, c, depth + 1, thread);
        put_section(t, called, INK_KIND_END, section, 0, c += 5 + below(400));
      }
      break;
    case 1: {
      const uint64_t least = 1 + below(20), most = least + below(40), count = 2 + below(9);
      c += 600 + below(300);
      const uint32_t slot = 1 + below(2);
      synth_sum(t, slot, (const uint64_t[4]){count, least + most + (count - 2) * ((least + most) / 2), least, most}, SYNTH_OTHER_HASH, c);
      break;
    }
    case 2:
      synth_value(t, called, INK_ESCAPE_VALUE_U64, section, below(50), t->table_hash48 ? SYNTH_HASH : 0, c += 3);
      break;
    case 3: {
      const uint64_t key = (uint64_t)(thread / 2) << 8 | below(3);
      const uint32_t scope = scopes[below(3)];
      const uint64_t words[] = {key, INK_HEAD(thread % 2 ? INK_KIND_ASYNC_END : INK_KIND_ASYNC_BEGIN, section, c + 10), INK_ESCAPE_WORD(scope, SYNTH_HASH, c + 10)};
      synth_words(t, 0, words, 3);
      c += 10 + below(30);
      break;
    }
    case 4: {
      const uint64_t key = below(4);
      put_section(t, 0, INK_KIND_ASYNC_BEGIN, section, key, c += 7);
      c += below(200);
      if (below(4))
        put_section(t, 0, INK_KIND_ASYNC_END, section, key, c += 9);
      break;
    }
    case 5:
      put_section(t, called, INK_KIND_INSTANT, section, 0, c += 2);
      break;
    default:
      put_section(t, called, INK_KIND_MARK, section, 0, c += 1 + below(below(6) ? 200 : 3000));
    }
  }
  return c;
}

static void put_track(ink_writer *writer, uint64_t seed, uint32_t number, uint32_t rings[2], clocks *sms, uint64_t *free_at) {
  static const uint64_t roles[] = {0, INK_KERNEL_KEY(SYNTH_HASH, 2), INK_KERNEL_KEY(SYNTH_OTHER_HASH, 1), INK_KERNEL_KEY(SYNTH_HASH, 5)};
  const uint32_t device = seed % 3 == 2 ? number % 2 : 0, sm = below(4), launch = number / 4, warp = number % 2;
  synth_track t;
  ink_error error;
  synth_track_init(&t, rings[0], rings[1], seed % 4 == 1);
  t.table_hash48 = seed & 4 ? SYNTH_HASH : 0;
  t.header.grid_id = launch + 1;
  t.header.kernel = launch % 3;
  t.header.block_dim[0] = 64;
  t.header.grid_dim[0] = 2;
  t.header.block_index[0] = number / 2 % 2;
  t.header.thread = 32 * warp;
  t.header.ticket = number;
  t.header.role = seed & 2 ? roles[number % 4] : 0;
  t.header.instance = seed % 5 == 3 ? 0x1000 + launch % 2 : 0;
  t.header.sm_open = sm;
  t.header.sm_close = seed % 7 == 6 && number % 5 == 4 ? (sm + 1) % 4 : sm;
  uint64_t c = free_at[sm] + 10 + below(100);
  synth_open(&t, c, ns_of(&sms[sm], c));
  const uint64_t opened = c;
  for (uint32_t row = 0, rows = seed % 4 ? 1 + below(6) : 0; row < rows; row++) {
    put_section(&t, 0, INK_KIND_ITER, 0, row, c += 1 + below(10));
    if (below(3) == 0)
      synth_clocks(&t, 0, ns_of(&sms[sm], c), c);
    c = put_body(&t, c, 0, number);
  }
  c = put_body(&t, c, 0, number);
  free_at[sm] = c + 50;
  synth_close(&t, c + 4, t.header.sm_close == sm ? ns_of(&sms[sm], c + 4) : t.header.open_global_ns + (c + 4 - opened));
  if (seed % 6 == 5 && number % 7 == 6)
    t.header.state = INK_TRACK_OPEN;
  if (ink_writer_track(writer, (int32_t)device, &t.header, t.rings[0], t.rings[1], &error))
    exit(1);
  synth_track_free(&t);
}

static void make_capture(const char *path, uint64_t seed) {
  static const uint32_t sizes[] = {1024, 1024, 64, 24};
  static const char *const names[] = {"void k(T *) [with T = float]", "void k(T *) [with T = int]"};
  uint32_t rings[2] = {sizes[seed % 4], sizes[seed / 4 % 4]};
  ink_writer *writer = synth_writer(path, rings[0], rings[1], seed % 4 == 1);
  ink_error error;
  clocks sms[4];
  uint64_t free_at[4];
  state = seed + 1;
  for (uint32_t i = 0; i < 4; i++) {
    free_at[i] = 10000 + 100000 * i;
    const uint64_t turn = free_at[i] + 5000 + below(30000); /* drawn one by one: the order is the same with each compiler */
    const double first = 0.5 + 0.01 * below(50), second = 0.5 + 0.01 * below(50);
    sms[i] = (clocks){free_at[i], turn, first, second};
  }
  const ink_device_info second = {.index = 1, .simulated = 1, .sm_count = 4, .capability = 90, .clock_khz = 1500000, .track_count = 64, .records_per_track = rings[0],
                                  .aux_records_per_track = rings[1], .flags = INK_BUFFER_ON | (seed % 4 == 1 ? INK_BUFFER_KEEP_FIRST : 0u), .runtime_version = 13000,
                                  .driver_version = 13000, .name = "another device"};
  const ink_kernel_counts more[] = {{.slot = 0, .key = INK_KERNEL_KEY(SYNTH_HASH, 1), .missed = seed % 3, .tracks = 30, .marks = 200 + seed},
                                    {.slot = 1, .key = INK_KERNEL_KEY(SYNTH_OTHER_HASH, 2), .tracks = 9 + seed % 20, .marks = 50},
                                    {.slot = 2, .key = INK_KERNEL_KEY(SYNTH_HASH, 4)}};
  if (seed % 3 == 2)
    NEED(ink_writer_device(writer, &second, &error), error);
  for (int32_t device = 0; device < (seed % 3 == 2 ? 2 : 1); device++) {
    NEED(ink_writer_counts(writer, more, 3, 60, seed % 2, device, &error), error);
    for (uint32_t i = 0; i < 2; i++)
      NEED(ink_writer_instance(writer, device, 0x1000 + i, names[i], &error), error);
  }
  if (seed % 5 < 2)
    NEED(synth_costs(writer, &error), error);
  for (uint32_t i = 0, n = 8 + below(40); i < n; i++)
    put_track(writer, seed, i, rings, sms, free_at);
  synth_finish(writer);
}

/* ---- what is said of them ---- */

enum { ROWS, KERNELS, HISTOGRAMS, CROSSINGS, FINDINGS, PROBLEMS, UNSEEN, VARIANCES, PATHS, KINDS };
static const char *const kinds[KINDS] = {"rows", "kernels", "bins", "crossings", "findings", "problems", "unseen", "variance", "paths"};
static FILE *texts[KINDS];
#define SAY(kind, ...) fprintf(texts[kind], __VA_ARGS__)

static void say_rows(const ink_table *table) {
  const ink_table_row *rows;
  for (size_t i = 0, n = ink_table_rows(table, &rows); i < n; i++) {
    const ink_table_row *r = &rows[i];
    const char *instance = ink_table_instance(table, r->group);
    SAY(ROWS, "%u %u %u group %" PRId64 " %s depth %u %u%u%u%u in", r->part, r->kernel, r->section, r->group, instance ? instance : "", r->depth, r->called, r->summed, r->twice,
        r->self_known);
    for (uint8_t k = 0; k < r->inside_count && k < INK_ROW_INSIDE_MAX; k++)
      SAY(ROWS, " %u", r->inside[k]);
    SAY(ROWS, " of %u: %" PRIu64 " cut %" PRIu64 " nested %" PRIu64 " passes %" PRIu64 " tracks %" PRIu64 " cycles %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
        r->inside_count, r->count, r->cut, r->nested, r->passes, r->tracks, r->total_cycles, r->self_cycles, r->min_cycles, r->p1_cycles, r->median_cycles, r->p99_cycles,
        r->max_cycles);
    SAY(ROWS, " ns %.9g %.9g %.9g %.9g %.9g %.9g %.9g at %" PRIu64 " %" PRId64 " share %.9g imbalance %.9g marking %" PRIu64 " %.9g bound %.6g below %d %d\n", r->total_ns, r->self_ns,
        r->min_ns, r->p1_ns, r->median_ns, r->p99_ns, r->max_ns, r->max_track, r->max_iteration, r->share, r->imbalance, r->marking_cycles, r->marking_bound_cycles,
        r->bound_ns, ink_table_row_below_bound(r), ink_table_row_below_marking_bound(r));
    const uint64_t *bins = ink_table_histogram(table, r);
    for (int k = 0; bins && k < INK_HISTOGRAM_BINS; k++)
      SAY(HISTOGRAMS, "%" PRIu64 "%c", bins[k], k + 1 < INK_HISTOGRAM_BINS ? ' ' : '\n');
  }
}

static void say_rest(const ink_capture *capture, const ink_table *table) {
  const ink_kernel_total *kernels;
  const ink_crossing_total *crossings;
  const ink_finding *findings;
  const ink_problem *problems;
  const ink_kernel *all;
  uint64_t total;
  for (size_t i = 0, n = ink_table_kernels(table, &kernels); i < n; i++) {
    const ink_kernel_total *k = &kernels[i];
    SAY(KERNELS, "%u device %d %s iterations %" PRIu64 " tracks %" PRIu64 " launches %" PRIu64 " marks %" PRIu64 " %" PRIu64 " %" PRIu64 " missed %" PRIu64 " partial %" PRIu64 " lost %" PRIu64 " %" PRIu64,
        k->kernel, k->device, k->instance ? k->instance : "", k->iterations, k->tracks, k->launches, k->marks_executed, k->marks_kept, k->marks_dropped, k->missed,
        k->tracks_partial, k->tracks_lost, k->marks_lost);
    SAY(KERNELS, " cycles %" PRIu64 " %" PRIu64 " ns %.9g %.9g unknown %" PRIu64 " without %d %" PRIu64 " %.9g bound %.6g outside %.9g async %" PRIu64 " %" PRIu64 " %" PRIu64 " open %" PRIu64 " rows %" PRIu64 "\n",
        k->total_cycles, k->unmarked_cycles, k->total_ns, k->unmarked_ns, k->unknown_cycles, k->without_marking, k->marking_cycles, k->marking_bound_cycles, k->bound_ns,
        k->outside_cycles, k->async_ranges, k->instants, k->values, k->marks_dropped_open, k->rows_executed);
  }
  for (size_t i = 0, n = ink_table_crossings(table, &crossings); i < n; i++) {
    const ink_crossing_total *x = &crossings[i];
    SAY(CROSSINGS, "%u %u roles %u %u scope %u exact %u: %" PRIu64 " back %" PRIu64 " without %" PRIu64 " %" PRIu64 " cycles %" PRIu64 " %" PRIu64 " %" PRIu64 " ns %.9g %.9g %.9g %.9g bound %.6g flight %.9g %" PRIu64 "\n",
        x->kernel, x->section, x->from_role, x->to_role, x->scope, x->exact, x->count, x->backwards, x->without_end, x->without_begin, x->min_cycles, x->median_cycles,
        x->max_cycles, x->total_ns, x->min_ns, x->median_ns, x->max_ns, x->bound_ns, x->mean_in_flight, x->most_in_flight);
  }
  for (size_t i = 0, n = ink_table_findings(table, &findings); i < n; i++) {
    SAY(FINDINGS, "%s %u %.9g %s", findings[i].id, findings[i].part, findings[i].cost_cycles, findings[i].text);
    for (size_t k = 0; k < findings[i].number_count; k++)
      SAY(FINDINGS, " %s %.9g", findings[i].numbers[k].name, findings[i].numbers[k].value);
    SAY(FINDINGS, "\n");
  }
  for (size_t i = 0, n = ink_table_problems(table, &problems, &total); i < n; i++)
    SAY(PROBLEMS, "%" PRIu64 " of %" PRIu64 ": %" PRIu64 " %u %u %u %" PRIu64 " %s\n", (uint64_t)i, total, problems[i].track, problems[i].called, problems[i].kind, problems[i].section,
        problems[i].times, problems[i].text);
  for (size_t i = 0, n = ink_capture_kernels(capture, &all); i < n; i++) {
    const ink_section_index *unseen;
    SAY(UNSEEN, "%zu:", i);
    for (size_t k = 0, count = ink_table_unseen(table, (uint32_t)i, &unseen); k < count; k++)
      SAY(UNSEEN, " %u", unseen[k]);
    SAY(UNSEEN, "\n");
  }
}

static void say_variance(const ink_capture *capture, const ink_clock_map *map, bool without) {
  const ink_variance_options options = {.size = sizeof options, .launch = UINT32_MAX, .without_marking = without};
  ink_variance *variance;
  ink_error error;
  NEED(ink_variance_make(capture, map, &options, &variance, &error), error);
  for (size_t i = 0; i < variance->count; i++) {
    const ink_variance_row *r = &variance->rows[i];
    SAY(VARIANCES, "%u %d %u: %" PRIu64 " %" PRIu64 " %.9g %.9g %.9g key %u %.9g %" PRIu64 " group %" PRId64 " %.9g value %u %.9g %.9g launches %" PRIu64 " %" PRIu64 " %.9g %.9g\n", r->kernel,
        r->device, r->section, r->slices, r->looked_at, r->p1_cycles, r->median_cycles, r->p99_cycles, r->key, r->explained, r->groups, r->group, r->group_ratio, r->value,
        r->value_correlation, r->cycles_per_value, r->launches, r->warm_up, r->warm_up_ratio, isnan(r->drift) ? -99 : r->drift);
  }
  ink_variance_free(variance);
}

static void say_path(const ink_critical_path *p) {
  SAY(PATHS, "%u: dropped %" PRIu64 " blocks %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " parts %" PRId64 " edges", p->launch, p->marks_dropped, p->blocks, p->blocks_seen, p->begin_ns,
      p->end_ns, p->parts_ns);
  for (int i = 0; i <= INK_PATH_SLOT; i++)
    SAY(PATHS, " %" PRIu64, p->edges[i]);
  SAY(PATHS, "\n");
  for (size_t i = 0; i < p->step_count; i++)
    SAY(PATHS, " %" PRIu64 " %u %u %" PRId64 " %" PRId64 "\n", p->steps[i].track, p->steps[i].section, p->steps[i].edge, p->steps[i].begin_ns, p->steps[i].end_ns);
  for (size_t i = 0; i < p->share_count; i++)
    SAY(PATHS, " %u %d %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", p->shares[i].section, p->shares[i].waits, p->shares[i].steps, p->shares[i].path_ns, p->shares[i].all_ns,
        p->shares[i].slack_ns);
  for (size_t i = 0; i < p->rule_count; i++)
    SAY(PATHS, " %u %u %u %" PRIu64 " %.9g %.9g\n", p->rules[i].wait, p->rules[i].ends, p->rules[i].sign, p->rules[i].waits, p->rules[i].seen, p->rules[i].chance);
  for (size_t i = 0; i < p->other_count; i++)
    say_path(p->others[i]);
}

static void say_paths(const ink_capture *capture, const ink_clock_map *map, uint64_t seed) {
  const ink_launch *launches;
  for (size_t i = 0, n = ink_capture_launches(capture, &launches); i < n; i++) {
    ink_critical_path *path = NULL;
    ink_error error = {0};
    const ink_status status = ink_critical_path_make(capture, map, (uint32_t)i, seed % 2 ? "Line|Hess|Beta" : "Last|Grad", &path, &error);
    SAY(PATHS, "%zu: %d %s\n", i, (int)status, status ? error.message : "");
    if (!status)
      say_path(path);
    ink_critical_path_free(path);
  }
}

/* How much each grouping counts, by section: as many slices, with as many cycles, as the sections have. */
enum { SECTIONS = 16 };
typedef struct counted {
  uint64_t count, cut, nested, total_cycles;
} counted;

static void count(const ink_table *table, counted sums[SECTIONS]) {
  const ink_table_row *rows;
  memset(sums, 0, SECTIONS * sizeof *sums);
  for (size_t i = 0, n = ink_table_rows(table, &rows); i < n; i++) {
    if (rows[i].section == INK_SECTION_UNKNOWN || rows[i].section >= SECTIONS)
      continue;
    counted *sum = &sums[rows[i].section];
    sum->count += rows[i].count;
    sum->cut += rows[i].cut;
    sum->nested += rows[i].nested;
    sum->total_cycles += rows[i].total_cycles;
  }
}

/* -0 is 0: which of them comes out is a matter of the compiler. */
static size_t without_signed_zeros(char *text, size_t bytes) {
  size_t kept = 0;
  for (size_t i = 0; i < bytes; i++)
    if (!(text[i] == '-' && i && text[i - 1] == ' ' && text[i + 1] == '0' && (text[i + 2] == ' ' || text[i + 2] == '\n')))
      text[kept++] = text[i];
  text[kept] = 0;
  return kept;
}

static uint64_t digest(const char *text, size_t bytes) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash & 0xffffffff;
}

static void one(uint64_t seed, bool print) {
  const char *path = synth_path("table_exact");
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  char *now[KINDS];
  size_t bytes[KINDS];
  counted sections[SECTIONS], groups[SECTIONS];
  make_capture(path, seed);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  remove(path);
  for (int i = 0; i < KINDS; i++)
    texts[i] = open_memstream(&now[i], &bytes[i]);
  for (int by = 0; by < GROUPINGS; by++)
    for (int way = 0; way < 3; way++) { /* all; with costs taken out and findings; a launch or a kernel alone */
      const ink_table_options options = {.size = sizeof options, .by = (enum ink_group_by)by, .launch = way == 2 && seed % 2 ? 1 : UINT32_MAX,
                                         .kernel_regex = way == 2 && seed % 2 == 0 ? "Step|Beta" : NULL, .without_marking = way == 1, .findings = way == 1,
                                         .waits_regex = seed % 3 ? "Hess|Line" : NULL};
      ink_table *table = NULL;
      if (way == 2 && by % 3 != (int)(seed % 3))
        continue;
      NEED(ink_table_make(capture, map, &options, &table, &error), error);
      say_rows(table);
      say_rest(capture, table);
      if (way == 0 && by == INK_BY_SECTION)
        count(table, sections);
      if (way == 0) {
        count(table, groups);
        for (int s = 0; s < SECTIONS; s++) {
          const counted *a = &sections[s], *b = &groups[s];
          CHECK(a->count == b->count && a->cut == b->cut && a->total_cycles == b->total_cycles && a->nested == b->nested,
                "seed %" PRIu64 ", by %d, section %d: %" PRIu64 " slices of %" PRIu64 " cycles, in all %" PRIu64 " of %" PRIu64, seed, by, s, b->count, b->total_cycles, a->count,
                a->total_cycles);
        }
      }
      ink_table_free(table);
    }
  say_variance(capture, map, seed % 2);
  say_paths(capture, map, seed);
  PRINT("seed %" PRIu64 ":", seed);
  for (int i = 0; i < KINDS; i++) {
    fclose(texts[i]);
    bytes[i] = without_signed_zeros(now[i], bytes[i]);
    PRINT(" %s %zu %08" PRIx64, kinds[i], bytes[i], digest(now[i], bytes[i]));
    if (print)
      printf("---- %s\n%s", kinds[i], now[i]);
    free(now[i]);
  }
  PRINT("\n");
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

int main(int argc, char **argv) {
  expected_begin();
  for (uint64_t seed = 0; seed < SEEDS; seed++)
    one(seed, argc > 2 && seed == strtoull(argv[2], NULL, 10));
  expected_end(argc > 1 ? argv[1] : "table.txt");
  return check_result("table_exact");
}
