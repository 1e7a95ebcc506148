/* SPDX-License-Identifier: MIT */
/* `inkmark report --variance`: a table for each kernel, what changes over the launches below it; as text or JSON. */
#include "report_variance.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"
#include "text_out.h"

#include "inkmark/variance.h"

#include <inttypes.h>
#include <math.h>

/* What a row goes with, as text and JSON name it. */
static const char *key_name(uint32_t key) {
  static const char *const names[] = {"launch", "SM", "warp", "iteration", "value", "block"};
  return key < INK_VARIES_BY_NOTHING ? names[key] : NULL;
}

static number_text factor(double ratio) {
  number_text out;
  snprintf(out.text, sizeof out.text, "%.2f x", ratio);
  return out;
}

static number_text whole(double cycles) {
  return number_whole(cycles < 1e19 ? (uint64_t)(cycles + 0.5) : UINT64_MAX); /* a damaged track may say anything */
}

/* ---- text ---- */

static void goes_with(text_grid *grid, const loaded_capture *loaded, const ink_variance_row *r) {
  if (r->key == INK_VARIES_BY_NOTHING)
    grid_cell(grid, "%s", "");
  else if (r->key == INK_VARIES_BY_VALUE)
    grid_cell(grid, "value of %s, %.0f %%: %+.3g cycles for each 1 of it (r %.2f)", load_section_name(loaded, r->value),
              100 * r->explained, r->cycles_per_value, r->value_correlation);
  else
    grid_cell(grid, "%s, %.0f %%: %s %" PRId64 " takes %s the others, of %s", key_name(r->key), 100 * r->explained,
              key_name(r->key), r->group, factor(r->group_ratio).text, number_whole(r->groups).text);
}

static bool kernel_text(const loaded_capture *loaded, const ink_variance_row *rows, size_t n, FILE *to) {
  static const char *const titles[] = {"slices", "p1", "median", "p99", "p99/median"};
  text_grid *grid = grid_new();
  if (!grid)
    return false;
  grid_column(grid, GRID_LEFT, "section, cycles");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  grid_column(grid, GRID_LEFT, "goes with");
  for (size_t i = 0; i < n; i++) {
    const ink_variance_row *r = &rows[i];
    grid_cell(grid, "%s", load_section_name(loaded, r->section));
    grid_cell(grid, "%s", number_whole(r->slices).text);
    grid_cell(grid, "%s", whole(r->p1_cycles).text);
    grid_cell(grid, "%s", whole(r->median_cycles).text);
    grid_cell(grid, "%s", whole(r->p99_cycles).text);
    if (r->median_cycles > 0)
      grid_cell(grid, "%.2f", r->p99_cycles / r->median_cycles);
    else
      grid_cell(grid, "%s", "");
    goes_with(grid, loaded, r);
  }
  const bool fine = grid_print(grid, to, 2);
  grid_free(grid);
  return fine;
}

static void launches_text(const loaded_capture *loaded, const ink_variance_row *r, FILE *to) {
  const char *name = load_section_name(loaded, r->section);
  if (r->warm_up)
    text_print(to, "  %s: the first %s of %s launches %s slower, the first %s the usual\n", name, number_whole(r->warm_up).text,
               number_whole(r->launches).text, r->warm_up == 1 ? "is" : "are", factor(r->warm_up_ratio).text);
  if (isfinite(r->drift) && fabs(r->drift) >= 0.02)
    text_print(to, "  %s: %+.1f %% from the first to the last fourth of %s launches%s\n", name, 100 * r->drift,
               number_whole(r->launches - r->warm_up).text, r->warm_up ? " behind these" : "");
}

static bool variance_text(const loaded_capture *loaded, const ink_variance *v, FILE *to) {
  const ink_kernel *kernels;
  ink_capture_kernels(loaded->capture, &kernels);
  bool fine = true, part = false;
  text_print(to, "%s\n", loaded->path);
  if (ink_capture_simulated(loaded->capture))
    text_print(to, "%s\n", LOAD_SIMULATED_LINE);
  if (!v->count)
    text_print(to, "no slices\n");
  for (size_t at = 0, end; at < v->count && fine; at = end) {
    const ink_variance_row *first = &v->rows[at];
    for (end = at; end < v->count && v->rows[end].kernel == first->kernel && v->rows[end].device == first->device;)
      part |= v->rows[end].looked_at < v->rows[end].slices, end++;
    text_print(to, "kernel %s", kernels[first->kernel].name);
    text_print(to, first->device > 0 ? " on device %d\n" : "\n", first->device);
    fine = kernel_text(loaded, first, end - at, to);
    for (size_t i = at; i < end; i++)
      launches_text(loaded, &v->rows[i], to);
  }
  if (part)
    text_print(to, "of a section with more slices, 16,384 that were drawn evenly\n");
  if (!fine)
    message_say("out of memory");
  return fine;
}

/* ---- JSON ---- */

static void row_json(json_writer *json, const loaded_capture *loaded, const ink_kernel *kernels, const ink_variance_row *r) {
  const bool groups = r->key != INK_VARIES_BY_NOTHING && r->key != INK_VARIES_BY_VALUE;
  json_open_flat(json, NULL);
  json_string(json, "kernel", kernels[r->kernel].name);
  json_signed(json, "device", r->device);
  json_string(json, "section", load_section_name(loaded, r->section));
  json_unsigned(json, "slices", r->slices);
  json_unsigned(json, "looked_at", r->looked_at);
  json_double(json, "p1_cycles", r->p1_cycles);
  json_double(json, "median_cycles", r->median_cycles);
  json_double(json, "p99_cycles", r->p99_cycles);
  json_string(json, "goes_with", key_name(r->key));
  json_double(json, "explained_share", r->explained);
  json_unsigned(json, "groups", r->groups);
  if (groups)
    json_signed(json, "group", r->group);
  else
    json_string(json, "group", NULL);
  json_double(json, "group_ratio", groups ? r->group_ratio : NAN);
  json_string(json, "value", r->key == INK_VARIES_BY_VALUE ? load_section_name(loaded, r->value) : NULL);
  json_double(json, "value_correlation", r->key == INK_VARIES_BY_VALUE ? r->value_correlation : NAN);
  json_double(json, "cycles_per_value", r->key == INK_VARIES_BY_VALUE ? r->cycles_per_value : NAN);
  json_unsigned(json, "launches", r->launches);
  json_unsigned(json, "warm_up_launches", r->warm_up);
  json_double(json, "warm_up_ratio", r->warm_up ? r->warm_up_ratio : NAN);
  json_double(json, "drift", r->drift);
  json_close(json, '}');
}

static void variance_json(json_writer *json, const loaded_capture *loaded, const ink_variance *v) {
  const ink_kernel *kernels;
  ink_capture_kernels(loaded->capture, &kernels);
  json_open(json, NULL, '{');
  json_string(json, "file", loaded->path);
  json_bool(json, "simulated", ink_capture_simulated(loaded->capture));
  json_open(json, "sections", '[');
  for (size_t i = 0; i < v->count; i++)
    row_json(json, loaded, kernels, &v->rows[i]);
  json_close(json, ']');
  json_close(json, '}');
}

/* ---- both ---- */

static bool one_file(const report_settings *settings, const char *file, json_writer *json, FILE *to) {
  const ink_variance_options options = {.size = sizeof options,
                                        .launch = settings->launch == UINT64_MAX ? UINT32_MAX : (uint32_t)settings->launch,
                                        .without_marking = !settings->raw,
                                        .kernel_regex = settings->kernel,
                                        .progress = message_progress,
                                        .user = (void *)"reading"};
  loaded_capture loaded;
  ink_variance *variance = NULL;
  ink_error error = {0};
  bool fine = false;
  if (!load_capture(file, &loaded))
    return false;
  if (load_check_choice(&loaded, settings->kernel, settings->launch)) {
    error.status = ink_variance_make(loaded.capture, loaded.map, &options, &variance, &error);
    message_progress_end();
    if (error.status)
      message_failure(&error);
    else if (json)
      variance_json(json, &loaded, variance);
    fine = !error.status && (json || variance_text(&loaded, variance, to));
    ink_variance_free(variance);
  }
  unload_capture(&loaded);
  return fine;
}

int report_variance(const report_settings *settings, char **paths, size_t n) {
  return report_in_forms(settings, paths, n, one_file);
}
