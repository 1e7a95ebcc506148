/* SPDX-License-Identifier: MIT */
/* `inkmark report --code PROGRAM [--stalls FILE]`: joins the map of a program's machine code with what a capture measured and
 * with samples, of Nsight Compute or of the capture itself, which has the code too. */
#include "report_code.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"
#include "stall_capture.h"
#include "text_out.h"

#include "inkmark/activity.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Everything that was read. */
typedef struct code_inputs {
  const report_settings *settings;
  const char *program; /* what has the code: a program, or the capture */
  ink_verify *verify;
  const ink_verify_map *maps;
  size_t map_count;
  stall_file stalls;
  stall_capture sampled; /* where the samples are a capture's */
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

static ink_verify_options wanted_maps(const report_settings *settings) {
  return (ink_verify_options){.size = sizeof(ink_verify_options), .kernel_regex = settings->kernel, .map = true};
}

/* ---- samples ---- */

/* A kernel of that name is in the program. */
static bool is_named(const code_inputs *in, const stall_table *t) {
  char wanted[256], name[256];
  stall_bare_name(t->kernel, wanted, sizeof wanted);
  for (size_t m = 0; m < in->map_count; m++) {
    stall_bare_name(in->maps[m].name, name, sizeof name);
    if (strcmp(name, wanted) == 0)
      return true;
  }
  return false;
}

/* Of what inkmark itself has in each marked module. */
static bool is_own(const stall_table *t) { return strncmp(t->kernel, "_ZN5ink_i", 9) == 0; }

static bool refuse(const code_inputs *in, const stall_table *t, const stall_difference *d) {
  if (d->near)
    message_say("'%s' is of another build than '%s': kernel '%s' differs first at +0x%llx, '%.*s' in it, '%s' in the program",
                in->settings->stalls, in->settings->code, t->kernel, (unsigned long long)d->offset, (int)strcspn(d->sampled, ";"),
                d->sampled, d->mapped);
  else if (t->sampled && !t->sampled->hash[0])
    message_say("the code of kernel '%s' is not in '%s': it cannot be told whether '%s' has it: left out", t->kernel,
                in->settings->stalls, in->program);
  else if (t->sampled && is_named(in, t))
    message_say("'%s' is of another build than '%s': the code of kernel '%s' is not the same", in->settings->stalls, in->program,
                t->kernel);
  else
    message_say("kernel '%s' in '%s' has no marks in '%s': left out", t->kernel, in->settings->stalls, in->program);
  return d->near != NULL || (t->sampled && t->sampled->hash[0] && is_named(in, t));
}

static bool print_sampled(code_inputs *in, json_writer *json, FILE *to) {
  bool fine = true;
  for (size_t i = 0; i < in->stalls.table_count && fine; i++) {
    stall_table *t = &in->stalls.tables[i];
    stall_difference difference;
    stall_join join;
    if ((!t->row_count && !t->sampled) || is_own(t))
      continue;
    const ink_verify_map *map = t->sampled ? stall_capture_find(&in->sampled, t, in->maps, in->map_count, &difference, &fine)
                                           : stall_find_map(t, in->maps, in->map_count, &difference);
    if (!map) {
      fine = fine && !refuse(in, t, &difference);
      continue;
    }
    fine = stall_join_make(t, map, &join);
    if (fine) {
      fine = print_one(in, map, &join, json, to);
      stall_join_free(&join);
    }
  }
  if (fine && !in->printed) {
    message_say("no kernel of '%s' has marks in '%s'", in->settings->stalls, in->program);
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

/* The program's code, or that which is in the capture. */
static bool read_code(code_inputs *in) {
  ink_error error = {0};
  const ink_verify_options wanted = wanted_maps(in->settings);
  if (!in->settings->code) {
    if (!stall_capture_maps(&in->sampled, &wanted))
      return false;
    in->maps = in->sampled.maps;
    in->map_count = in->sampled.map_count;
    return true;
  }
  error.status = ink_verify_file(in->settings->code, &wanted, &in->verify, &error);
  if (error.status)
    message_failure(&error);
  else
    in->map_count = ink_verify_maps(in->verify, &in->maps);
  return !error.status;
}

/* A capture that has the samples has the cycles too, where no other is named. */
static bool read_inputs(code_inputs *in, char **paths, size_t n) {
  const char *stalls = in->settings->stalls, *cycles = n ? paths[0] : NULL;
  if (stalls && stall_is_capture(stalls)) {
    if (!stall_capture_read(stalls, &in->sampled, &in->stalls))
      return false;
    cycles = cycles ? cycles : stalls;
  } else if (stalls && in->settings->code && !stall_csv_read(stalls, &in->stalls)) {
    return false;
  }
  return read_code(in) && (!cycles || open_capture(in, cycles));
}

/* By the stand-in for CUPTI. */
static bool is_made_up(const code_inputs *in) {
  return in->sampled.loaded.capture && ink_capture_fact(in->sampled.loaded.capture, "stalls_simulated");
}

static void say_simulated(const code_inputs *in, FILE *to) {
  text_print(to, "%s\n", LOAD_SIMULATED_LINE);
  if (is_made_up(in))
    text_print(to, "made-up samples: of a stand-in for CUPTI, not of a GPU\n");
  text_print(to, "\n");
}

/* Below the tables: what the samples are of, and what of them is in no table. */
static void say_sampling(const code_inputs *in, FILE *to) {
  const ink_stall_facts *f = &in->sampled.facts;
  if (!in->sampled.loaded.capture)
    return;
  text_print(to, "\n%s samples", number_whole(f->samples).text);
  if (f->period_log2)
    text_print(to, ", of each SM every %s cycles", number_whole(UINT64_C(1) << f->period_log2).text);
  if (f->elsewhere)
    text_print(to, "; %s in modules without marks", number_whole(f->elsewhere).text);
  if (f->dropped)
    text_print(to, "; %s dropped by the device", number_whole(f->dropped).text);
  if (f->left_out)
    text_print(to, "; %s left out for want of memory", number_whole(f->left_out).text);
  if (f->full)
    text_print(to, "; the device's buffer was full %s times", number_whole(f->full).text);
  text_print(to, "\n");
}

static void begin_json(const code_inputs *in, json_writer *json) {
  json_open(json, NULL, '{');
  json_unsigned(json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_string(json, "inkmark", INKMARK_VERSION);
  json_string(json, "program", in->program);
  json_string(json, "samples", in->settings->stalls);
  json_string(json, "capture", in->loaded.path);
  if (in->loaded.capture)
    json_bool(json, "simulated", ink_capture_simulated(in->loaded.capture));
  if (in->sampled.loaded.capture) {
    const ink_stall_facts *f = &in->sampled.facts;
    json_open_flat(json, "sampling");
    json_unsigned(json, "samples", f->samples);
    json_unsigned(json, "dropped", f->dropped);
    json_unsigned(json, "elsewhere", f->elsewhere);
    json_unsigned(json, "left_out", f->left_out);
    json_unsigned(json, "period_cycles", f->period_log2 ? UINT64_C(1) << f->period_log2 : 0);
    json_bool(json, "made_up", is_made_up(in));
    json_close(json, '}');
  }
  json_open(json, "kernels", '[');
}

static void release(code_inputs *in) {
  if (in->loaded.capture) {
    ink_table_free(in->table);
    unload_capture(&in->loaded);
  }
  stall_csv_free(&in->stalls);
  stall_capture_free(&in->sampled);
  ink_verify_free(in->verify);
}

int report_code(const report_settings *settings, char **paths, size_t n) {
  code_inputs in = {.settings = settings, .program = settings->code ? settings->code : settings->stalls};
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
    say_simulated(&in, file.stream);
  fine = settings->stalls ? print_sampled(&in, is_json ? &json : NULL, file.stream) : print_static(&in, is_json ? &json : NULL, file.stream);
  if (fine && !is_json)
    say_sampling(&in, file.stream);
  if (is_json) {
    json_close(&json, ']');
    json_close(&json, '}');
    fputc('\n', file.stream);
  }
  release(&in);
  fine = outfile_close(&file, fine) && fine;
  return fine ? CLI_OK : CLI_FAILED;
}
