/* SPDX-License-Identifier: MIT */
/* Prints places, reasons and remarks of a run of the rewriter. */
#include "instrument_list.h"

#include "message.h"
#include "text_out.h"

#include <string.h>

static void count(const ink_instrumented *result, ink_place_kind kind, unsigned *marked,
                  unsigned *left) {
  const ink_place *places;
  const size_t n = ink_instrumented_places(result, &places);
  *marked = *left = 0;
  for (size_t i = 0; i < n; i++) {
    *marked += places[i].kind == kind && places[i].state == INK_PLACE_MARKED;
    *left += places[i].kind == kind && places[i].state == INK_PLACE_LEFT;
  }
}

static void print_counts(const ink_instrumented *result, FILE *to) {
  for (int kind = INK_PLACE_KERNEL; kind <= INK_PLACE_SETUP; kind++) {
    unsigned marked, left;
    count(result, (ink_place_kind)kind, &marked, &left);
    if (marked || left)
      text_print(to, "%s%u %s%s", kind ? ", " : "", marked, ink_place_kind_word((ink_place_kind)kind),
              marked == 1 ? "" : "s");
    else if (!kind)
      fputs("no kernels", to);
    if (left)
      text_print(to, " (%u left alone)", left);
  }
  fputc('\n', to);
}

/* Before place `at` no other has its section. */
static bool is_new_section(const ink_place *places, size_t at) {
  for (size_t i = 0; i < at; i++)
    if (places[i].state == INK_PLACE_MARKED && !strcmp(places[i].section, places[at].section))
      return false;
  return true;
}

void instrument_summary(const ink_instrumented *result, const char *source, FILE *to) {
  const ink_place *places;
  const size_t n = ink_instrumented_places(result, &places);
  unsigned kernels, roles, left = 0, others = 0, sections = 0, kind_left;
  count(result, INK_PLACE_ROLE, &roles, &left);
  count(result, INK_PLACE_KERNEL, &kernels, &left);
  for (int kind = INK_PLACE_KERNEL + 1; kind <= INK_PLACE_SETUP; kind++) {
    count(result, (ink_place_kind)kind, &others, &kind_left);
    left += kind == INK_PLACE_CONTEXT ? 0 : kind_left;
  }
  for (size_t i = 0; i < n; i++)
    sections += places[i].state == INK_PLACE_MARKED && places[i].kind != INK_PLACE_KERNEL &&
                places[i].kind != INK_PLACE_ROLE && *places[i].section && is_new_section(places, i);
  text_print(to, "'%s': ", source);
  if (!n)
    fputs("no kernels", to);
  else
    text_print(to, "%u kernel%s", kernels, kernels == 1 ? "" : "s");
  if (n && roles)
    text_print(to, ", %u role%s", roles, roles == 1 ? "" : "s");
  if (n)
    text_print(to, ", %u section%s", sections, sections == 1 ? "" : "s");
  if (left)
    text_print(to, ", %u place%s left (--list)", left, left == 1 ? "" : "s");
}

static bool is_classed(const char *text) {
  return !strncmp(text, "error: ", 7) || !strncmp(text, "warning: ", 9);
}

void instrument_list_text(const ink_instrumented *result, const char *source, FILE *to) {
  const ink_place *places;
  const ink_remark *remarks;
  const char *why;
  const char *parse = ink_instrumented_parse(result, &why);
  text_print(to, "%s: %s parse%s%s%s; ", source, parse, *why ? " (" : "", why, *why ? ")" : "");
  print_counts(result, to);
  const size_t n = ink_instrumented_places(result, &places);
  for (size_t i = 0; i < n; i++) {
    const ink_place *place = &places[i];
    text_print(to, "%s:%u:%u: %s %s", place->file, place->line, place->column,
            ink_place_kind_word(place->kind), place->name);
    if (place->kind != INK_PLACE_KERNEL && *place->function)
      text_print(to, " in %s", place->function);
    text_print(to, ": %s", ink_place_state_word(place->state));
    if (*place->section)
      text_print(to, " %s", place->section);
    if (place->end_line)
      text_print(to, " up to line %u", place->end_line);
    if (*place->held)
      text_print(to, " holds %s", place->held);
    if (*place->reason)
      text_print(to, ": %s", place->reason);
    fputc('\n', to);
  }
  const size_t said = ink_instrumented_remarks(result, &remarks);
  for (size_t i = 0; i < said; i++)
    text_print(to, "%s:%u:%u: %s%s\n", remarks[i].file, remarks[i].line, remarks[i].column,
            is_classed(remarks[i].text) ? "" : "note: ", remarks[i].text);
}

static void list_json(const ink_remark *remarks, size_t n, json_writer *json) {
  for (size_t i = 0; i < n; i++) {
    json_open_flat(json, NULL);
    json_string(json, "file", remarks[i].file);
    json_unsigned(json, "line", remarks[i].line);
    json_unsigned(json, "column", remarks[i].column);
    json_string(json, "text", remarks[i].text);
    json_close(json, '}');
  }
}

void instrument_list_json(const ink_instrumented *result, const char *source, json_writer *json) {
  const ink_place *places;
  const ink_remark *remarks;
  const char *why;
  json_open(json, NULL, '{');
  json_string(json, "file", source);
  json_string(json, "parse", ink_instrumented_parse(result, &why));
  json_string(json, "parse_reason", *why ? why : NULL);
  json_double(json, "parse_seconds", (double)ink_instrumented_parse_ns(result) / 1e9);
  json_bool(json, "already_marked", ink_instrumented_was_marked(result));
  const ink_remark *errors;
  size_t kept;
  json_unsigned(json, "parse_errors", ink_instrumented_parse_errors(result, &errors, &kept));
  json_open(json, "first_parse_errors", '[');
  list_json(errors, kept, json);
  json_close(json, ']');
  json_open(json, "places", '[');
  const size_t n = ink_instrumented_places(result, &places);
  for (size_t i = 0; i < n; i++) {
    const ink_place *place = &places[i];
    json_open_flat(json, NULL);
    json_string(json, "kind", ink_place_kind_word(place->kind));
    json_string(json, "state", ink_place_state_word(place->state));
    json_string(json, "file", place->file);
    json_unsigned(json, "line", place->line);
    json_unsigned(json, "column", place->column);
    if (place->end_line) {
      json_unsigned(json, "end_line", place->end_line);
      json_unsigned(json, "end_column", place->end_column);
    }
    json_string(json, "function", *place->function ? place->function : NULL);
    json_string(json, "name", place->name);
    json_string(json, "section", *place->section ? place->section : NULL);
    json_string(json, "held", *place->held ? place->held : NULL);
    json_string(json, "reason", *place->reason ? place->reason : NULL);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_open(json, "remarks", '[');
  const size_t said = ink_instrumented_remarks(result, &remarks);
  list_json(remarks, said, json);
  json_close(json, ']');
  json_close(json, '}');
}

unsigned instrument_say(const ink_instrumented *result, const char *source, bool all) {
  const ink_remark *remarks;
  const char *why;
  unsigned errors = 0;
  if (!strcmp(ink_instrumented_parse(result, &why), "header-less"))
    message_say("'%s' was parsed without the toolkit's headers: %s", source, why);
  const size_t n = ink_instrumented_remarks(result, &remarks);
  for (size_t i = 0; i < n; i++) {
    const bool error = !strncmp(remarks[i].text, "error: ", 7);
    errors += error;
    if (error || all || !strncmp(remarks[i].text, "warning: ", 9))
      message_say("%s:%u:%u: %s", remarks[i].file, remarks[i].line, remarks[i].column,
                  remarks[i].text);
  }
  return errors;
}

/* The source names kernels, and the errors in it let none be found. */
static bool is_lost(const ink_instrumented *result) {
  static const char word[] = "__global__";
  const ink_marked_file *files;
  const ink_place *places;
  const size_t n = ink_instrumented_places(result, &places);
  for (size_t i = 0; i < n; i++)
    if (places[i].state == INK_PLACE_MARKED || places[i].state == INK_PLACE_NOT_ASKED)
      return false;
  ink_instrumented_files(result, &files);
  return !ink_instrumented_was_marked(result) &&
         memmem(files[0].text, files[0].bytes, word, sizeof word - 1);
}

bool instrument_say_parse_errors(const ink_instrumented *result, const char *source) {
  const ink_remark *first;
  size_t kept;
  const size_t n = ink_instrumented_parse_errors(result, &first, &kept);
  const bool full = !strcmp(ink_instrumented_parse(result, NULL), "full");
  size_t shown = full ? 3 : 1; /* without headers one may follow from names that are unknown */
  shown = kept < shown ? kept : shown;
  bool absent = false;
  for (size_t i = 0; i < shown; i++) {
    message_say("%s:%u:%u: warning: clang says: %s", first[i].file, first[i].line, first[i].column,
                first[i].text);
    absent |= strstr(first[i].text, "file not found") != NULL;
  }
  if (n)
    message_say("'%s': %zu error%s in the %s parse: what stands there may not be marked%s", source,
                n, n == 1 ? "" : "s", full ? "full" : "header-less",
                absent && full ? " (the compiler's flags go behind --, or use -p)" : "");
  if (!n || !full || !is_lost(result))
    return true;
  message_say("'%s': no kernel can be marked because of these errors", source);
  return false;
}
