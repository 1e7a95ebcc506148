/* SPDX-License-Identifier: MIT */
/* clock_path INKMARK PROGRAM FOLDER [--runs N] [--kind K] [--check]: records a marked program on the
 * simulated device with its clocks set in many ways, reads the captures back through the public
 * headers, and compares every stamp, duration, slope and offset with the truth. Prints a table; with
 * --check, exits with 1 where a bound or a promise did not hold. */
#include "set_clock.h"

#include "inkmark/table.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const set_kind kinds[] = {
    {.name = "long tracks", .step_ns = 32, .launches = 12, .blocks = 24, .rounds = 4,
     .rest_ns = 400000},
    {.name = "long tracks", .step_ns = 1000, .launches = 12, .blocks = 24, .rounds = 4,
     .rest_ns = 400000},
    {.name = "long tracks", .step_ns = 1024, .launches = 12, .blocks = 24, .rounds = 4,
     .rest_ns = 400000},
    {.name = "long tracks", .step_ns = 1000000, .launches = 12, .blocks = 24, .rounds = 40,
     .rest_ns = 600000},
    {.name = "few tracks", .step_ns = 32, .launches = 2, .blocks = 12, .rounds = 3,
     .rest_ns = 600000},
    {.name = "few tracks", .step_ns = 1024, .launches = 2, .blocks = 12, .rounds = 3,
     .rest_ns = 600000},
    {.name = "two seconds", .step_ns = 32, .launches = 10, .blocks = 24, .rounds = 4,
     .rest_ns = 400000, .pause_ms = 200},
    {.name = "two seconds", .step_ns = 1024, .launches = 10, .blocks = 24, .rounds = 4,
     .rest_ns = 400000, .pause_ms = 200},
    {.name = "one SM with one short block", .step_ns = 32, .launches = 12, .blocks = 24,
     .rounds = 4, .rest_ns = 400000, .short_sm = true},
    {.name = "one SM with one short block", .step_ns = 1024, .launches = 12, .blocks = 24,
     .rounds = 4, .rest_ns = 400000, .short_sm = true},
    {.name = "stamps wrap", .step_ns = 32, .launches = 12, .blocks = 24, .rounds = 4,
     .rest_ns = 400000, .wraps = true},
    {.name = "stamps wrap", .step_ns = 1024, .launches = 12, .blocks = 24, .rounds = 4,
     .rest_ns = 400000, .wraps = true},
    {.name = "drawn by the device, with its log", .step_ns = 32, .launches = 12, .blocks = 24,
     .rounds = 4, .rest_ns = 400000, .drawn = true},
    {.name = "drawn by the device, with its log", .step_ns = 1024, .launches = 12, .blocks = 24,
     .rounds = 4, .rest_ns = 400000, .drawn = true},
    {.name = "rate changes, short tracks", .step_ns = 32, .launches = 60, .blocks = 24, .rounds = 3,
     .rest_ns = 30000, .changes = 2, .change_from_ns = 1e6, .change_to_ns = 6e6,
     .short_tracks = true},
    {.name = "rate changes, short tracks", .step_ns = 1024, .launches = 60, .blocks = 24,
     .rounds = 3, .rest_ns = 30000, .changes = 2, .change_from_ns = 1e6, .change_to_ns = 6e6,
     .short_tracks = true},
    {.name = "rate changes in long tracks", .step_ns = 32, .launches = 3, .blocks = 24,
     .rounds = 100, .rest_ns = 200000, .clocks = 1, .changes = 3, .change_from_ns = 5e6,
     .change_to_ns = 60e6},
    {.name = "rate changes in long tracks", .step_ns = 1024, .launches = 3, .blocks = 24,
     .rounds = 100, .rest_ns = 200000, .clocks = 1, .changes = 3, .change_from_ns = 5e6,
     .change_to_ns = 60e6},
};
enum { KINDS = sizeof kinds / sizeof *kinds, OPENS_MAX = 2048, SECTIONS_MAX = 8 };

typedef struct score {
  bool recorded, stated;
  double error_ns, bound_ns;   /* the worst stamp's; what was stated for the device */
  double offset_ns, slope_ppm; /* the worst SM's */
  unsigned long stamps, stamps_out, spans_out, sums, sums_out;
  uint32_t changed;
} score;

typedef struct judge {
  const set_clock *set;
  const ink_clock_map *map;
  const ink_clock_quality *quality;
  score *score;
  uint32_t sm;
  uint64_t opens[SET_SMS][OPENS_MAX];
  size_t open_count[SET_SMS];
  double section_ns[SET_SMS][SECTIONS_MAX]; /* true sums, of whole slices */
} judge;

/* ---- recording ----------------------------------------------------------------------------- */

static bool run_program(const set_clock *set, char *inkmark, char *program, char *capture) {
  char numbers[7][16];
  const set_kind *kind = set->kind;
  const int values[7] = {kind->launches, kind->blocks, kind->rounds, (int)kind->rest_ns,
                         kind->clocks, kind->short_sm ? SET_SMS - 1 : -1, kind->pause_ms};
  char *arguments[20] = {inkmark, "record", "--device", "sim", "-o", capture, "--", program};
  for (int i = 0; i < 7; i++) {
    snprintf(numbers[i], sizeof numbers[i], "%d", values[i]);
    arguments[8 + i] = numbers[i];
  }
  const pid_t child = fork();
  if (child < 0)
    return false;
  if (child == 0) {
    for (int i = 0; i < set->variable_count; i++)
      putenv((char *)set->variables[i]);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, 1);
    if (!getenv("CLOCK_PATH_VERBOSE"))
      dup2(nowhere, 2);
    execv(inkmark, arguments);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    ;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- judging ------------------------------------------------------------------------------- */

/* How far a stamp's ns are from the truth. */
static double off_ns(const judge *j, uint32_t sm, uint64_t cycles, int64_t ns) {
  const uint64_t truth_fs = set_clock_fs(j->set, sm, cycles);
  const int64_t since = (int64_t)((uint64_t)ns - (uint64_t)j->quality->host_offset_ns -
                                  j->set->epoch_ns);
  return (double)(since - (int64_t)(truth_fs / 1000000)) - (double)(truth_fs % 1000000) * 1e-6;
}

static void judge_stamp(judge *j, uint64_t cycles, int64_t ns) {
  score *s = j->score;
  const double off = fabs(off_ns(j, j->sm, cycles, ns));
  s->error_ns = fmax(s->error_ns, off);
  s->stamps++;
  s->stamps_out += !(off <= s->bound_ns + 1 && /* a stamp is a whole cycle */
                     off <= ink_clock_map_bound_ns(j->map, 0, j->sm, cycles) + 1);
}

static double true_span_ns(const judge *j, uint64_t from, uint64_t to) {
  return (double)(set_clock_fs(j->set, j->sm, to) - set_clock_fs(j->set, j->sm, from)) * 1e-6;
}

static ink_status on_track(void *user, const ink_decoded_track *track) {
  judge *j = user;
  j->sm = track->stored->header.sm_open;
  if (j->sm >= SET_SMS || track->stored->header.sm_close != j->sm)
    return INK_ERROR_DAMAGED;
  if (j->open_count[j->sm] < OPENS_MAX)
    j->opens[j->sm][j->open_count[j->sm]++] = track->open_cycles;
  judge_stamp(j, track->open_cycles, track->open_ns);
  judge_stamp(j, track->close_cycles, track->close_ns);
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  judge *j = user;
  const uint64_t from = slice->begin_cycles, to = slice->end_cycles;
  judge_stamp(j, from, slice->begin_ns);
  judge_stamp(j, to, slice->end_ns);
  const double truth = true_span_ns(j, from, to);
  const double off = fabs((double)(slice->end_ns - slice->begin_ns) - truth);
  /* two ns that are cut off, two stamps that are whole cycles */
  j->score->spans_out += !(off <= ink_clock_map_duration_bound_ns(j->map, 0, j->sm, from, to) + 2);
  if (!slice->cut && slice->section < SECTIONS_MAX)
    j->section_ns[j->sm][slice->section] += truth;
  return INK_OK;
}

/* What reports print: sums of sections, SM by SM. */
static bool judge_sums(judge *j, const ink_capture *capture) {
  const ink_table_options options = {.size = sizeof options, .by = INK_BY_SM, .launch = UINT32_MAX};
  const ink_table_row *rows;
  ink_table *table;
  ink_error error;
  if (ink_table_make(capture, j->map, &options, &table, &error))
    return false;
  const size_t n = ink_table_rows(table, &rows);
  for (size_t i = 0; i < n; i++) {
    if (rows[i].section >= SECTIONS_MAX || rows[i].group < 0 || rows[i].group >= SET_SMS)
      continue;
    const double off = fabs(rows[i].total_ns - j->section_ns[rows[i].group][rows[i].section]);
    j->score->sums++;
    j->score->sums_out += !(off <= rows[i].bound_ns + 1e-3);
  }
  ink_table_free(table);
  return true;
}

static int compare_u64(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static double slope_off_ppm(const judge *j, uint32_t sm) {
  const set_sm *truth = &j->set->sms[sm];
  const ink_sm_quality *sms;
  double least = INFINITY;
  const size_t n = ink_clock_map_sms(j->map, 0, &sms);
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < truth->count && sms[i].sm == sm; k++)
      least = fmin(least, fabs(sms[i].hz / (double)truth->rates[k].hz - 1) * 1e6);
  return least;
}

static void judge_sms(judge *j) {
  score *s = j->score;
  for (uint32_t sm = 0; sm < SET_SMS; sm++) {
    const size_t n = j->open_count[sm];
    if (!n || (j->set->kind->short_sm && sm == SET_SMS - 1))
      continue;
    qsort(j->opens[sm], n, sizeof **j->opens, compare_u64);
    const uint64_t middle = j->opens[sm][n / 2];
    const int64_t ns = ink_clock_map_ns(j->map, 0, sm, middle);
    s->offset_ns = fmax(s->offset_ns, fabs(off_ns(j, sm, middle, ns)));
    s->slope_ppm = fmax(s->slope_ppm, slope_off_ppm(j, sm));
  }
}

static bool judge_capture(const set_clock *set, const char *path, score *s) {
  ink_error error = {0};
  ink_capture *capture = NULL;
  ink_clock_map *map = NULL;
  const ink_clock_quality *quality;
  judge *j = calloc(1, sizeof *j);
  bool fine = j && ink_capture_open(path, &capture, &error) == INK_OK &&
              ink_clock_map_make(capture, &map, &error) == INK_OK &&
              ink_clock_map_quality(map, &quality) == 1;
  if (fine) {
    *j = (judge){.set = set, .map = map, .quality = quality, .score = s};
    s->stated = isfinite(quality->sm_bound_ns);
    s->bound_ns = quality->sm_bound_ns + 1; /* an ns is a whole number */
    s->changed = quality->sms_changed;
    const ink_sink sink = {.user = j, .track_begin = on_track, .slice = on_slice};
    fine = ink_decode(capture, map, UINT32_MAX, &sink, &error) == INK_OK && judge_sums(j, capture);
    judge_sms(j);
  }
  if (!fine)
    fprintf(stderr, "clock_path: %s: %s\n", path, error.message);
  free(j);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return fine;
}

/* ---- a table ------------------------------------------------------------------------------- */

static int compare_double(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

enum field { ERROR, BOUND, OFFSET, SLOPE };

static double percentile(const score *all, size_t n, enum field field, double percent) {
  double *values = calloc(n + 1, sizeof *values);
  size_t count = 0;
  for (size_t i = 0; values && i < n; i++) {
    const double of[] = {all[i].error_ns, all[i].bound_ns, all[i].offset_ns, all[i].slope_ppm};
    if (all[i].stated)
      values[count++] = of[field];
  }
  if (!count) {
    free(values);
    return NAN;
  }
  qsort(values, count, sizeof *values, compare_double);
  const size_t at = (size_t)ceil((double)count * percent / 100);
  const double found = values[at ? at - 1 : 0];
  free(values);
  return found;
}

/* Whether what docs/clocks.md promises holds; says what does not. */
static bool promises(const set_kind *kind, const score *all, size_t n, size_t held, size_t stated) {
  const double slope = percentile(all, n, SLOPE, 100);
  const double error = percentile(all, n, ERROR, 99), bound = percentile(all, n, BOUND, 50);
  bool fine = true;
#define PROMISE(condition, ...)                                                                    \
  if (!(condition)) {                                                                              \
    fine = false;                                                                                  \
    printf("  FAILED: " __VA_ARGS__);                                                              \
    printf("\n");                                                                                  \
  }
  PROMISE(stated == n, "a bound was stated in %zu of %zu runs", stated, n)
  PROMISE(held * 100 >= n * 99, "the bounds held in %zu of %zu runs", held, n)
  PROMISE(kind->short_tracks || slope < 10, "a slope is %.3f ppm off", slope)
  /* of a few runs the 99th percentile is no more than the worst of them */
  PROMISE(bound <= (n < 20 ? 6 : 3) * error, "the bound is %.1f ns where errors are %.1f", bound,
          error)
  if (!kind->changes)
    PROMISE(percentile(all, n, OFFSET, 99) < kind->step_ns / 10.0, "an offset is %.1f ns off",
            percentile(all, n, OFFSET, 99))
#undef PROMISE
  return fine;
}

static bool print(const set_kind *kind, const score *all, size_t n) {
  size_t held = 0, stated = 0, recorded = 0, changed = 0;
  unsigned long stamps = 0, stamps_out = 0, spans_out = 0, sums_out = 0;
  for (size_t i = 0; i < n; i++) {
    recorded += all[i].recorded;
    stated += all[i].stated;
    held += all[i].stated && !all[i].stamps_out && !all[i].spans_out && !all[i].sums_out;
    changed += all[i].changed != 0;
    stamps += all[i].stamps;
    stamps_out += all[i].stamps_out;
    spans_out += all[i].spans_out;
    sums_out += all[i].sums_out;
  }
  const double error = percentile(all, n, ERROR, 99), bound = percentile(all, n, BOUND, 50);
  printf("%-34s %7" PRIu32 " %8.1f %8.1f %8.1f %8.1f %6.2f %7.2f%% %8.3f %7.3f %5zu\n", kind->name,
         kind->step_ns, percentile(all, n, ERROR, 50), error, bound, percentile(all, n, BOUND, 99),
         bound / error, stated ? 100.0 * (double)held / (double)stated : 0,
         percentile(all, n, SLOPE, 99), percentile(all, n, OFFSET, 99) / kind->step_ns, stated);
  if (stamps_out + spans_out + sums_out)
    printf("  outside of their bounds: %lu of %lu stamps, %lu durations, %lu sums\n", stamps_out,
           stamps, spans_out, sums_out);
  if (recorded < n)
    printf("  FAILED: %zu of %zu runs were not recorded\n", n - recorded, n);
  if (kind->changes ? changed < n : changed)
    printf("  rates were seen to change in %zu of %zu runs\n", changed, n);
  fflush(stdout);
  return recorded == n && promises(kind, all, n, held, stated);
}

static bool one_run(const set_kind *kind, uint64_t seed, char **argv, score *s) {
  char capture[4096], log[4096];
  set_clock set;
  snprintf(capture, sizeof capture, "%s/clock_path.%ld.ink", argv[3], (long)getpid());
  snprintf(log, sizeof log, "%s/clock_path.%ld.log", argv[3], (long)getpid());
  set_clock_make(&set, kind, seed, log);
  *s = (score){0};
  bool fine = run_program(&set, argv[1], argv[2], capture) &&
              (!kind->drawn || set_clock_read_log(&set, log)) &&
              judge_capture(&set, capture, s);
  if (!fine || (getenv("CLOCK_PATH_KEEP") && (s->stamps_out || s->spans_out || s->sums_out))) {
    fprintf(stderr, "clock_path: %s, step %" PRIu32 ", seed %" PRIu64 ":", kind->name,
            kind->step_ns, seed);
    for (int i = 0; i < set.variable_count; i++)
      fprintf(stderr, " %s", set.variables[i]);
    fprintf(stderr, "\n");
  }
  remove(capture);
  remove(log);
  s->recorded = fine;
  return fine;
}

int main(int argc, char **argv) {
  size_t runs = 2;
  bool check = false, fine = true;
  long only = -1;
  if (argc < 4)
    return 2;
  for (int i = 4; i < argc; i++) {
    if (!strcmp(argv[i], "--check"))
      check = true;
    else if (!strcmp(argv[i], "--runs") && i + 1 < argc)
      runs = strtoul(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--kind") && i + 1 < argc)
      only = strtol(argv[++i], NULL, 10);
    else
      return 2;
  }
  score *all = calloc(runs + 1, sizeof *all);
  printf("simulated device, whole path: %zu seeded runs each, %d SMs at 1 to 2 GHz\n\n", runs,
         SET_SMS);
  printf("%-34s %7s %8s %8s %8s %8s %6s %8s %8s %7s %5s\n", "", "step", "err p50", "err p99",
         "bnd p50", "bnd p99", "b/e", "held", "slope", "offset", "runs");
  for (size_t k = 0; all && k < KINDS; k++) {
    if (only >= 0 && (size_t)only != k)
      continue;
    for (size_t i = 0; i < runs; i++)
      one_run(&kinds[k], i + 1, argv, &all[i]);
    fine &= print(&kinds[k], all, runs);
  }
  fine &= all != NULL;
  free(all);
  return check && !fine;
}
