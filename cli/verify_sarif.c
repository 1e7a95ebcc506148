/* SPDX-License-Identifier: MIT */
/* One run of SARIF: a rule for each kind of finding, a result for each finding, at the user's line. */
#include "verify_sarif.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *id, *name, *summary, *help;
} rules[] = {
    {"INK0001", "WorkMoved", "Machine instructions of this line lie on the wrong side of a mark.",
     "The section's time does not cover this work. Name the values in the mark, or use PROF_MARK_STRICT."},
    {"INK0002", "WorkGone", "Of these lines, between two marks, no machine instruction is left.",
     "The assembler fused the work with what stands behind the mark, or folded it. PROF_MARK_STRICT keeps it."},
    {"INK0003", "MarkRemoved", "This mark has no clock read in the machine code.",
     "No machine code of this function reaches the mark."},
};
enum { MOVED, GONE, REMOVED };

/* A path as a URI reference: absolute ones with their scheme. */
static char *uri_of(const char *path) {
  const size_t bytes = strlen(path);
  char *uri = malloc(bytes * 3 + 8), *to = uri;
  if (!uri)
    return NULL;
  if (*path == '/')
    to = stpcpy(to, "file://");
  for (const unsigned char *at = (const unsigned char *)path; *at; at++) {
    if (isalnum(*at) || strchr("/-._~", *at))
      *to++ = (char)*at;
    else
      to += snprintf(to, 4, "%%%02X", *at);
  }
  *to = 0;
  return uri;
}

static void text(json_writer *json, const char *key, const char *value) {
  json_open_flat(json, key);
  json_string(json, "text", value);
  json_close(json, '}');
}

void verify_sarif_begin(json_writer *json) {
  json_open(json, NULL, '{');
  json_string(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json_string(json, "version", "2.1.0");
  json_open(json, "runs", '[');
  json_open(json, NULL, '{');
  json_open(json, "tool", '{');
  json_open(json, "driver", '{');
  json_string(json, "name", "inkmark");
  json_string(json, "semanticVersion", INKMARK_VERSION);
  json_open(json, "rules", '[');
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    json_open(json, NULL, '{');
    json_string(json, "id", rules[i].id);
    json_string(json, "name", rules[i].name);
    text(json, "shortDescription", rules[i].summary);
    text(json, "fullDescription", rules[i].summary);
    text(json, "help", rules[i].help);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
  json_close(json, '}');
  json_string(json, "columnKind", "utf16CodeUnits");
  json_open(json, "results", '[');
}

/* An object that is open when `key` is NULL and stays so. */
static void place(json_writer *json, const char *key, const char *file, uint32_t first, uint32_t last) {
  char *uri = uri_of(file);
  json_open(json, key, '{');
  json_open_flat(json, "artifactLocation");
  json_string(json, "uri", uri ? uri : "");
  json_close(json, '}');
  json_open_flat(json, "region");
  json_unsigned(json, "startLine", first ? first : 1);
  if (last > first)
    json_unsigned(json, "endLine", last);
  json_close(json, '}');
  json_close(json, '}');
  free(uri);
}

static void begin_result(json_writer *json, int rule, const char *level, const char *message, const char *file,
                         uint32_t first, uint32_t last, const ink_verify_kernel *kernel) {
  json_open(json, NULL, '{');
  json_string(json, "ruleId", rules[rule].id);
  json_unsigned(json, "ruleIndex", (uint64_t)rule);
  json_string(json, "level", level);
  text(json, "message", message);
  json_open(json, "locations", '[');
  json_open(json, NULL, '{');
  place(json, "physicalLocation", file, first, last);
  json_open(json, "logicalLocations", '[');
  json_open_flat(json, NULL);
  json_string(json, "fullyQualifiedName", kernel->shown);
  json_string(json, "decoratedName", kernel->name);
  json_string(json, "kind", "function");
  json_close(json, '}');
  json_close(json, ']');
  json_close(json, '}');
  json_close(json, ']');
}

/* The marks that a finding names. */
static void marks_of(json_writer *json, const ink_verify_kernel *k, uint32_t a, uint32_t b) {
  json_open(json, "relatedLocations", '[');
  const uint32_t marks[] = {a, b};
  for (size_t i = 0; i < 2; i++) {
    if (marks[i] >= k->stamp_count || (i && a == b))
      continue;
    const ink_verify_stamp *s = &k->stamps[marks[i]];
    json_open(json, NULL, '{');
    json_unsigned(json, "id", i + 1);
    place(json, "physicalLocation", s->file, s->line, s->line);
    text(json, "message", s->name);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}

static const char *name_of(const ink_verify_kernel *k, uint32_t stamp, const char *edge) {
  return stamp < k->stamp_count ? k->stamps[stamp].name : edge;
}

void verify_sarif_kernel(json_writer *json, const ink_verify_kernel *k) {
  char message[1024];
  for (size_t i = 0; i < k->leak_count; i++) {
    const ink_verify_leak *l = &k->leaks[i];
    snprintf(message, sizeof message, "%.400s: belongs between '%.100s' and '%.100s', lies between '%.100s' and '%.100s'.",
             l->instructions, name_of(k, l->belongs_after, "the kernel's begin"),
             name_of(k, l->belongs_before, "the kernel's end"), name_of(k, l->found_after, "the kernel's begin"),
             name_of(k, l->found_before, "the kernel's end"));
    begin_result(json, MOVED, "warning", message, l->file, l->line, l->line, k);
    marks_of(json, k, l->belongs_after, l->belongs_before);
  }
  for (size_t i = 0; i < k->gone_count; i++) {
    const ink_verify_gone *g = &k->gone[i];
    snprintf(message, sizeof message, "No instruction of these lines, between '%.100s' and '%.100s', is left.",
             name_of(k, g->after, "the kernel's begin"), name_of(k, g->before, "the kernel's end"));
    begin_result(json, GONE, "warning", message, g->file, g->first_line, g->last_line, k);
    marks_of(json, k, g->after, g->before);
  }
  for (size_t i = 0; i < k->stamp_count; i++) {
    const ink_verify_stamp *s = &k->stamps[i];
    if (s->copies)
      continue;
    snprintf(message, sizeof message, "%.100s(%.100s) has no clock read in the machine code.", s->macro, s->name);
    begin_result(json, REMOVED, "note", message, s->file, s->line, s->line, k);
    json_close(json, '}');
  }
}

void verify_sarif_end(json_writer *json) {
  json_close(json, ']');
  json_close(json, '}');
  json_close(json, ']');
  json_close(json, '}');
  fputc('\n', json->to);
}
