/* SPDX-License-Identifier: MIT */
/* The html page's sources. A page stays small: it has the lines around marks only, so many bytes of all files together. */
#include "page_sources.h"

#include "text_write.h"

#include "inkmark/sources.h"

#include <stdlib.h>
#include <string.h>

enum {
  AROUND = 8,             /* lines in front of a mark and behind it */
  WHOLE_LINES = 200,      /* a file of so many is there whole */
  LINE_BYTES_MAX = 300,
  TEXT_BYTES_MAX = 200000, /* of all files */
  MARKS_MAX = 4000
};

typedef struct page_source {
  const ink_source *source;
  ink_source_mark *marks;
  size_t mark_count;
  uint32_t lines, left_out;
} page_source;

static uint32_t count_lines(const ink_source *source) {
  uint32_t lines = 0;
  for (uint64_t i = 0; i < source->bytes; i++)
    lines += source->text[i] == '\n';
  return lines + (source->bytes && source->text[source->bytes - 1] != '\n');
}

/* *next: the first mark that may still be near to a line that is not before `line`. */
static bool is_near(const page_source *s, uint32_t line, size_t *next) {
  while (*next < s->mark_count && s->marks[*next].line + AROUND < line)
    (*next)++;
  return s->lines <= WHOLE_LINES || (*next < s->mark_count && s->marks[*next].line <= line + AROUND);
}

static void put_line(ink_file *file, const char *text, size_t n) {
  char line[LINE_BYTES_MAX + 8];
  const bool cut = n > LINE_BYTES_MAX;
  if (n && text[n - 1] == '\r')
    n--;
  n = cut ? LINE_BYTES_MAX : n;
  while (cut && n && ((unsigned char)text[n] & 0xc0) == 0x80) /* not within a character */
    n--;
  memcpy(line, text, n);
  memcpy(line + n, cut ? " ..." : "", cut ? 5 : 1);
  ink_file_json_string(file, line);
}

/* The pieces; *room: bytes that the page still has for text. */
static void put_text(ink_file *file, page_source *s, size_t *room) {
  const char *at = s->source->text, *end = at + s->source->bytes;
  size_t next = 0, pieces = 0;
  bool within = false;
  for (uint32_t line = 1; at < end; line++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    const size_t n = (size_t)((stop ? stop : end) - at), wanted = n < LINE_BYTES_MAX ? n : LINE_BYTES_MAX;
    const bool shown = is_near(s, line, &next) && *room >= wanted;
    s->left_out += !shown;
    if (shown) {
      if (!within)
        ink_file_print(file, "%s\n[%u,[", pieces++ ? "," : "", line);
      else
        ink_file_text(file, ",");
      put_line(file, at, n);
      *room -= wanted;
    } else if (within) {
      ink_file_text(file, "]]");
    }
    within = shown;
    at = stop ? stop + 1 : end;
  }
  ink_file_text(file, within ? "]]" : "");
}

static void put_marks(ink_file *file, const page_source *s) {
  for (size_t i = 0; i < s->mark_count && i < MARKS_MAX; i++)
    ink_file_print(file, "%s[%u,%u,%d]", i ? "," : "", s->marks[i].line, s->marks[i].section, s->marks[i].begins);
}

/* The parts with rows of sections that this file marks. False: out of memory. */
static bool put_parts(ink_file *file, const page_source *s, const ink_table *table, size_t section_count) {
  const ink_table_row *rows;
  const size_t count = ink_table_rows(table, &rows);
  bool *marked = calloc(section_count + 1, sizeof *marked), follows = false;
  for (size_t i = 0; marked && i < s->mark_count; i++)
    marked[s->marks[i].section] = true;
  uint32_t last = UINT32_MAX; /* rows come part by part */
  for (size_t i = 0; marked && i < count; i++) {
    if (rows[i].part == last || rows[i].section >= section_count || !marked[rows[i].section] || !rows[i].count)
      continue;
    ink_file_print(file, "%s%u", follows ? "," : "", rows[i].part);
    last = rows[i].part;
    follows = true;
  }
  const bool fine = marked != NULL;
  free(marked);
  return fine;
}

static ink_status put_source(ink_file *file, page_source *s, const ink_selection *selection, const ink_table *table,
                             size_t *room, ink_error *error) {
  const ink_status status = ink_source_marks(selection->capture, s->source, &s->marks, &s->mark_count, error);
  if (status != INK_OK)
    return status;
  s->lines = count_lines(s->source);
  ink_file_text(file, "{\"file\": ");
  ink_file_json_string(file, s->source->file);
  ink_file_print(file, ", \"sha256\": \"%s\", \"lines\": %u, \"parts\": [", s->source->sha256, s->lines);
  const bool fine = put_parts(file, s, table, selection->section_count);
  ink_file_text(file, "],\n\"marks\": [");
  put_marks(file, s);
  ink_file_text(file, "],\n\"text\": [");
  put_text(file, s, room);
  ink_file_print(file, "], \"left_out\": %u}", s->left_out);
  free(s->marks);
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

ink_status ink_page_sources(ink_file *file, const ink_selection *selection, const ink_table *table, ink_error *error) {
  const ink_source *sources;
  const size_t count = ink_capture_sources(selection->capture, &sources);
  size_t room = TEXT_BYTES_MAX;
  ink_status status = INK_OK;
  ink_file_text(file, "[");
  for (size_t i = 0; i < count && status == INK_OK; i++) {
    page_source s = {.source = &sources[i]};
    ink_file_text(file, i ? ",\n" : "");
    status = put_source(file, &s, selection, table, &room, error);
  }
  ink_file_text(file, "]");
  return status;
}
