/* SPDX-License-Identifier: MIT */
/* A kernel's machine code by section, as text and JSON: what it is made of, what bounds it, why warps waited. */
#include "report_code.h"

#include "message.h"
#include "style.h"
#include "text_out.h"
#include "verify_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what bounds it ---- */

/* Of one SM in one cycle: bytes of global memory, operations of 32-bit floating point and of 16-bit matrices (dense), of the
 * largest chip of that kind as NVIDIA's white papers have it (bandwidth / SMs / boost clock). */
static const struct {
  uint32_t arch;
  double bytes, math, tensor;
} rates[] = {{75, 5, 128, 1024}, {80, 10.2, 128, 2048}, {86, 6, 256, 1024}, {89, 3.1, 256, 1024}, {90, 14.5, 256, 4096}, {100, 29, 256, 8192}, {120, 4.4, 256, 2048}};

const char *code_static_bound(const code_row *row, const char *target) {
  const uint32_t arch = strncmp(target, "sm_", 3) == 0 ? (uint32_t)strtoul(target + 3, NULL, 10) : 0;
  size_t r = 0;
  while (r + 1 < sizeof rates / sizeof *rates && rates[r + 1].arch <= arch)
    r++;
  uint32_t instructions = 0;
  for (size_t k = 0; k < INK_INSTRUCTION_KINDS; k++)
    instructions += row->kinds[k];
  if (!instructions)
    return NULL;
  const double memory = row->bytes / rates[r].bytes, math = row->operations / rates[r].math, tensor = row->matrix_operations / rates[r].tensor;
  const double most = fmax(memory, fmax(math, tensor)), issue = instructions / 128.0; /* four schedulers of 32 lanes */
  return most * 2 < issue ? "latency" : most == tensor ? "tensor" : most == memory ? "memory" : "math";
}

static const struct {
  const char *reason, *bound;
} reasons[] = {{"long_sb", "memory"},  {"long_scoreboard", "memory"}, {"lg", "memory"},   {"lg_throttle", "memory"}, {"tex", "memory"}, {"tex_throttle", "memory"},
               {"drain", "memory"},    {"membar", "memory"},          {"short_sb", "shared"}, {"short_scoreboard", "shared"}, {"mio", "shared"}, {"mio_throttle", "shared"},
               {"barrier", "barrier"}, {"math", "math"},              {"math_pipe_throttle", "math"}, {"gmma", "tensor"}, {"selected", "issue"}, {"not_selected", "issue"},
               {"dispatch", "issue"},  {"dispatch_stall", "issue"}};

static const char *bound_of(const char *reason) {
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (strcmp(reasons[i].reason, reason) == 0)
      return reasons[i].bound;
  return "latency"; /* wait, no_inst, imc, branch_resolving, sleeping and what is not known */
}

const char *code_sampled_bound(const code_row *row, const stall_table *table) {
  static const char *const bounds[] = {"memory", "shared", "tensor", "math", "barrier", "issue", "latency"};
  const char *best = NULL;
  double most = 0;
  if (!row->sum || row->sum->samples < CODE_SAMPLES_LEAST)
    return NULL;
  for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
    double samples = 0;
    for (size_t r = 0; r < table->reason_count; r++)
      samples += strcmp(bound_of(table->reasons[r]), bounds[b]) == 0 ? row->sum->reasons[r] : 0;
    if (samples > most) {
      most = samples;
      best = bounds[b];
    }
  }
  return best;
}

/* ---- text ---- */

/* Code behind the end of a function, that no section has. */
static bool is_padding(const code_row *row) { return strcmp(row->row->name, "(padding)") == 0; }

static uint32_t work(const code_row *row) { return row->row->instructions - row->row->own; }

static void print_title(const code_kernel *k, FILE *to) {
  size_t own = 0;
  for (size_t i = 0; i < k->map->row_count; i++)
    own += k->map->rows[i].own;
  text_print(to, "%s%s%s", style_code(to, STYLE_BOLD), k->kernel ? k->kernel : k->map->shown, style_code(to, STYLE_PLAIN));
  if (k->kernel)
    text_print(to, ", %s", k->map->shown);
  text_print(to, " (%s", k->map->target);
  if (k->map->code_hash)
    text_print(to, ", code %.12s", k->map->code_hash);
  text_print(to, "): %s instructions, %s are the marks'", number_whole(k->map->instruction_count).text, number_whole(own).text);
  if (k->join)
    text_print(to, "; %s samples of all warps", number_whole((uint64_t)k->join->samples).text);
  text_print(to, "\n");
}

static void number_cell(text_grid *grid, uint64_t value) { grid_cell(grid, "%s", value ? number_whole(value).text : "-"); }

static void measured_cell(text_grid *grid, const code_row *row) {
  if (row->passes)
    grid_cell(grid, "%s", number_fraction(row->cycles_a_pass, 1).text);
  else
    grid_cell(grid, "-");
}

static bool static_text(const code_kernel *k, FILE *to) {
  text_grid *grid = grid_new();
  bool used[INK_INSTRUCTION_KINDS] = {false};
  if (!grid)
    return false;
  for (size_t r = 0; r < k->map->row_count; r++)
    for (size_t kind = 0; kind < INK_INSTRUCTION_KINDS; kind++)
      used[kind] |= k->rows[r].kinds[kind] && !is_padding(&k->rows[r]);
  grid_column(grid, GRID_LEFT, "section");
  if (k->kernel)
    grid_column(grid, GRID_RIGHT, "cycles a pass");
  grid_column(grid, GRID_RIGHT, "instructions");
  for (size_t kind = 0; kind < INK_INSTRUCTION_KINDS; kind++)
    if (used[kind])
      grid_column(grid, GRID_RIGHT, verify_kind_name((enum ink_instruction_kind)kind));
  grid_column(grid, GRID_RIGHT, "marks");
  grid_column(grid, GRID_RIGHT, "bytes");
  grid_column(grid, GRID_RIGHT, "operations");
  grid_column(grid, GRID_LEFT, "bound by (static)");
  for (size_t r = 0; r < k->map->row_count; r++) {
    const code_row *row = &k->rows[r];
    const char *bound = code_static_bound(row, k->map->target);
    if (is_padding(row))
      continue;
    grid_cell(grid, "%s", row->row->name);
    if (k->kernel)
      measured_cell(grid, row);
    number_cell(grid, work(row));
    for (size_t kind = 0; kind < INK_INSTRUCTION_KINDS; kind++)
      if (used[kind])
        number_cell(grid, row->kinds[kind]);
    number_cell(grid, row->row->own);
    number_cell(grid, row->bytes);
    number_cell(grid, (uint64_t)row->operations + row->matrix_operations);
    grid_cell(grid, "%s", bound ? bound : "-");
  }
  const bool fine = grid_print(grid, to, 2);
  grid_free(grid);
  text_print(to, "  static: each instruction counts once, also in a loop; bytes of global memory and operations are those of one thread\n");
  return fine;
}

typedef struct why_text {
  char text[160];
} why_text;

/* "long_sb 81 %, barrier 17 %": of the row's samples, up to three that are at least 5 %. */
static why_text why(const code_kernel *k, const stall_sum *sum) {
  const stall_table *t = k->join->table;
  why_text out = {""};
  size_t used = 0, last = SIZE_MAX;
  double all = 0, before = INFINITY;
  for (size_t r = 0; r < t->reason_count; r++)
    all += sum->reasons[r];
  for (int place = 0; place < 3; place++) {
    size_t best = SIZE_MAX;
    for (size_t r = 0; r < t->reason_count; r++) {
      const double s = sum->reasons[r];
      const bool open = s < before || (s == before && r > last);
      if (open && s >= 0.05 * all && (best == SIZE_MAX || s > sum->reasons[best]))
        best = r;
    }
    if (best == SIZE_MAX || all <= 0)
      break;
    const int n = snprintf(out.text + used, sizeof out.text - used, "%s%.40s %.0f %%", place ? ", " : "", t->reasons[best], 100 * sum->reasons[best] / all);
    used = n > 0 && used + (size_t)n < sizeof out.text ? used + (size_t)n : sizeof out.text - 1;
    before = sum->reasons[best];
    last = best;
  }
  return out;
}

/* "58.5 ± 0.5 %", by the error of a share of so many samples. */
static void share_cell(text_grid *grid, double samples, double all) {
  if (samples < CODE_SAMPLES_LEAST || all <= 0) {
    grid_cell(grid, "-");
    return;
  }
  const double share = samples / all;
  grid_cell(grid, "%.1f \u00b1 %.1f %%", 100 * share, 100 * sqrt(share * (1 - share) / all));
}

static bool sampled_text(const code_kernel *k, FILE *to) {
  text_grid *grid = grid_new();
  if (!grid)
    return false;
  const bool counts = k->join->table->counts;
  grid_column(grid, GRID_LEFT, "section");
  if (k->kernel)
    grid_column(grid, GRID_RIGHT, "cycles a pass");
  grid_column(grid, GRID_RIGHT, "samples");
  grid_column(grid, GRID_RIGHT, "share");
  grid_column(grid, GRID_RIGHT, "marks'");
  if (counts) {
    grid_column(grid, GRID_RIGHT, "instructions a pass");
    grid_column(grid, GRID_RIGHT, "loads a pass");
  }
  grid_column(grid, GRID_LEFT, "bound by (sampled)");
  grid_column(grid, GRID_LEFT, "why warps waited");
  for (size_t r = 0; r < k->map->row_count; r++) {
    const code_row *row = &k->rows[r];
    const stall_sum *sum = row->sum;
    const bool enough = sum->samples >= CODE_SAMPLES_LEAST;
    const char *bound = code_sampled_bound(row, k->join->table);
    if (is_padding(row) && sum->samples <= 0)
      continue;
    grid_cell(grid, "%s", row->row->name);
    if (k->kernel)
      measured_cell(grid, row);
    number_cell(grid, (uint64_t)sum->samples);
    share_cell(grid, sum->samples, k->join->samples);
    grid_cell(grid, enough ? "%.1f %%" : "-", 100 * sum->own / (sum->samples > 0 ? sum->samples : 1));
    for (int loads = 0; counts && loads < 2; loads++)
      if (sum->passes > 0)
        grid_cell(grid, "%s", number_fraction((loads ? sum->loads : sum->executed) / sum->passes, 1).text);
      else
        grid_cell(grid, "-");
    grid_cell(grid, "%s", bound ? bound : "-");
    grid_cell(grid, "%s", enough ? why(k, sum).text : "too few samples");
  }
  const bool fine = grid_print(grid, to, 2);
  grid_free(grid);
  text_print(to, "  sampled: over all warps; cycles a pass are those of the threads that recorded; the share's "
                 "error is one standard deviation\n");
  return fine;
}

bool code_text(const code_kernel *k, FILE *to) {
  print_title(k, to);
  bool several = false;
  for (size_t r = 0; r < k->map->row_count; r++)
    several |= k->map->rows[r].several > 1;
  const bool fine = k->join ? sampled_text(k, to) : static_text(k, to);
  if (several)
    text_print(to, "  A | B: of the one or the other, as control goes\n");
  return fine;
}

/* ---- JSON ---- */

static void row_json(const code_kernel *k, const code_row *row, json_writer *json) {
  json_open(json, NULL, '{');
  json_string(json, "section", row->row->name);
  json_unsigned(json, "several", row->row->several);
  json_unsigned(json, "instructions", work(row));
  json_unsigned(json, "own", row->row->own);
  json_open_flat(json, "kinds");
  for (size_t kind = 0; kind < INK_INSTRUCTION_KINDS; kind++)
    json_unsigned(json, verify_kind_name((enum ink_instruction_kind)kind), row->kinds[kind]);
  json_close(json, '}');
  json_unsigned(json, "bytes", row->bytes);
  json_unsigned(json, "operations", row->operations);
  json_unsigned(json, "matrix_operations", row->matrix_operations);
  json_string(json, "static_bound", code_static_bound(row, k->map->target));
  if (row->passes) {
    json_unsigned(json, "passes", row->passes);
    json_double(json, "cycles_a_pass", row->cycles_a_pass);
  }
  if (row->sum) {
    const stall_table *t = k->join->table;
    json_double(json, "samples", row->sum->samples);
    json_double(json, "own_samples", row->sum->own);
    json_string(json, "sampled_bound", code_sampled_bound(row, t));
    if (t->counts && row->sum->passes > 0) {
      json_double(json, "executed_passes", row->sum->passes);
      json_double(json, "instructions_a_pass", row->sum->executed / row->sum->passes);
      json_double(json, "loads_a_pass", row->sum->loads / row->sum->passes);
    }
    json_open_flat(json, "stalls");
    for (size_t r = 0; r < t->reason_count; r++)
      json_double(json, t->reasons[r], row->sum->reasons[r]);
    json_close(json, '}');
  }
  json_close(json, '}');
}

void code_json(const code_kernel *k, json_writer *json) {
  json_open(json, NULL, '{');
  json_string(json, "function", k->map->name);
  json_string(json, "kernel", k->kernel);
  json_string(json, "target", k->map->target);
  json_string(json, "code_sha256", k->map->code_hash);
  if (k->join)
    json_double(json, "samples", k->join->samples);
  json_open(json, "sections", '[');
  for (size_t r = 0; r < k->map->row_count; r++)
    row_json(k, &k->rows[r], json);
  json_close(json, ']');
  json_close(json, '}');
}
