/* SPDX-License-Identifier: MIT */
/* Finds in the text of a source the lines on which sections are marked: calls of the PROF_ macros outside of comments and
 * strings. No preprocessor: what stands in the text counts, whether or not it is compiled.
 */
#include "capture_private.h"
#include "source_text.h"

#include <stdlib.h>
#include <string.h>

/* What a text can cost: calls that are looked at, bytes of one that are read, sections of one name. */
enum { CALLS_MAX = 20000, CALL_BYTES_MAX = 4096, ARGUMENT_BYTES_MAX = 256, ALIKE_MAX = 64 };

typedef struct reading {
  const ink_capture *capture;
  const ink_source *source;
  const char *at, *end;
  uint32_t line, calls;
  const ink_section *sections;
  size_t section_count;
  ink_section_index *by_name; /* [section_count] */
  INK_I_LIST(ink_source_mark) marks;
} reading;

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* ---- walking over the text ------------------------------------------------------------------ */

static void step(reading *r, size_t n) {
  for (; n && r->at < r->end; n--)
    r->line += *r->at++ == '\n';
}

static bool begins(const reading *r, const char *text) {
  const size_t n = strlen(text);
  return (size_t)(r->end - r->at) >= n && !memcmp(r->at, text, n);
}

/* To behind the next `text`, or to the end. */
static void step_behind(reading *r, const char *text) {
  while (r->at < r->end && !begins(r, text))
    step(r, 1);
  step(r, strlen(text));
}

/* R"delimiter( ... )delimiter" */
static void step_raw(reading *r) {
  char close[20] = ")";
  size_t n = 0;
  const char *from = r->at + 2;
  while (n < 16 && from + n < r->end && from[n] != '(' && !is_space(from[n]))
    n++;
  if (from + n >= r->end || from[n] != '(') {
    step(r, 2);
    return;
  }
  memcpy(close + 1, from, n);
  close[1 + n] = '"';
  step(r, 3 + n);
  step_behind(r, close);
}

static void step_quoted(reading *r) {
  const char quote = *r->at;
  step(r, 1);
  while (r->at < r->end && *r->at != quote && *r->at != '\n')
    step(r, *r->at == '\\' ? 2 : 1);
  step(r, 1);
}

/* Over a comment, a string or a character; false: none begins here. A `'` behind a digit parts a number. */
static bool step_over(reading *r) {
  const char before = r->at > r->source->text ? r->at[-1] : ' ';
  if (begins(r, "//"))
    step_behind(r, "\n");
  else if (begins(r, "/*"))
    step_behind(r, "*/");
  else if (begins(r, "R\"") && !ink_source_is_name(before))
    step_raw(r);
  else if (*r->at == '"' || (*r->at == '\'' && !ink_source_is_name(before)))
    step_quoted(r);
  else
    return false;
  return true;
}

/* ---- one macro ------------------------------------------------------------------------------ */

/* Argument `wanted` of the call whose '(' is next, without comments and spaces; the rest of the call is left to be read. */
static bool argument(reading from, unsigned wanted, char out[ARGUMENT_BYTES_MAX]) {
  unsigned depth = 0, number = 0;
  size_t n = 0;
  if (from.end - from.at > CALL_BYTES_MAX)
    from.end = from.at + CALL_BYTES_MAX;
  for (step(&from, 1); from.at < from.end;) {
    if (step_over(&from))
      continue;
    const char c = *from.at;
    if (depth == 0 && (c == ')' || c == ',')) {
      if (number++ == wanted || c == ')')
        break;
    } else if (number == wanted && !is_space(c) && n + 1 < ARGUMENT_BYTES_MAX) {
      out[n++] = c;
    }
    if (c == '(' || c == '[' || c == '{')
      depth++;
    else if (depth && (c == ')' || c == ']' || c == '}'))
      depth--;
    step(&from, 1);
  }
  out[n] = 0;
  return n > 0;
}

static bool keep(reading *r, uint32_t line, ink_section_index section, bool begins_here) {
  if (!INK_I_ROOM(r->marks))
    return false;
  r->marks.items[r->marks.count++] = (ink_source_mark){.line = line, .section = section, .begins = begins_here};
  return true;
}

static bool same_name(const char *name, const char *text, size_t n) { return strlen(name) == n && !memcmp(name, text, n); }

/* Sorts indices by the names of their sections, of one name by index. */
static int by_name(const void *left, const void *right, void *user) {
  const ink_section *sections = user;
  const ink_section_index a = *(const ink_section_index *)left, b = *(const ink_section_index *)right;
  const int order = strcmp(sections[a].name, sections[b].name);
  return order ? order : (a > b) - (a < b);
}

static bool sort_names(reading *r) {
  r->section_count = ink_capture_sections(r->capture, &r->sections);
  r->by_name = malloc((r->section_count + 1) * sizeof *r->by_name);
  for (size_t i = 0; r->by_name && i < r->section_count; i++)
    r->by_name[i] = (ink_section_index)i;
  if (r->by_name)
    qsort_r(r->by_name, r->section_count, sizeof *r->by_name, by_name, (void *)(uintptr_t)r->sections);
  return r->by_name != NULL;
}

static size_t first_of_name(const reading *r, const char *name) {
  size_t low = 0, high = r->section_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(r->sections[r->by_name[middle]].name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* "Load", "Solver::Load", "::app::Solver::Load": the table's own where it is named, else one of a table of this file, else
 * of any table that the capture has. */
static ink_section_index find_section(const reading *r, const char *text) {
  size_t table_bytes = 0;
  const char *name = text, *table = text;
  for (const char *colons; (colons = strstr(name, "::")); name = colons + 2) {
    table = name;
    table_bytes = (size_t)(colons - name);
  }
  ink_section_index other = INK_SECTION_UNKNOWN;
  const size_t first = first_of_name(r, name);
  for (size_t i = first; i < r->section_count && i < first + ALIKE_MAX; i++) {
    const ink_section *section = &r->sections[r->by_name[i]];
    if (strcmp(section->name, name))
      break;
    if (table_bytes && !same_name(section->table->name, table, table_bytes))
      continue;
    if (!strcmp(section->table->file, r->source->file))
      return r->by_name[i];
    other = other == INK_SECTION_UNKNOWN ? r->by_name[i] : other;
  }
  return other;
}

/* PROF_MARK_ID: whichever section of the table. */
static bool keep_table(reading *r, uint32_t line, const char *text) {
  const char *name = text;
  for (const char *colons; (colons = strstr(name, "::")); name = colons + 2)
    continue;
  bool fine = true;
  for (size_t i = 0; i < r->section_count && fine && r->marks.count < CALLS_MAX; i++)
    if (!strcmp(r->sections[i].table->name, name))
      fine = keep(r, line, (ink_section_index)i, false);
  return fine;
}

static bool has_ending(const char *text, size_t n, const char *ending) {
  const size_t m = strlen(ending);
  return n >= m && !memcmp(text + n - m, ending, m);
}

static bool has_part(const char *text, size_t n, const char *part) {
  const size_t m = strlen(part);
  for (size_t i = 0; i + m <= n; i++)
    if (!memcmp(text + i, part, m))
      return true;
  return false;
}

/* The name of a macro ends at r->at. */
static bool take_call(reading *r, const char *macro, size_t n, uint32_t line) {
  static const char prefix[] = "PROF_";
  const reading after = *r;
  reading next = after;
  char text[ARGUMENT_BYTES_MAX];
  if (n <= sizeof prefix - 1 || memcmp(macro, prefix, sizeof prefix - 1))
    return true;
  while (next.at < next.end && is_space(*next.at))
    step(&next, 1);
  if (next.at >= next.end || *next.at != '(' || same_name("PROF_SECTIONS", macro, n) ||
      r->calls++ >= CALLS_MAX || !argument(next, has_ending(macro, n, "_IF"), text))
    return true;
  if (same_name("PROF_MARK_ID", macro, n))
    return keep_table(r, line, text);
  const ink_section_index section = find_section(r, text);
  return section == INK_SECTION_UNKNOWN || keep(r, line, section, has_part(macro, n, "_BEGIN"));
}

/* ---- what the rewriter marked ---------------------------------------------------------------- */

uint32_t ink_source_line_at(const char *open, const char *file) {
  const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
  const size_t n = strlen(base);
  char *end;
  if (!n || strncmp(open + 1, base, n) || open[1 + n] != ':')
    return 0;
  const unsigned long line = strtoul(open + n + 2, &end, 10);
  return end > open + n + 2 && (*end == ')' || *end == ',') && line < UINT32_MAX ? (uint32_t)line : 0;
}

static bool take_names(reading *r, uint32_t lines) {
  bool fine = true;
  for (size_t i = 0; i < r->section_count && fine; i++) {
    const ink_section *section = &r->sections[i];
    const char *open = strcmp(section->table->file, r->source->file) ? NULL : strrchr(section->name, '(');
    const uint32_t line = open ? ink_source_line_at(open, r->source->file) : 0;
    if (line && line <= lines)
      fine = keep(r, line, (ink_section_index)i, false);
  }
  return fine;
}

static int by_line(const void *left, const void *right) {
  const ink_source_mark *a = left, *b = right;
  return a->line != b->line ? (a->line < b->line ? -1 : 1) : (a->section > b->section) - (a->section < b->section);
}

ink_status ink_source_marks(const ink_capture *capture, const ink_source *source, ink_source_mark **out, size_t *count,
                            ink_error *error) {
  reading r = {.capture = capture, .source = source, .at = source->text, .end = source->text + source->bytes, .line = 1};
  bool fine = sort_names(&r);
  while (fine && r.at < r.end) {
    if (step_over(&r))
      continue;
    if (!ink_source_is_name(*r.at)) {
      step(&r, 1);
      continue;
    }
    const char *from = r.at;
    while (r.at < r.end && ink_source_is_name(*r.at))
      r.at++;
    fine = take_call(&r, from, (size_t)(r.at - from), r.line);
  }
  fine = fine && take_names(&r, r.line);
  free(r.by_name);
  if (!fine) {
    free(r.marks.items);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the lines of a source");
  }
  if (r.marks.count)
    qsort(r.marks.items, r.marks.count, sizeof *r.marks.items, by_line);
  *out = r.marks.items;
  *count = r.marks.count;
  return INK_OK;
}
