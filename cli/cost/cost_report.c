/* SPDX-License-Identifier: MIT */
/* Prints what `inkmark cost` found, as tables and as JSON. */
#include "cost.h"

#include "grid.h"
#include "json.h"
#include "load.h"
#include "message.h"
#include "style.h"
#include "text_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double cost_median(const double *values, size_t n) {
  double *sorted = malloc(n * sizeof *sorted), median = NAN;
  bool all = sorted != NULL;
  for (size_t i = 0; i < n && all; i++) {
    sorted[i] = values[i];
    all = !isnan(values[i]);
  }
  if (all && n) {
    qsort(sorted, n, sizeof *sorted, compare);
    median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  }
  free(sorted);
  return median;
}

bool cost_compare(const double *a, const double *b, size_t runs, cost_percent *out) {
  double *ratios = malloc(runs * sizeof *ratios);
  bool fine = ratios && runs;
  *out = (cost_percent){NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < runs && fine; i++) { /* run by run: what drifts, drifts in both */
    fine = b[i] > 0 && !isnan(a[i]);
    ratios[i] = fine ? 100 * (a[i] / b[i] - 1) : 0;
    out->least = fmin(out->least, ratios[i]);
    out->most = fmax(out->most, ratios[i]);
  }
  if (fine)
    out->median = cost_median(ratios, runs);
  free(ratios);
  return fine;
}

const char *cost_mode_name(int mode) {
  static const char *const names[] = {"off", "on", "without"};
  return names[mode];
}

const char *cost_limit_name(const ink_occupancy *occupancy) {
  static const char *const names[] = {"unknown", "warps", "blocks", "registers", "shared memory"};
  return names[occupancy->limit];
}

/* ---- text ---- */

static void percent_cell(text_grid *grid, const double *a, const double *b, size_t runs) {
  cost_percent p;
  if (!cost_compare(a, b, runs, &p))
    grid_cell(grid, "%s", "");
  else
    grid_cell(grid, "%+.2f %% [%+.2f, %+.2f]", p.median, p.least, p.most);
}

static void time_cell(text_grid *grid, const double *run_ns, size_t runs) {
  const double median = cost_median(run_ns, runs);
  if (isnan(median))
    grid_cell(grid, "%s", "");
  else
    grid_cell(grid, "%s", number_fraction(median / 1000, 3).text);
}

static bool print(text_grid *grid, FILE *to) {
  const bool fine = grid_print(grid, to, 2);
  grid_free(grid);
  if (!fine)
    message_say("out of memory");
  return fine;
}

static void time_row(text_grid *grid, const cost_result *r, const char *name, uint64_t launches,
                     double *const times[COST_MODES]) {
  grid_cell(grid, "%s", name);
  grid_cell(grid, "%s", launches ? number_whole(launches).text : "");
  if (r->has_baseline)
    time_cell(grid, times[COST_WITHOUT], r->runs);
  time_cell(grid, times[COST_OFF], r->runs);
  time_cell(grid, times[COST_ON], r->runs);
  if (r->has_baseline)
    percent_cell(grid, times[COST_OFF], times[COST_WITHOUT], r->runs);
  percent_cell(grid, times[COST_ON], times[COST_OFF], r->runs);
  if (r->has_baseline)
    percent_cell(grid, times[COST_ON], times[COST_WITHOUT], r->runs);
}

static text_grid *time_grid(const cost_result *r, const char *what) {
  text_grid *grid = grid_new();
  if (!grid)
    return NULL;
  grid_column(grid, GRID_LEFT, what);
  grid_column(grid, GRID_RIGHT, "launches");
  if (r->has_baseline)
    grid_column(grid, GRID_RIGHT, "without");
  grid_column(grid, GRID_RIGHT, "off");
  grid_column(grid, GRID_RIGHT, "on");
  if (r->has_baseline)
    grid_column(grid, GRID_RIGHT, "off / without");
  grid_column(grid, GRID_RIGHT, "on / off");
  if (r->has_baseline)
    grid_column(grid, GRID_RIGHT, "on / without");
  return grid;
}

static bool print_times(const cost_result *r, FILE *to) {
  text_grid *grid = time_grid(r, "kernel");
  if (!grid)
    return false;
  fputs("\ntime of all launches of a run, us: median, and how much more in percent [least, most]\n",
        to);
  for (size_t i = 0; i < r->count; i++) {
    double *times[COST_MODES];
    for (int mode = 0; mode < COST_MODES; mode++)
      times[mode] = r->kernels[i].modes[mode].run_ns;
    time_row(grid, r, r->kernels[i].label, r->kernels[i].modes[COST_OFF].launches, times);
  }
  return print(grid, to);
}

static void resource_row(text_grid *grid, const char *name, const cost_seen *seen, int mode) {
  const ink_activity *a = &seen->sample;
  const ink_occupancy *o = &seen->occupancy;
  grid_cell(grid, "%s", name);
  grid_cell(grid, "%s", mode == COST_WITHOUT ? "without" : "with");
  grid_cell(grid, "%u", a->registers);
  grid_cell(grid, "%s", number_whole(a->local_bytes).text);
  grid_cell(grid, "%s", number_whole(a->static_shared_bytes).text);
  grid_cell(grid, "%s", number_whole(a->dynamic_shared_bytes).text);
  grid_cell(grid, "%u", o->blocks_per_sm);
  grid_cell(grid, "%u", o->warps_per_sm);
  grid_cell(grid, "%.0f %%", 100 * o->share);
  grid_cell(grid, "%s", cost_limit_name(o));
}

static bool print_resources(const cost_result *r, FILE *to) {
  static const char *const titles[] = {"registers",      "local bytes",  "static shared",
                                       "dynamic shared", "blocks an SM", "warps an SM",
                                       "occupancy"};
  text_grid *grid = grid_new();
  if (!grid)
    return false;
  fputs("\nresources of a launch, and what an SM holds of it at once\n", to);
  grid_column(grid, GRID_LEFT, "kernel");
  grid_column(grid, GRID_LEFT, "marks");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  grid_column(grid, GRID_LEFT, "limited by");
  for (size_t i = 0; i < r->count; i++) {
    const cost_kernel *k = &r->kernels[i];
    if (k->modes[COST_WITHOUT].launches)
      resource_row(grid, k->label, &k->modes[COST_WITHOUT], COST_WITHOUT);
    if (k->modes[COST_OFF].launches) /* on is the same code */
      resource_row(grid, k->label, &k->modes[COST_OFF], COST_OFF);
  }
  return print(grid, to);
}

/* Whether the machine code is that of the kernel; what unnamed namespaces are called differs. */
static bool is_of(const cost_code *code, const cost_kernel *kernel) {
  return !strcmp(code->function, kernel->name) ||
         (strstr(code->function, "_GLOBAL__N_") && !strcmp(code->label, kernel->label));
}

static const ink_activity *sample_of(const cost_kernel *k) {
  for (int mode = 0; mode < COST_MODES; mode++)
    if (k->modes[mode].launches)
      return &k->modes[mode].sample;
  return &k->modes[0].sample;
}

static void code_row(text_grid *grid, const cost_kernel *k, const cost_code *code, bool marks) {
  const ink_occupancy o = cost_code_occupancy(code, sample_of(k));
  grid_cell(grid, "%s", k->label);
  grid_cell(grid, "sm_%u", code->capability);
  grid_cell(grid, "%s", marks ? "with" : "without");
  grid_cell(grid, "%u", code->registers);
  grid_cell(grid, "%s", number_whole(code->stack_bytes).text);
  grid_cell(grid, "%u", code->spills);
  grid_cell(grid, "%s", number_whole(code->shared_bytes).text);
  grid_cell(grid, "%u", o.blocks_per_sm);
  grid_cell(grid, "%u", o.warps_per_sm);
  grid_cell(grid, "%.0f %%", 100 * o.share);
  grid_cell(grid, "%s", cost_limit_name(&o));
}

/* The rows of a kernel stand together: without marks, with them, target by target. */
static size_t code_rows(text_grid *grid, const cost_result *r, const cost_kernel *k) {
  size_t n = 0;
  for (size_t i = 0; i < r->code[0].count; i++) {
    const cost_code *with = &r->code[0].items[i];
    if (!is_of(with, k))
      continue;
    for (size_t w = 0; w < r->code[1].count; w++)
      if (is_of(&r->code[1].items[w], k) && r->code[1].items[w].capability == with->capability)
        code_row(grid, k, &r->code[1].items[w], false);
    code_row(grid, k, with, true);
    n++;
  }
  return n;
}

static bool print_code(const cost_result *r, FILE *to) {
  static const char *const titles[] = {"registers",     "stack and spills, bytes",
                                       "spilling instructions", "static shared",
                                       "blocks an SM",  "warps an SM",
                                       "occupancy"};
  text_grid *grid = grid_new();
  size_t rows = 0;
  if (!grid)
    return false;
  grid_column(grid, GRID_LEFT, "kernel");
  grid_column(grid, GRID_LEFT, "target");
  grid_column(grid, GRID_LEFT, "marks");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  grid_column(grid, GRID_LEFT, "limited by");
  for (size_t i = 0; i < r->count; i++)
    rows += code_rows(grid, r, &r->kernels[i]);
  if (rows) {
    fputs("\nmachine code in the programs, and what an SM of its target would hold at these "
          "launches\n",
          to);
    return print(grid, to);
  }
  grid_free(grid);
  if (r->code[0].why_none[0])
    text_print(to, "\nmachine code in the program: not known, %s\n", r->code[0].why_none);
  return true;
}

static void remarks(const cost_result *r, FILE *to) {
  for (size_t i = 0; i < r->count; i++) {
    const cost_kernel *k = &r->kernels[i];
    for (int mode = 0; mode < COST_MODES; mode++)
      if (k->modes[mode].uneven)
        text_print(to,
                "  %s%s was not launched as often in each run: its times are of different work%s\n",
                style_code(to, STYLE_WARNING), k->label, style_code(to, STYLE_PLAIN));
    if (r->has_baseline && !k->modes[COST_WITHOUT].launches)
      text_print(to, "  %s does not run in the program without marks\n", k->label);
    else if (!k->modes[COST_OFF].launches && !k->modes[COST_ON].launches)
      text_print(to, "  %s runs only in the program without marks\n", k->label);
  }
  if (r->untimed)
    text_print(to, "  %s kernels are left out: CUPTI has no times of them\n",
            number_whole(r->untimed).text);
}

/* In ms. */
static bool print_wall(const cost_result *r, FILE *to) {
  text_grid *grid = time_grid(r, "whole process");
  if (!grid)
    return false;
  text_print(to, "\nwall-clock time, ms, with CUPTI, arming and writing%s\n",
          r->simulated ? ", of the simulation" : "");
  grid_cell(grid, "%s", "from start to end");
  grid_cell(grid, "%s", "");
  for (int i = 0; i < COST_MODES; i++) {
    static const int order[] = {COST_WITHOUT, COST_OFF, COST_ON};
    if (order[i] != COST_WITHOUT || r->has_baseline)
      grid_cell(grid, "%s",
                number_fraction(cost_median(r->wall_ns[order[i]], r->runs) / 1e6, 1).text);
  }
  if (r->has_baseline)
    percent_cell(grid, r->wall_ns[COST_OFF], r->wall_ns[COST_WITHOUT], r->runs);
  percent_cell(grid, r->wall_ns[COST_ON], r->wall_ns[COST_OFF], r->runs);
  if (r->has_baseline)
    percent_cell(grid, r->wall_ns[COST_ON], r->wall_ns[COST_WITHOUT], r->runs);
  return print(grid, to);
}

bool cost_text(const cost_result *r, FILE *to) {
  if (r->simulated)
    text_print(to, "%s%s%s; registers and shared memory of its kernels are made up\n",
            style_code(to, STYLE_WARNING), LOAD_SIMULATED_LINE, style_code(to, STYLE_PLAIN));
  text_print(to, "%zu runs each: %smarks off (dormant), marks on (recorded)%s\n", r->runs,
          r->has_baseline ? "without marks, " : "",
          r->runs < 3 ? "; too few to tell what is chance" : "");
  bool fine = true;
  if (r->count) {
    fine = print_times(r, to) && print_resources(r, to) && print_code(r, to);
    remarks(r, to);
  } else {
    text_print(to, "\nno times of kernels: %s\n", r->why_no_kernels);
  }
  return fine && print_wall(r, to);
}

/* ---- JSON ---- */

static void json_percent(json_writer *json, const char *key, const double *a, const double *b,
                         size_t runs) {
  cost_percent p;
  if (!cost_compare(a, b, runs, &p)) {
    json_string(json, key, NULL);
    return;
  }
  json_open_flat(json, key);
  json_double(json, "median_percent", p.median);
  json_double(json, "least_percent", p.least);
  json_double(json, "most_percent", p.most);
  json_close(json, '}');
}

static void json_times(json_writer *json, const cost_result *r, double *const times[COST_MODES]) {
  static const char *const keys[] = {"off_ns", "on_ns", "without_ns"};
  for (int mode = 0; mode < COST_MODES; mode++) {
    if (mode == COST_WITHOUT && !r->has_baseline)
      continue;
    json_open(json, keys[mode], '[');
    for (size_t i = 0; i < r->runs; i++)
      json_double(json, NULL, times[mode][i]);
    json_close(json, ']');
  }
  json_percent(json, "on_over_off", times[COST_ON], times[COST_OFF], r->runs);
  if (r->has_baseline) {
    json_percent(json, "off_over_without", times[COST_OFF], times[COST_WITHOUT], r->runs);
    json_percent(json, "on_over_without", times[COST_ON], times[COST_WITHOUT], r->runs);
  }
}

static void json_resources(json_writer *json, const char *key, const cost_seen *seen) {
  if (!seen->launches) {
    json_string(json, key, NULL);
    return;
  }
  json_open_flat(json, key);
  json_unsigned(json, "registers", seen->sample.registers);
  json_unsigned(json, "local_bytes", seen->sample.local_bytes);
  json_unsigned(json, "static_shared_bytes", seen->sample.static_shared_bytes);
  json_unsigned(json, "dynamic_shared_bytes", seen->sample.dynamic_shared_bytes);
  json_unsigned(json, "blocks_per_sm", seen->occupancy.blocks_per_sm);
  json_unsigned(json, "warps_per_sm", seen->occupancy.warps_per_sm);
  json_double(json, "occupancy", seen->occupancy.share);
  json_string(json, "limited_by", cost_limit_name(&seen->occupancy));
  json_close(json, '}');
}

static void json_code(json_writer *json, const cost_result *r, const cost_kernel *k) {
  json_open(json, "code", '[');
  for (int of = 0; of < 2; of++)
    for (size_t i = 0; i < r->code[of].count; i++) {
      const cost_code *code = &r->code[of].items[i];
      if (!is_of(code, k))
        continue;
      const ink_occupancy o = cost_code_occupancy(code, sample_of(k));
      json_open_flat(json, NULL);
      json_bool(json, "marks", of == 0);
      json_unsigned(json, "capability", code->capability);
      json_unsigned(json, "registers", code->registers);
      json_unsigned(json, "stack_bytes", code->stack_bytes);
      json_unsigned(json, "spilling_instructions", code->spills);
      json_unsigned(json, "static_shared_bytes", code->shared_bytes);
      json_unsigned(json, "blocks_per_sm", o.blocks_per_sm);
      json_unsigned(json, "warps_per_sm", o.warps_per_sm);
      json_double(json, "occupancy", o.share);
      json_string(json, "limited_by", cost_limit_name(&o));
      json_close(json, '}');
    }
  json_close(json, ']');
}

void cost_json(const cost_result *r, FILE *to) {
  json_writer json = {.to = to};
  json_open(&json, NULL, '{');
  json_unsigned(&json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_string(&json, "inkmark", INKMARK_VERSION);
  json_bool(&json, "simulated_clock", r->simulated);
  json_unsigned(&json, "runs", r->runs);
  json_string(&json, "no_kernels", r->count ? NULL : r->why_no_kernels);
  json_unsigned(&json, "untimed", r->untimed);
  json_string(&json, "no_code", r->code[0].why_none[0] ? r->code[0].why_none : NULL);
  json_open(&json, "kernels", '[');
  for (size_t i = 0; i < r->count; i++) {
    const cost_kernel *k = &r->kernels[i];
    double *times[COST_MODES];
    for (int mode = 0; mode < COST_MODES; mode++)
      times[mode] = k->modes[mode].run_ns;
    json_open(&json, NULL, '{');
    json_string(&json, "kernel", k->label);
    json_string(&json, "mangled", k->name);
    json_unsigned(&json, "launches", k->modes[COST_OFF].launches);
    json_bool(&json, "uneven", k->modes[0].uneven || k->modes[1].uneven || k->modes[2].uneven);
    json_times(&json, r, times);
    json_resources(&json, "with_marks", &k->modes[COST_OFF]);
    if (r->has_baseline)
      json_resources(&json, "without_marks", &k->modes[COST_WITHOUT]);
    json_code(&json, r, k);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_open(&json, "whole_process", '{');
  json_times(&json, r, r->wall_ns);
  json_close(&json, '}');
  json_close(&json, '}');
}
