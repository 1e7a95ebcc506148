/* SPDX-License-Identifier: MIT */
/* `inkmark report --code PROGRAM [--stalls FILE]`: joins the map of a program's machine code with what a capture measured and
 * with the samples of Nsight Compute. */
#include "report_code.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"
#include "text_out.h"

#include "inkmark/activity.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Everything that was read. */
typedef struct code_inputs {
  const report_settings *settings;
  ink_verify *verify;
  const ink_verify_map *maps;
  size_t map_count;
  stall_file stalls;
  loaded_capture loaded;
  ink_table *table; /* NULL: no capture */
  size_t printed;
} code_inputs;

/* ---- the capture's kernel ---- */

/* 2: its very instance, 1: a function of that name, 0: neither. */
static int likeness(const code_inputs *in, const ink_kernel_total *total, const ink_verify_map *map) {
  const ink_kernel *kernels;
  char ours[512], theirs[512];
  ink_capture_kernels(in->loaded.capture, &kernels);
  const char *instance = total->instance ? total->instance : kernels[total->kernel].instance;
  if (!instance)
    return 0;
  ink_instance_short_name(instance, ours, sizeof ours);
  ink_activity_short_name(map->name, theirs, sizeof theirs);
  if (strcmp(ours, theirs) == 0)
    return 2;
  stall_bare_name(instance, ours, sizeof ours);
  stall_bare_name(map->name, theirs, sizeof theirs);
  return strcmp(ours, theirs) == 0;
}

/* The part that ran this code; SIZE_MAX: none, or it cannot be told which. */
static size_t part_of(const code_inputs *in, const ink_verify_map *map) {
  const ink_kernel_total *totals;
  const size_t n = ink_table_kernels(in->table, &totals);
  size_t best = SIZE_MAX, equal = 0;
  int most = 0;
  for (size_t i = 0; i < n; i++) {
    const int is = likeness(in, &totals[i], map);
    if (is > most) {
      most = is;
      best = i;
      equal = 0;
    }
    equal += is && is == most;
  }
  return equal == 1 ? best : SIZE_MAX;
}

static void measure(const code_inputs *in, size_t part, code_kernel *kernel) {
  const ink_table_row *rows;
  const ink_kernel_total *totals;
  const ink_kernel *kernels;
  const size_t n = ink_table_rows(in->table, &rows);
  ink_table_kernels(in->table, &totals);
  ink_capture_kernels(in->loaded.capture, &kernels);
  kernel->kernel = kernels[totals[part].kernel].name;
  for (size_t r = 0; r < kernel->map->row_count; r++) {
    code_row *to = &kernel->rows[r];
    double cycles = 0;
    for (size_t i = 0; i < n; i++)
      if (rows[i].part == part && rows[i].section != INK_SECTION_UNKNOWN &&
          strcmp(load_section_name(&in->loaded, rows[i].section), to->row->name) == 0) {
        to->passes += rows[i].count;
        cycles += (double)rows[i].total_cycles;
      }
    to->cycles_a_pass = to->passes ? cycles / (double)to->passes : 0;
  }
}

/* ---- one kernel ---- */

static bool fill(const code_inputs *in, const ink_verify_map *map, const stall_join *join, code_kernel *out) {
  *out = (code_kernel){.map = map, .join = join, .rows = calloc(map->row_count + 1, sizeof *out->rows)};
  if (!out->rows) {
    message_say("out of memory for the sections");
    return false;
  }
  for (size_t r = 0; r < map->row_count; r++) {
    out->rows[r].row = &map->rows[r];
    out->rows[r].sum = join ? &join->sums[r] : NULL;
  }
  for (size_t i = 0; i < map->instruction_count; i++) {
    const ink_verify_instruction *at = &map->instructions[i];
    code_row *row = &out->rows[at->row];
    if (at->own)
      continue;
    row->kinds[at->kind]++;
    row->bytes += at->memory_bytes;
    *(at->kind == INK_INSTRUCTION_TENSOR ? &row->matrix_operations : &row->operations) += at->operations;
  }
  const size_t part = in->table ? part_of(in, map) : SIZE_MAX;
  if (part != SIZE_MAX)
    measure(in, part, out);
  return true;
}

static bool print_one(code_inputs *in, const ink_verify_map *map, const stall_join *join, json_writer *json, FILE *to) {
  code_kernel kernel;
  if (!fill(in, map, join, &kernel))
    return false;
  bool fine = true;
  if (json)
    code_json(&kernel, json);
  else {
    if (in->printed)
      text_print(to, "\n");
    fine = code_text(&kernel, to);
  }
  in->printed++;
  free(kernel.rows);
  return fine;
}

static bool print_static(code_inputs *in, json_writer *json, FILE *to) {
  bool fine = true;
  size_t left = 0;
  for (size_t m = 0; m < in->map_count && fine; m++) {
    if (in->table && part_of(in, &in->maps[m]) == SIZE_MAX) {
      left++;
      continue;
    }
    fine = print_one(in, &in->maps[m], NULL, json, to);
  }
  if (fine && !in->printed) {
    message_say("no kernel of '%s' is in '%s', or it cannot be told which of several", in->settings->code, in->loaded.path);
    return false;
  }
  if (left)
    message_say("%zu function%s of '%s' with marks %s not in '%s', or it cannot be told which of several: left out", left,
                number_plural(left), in->settings->code, left == 1 ? "is" : "are", in->loaded.path);
  return fine;
}

/* ---- samples ---- */

static bool refuse(const code_inputs *in, const stall_table *t, const stall_difference *d) {
  if (d->near)
    message_say("'%s' is of another build than '%s': kernel '%s' differs first at +0x%llx, '%.*s' in it, '%s' in the program",
                in->settings->stalls, in->settings->code, t->kernel, (unsigned long long)d->offset, (int)strcspn(d->sampled, ";"),
                d->sampled, d->mapped);
  else
    message_say("kernel '%s' in '%s' has no marks in '%s': left out", t->kernel, in->settings->stalls, in->settings->code);
  return d->near != NULL;
}

static bool print_sampled(code_inputs *in, json_writer *json, FILE *to) {
  bool fine = true;
  for (size_t i = 0; i < in->stalls.table_count && fine; i++) {
    const stall_table *t = &in->stalls.tables[i];
    stall_difference difference;
    stall_join join;
    if (!t->row_count)
      continue;
    const ink_verify_map *map = stall_find_map(t, in->maps, in->map_count, &difference);
    if (!map) {
      fine = !refuse(in, t, &difference);
      continue;
    }
    fine = stall_join_make(t, map, &join);
    if (fine) {
      fine = print_one(in, map, &join, json, to);
      stall_join_free(&join);
    }
  }
  if (fine && !in->printed) {
    message_say("no kernel of '%s' has marks in '%s'", in->settings->stalls, in->settings->code);
    return false;
  }
  return fine;
}

/* ---- all ---- */

static bool open_capture(code_inputs *in, const char *path) {
  ink_error error = {0};
  if (!load_capture(path, &in->loaded))
    return false;
  const ink_table_options choice = {.size = sizeof choice, .by = INK_BY_SECTION, .launch = in->settings->launch == UINT64_MAX ? UINT32_MAX : (uint32_t)in->settings->launch,
                                    .without_marking = !in->settings->raw, .progress = message_progress, .user = (void *)"reading"};
  if (!load_check_launch(&in->loaded, in->settings->launch))
    return false;
  error.status = ink_table_make(in->loaded.capture, in->loaded.map, &choice, &in->table, &error);
  message_progress_end();
  if (error.status)
    message_failure(&error);
  return !error.status;
}

static bool read_inputs(code_inputs *in, char **paths, size_t n) {
  ink_error error = {0};
  const ink_verify_options wanted = {.size = sizeof wanted, .kernel_regex = in->settings->kernel, .map = true};
  error.status = ink_verify_file(in->settings->code, &wanted, &in->verify, &error);
  if (error.status) {
    message_failure(&error);
    return false;
  }
  in->map_count = ink_verify_maps(in->verify, &in->maps);
  return (!in->settings->stalls || stall_csv_read(in->settings->stalls, &in->stalls)) && (!n || open_capture(in, paths[0]));
}

static void begin_json(const code_inputs *in, json_writer *json) {
  json_open(json, NULL, '{');
  json_unsigned(json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_string(json, "inkmark", INKMARK_VERSION);
  json_string(json, "program", in->settings->code);
  json_string(json, "samples", in->settings->stalls);
  json_string(json, "capture", in->loaded.path);
  if (in->loaded.capture)
    json_bool(json, "simulated", ink_capture_simulated(in->loaded.capture));
  json_open(json, "kernels", '[');
}

static void release(code_inputs *in) {
  if (in->loaded.capture) {
    ink_table_free(in->table);
    unload_capture(&in->loaded);
  }
  stall_csv_free(&in->stalls);
  ink_verify_free(in->verify);
}

int report_code(const report_settings *settings, char **paths, size_t n) {
  code_inputs in = {.settings = settings};
  outfile file;
  if (n > 1)
    return cli_usage_error(&cmd_report, "'--code' takes one capture");
  bool fine = read_inputs(&in, paths, n);
  if (!fine || !outfile_open_for(&file, settings->output, paths, n)) {
    release(&in);
    return CLI_FAILED;
  }
  json_writer json = {.to = file.stream};
  const bool is_json = settings->format == REPORT_JSON;
  if (is_json)
    begin_json(&in, &json);
  else if (in.loaded.capture && ink_capture_simulated(in.loaded.capture))
    text_print(file.stream, "%s\n\n", LOAD_SIMULATED_LINE);
  fine = settings->stalls ? print_sampled(&in, is_json ? &json : NULL, file.stream) : print_static(&in, is_json ? &json : NULL, file.stream);
  if (is_json) {
    json_close(&json, ']');
    json_close(&json, '}');
    fputc('\n', file.stream);
  }
  release(&in);
  fine = outfile_close(&file, fine) && fine;
  return fine ? CLI_OK : CLI_FAILED;
}
