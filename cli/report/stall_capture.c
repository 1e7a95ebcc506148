/* SPDX-License-Identifier: MIT */
/* Samples that CUPTI took while the capture was recorded: joined with a map by the hash of the code, which the capture has. */
#include "stall_capture.h"

#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool stall_is_capture(const char *path) {
  char magic[8] = "";
  FILE *file = fopen(path, "rb");
  const bool is = !file || (fread(magic, 1, sizeof magic, file) == sizeof magic && !memcmp(magic, "\x89INK\r\n\x1a\n", sizeof magic));
  if (file)
    fclose(file);
  return is;
}

/* ---- the tables ---- */

/* "long_scoreboard" of "smsp__pcsamp_warps_issue_stalled_long_scoreboard" */
static const char *short_reason(const char *name) {
  const char *at = strstr(name, "stalled_");
  return at ? at + 8 : name;
}

static bool add_reason(stall_table *t, const char *reason) {
  for (size_t i = 0; i < t->reason_count; i++)
    if (strcmp(t->reasons[i], reason) == 0)
      return true;
  const char **grown = realloc(t->reasons, (t->reason_count + 1) * sizeof *grown);
  if (grown) {
    t->reasons = grown;
    t->reasons[t->reason_count++] = reason;
  }
  return grown != NULL;
}

static const ink_code *code_of(const ink_capture *capture, uint64_t id) {
  const ink_code *codes;
  const size_t n = ink_capture_codes(capture, &codes);
  for (size_t i = 0; i < n; i++)
    if (codes[i].id == id)
      return &codes[i];
  return NULL;
}

static bool begin_function(stall_capture *c, stall_file *file, const ink_stall *stalls, size_t count) {
  stall_function *function = &c->functions[file->table_count];
  stall_table *t = &file->tables[file->table_count++];
  *function = (stall_function){.stalls = stalls, .count = count, .code = code_of(c->loaded.capture, stalls->code)};
  *t = (stall_table){.kernel = stalls->function, .sampled = function};
  if (function->code && !ink_verify_code_hash(function->code->data, (size_t)function->code->bytes, stalls->function, function->hash))
    function->hash[0] = 0;
  for (size_t i = 0; i < count; i++)
    if (!add_reason(t, short_reason(stalls[i].reason)))
      return false;
  return true;
}

static bool make_tables(stall_capture *c, stall_file *file, const ink_stall *stalls, size_t n) {
  size_t functions = 0, end;
  for (size_t i = 0; i < n; i++)
    functions += !i || stalls[i].code != stalls[i - 1].code || strcmp(stalls[i].function, stalls[i - 1].function) != 0;
  c->functions = calloc(functions + 1, sizeof *c->functions);
  file->tables = calloc(functions + 1, sizeof *file->tables);
  bool fine = c->functions && file->tables;
  for (size_t i = 0; i < n && fine; i = end) {
    for (end = i + 1; end < n && stalls[end].code == stalls[i].code && strcmp(stalls[end].function, stalls[i].function) == 0;)
      end++;
    fine = begin_function(c, file, stalls + i, end - i);
  }
  if (!fine)
    message_say("out of memory for the samples");
  return fine;
}

bool stall_capture_read(const char *path, stall_capture *out, stall_file *tables) {
  const ink_stall *stalls;
  *out = (stall_capture){0};
  *tables = (stall_file){0};
  if (!load_capture(path, &out->loaded))
    return false;
  const size_t n = ink_capture_stalls(out->loaded.capture, &stalls, &out->facts);
  const char *how = ink_capture_fact(out->loaded.capture, "stalls");
  if (n && make_tables(out, tables, stalls, n))
    return true;
  if (!n && !how)
    message_say("'%s' has no samples: record with 'inkmark record --stalls'", path);
  else if (!n && strcmp(how, "sampled") != 0)
    message_say("'%s' has no samples: %s", path, how);
  else if (!n)
    message_say("'%s' has no samples of kernels with marks", path);
  stall_csv_free(tables);
  stall_capture_free(out);
  return false;
}

void stall_capture_free(stall_capture *c) {
  for (size_t i = 0; i < c->verified_count; i++)
    ink_verify_free(c->verified[i]);
  free(c->verified);
  free(c->maps);
  free(c->texts);
  free(c->functions);
  if (c->loaded.capture)
    unload_capture(&c->loaded);
  *c = (stall_capture){0};
}

/* ---- the capture's own code ---- */

/* The disassembler reads files. */
static bool write_code(const ink_code *code, char path[256]) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, 256, "%.200s/inkmark-XXXXXX.cubin", folder && *folder ? folder : "/tmp");
  const int fd = mkstemps(path, 6);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
  if (!file) {
    if (fd >= 0)
      close(fd);
    return false;
  }
  const bool whole = fwrite(code->data, 1, (size_t)code->bytes, file) == code->bytes;
  return fclose(file) == 0 && whole;
}

static ink_status verify_code(const ink_code *code, const ink_verify_options *wanted, ink_verify **out, ink_error *error) {
  char path[256];
  ink_status status = INK_ERROR_IO;
  if (write_code(code, path))
    status = ink_verify_file(path, wanted, out, error);
  else
    ink_error_set(error, status, "cannot write the code of the capture to '%s'", path);
  unlink(path);
  return status;
}

static bool add_maps(stall_capture *c, ink_verify *verify) {
  const ink_verify_map *maps;
  const size_t n = ink_verify_maps(verify, &maps);
  ink_verify_map *grown = realloc(c->maps, (c->map_count + n + 1) * sizeof *grown);
  if (!grown)
    return false;
  memcpy(grown + c->map_count, maps, n * sizeof *maps);
  c->maps = grown;
  c->map_count += n;
  c->verified[c->verified_count++] = verify;
  return true;
}

/* INK_ERROR_EMPTY of a code without -lineinfo is the first failure too. */
static ink_status map_codes(stall_capture *c, const ink_verify_options *wanted, ink_error *error) {
  const ink_code *codes;
  const size_t n = ink_capture_codes(c->loaded.capture, &codes);
  ink_status first = INK_OK;
  if (c->verified)
    return INK_OK;
  c->verified = calloc(n + 1, sizeof *c->verified);
  for (size_t i = 0; i < n && c->verified; i++) {
    ink_verify *verify = NULL;
    ink_status status = verify_code(&codes[i], wanted, &verify, first ? NULL : error);
    if (!status && !add_maps(c, verify)) {
      ink_verify_free(verify);
      status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the code");
    }
    first = first ? first : status;
  }
  return c->map_count ? INK_OK : first ? first : ink_error_set(error, INK_ERROR_EMPTY, "it holds no code with marks");
}

bool stall_capture_maps(stall_capture *c, const ink_verify_options *wanted) {
  ink_error error = {0};
  error.status = map_codes(c, wanted, &error);
  if (!error.status)
    return true;
  message_say("the code in '%s' cannot be mapped: %s; or name a build of it with -lineinfo by '--code PROGRAM'", c->loaded.path, error.message);
  return false;
}

/* ---- joining ---- */

static bool make_rows(stall_table *t, const ink_verify_map *map) {
  t->rows = calloc(map->instruction_count + 1, sizeof *t->rows);
  for (size_t i = 0; i < map->instruction_count && t->rows; i++) {
    t->rows[i] = (stall_row){.address = map->instructions[i].offset, .reasons = calloc(t->reason_count + 1, sizeof(double))};
    if (!t->rows[i].reasons)
      return false;
    t->row_count++;
  }
  return t->rows != NULL;
}

/* Samples by the rows' addresses, both sorted; how many lie on none. */
static double fill_rows(stall_table *t) {
  const stall_function *f = t->sampled;
  double outside = 0;
  size_t at = 0;
  for (size_t i = 0; i < f->count; i++) {
    const double samples = (double)f->stalls[i].samples;
    while (at < t->row_count && t->rows[at].address < f->stalls[i].offset)
      at++;
    if (at == t->row_count || t->rows[at].address != f->stalls[i].offset) {
      outside += samples;
      continue;
    }
    t->rows[at].samples += samples;
    for (size_t r = 0; r < t->reason_count; r++)
      if (strcmp(t->reasons[r], short_reason(f->stalls[i].reason)) == 0)
        t->rows[at].reasons[r] += samples;
  }
  return outside;
}

static const ink_verify_map *map_of(const stall_function *f, const ink_verify_map *maps, size_t n) {
  for (size_t m = 0; m < n && f->hash[0]; m++)
    if (maps[m].code_hash && strcmp(maps[m].code_hash, f->hash) == 0 && strcmp(maps[m].name, f->stalls->function) == 0)
      return &maps[m];
  return NULL;
}

/* By the texts of the instructions, as of Nsight Compute's page. Line information is not needed for that. */
static bool describe(stall_capture *c, stall_table *t, const ink_verify_map *maps, size_t n, stall_difference *difference) {
  const stall_function *f = t->sampled;
  const ink_verify_options all = {.size = sizeof all, .kernel_regex = f->stalls->function, .without_stamps = true, .map = true};
  const ink_verify_map *own = NULL, *found;
  ink_verify *verify = NULL;
  size_t bytes = 1;
  *difference = (stall_difference){0};
  if (f->hash[0] && verify_code(f->code, &all, &verify, NULL) == INK_OK) {
    const size_t count = ink_verify_maps(verify, &found);
    own = map_of(f, found, count);
  }
  for (size_t i = 0; own && i < own->instruction_count; i++)
    bytes += own->instructions[i].text_bytes + 1;
  char *texts = own && make_rows(t, own) ? malloc(bytes) : NULL, *to = texts;
  for (size_t i = 0; texts && i < own->instruction_count; i++) {
    t->rows[i].text = to;
    memcpy(to, own->instructions[i].text, own->instructions[i].text_bytes);
    to += own->instructions[i].text_bytes;
    *to++ = 0;
  }
  if (texts)
    stall_find_map(t, maps, n, difference);
  free(c->texts);
  c->texts = texts; /* which the difference names */
  const bool fine = !own || texts;
  ink_verify_free(verify);
  return fine;
}

const ink_verify_map *stall_capture_find(stall_capture *c, stall_table *t, const ink_verify_map *maps, size_t n,
                                         stall_difference *difference, bool *fine) {
  const ink_verify_map *map = map_of(t->sampled, maps, n);
  *fine = map ? make_rows(t, map) : describe(c, t, maps, n, difference);
  if (!*fine)
    message_say("out of memory for the samples");
  if (!map || !*fine)
    return NULL;
  const double outside = fill_rows(t);
  if (outside > 0)
    message_say("%.0f samples of '%s' lie on no instruction of it: left out", outside, t->kernel);
  return map;
}
