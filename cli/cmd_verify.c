/* SPDX-License-Identifier: MIT */
/* `inkmark verify`: says whether the machine code of each section lies between its stamps. */
#include "commands.h"
#include "grid.h"
#include "json.h"
#include "load.h"
#include "message.h"
#include "outfile.h"
#include "style.h"
#include "text_out.h"
#include "verify_against.h"
#include "verify_map.h"
#include "verify_sarif.h"

#include "inkmark/verify.h"

#include <stdlib.h>
#include <string.h>

#define VERIFY_FORMATS(X) X("text", VERIFY_TEXT) X("json", VERIFY_JSON) X("sarif", VERIFY_SARIF)
enum verify_format { VERIFY_FORMATS(CHOICE_CONSTANT) VERIFY_MAP /* of --map */ };

typedef struct verify_settings {
  cli_common common;
  bool bookkeeping, listing, lines, map;
  const char *kernels, *output, *against;
  int format;
} verify_settings;

static const cli_option options[] = {
    {'k', "kernel", CLI_TEXT, "REGEX", offsetof(verify_settings, kernels),
     "judge only functions whose name matches, mangled or as the source has it"},
    {'a', "against", CLI_TEXT, "FILE", offsetof(verify_settings, against),
     "compare with the same program without marks: instructions, registers, spills, waits side by side"},
    {'l', "lines", CLI_FLAG, NULL, offsetof(verify_settings, lines),
     "print the machine instructions of each source line, section by section"},
    {0, "listing", CLI_FLAG, NULL, offsetof(verify_settings, listing),
     "print the machine code, with the stamps named in their places"},
    {'m', "map", CLI_FLAG, NULL, offsetof(verify_settings, map),
     "instead of a verdict, write every instruction with the section that its time goes to, as JSON"},
    {'s', "strict", CLI_FLAG, NULL, offsetof(verify_settings, bookkeeping),
     "also judge moves, addresses and loop counters"},
    {'f', "format", CLI_CHOICE, CHOICE_WORDS(VERIFY_FORMATS), offsetof(verify_settings, format),
     "text (the default), the same facts for programs, or SARIF 2.1.0 for code review and editors"},
    {'o', "output", CLI_TEXT, "FILE", offsetof(verify_settings, output),
     "where to write; - (the default) is standard output"},
    {0},
};

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* "Search (line 12)", or the kernel's edge. */
static number_text stamp_text(const ink_verify_kernel *k, uint32_t stamp, bool after) {
  number_text text;
  if (stamp >= k->stamp_count)
    snprintf(text.text, sizeof text.text, after ? "the kernel's begin" : "the kernel's end");
  else
    snprintf(text.text, sizeof text.text, "%.30s (line %u)", k->stamps[stamp].name,
             k->stamps[stamp].line);
  return text;
}

/* Another mark of that name that has a clock read: it may stand for both. */
static const ink_verify_stamp *namesake(const ink_verify_kernel *k, const ink_verify_stamp *of) {
  for (size_t i = 0; i < k->stamp_count; i++)
    if (k->stamps[i].copies && strcmp(k->stamps[i].name, of->name) == 0 &&
        strcmp(k->stamps[i].macro, of->macro) == 0)
      return &k->stamps[i];
  return NULL;
}

static void print_removed(const ink_verify_kernel *k, const ink_verify_stamp *s, FILE *to) {
  const ink_verify_stamp *other = namesake(k, s);
  text_print(to, "  %sremoved%s  %s(%s) at %s:%u has no clock read in the machine code",
          style_code(to, STYLE_WARNING), style_code(to, STYLE_PLAIN), s->macro, s->name,
          base_name(s->file), s->line);
  if (other)
    text_print(to, ", or is merged with that at line %u", other->line);
  fputc('\n', to);
}

static void print_stamps(const ink_verify_kernel *k, FILE *to) {
  for (size_t i = 0; i < k->stamp_count; i++) {
    const ink_verify_stamp *s = &k->stamps[i];
    if (s->copies == 0)
      print_removed(k, s, to);
    else if (s->copies > 1)
      text_print(to, "  note     %s at %s:%u is there %u times: its code was unrolled or split\n",
              s->name, base_name(s->file), s->line, s->copies);
  }
}

/* The reciprocal of a divisor, as an integer division makes it, is what a compiler takes out of a loop. */
static bool is_division(const ink_verify_leak *leak) {
  return strstr(leak->instructions, "MUFU.RCP") && strstr(leak->instructions, "I2F") && strstr(leak->instructions, "F2I");
}

static void print_leaks(const ink_verify_kernel *k, FILE *to) {
  for (size_t i = 0; i < k->leak_count; i++) {
    const ink_verify_leak *leak = &k->leaks[i];
    text_print(to, "  %smoved%s    %s:%u: %s\n", style_code(to, STYLE_WARNING),
            style_code(to, STYLE_PLAIN), base_name(leak->file), leak->line, leak->instructions);
    text_print(to, "             belongs between %s and %s\n",
            stamp_text(k, leak->belongs_after, true).text,
            stamp_text(k, leak->belongs_before, false).text);
    text_print(to, "             lies    between %s and %s\n",
            stamp_text(k, leak->found_after, true).text,
            stamp_text(k, leak->found_before, false).text);
    if (is_division(leak))
      text_print(to, "             of an integer division: the divisor is the same in every round; a mark in front of it "
                     "that names it (PROF_MARK_LOADED(S, divisor)) keeps it in place\n");
  }
}

static void print_gone(const ink_verify_kernel *k, FILE *to) {
  for (size_t i = 0; i < k->gone_count; i++) {
    const ink_verify_gone *gone = &k->gone[i];
    char lines[40];
    if (gone->first_line == gone->last_line)
      snprintf(lines, sizeof lines, "line %u", gone->first_line);
    else
      snprintf(lines, sizeof lines, "lines %u-%u", gone->first_line, gone->last_line);
    text_print(to, "  %sgone%s     %s: no instruction of %s, between %s and %s, is left in the machine code\n",
               style_code(to, STYLE_WARNING), style_code(to, STYLE_PLAIN), base_name(gone->file), lines,
               stamp_text(k, gone->after, true).text, stamp_text(k, gone->before, false).text);
  }
}

static void print_lines(const ink_verify_kernel *k, FILE *to) {
  text_grid *grid = grid_new();
  if (!grid)
    return;
  grid_column(grid, GRID_LEFT, "after");
  grid_column(grid, GRID_LEFT, "before");
  grid_column(grid, GRID_RIGHT, "line");
  grid_column(grid, GRID_RIGHT, "instructions");
  for (size_t i = 0; i < k->line_count; i++) {
    grid_cell(grid, "%s", stamp_text(k, k->lines[i].after, true).text);
    grid_cell(grid, "%s", stamp_text(k, k->lines[i].before, false).text);
    grid_cell(grid, "%u", k->lines[i].line);
    grid_cell(grid, "%u", k->lines[i].count);
  }
  grid_print(grid, to, 2);
  grid_free(grid);
}

/* A line of the disassembly: its tabs are its own. */
static void print_line(const char *line, size_t length, FILE *to) {
  for (const char *tab; (tab = memchr(line, '\t', length)); length -= (size_t)(tab + 1 - line), line = tab + 1)
    text_print(to, "%.*s\t", (int)(tab - line), line);
  text_print(to, "%.*s", (int)length, line);
}

/* Every line of the function, with a word behind those that have a remark. */
static void print_listing(const ink_verify *verify, const ink_verify_kernel *k, FILE *to) {
  size_t bytes, next = 0;
  const char *text = ink_verify_text(verify, &bytes);
  for (size_t at = k->listing_begin; at < bytes && at <= k->listing_end;) {
    const char *newline = memchr(text + at, '\n', bytes - at);
    const size_t length = newline ? (size_t)(newline - text) - at : bytes - at;
    const ink_verify_remark *remark =
        next < k->remark_count && k->remarks[next].at == at ? &k->remarks[next++] : NULL;
    const bool stamp = remark && remark->stamp < k->stamp_count;
    const char *location = memmem(text + at, length, "//## File", 9);
    fputs(style_code(to, stamp ? STYLE_BOLD : remark ? STYLE_WARNING
                            : location ? STYLE_DIM : STYLE_PLAIN), to);
    print_line(text + at, length, to);
    if (stamp)
      text_print(to, "   <== %s %s", k->stamps[remark->stamp].macro, k->stamps[remark->stamp].name);
    else if (remark)
      text_print(to, "   <== moved, of line %u", k->leaks[remark->leak].line);
    text_print(to, "%s\n", style_code(to, STYLE_PLAIN));
    at += length + 1;
  }
}

static void print_text(const verify_settings *settings, const char *path, const ink_verify *verify,
                       const ink_verify *plain, FILE *to) {
  const ink_verify_kernel *kernels;
  const size_t n = ink_verify_kernels(verify, &kernels);
  for (size_t i = 0; i < n; i++) {
    const ink_verify_kernel *k = &kernels[i];
    text_print(to, "%s%s%s (%s, %s): %zu stamp%s, %u instructions judged, ",
            style_code(to, STYLE_BOLD), k->shown, style_code(to, STYLE_PLAIN),
            base_name(path), k->target, k->stamp_count, k->stamp_count == 1 ? "" : "s",
            k->instructions);
    if (k->moved || k->gone_count) {
      text_print(to, "%s%u moved", style_code(to, STYLE_WARNING), k->moved);
      if (k->gone_count)
        text_print(to, ", %zu range%s of the source gone", k->gone_count, k->gone_count == 1 ? "" : "s");
      text_print(to, "%s\n", style_code(to, STYLE_PLAIN));
    } else {
      text_print(to, k->unknown ? "held as far as could be judged\n" : "all held\n");
    }
    if (k->unknown)
      text_print(to, "  note     %u more instructions not judged: of a mark's own line, or reached through a return address\n",
              k->unknown);
    print_stamps(k, to);
    print_leaks(k, to);
    print_gone(k, to);
    if (plain)
      verify_against_print(verify_against_find(plain, k), k, settings->against, to);
    if (settings->lines)
      print_lines(k, to);
    if (settings->listing)
      print_listing(verify, k, to);
  }
}

static void json_stamp(json_writer *json, const char *key, const ink_verify_kernel *k, uint32_t at) {
  if (at < k->stamp_count)
    json_unsigned(json, key, at);
  else
    json_string(json, key, NULL);
}

static void json_kernel(json_writer *json, const char *path, const ink_verify_kernel *k, const ink_verify *plain) {
  json_open(json, NULL, '{');
  json_string(json, "file", path);
  json_string(json, "kernel", k->name);
  json_string(json, "demangled", k->demangled);
  json_string(json, "target", k->target);
  json_unsigned(json, "instructions", k->instructions);
  json_unsigned(json, "moved", k->moved);
  json_unsigned(json, "not_judged", k->unknown);
  json_open(json, "stamps", '[');
  for (size_t i = 0; i < k->stamp_count; i++) {
    json_open_flat(json, NULL);
    json_string(json, "name", k->stamps[i].name);
    json_string(json, "macro", k->stamps[i].macro);
    json_string(json, "file", k->stamps[i].file);
    json_unsigned(json, "line", k->stamps[i].line);
    json_unsigned(json, "copies", k->stamps[i].copies);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_open(json, "leaks", '[');
  for (size_t i = 0; i < k->leak_count; i++) {
    const ink_verify_leak *leak = &k->leaks[i];
    json_open_flat(json, NULL);
    json_string(json, "file", leak->file);
    json_unsigned(json, "line", leak->line);
    json_unsigned(json, "count", leak->count);
    json_string(json, "instructions", leak->instructions);
    json_stamp(json, "belongs_after", k, leak->belongs_after);
    json_stamp(json, "belongs_before", k, leak->belongs_before);
    json_stamp(json, "found_after", k, leak->found_after);
    json_stamp(json, "found_before", k, leak->found_before);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_open(json, "gone", '[');
  for (size_t i = 0; i < k->gone_count; i++) {
    json_open_flat(json, NULL);
    json_string(json, "file", k->gone[i].file);
    json_unsigned(json, "first_line", k->gone[i].first_line);
    json_unsigned(json, "last_line", k->gone[i].last_line);
    json_stamp(json, "after", k, k->gone[i].after);
    json_stamp(json, "before", k, k->gone[i].before);
    json_close(json, '}');
  }
  json_close(json, ']');
  verify_against_json(json, plain ? verify_against_find(plain, k) : NULL, k);
  json_close(json, '}');
}

/* Where the file has functions with marks, but none that --kernel matches: says which; else false. */
static bool say_no_function(const verify_settings *settings, const char *path) {
  const ink_verify_options all = {.size = sizeof all, .bookkeeping = settings->bookkeeping};
  ink_verify *verify = NULL;
  if (ink_verify_file(path, &all, &verify, NULL))
    return false;
  const ink_verify_kernel *kernels;
  const size_t n = ink_verify_kernels(verify, &kernels);
  const char **names = malloc((n + 1) * sizeof *names);
  for (size_t i = 0; names && i < n; i++)
    names[i] = kernels[i].shown;
  const bool some = names && n;
  if (some)
    load_say_no_match(path, settings->kernels, names, n);
  free(names);
  ink_verify_free(verify);
  return some;
}

/* At the first file that could be read: where none can, nothing is written. */
static void json_begin(json_writer *json) {
  json_open(json, NULL, '{');
  json_unsigned(json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_open(json, "kernels", '[');
}

static void json_end(json_writer *json) {
  json_close(json, ']');
  json_close(json, '}');
  fputc('\n', json->to);
}

/* Over all files. */
typedef struct totals {
  size_t kernels, held, unknown; /* unknown: with instructions that were not judged, and nothing found */
  size_t harmed; /* against the plain build */
  uint64_t instructions, moved, gone;
} totals;

static void count(totals *sum, const ink_verify_kernel *k, const ink_verify_kernel *plain) {
  sum->harmed += plain && verify_against_harms(plain, k);
  sum->kernels++;
  sum->instructions += k->instructions;
  sum->moved += k->moved;
  sum->gone += k->gone_count;
  if (!k->moved && !k->gone_count) {
    sum->held += !k->unknown;
    sum->unknown += k->unknown != 0;
  }
}

static void print_totals(const totals *sum, FILE *to) {
  text_print(to, "%zu functions, %llu instructions judged: %zu held", sum->kernels, (unsigned long long)sum->instructions,
             sum->held);
  if (sum->unknown)
    text_print(to, ", %zu held as far as could be judged", sum->unknown);
  text_print(to, ", %zu not", sum->kernels - sum->held - sum->unknown);
  text_print(to, " (%llu instructions moved, %llu ranges gone)", (unsigned long long)sum->moved,
             (unsigned long long)sum->gone);
  if (sum->harmed)
    text_print(to, "; %zu with spills or waits that the plain build has not", sum->harmed);
  fputc('\n', to);
}

/* Adds to *sum; false after a message. */
static bool verify_one(const verify_settings *settings, const char *path, json_writer *json,
                       const ink_verify *plain, bool *begun, totals *sum) {
  const ink_verify_options wanted = {.size = sizeof wanted, .bookkeeping = settings->bookkeeping,
                                     .kernel_regex = settings->kernels, .map = settings->map};
  ink_verify *verify = NULL;
  ink_error error = {0};
  if (ink_verify_file(path, &wanted, &verify, &error)) {
    if (!settings->kernels || !say_no_function(settings, path))
      message_failure(&error);
    return false;
  }
  const ink_verify_kernel *kernels;
  const size_t n = ink_verify_kernels(verify, &kernels);
  if (settings->format != VERIFY_TEXT && !*begun) {
    if (settings->format == VERIFY_JSON)
      json_begin(json);
    else if (settings->format == VERIFY_MAP)
      verify_map_begin(json);
    else
      verify_sarif_begin(json);
    *begun = true;
  }
  if (settings->format == VERIFY_MAP)
    verify_map_add(json, path, verify);
  for (size_t i = 0; i < n && settings->format != VERIFY_MAP; i++) {
    count(sum, &kernels[i], plain ? verify_against_find(plain, &kernels[i]) : NULL);
    if (settings->format == VERIFY_JSON)
      json_kernel(json, path, &kernels[i], plain);
    else if (settings->format == VERIFY_SARIF)
      verify_sarif_kernel(json, &kernels[i]);
  }
  if (settings->format == VERIFY_TEXT)
    print_text(settings, path, verify, plain, json->to);
  ink_verify_free(verify);
  return true;
}

static int run(int argc, char **argv) {
  verify_settings settings = {0};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_verify, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (!cli_check_regex(&cmd_verify, "--kernel", settings.kernels))
    return CLI_USAGE;
  if (settings.map && (settings.format != VERIFY_TEXT || settings.against || settings.listing || settings.lines))
    return cli_usage_error(&cmd_verify, "'--map' goes with neither '--format', '--against', '--listing' nor '--lines'");
  if (settings.map)
    settings.format = VERIFY_MAP;
  ink_verify *plain = NULL;
  const ink_verify_options every = {.size = sizeof every, .without_stamps = true, .kernel_regex = settings.kernels};
  ink_error error = {0};
  if (settings.against && ink_verify_file(settings.against, &every, &plain, &error)) {
    message_failure(&error);
    return CLI_FAILED;
  }
  outfile file;
  if (!outfile_open_for(&file, settings.output, argv, operands)) {
    ink_verify_free(plain);
    return CLI_FAILED;
  }
  json_writer json = {.to = file.stream};
  bool fine = true, begun = false;
  totals sum = {0};
  for (size_t i = 0; i < operands; i++)
    fine = verify_one(&settings, argv[i], &json, plain, &begun, &sum) && fine;
  ink_verify_free(plain);
  if (begun && settings.format == VERIFY_JSON)
    json_end(&json);
  else if (begun && settings.format == VERIFY_MAP)
    verify_map_end(&json);
  else if (begun)
    verify_sarif_end(&json);
  else if (sum.kernels > 1)
    print_totals(&sum, json.to);
  fine = outfile_close(&file, fine) && fine;
  return !fine ? CLI_FAILED : sum.moved || sum.gone || sum.harmed ? CLI_CHECK_FAILED : CLI_OK;
}

const cli_command cmd_verify = {
    .name = "verify",
    .summary = "read the machine code: is each section's work between its stamps?",
    .operands = "FILE...",
    .about = "FILE is a cubin, or a program, object or library with machine code (-arch=sm_XX) and line "
             "information (-lineinfo). verify needs nvdisasm from the CUDA toolkit or PyPI, and cuobjdump for "
             "anything but a cubin.\n\nAn instruction has moved if no stamps around it in the machine code "
             "have its source line between them. Code on a mark's own line is taken to be on the right side, "
             "because the disassembly has no columns. A line between two marks is gone if it computes "
             "something and has no instruction left: it was fused with what stands behind the mark, or folded. "
             "With --against, these are harm: new spills, new waits, and matrix instructions that are done one "
             "by one. Exit code 3: something moved, is gone, or harm was done.\n\nWith --map nothing is judged.",
    .examples = "inkmark verify solver.cubin\twhere the compiler moved work across a mark\n"
                "inkmark verify --listing -k step app\tthe machine code with the marks in place\n"
                "inkmark verify --format sarif -o marks.sarif app\tevery kernel of a program, for code review\n"
                "inkmark verify --map -o map.json app\tthe section of every machine instruction",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .operand_kind = "program",
    .run = run,
};
