/* SPDX-License-Identifier: MIT */
/* The section table of one source file: identifiers for the marks, and beside each the text that
 * reports show, `name (file:line)`. */
#include "inkmark/record.h"
#include "unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row has 60 slots: one for each section of its table, and two more for each but the track's own. */
enum { MOST_IN_ROW = 20 };

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The file as reports name it: its path below the root, which tells files of one name apart; of a file
 * outside the root the last two parts. Always the end of source->path. */
static const char *shown_path(const ink_unit *unit, const ink_source *source) {
  const size_t root = unit->root ? strlen(unit->root) : 0;
  const char *path = source->path ? source->path : source->shown, *from = path;
  if (root && !strncmp(path, unit->root, root) && path[root] == '/')
    return path + root + 1;
  for (const char *slash = strrchr(path, '/'); slash > path && from == path; slash--)
    if (slash[-1] == '/')
      from = slash;
  return from;
}

static bool is_taken(const ink_unit *unit, const char *name) {
  for (size_t i = 0; i < unit->sections.count; i++)
    if (!strcmp(unit->sections.items[i].name, name))
      return true;
  for (size_t i = 0; i < unit->declared.count; i++)
    if (!strcmp(unit->declared.items[i], name))
      return true;
  return false;
}

/* Takes ownership of both; NULL (and the run fails) when there is no room. */
static const char *add(ink_unit *unit, char *name, char *text) {
  if (!name || !text || unit->sections.count >= INK_SECTION_MAX || !INK_I_GROW(unit->sections)) {
    unit->failed |= unit->sections.count < INK_SECTION_MAX;
    free(name);
    free(text);
    return NULL;
  }
  for (char *c = text; *c; c++)
    if (*c == ',')
      *c = INK_NAME_COMMA;
    else if ((unsigned char)*c < ' ' || *c == 127)
      *c = '_';
  unit->sections.items[unit->sections.count++] = (ink_section){name, text, 0, 0};
  return name;
}

const char *ink_section_named(ink_unit *unit, const char *name) {
  for (size_t i = 0; i < unit->sections.count; i++)
    if (!strcmp(unit->sections.items[i].name, name))
      return unit->sections.items[i].name;
  for (size_t i = 0; i < unit->declared.count; i++)
    if (!strcmp(unit->declared.items[i], name))
      return unit->declared.items[i];
  return add(unit, strdup(name), strdup(name));
}

/* Insertions, deletions and changes of one character that make one name of the other; 9: many. */
static unsigned distance(const char *left, const char *right) {
  unsigned row[64];
  const size_t n = strlen(right);
  if (n + 1 > sizeof row / sizeof *row)
    return 9;
  for (size_t i = 0; i <= n; i++)
    row[i] = (unsigned)i;
  for (; *left; left++) {
    unsigned corner = row[0]++;
    for (size_t i = 0; i < n; i++) {
      const unsigned changed = corner + (*left != right[i]), around = row[i + 1] < row[i] ? row[i + 1] : row[i];
      corner = row[i + 1];
      row[i + 1] = changed < around + 1 ? changed : around + 1;
    }
  }
  return row[n];
}

const char *ink_section_misspelt(const ink_unit *unit, const char *name) {
  const char *near = NULL;
  unsigned least = strlen(name) < 5 ? 2 : 3;
  for (size_t i = 0; i < unit->declared.count; i++) {
    const unsigned n = distance(name, unit->declared.items[i]);
    if (!n)
      return NULL;
    if (n < least) {
      least = n;
      near = unit->declared.items[i];
    }
  }
  return near;
}

const char *ink_section_at(ink_unit *unit, const char *name, const ink_source *source,
                           uint32_t offset) {
  char clean[200], *identifier, *text;
  uint32_t line, column;
  size_t n = 0;
  ink_source_position(source, offset, &line, &column);
  if (isdigit((unsigned char)name[0]))
    clean[n++] = '_';
  for (const char *c = name; *c && n + 1 < sizeof clean; c++)
    if (isalnum((unsigned char)*c) || (*c == '_' && n && clean[n - 1] != '_')) /* no `__` inside */
      clean[n++] = *c;
    else if (n && clean[n - 1] != '_')
      clean[n++] = '_';
  while (n && clean[n - 1] == '_')
    n--;
  clean[n] = 0;
  if (asprintf(&identifier, "%s_L%u", n ? clean : "x", line) < 0)
    identifier = NULL;
  for (unsigned again = 2; identifier && is_taken(unit, identifier); again++) {
    free(identifier);
    if (asprintf(&identifier, "%s_L%u_%u", n ? clean : "x", line, again) < 0)
      identifier = NULL;
  }
  if (asprintf(&text, "%s (%s:%u)", name, shown_path(unit, source), line) < 0)
    text = NULL;
  return add(unit, identifier, text);
}

const char *ink_section_in_row(ink_unit *unit, const ink_function *function, const char *name, uint32_t offset,
                               const ink_source *source) {
  const uint32_t by = function->gone_into ? function->owner : (uint32_t)(function - unit->functions.items) + 1;
  uint32_t in_row = 0;
  if (!function->in_rows)
    return ink_section_at(unit, name, source, offset);
  for (size_t i = 0; i < unit->sections.count; i++)
    in_row += unit->sections.items[i].rows_of == by;
  const char *section = in_row < MOST_IN_ROW ? ink_section_at(unit, name, source, offset) : NULL;
  if (section)
    unit->sections.items[unit->sections.count - 1].rows_of = by;
  return section;
}

const char *ink_section_summed(ink_unit *unit, ink_function *function, const char *name, uint32_t offset) {
  const char *section = ink_section_at(unit, name, function->source, offset);
  ink_function *in = ink_sums_of(unit, function); /* its loop */
  if (section) {
    unit->sections.items[unit->sections.count - 1].summed_by = (uint32_t)(in - unit->functions.items) + 1;
    in->sums++;
    in->loop_sums++;
    if (in == function ? offset < in->sums_end : in->sums_end != 0)
      ink_edits_add(&in->source->edits, in->sums_at, false, in->sums_depth, in->sums_line, "INK_SUM_CLEAR(%s);", section);
  }
  return section;
}

/* The order of the table: the sums of a function one behind the other, so that as many as there are slots for
 * them have one each (mark_context.cuh takes the section's number). Then the tables of rows, one behind the other, each
 * with the section of its track last: those in front of it may be ranges. */
static bool order_table(ink_unit *unit) {
  const size_t count = unit->sections.count;
  const ink_section *items = unit->sections.items;
  ink_section *ordered = malloc((count + 1) * sizeof *ordered);
  size_t n = 0;
  for (size_t i = 0; ordered && i < count; i++)
    if (!items[i].summed_by && !items[i].rows_of)
      ordered[n++] = items[i];
  for (size_t i = 0; ordered && i < count; i++) {
    const uint32_t by = items[i].summed_by;
    bool first = by != 0;
    for (size_t k = 0; k < i && first; k++)
      first = items[k].summed_by != by;
    for (size_t k = i; first && k < count; k++)
      if (items[k].summed_by == by)
        ordered[n++] = items[k];
  }
  for (uint32_t f = 0; ordered && f < unit->functions.count; f++) {
    const char *own = unit->functions.items[f].in_rows ? unit->functions.items[f].track : NULL;
    const ink_section *track = NULL;
    for (size_t i = 0; own && i < count; i++)
      if (items[i].rows_of == f + 1 && items[i].name == own)
        track = &items[i];
      else if (items[i].rows_of == f + 1)
        ordered[n++] = items[i];
    if (track)
      ordered[n++] = *track;
  }
  if (ordered) {
    free(unit->sections.items);
    unit->sections.items = ordered;
    unit->sections.room = count + 1;
    unit->sections.count = n;
  }
  return ordered != NULL;
}

static uint64_t mix(uint64_t hash, const char *text) {
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash;
}

/* hash48 of record.h, which the table registers under. */
static uint64_t hash48(const char *name, const char *sections) {
  uint64_t hash = mix(mix(mix(0xcbf29ce484222325u, name), ":"), sections);
  return (hash >> 48 ^ hash) & INK_CLOCK_MASK;
}

/* `ink_solver_cu_1f0a2b3c`: from the path below the root, so that it is the same in every build and
 * for every checkout, and another for files of the same name. */
static char *table_name(const ink_unit *unit) {
  const size_t root = unit->root ? strlen(unit->root) : 0;
  const char *path = unit->main_path;
  char *name;
  if (root && !strncmp(path, unit->root, root) && path[root] == '/')
    path += root + 1;
  if (asprintf(&name, "ink_%s_%08x", base_name(path), (unsigned)mix(0xcbf29ce484222325u, path)) < 0)
    return NULL;
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c))
      *c = '_';
  return name;
}

/* A section's text as C++ writes it in a string; `?` may begin a trigraph. */
static void write_literal(const char *text, ink_bytes *out) {
  for (; *text; text++)
    if (*text == INK_NAME_COMMA)
      ink_bytes_format(out, "\\%03o", (unsigned)INK_NAME_COMMA);
    else
      ink_bytes_format(out, "%s%c", strchr("\"\\?", *text) ? "\\" : "", *text);
}

/* Sections [at, end). */
static void write_one_table(const ink_unit *unit, const char *name, size_t at, size_t end, ink_bytes *out) {
  ink_bytes text = {0};
  for (size_t i = at; i < end; i++)
    ink_bytes_format(&text, "%s%s", i > at ? ", " : "", unit->sections.items[i].text);
  char *sections = ink_bytes_take(&text);
  if (sections) {
    ink_bytes_format(out, "INK_TABLE(%s, 0x%llxull,\n", name,
                     (unsigned long long)hash48(name, sections));
    for (size_t i = at; i < end; i++) {
      ink_bytes_format(out, "  \"%s", i > at ? ", " : "");
      write_literal(unit->sections.items[i].text, out);
      ink_bytes_text(out, "\"\n");
    }
    for (size_t i = at; i < end; i++)
      ink_bytes_format(out, "  , %s\n", unit->sections.items[i].name);
    ink_bytes_text(out, ")\n");
  } else {
    out->failed = true;
  }
  free(sections);
}

/* The file's table, and one more for each track of rows: what is of one table stands together. */
static void write_tables(ink_unit *unit, ink_bytes *out) {
  char *name = order_table(unit) ? table_name(unit) : NULL;
  out->failed |= !name;
  for (size_t at = 0, end, rows = 0; name && at < unit->sections.count; at = end) {
    char *one = NULL;
    const uint32_t of = unit->sections.items[at].rows_of;
    for (end = at; end < unit->sections.count && unit->sections.items[end].rows_of == of;)
      end++;
    if (of && asprintf(&one, "%s_rows_%zu", name, ++rows) < 0)
      one = NULL;
    out->failed |= of && !one;
    if (!of || one)
      write_one_table(unit, of ? one : name, at, end, out);
    free(one);
  }
  free(name);
}

static void write_line_one(const ink_source *source, ink_bytes *out) {
  ink_bytes_text(out, "#line 1 \"");
  for (const char *c = source->shown; *c; c++)
    ink_bytes_format(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
  ink_bytes_text(out, "\"\n");
}

bool ink_section_preamble(ink_unit *unit, const ink_source *source, bool with_table,
                          ink_bytes *out) {
  ink_bytes_text(out, INK_PREAMBLE_OPEN);
  if (with_table) {
    ink_bytes_text(out, "#include \"inkmark/rewritten.cuh\"\n");
    if (unit->sections.count) {
      write_line_one(source, out); /* the table names the user's file, not the marked copy */
      write_tables(unit, out);
    }
  }
  ink_bytes_text(out, INK_PREAMBLE_CLOSE);
  write_line_one(source, out);
  ink_bytes_add(out, "", 1);
  return !out->failed;
}
