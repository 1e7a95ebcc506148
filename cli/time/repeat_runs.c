/* SPDX-License-Identifier: MIT */
/* Records a program over and over into a folder that goes again, and gathers what each section took. */
#include "repeat.h"

#include "inkmark/table.h"
#include "load.h"
#include "message.h"
#include "record/record_child.h"

#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run_once(const repeat_settings *settings, char **program, const char *folder) {
  static const char *const granularities[] = {GRANULARITY_CHOICES(CHOICE_WORD)};
  static const char *const devices[] = {DEVICE_CHOICES(CHOICE_WORD)};
  char output[512], messages[512];
  snprintf(output, sizeof output, "%s/run.%%p.ink", folder);
  snprintf(messages, sizeof messages, "%s/messages", folder);
  const char *options[] = {"--device", devices[settings->device], "--output", output, "--granularity",
                           granularities[settings->granularity], NULL, NULL, NULL};
  if (settings->kernels) {
    options[6] = "--kernels";
    options[7] = settings->kernels;
  }
  return record_child_run(&(record_child){.options = options, .program = program, .messages = messages});
}

static repeat_row *find_row(repeat_result *r, const char *kernel, const char *section) {
  for (size_t i = 0; i < r->count; i++)
    if (!strcmp(r->rows[i].kernel, kernel) && (section ? r->rows[i].section && !strcmp(r->rows[i].section, section)
                                                       : !r->rows[i].section))
      return &r->rows[i];
  repeat_row *grown = realloc(r->rows, (r->count + 1) * sizeof *grown);
  if (!grown)
    return NULL;
  r->rows = grown;
  repeat_row *row = &grown[r->count++];
  *row = (repeat_row){.kernel = strdup(kernel), .section = section ? strdup(section) : NULL,
                      .cycles = malloc(r->repeats * sizeof(double)), .ns = malloc(r->repeats * sizeof(double))};
  for (size_t i = 0; row->cycles && row->ns && i < r->repeats; i++)
    row->cycles[i] = row->ns[i] = NAN;
  return row->kernel && (!section || row->section) && row->cycles && row->ns ? row : NULL;
}

/* Parts of one kernel, its devices and instances, and processes of one run, are taken together. */
static bool add(repeat_result *r, size_t repeat, const char *kernel, const char *section, uint64_t n, uint64_t cycles,
                double ns) {
  repeat_row *row = n ? find_row(r, kernel, section) : NULL;
  if (!row)
    return !n;
  if (isnan(row->cycles[repeat])) {
    row->uneven = row->uneven || (repeat && row->count != n);
    row->count = 0;
    row->cycles[repeat] = row->ns[repeat] = 0;
  }
  const double before = (double)row->count, all = before + (double)n;
  row->cycles[repeat] = (row->cycles[repeat] * before + (double)cycles) / all;
  row->ns[repeat] = (row->ns[repeat] * before + ns) / all;
  row->count += n;
  return true;
}

static void note_clocks(repeat_result *r, size_t repeat, const ink_clock_map *map) {
  const ink_clock_quality *list;
  const size_t n = ink_clock_map_quality(map, &list);
  for (size_t i = 0; i < n; i++) {
    if (!(list[i].slope_max_hz > 0))
      continue;
    r->slowest_hz[repeat] = fmin(r->slowest_hz[repeat], list[i].slope_min_hz); /* NAN is left behind */
    r->fastest_hz[repeat] = fmax(r->fastest_hz[repeat], list[i].slope_max_hz);
  }
}

static bool add_table(repeat_result *r, size_t repeat, const loaded_capture *loaded, const ink_table *table) {
  const ink_kernel *kernels;
  const ink_table_row *rows;
  const ink_kernel_total *totals;
  bool fine = true;
  ink_capture_kernels(loaded->capture, &kernels);
  const size_t parts = ink_table_kernels(table, &totals), n = ink_table_rows(table, &rows);
  for (size_t i = 0; i < parts && fine; i++) {
    const uint64_t lost = totals[i].tracks_lost + totals[i].marks_dropped + totals[i].missed;
    r->lost = lost > r->lost ? lost : r->lost;
    fine = add(r, repeat, kernels[totals[i].kernel].name, NULL, totals[i].tracks, totals[i].total_cycles, totals[i].total_ns);
    for (size_t k = 0; k < n && fine; k++)
      if (rows[k].part == i && rows[k].section != INK_SECTION_UNKNOWN)
        fine = add(r, repeat, kernels[rows[k].kernel].name, load_section_name(loaded, rows[k].section), rows[k].count,
                   rows[k].total_cycles, rows[k].total_ns);
  }
  if (!fine)
    message_say("out of memory");
  return fine;
}

static void note_blocks(repeat_result *r, const ink_capture *capture) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(capture, &launches);
  for (size_t i = 0; i < n; i++)
    r->one_block_of = launches[i].one_of > r->one_block_of ? launches[i].one_of : r->one_block_of;
}

static int take_capture(repeat_result *r, size_t repeat, const char *path) {
  loaded_capture loaded;
  ink_error error = {0};
  ink_table *table = NULL;
  const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX, .without_marking = true};
  if (!load_capture(path, &loaded))
    return CLI_FAILED;
  int code = CLI_OK;
  if (ink_table_make(loaded.capture, loaded.map, &options, &table, &error))
    code = message_failure(&error);
  if (!code) {
    r->simulated = r->simulated || ink_capture_simulated(loaded.capture);
    note_clocks(r, repeat, loaded.map);
    note_blocks(r, loaded.capture);
    code = add_table(r, repeat, &loaded, table) ? CLI_OK : CLI_FAILED;
  }
  ink_table_free(table);
  unload_capture(&loaded);
  return code;
}

/* `repeat` SIZE_MAX: a warm-up, whose captures go unread. */
static int take_run(repeat_result *r, size_t repeat, const char *folder) {
  char pattern[512];
  glob_t found = {0};
  int code = CLI_OK;
  snprintf(pattern, sizeof pattern, "%s/*.ink", folder);
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc; i++) {
      if (repeat != SIZE_MAX && !code)
        code = take_capture(r, repeat, found.gl_pathv[i]);
      unlink(found.gl_pathv[i]);
    }
  globfree(&found);
  return code;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path);
}

static int run_all(repeat_result *r, char **program, const char *folder) {
  const uint64_t warmup = r->settings->warmup, all = warmup + r->repeats;
  int code = CLI_OK;
  for (uint64_t i = 0; i < all && !code; i++) {
    message_progress((void *)(uintptr_t) "running", i, all);
    code = run_once(r->settings, program, folder);
    if (!code)
      code = take_run(r, i < warmup ? SIZE_MAX : (size_t)(i - warmup), folder);
  }
  message_progress_end();
  if (!code && !r->count) {
    message_say("'%s' recorded no marks%s", program[0], r->settings->kernels ? " in a kernel that matches" : "");
    code = CLI_FAILED;
  }
  return code;
}

int repeat_measure(const repeat_settings *settings, char **program, repeat_result *out) {
  const char *base = getenv("TMPDIR");
  char folder[256];
  *out = (repeat_result){.settings = settings, .repeats = (size_t)settings->repeat};
  out->slowest_hz = malloc(out->repeats * sizeof(double));
  out->fastest_hz = malloc(out->repeats * sizeof(double));
  if (!out->slowest_hz || !out->fastest_hz) {
    message_say("out of memory");
    return CLI_FAILED;
  }
  for (size_t i = 0; i < out->repeats; i++)
    out->slowest_hz[i] = out->fastest_hz[i] = NAN;
  snprintf(folder, sizeof folder, "%s/inkmark-time-XXXXXX", base && *base == '/' ? base : "/tmp");
  if (!mkdtemp(folder)) {
    message_say("cannot make a folder '%s': %s", folder, message_errno(errno));
    return CLI_FAILED;
  }
  const int code = run_all(out, program, folder);
  nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  return code;
}

void repeat_free(repeat_result *r) {
  for (size_t i = 0; i < r->count; i++) {
    free(r->rows[i].kernel);
    free(r->rows[i].section);
    free(r->rows[i].cycles);
    free(r->rows[i].ns);
  }
  free(r->rows);
  free(r->slowest_hz);
  free(r->fastest_hz);
}
