/* SPDX-License-Identifier: MIT */
/* Reads the marks and the section tables out of the text of the source files that a listing names (tables also out of the
 * cubin's data): the machine code has the number of a section (its tag is XORed into the clock), the text its name. */
#include "verify_private.h"

#include "inkmark/record.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which macros make a head of which kind. */
static const struct {
  const char *macro;
  uint32_t kinds; /* bits */
} macros[] = {
    {"PROF_MARK", 1u << INK_KIND_MARK},
    {"PROF_MARK_STRICT", 1u << INK_KIND_MARK},
    {"PROF_MARK_LOADED", 1u << INK_KIND_MARK},
    {"PROF_BEGIN", 1u << INK_KIND_BEGIN},
    {"PROF_END", 1u << INK_KIND_END},
    {"PROF_SCOPE", 1u << INK_KIND_BEGIN | 1u << INK_KIND_END},
    {"PROF_ITER", 1u << INK_KIND_ITER},
    {"PROF_EVENT", 1u << INK_KIND_INSTANT},
    {"PROF_VALUE", 1u << INK_KIND_INSTANT},
    {"PROF_ASYNC_BEGIN", 1u << INK_KIND_ASYNC_BEGIN},
    {"PROF_ASYNC_END", 1u << INK_KIND_ASYNC_END},
    {"PROF_SUM_BEGIN", 0},
    {"PROF_SUM_END", 0},
    {"PROF_SUM_FLUSH", 0},
    {"PROF_KERNEL_ROWS", 0}, /* marks behind these have no tag */
    {"PROF_KERNEL_ROWS_IF", 0},
    {"PROF_OPEN_ROWS", 0},
    {"PROF_OPEN_ROWS_IF", 0},
    {"INK_BEFORE", 1u << INK_KIND_BEGIN}, /* of rewritten.cuh */
    {"INK_AFTER", 1u << INK_KIND_END},
    {"INK_AFTER_HELD", 1u << INK_KIND_END},
    {"INK_BEHIND", 1u << INK_KIND_END},
    {"INK_UNTIL", 1u << INK_KIND_END},
    {"INK_UNTIL_HELD", 1u << INK_KIND_END},
    {"INK_UNTIL_END", 1u << INK_KIND_END},
};

/* The quote that closes the one at `at`, or where the line ends without one. */
static const char *end_of_literal(const char *text, const char *at) {
  if (*at == '"' && at > text && at[-1] == 'R') { /* R"mark(...)mark" */
    char close[24] = ")";
    const size_t mark = strcspn(at + 1, "(\n");
    const char *end = NULL;
    if (mark < 17 && at[1 + mark] == '(') {
      memcpy(close + 1, at + 1, mark);
      memcpy(close + 1 + mark, "\"", 2);
      end = strstr(at + 2 + mark, close);
    }
    return end ? end + mark + 1 : at + strcspn(at, "\n");
  }
  const char *end = at + 1;
  while (*end && *end != *at && *end != '\n')
    end += *end == '\\' && end[1] ? 2 : 1;
  return end;
}

/* A whole file, its comments and strings blanked (their newlines stay). NULL: cannot be read. */
static char *read_source(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t used = 0, room = 0;
  for (size_t n = 1; file && n > 0; used += n) {
    if (used + 65537 > room) {
      char *grown = used > (64u << 20) ? NULL : realloc(text, room = used + 131072);
      if (!grown) {
        free(text);
        fclose(file);
        return NULL;
      }
      text = grown;
    }
    n = fread(text + used, 1, 65536, file);
  }
  if (file)
    fclose(file);
  if (!text)
    return NULL;
  text[used] = 0;
  for (char *at = text; *at; at++) {
    const char *end = NULL;
    if (at[0] == '/' && at[1] == '/')
      end = at + strcspn(at, "\n");
    else if (at[0] == '/' && at[1] == '*')
      end = strstr(at + 2, "*/");
    else if (at[0] == '"' || (at[0] == '\'' && (at == text || !isalnum((unsigned char)at[-1])))) /* 1'000 is no literal */
      end = end_of_literal(text, at);
    for (; end && at < end; at++)
      *at = *at == '\n' ? '\n' : ' ';
    if (!*at)
      break;
  }
  return text;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Behind the parenthesis that closes the one at `open`, or at `end`. */
static const char *behind_call(const char *open, const char *end) {
  long depth = 0;
  for (; open < end; open++) {
    depth += *open == '(' ? 1 : *open == ')' ? -1 : 0;
    if (depth == 0)
      return open + 1;
  }
  return end;
}

/* Statements other than marks between `at` and `end`: 0: none, 1: some, -1: what may run in another order. */
static int other_text(const char *at, const char *end) {
  static const char *const turning[] = {"for", "while", "if", "else", "do", "switch", "case", NULL};
  bool some = false;
  while (at < end) {
    if (!is_word(*at)) {
      if (strchr("{}?#", *at))
        return -1;
      at++;
      continue;
    }
    const char *word = at;
    while (at < end && is_word(*at))
      at++;
    const size_t bytes = (size_t)(at - word);
    const char *open = at + strspn(at, " \t");
    if ((bytes > 5 && memcmp(word, "PROF_", 5) == 0) || (bytes > 4 && memcmp(word, "INK_", 4) == 0)) {
      at = open < end && *open == '(' ? behind_call(open, end) : at;
      continue;
    }
    for (const char *const *turn = turning; *turn; turn++)
      if (strlen(*turn) == bytes && memcmp(word, *turn, bytes) == 0)
        return -1;
    some = true;
  }
  return some;
}

/* The text of a mark's line in front of it and behind it, as other_text has it. */
static void beside(const char *text, const char *at, const char *open, int *before, int *after) {
  const char *begin = at, *end = open + strcspn(open, "\n");
  while (begin > text && begin[-1] != '\n')
    begin--;
  *before = other_text(begin, at);
  *after = other_text(*open == '(' ? behind_call(open, end) : open + 1, end);
}

int ink_v_side_of(const char *text, const char *at, const char *open) {
  const char *behind = *open == '(' ? behind_call(open, open + strcspn(open, "\n")) : open;
  for (const char *p = open + 1; p < behind - 1; p++)
    if (!is_word(*p) && !strchr(" ,:.", *p))
      return 0; /* it computes by itself */
  int before, after;
  beside(text, at, open, &before, &after);
  return before < 0 || after < 0 || before == after ? 0 : before ? -1 : 1;
}

bool ink_v_is_alone(const char *text, const char *at, const char *open) {
  int before, after;
  beside(text, at, open, &before, &after);
  return !before && !after;
}

size_t ink_v_mark_macro(const char *word, size_t bytes) {
  for (size_t m = 0; m < sizeof macros / sizeof *macros; m++)
    if (strlen(macros[m].macro) == bytes && memcmp(word, macros[m].macro, bytes) == 0)
      return m;
  return SIZE_MAX;
}

bool ink_v_keep_mark(ink_verify *v, uint32_t file, uint32_t line, size_t macro, const char *name,
                     size_t bytes, int side, bool by_macro) {
  if (!ink_v_room((void **)&v->marks, v->mark_count, &v->mark_room, sizeof *v->marks))
    return false;
  char *copy = ink_v_keep(v, strndup(name, bytes));
  if (!copy)
    return false;
  v->marks[v->mark_count++] =
      (v_mark){file, line, macros[macro].macro, macros[macro].kinds, copy, side, by_macro};
  return true;
}

const char *ink_v_first_argument(const char *open, size_t *bytes) {
  const char *at = open + 1 + strspn(open + 1, " \t\r\n"), *end = at;
  for (; is_word(*end) || *end == ':'; end++)
    if (*end == ':')
      at = end + 1;
  *bytes = (size_t)(end - at);
  return at;
}

/* PROF_SECTIONS(name, A, B), or behind the first two (`skip`) arguments of
 * INK_TABLE(name, hash, text, A, B). */
static bool read_table(ink_verify *v, const char *open, unsigned skip) {
  for (; skip && open; skip--)
    open = strchr(open + 1, ',');
  if (!open)
    return true;
  if (!ink_v_room((void **)&v->tables, v->table_count, &v->table_room, sizeof *v->tables))
    return false;
  const char *close = strchr(open, ')');
  char *copy = close ? ink_v_keep(v, strndup(open + 1, (size_t)(close - open - 1))) : NULL;
  if (close && !copy)
    return false;
  if (copy)
    v->tables[v->table_count++] = copy;
  return true;
}

/* Where a mark may begin: each word, if the user has macros of his own. */
static const char *next_macro(const ink_verify *v, const char *text) {
  if (v->macro_count) {
    while (*text && !is_word(*text))
      text++;
    return *text ? text : NULL;
  }
  const char *prof = strstr(text, "PROF_"), *ink = strstr(text, "INK_");
  return !prof || (ink && ink < prof) ? ink : prof;
}

static bool scan_file(ink_verify *v, uint32_t file, const char *text) {
  uint32_t line = 1;
  const char *counted = text;
  const char *end;
  for (const char *at = next_macro(v, text); at; at = next_macro(v, end)) {
    end = at;
    while (is_word(*end))
      end++;
    if (at > text && is_word(at[-1]))
      continue;
    for (; counted < at; counted++)
      line += *counted == '\n';
    const char *open = end + strspn(end, " \t");
    const size_t length = (size_t)(end - at), mark = *open == '(' ? ink_v_mark_macro(at, length) : SIZE_MAX;
    if (*open == '(' && length == 13 && memcmp(at, "PROF_SECTIONS", 13) == 0 && !read_table(v, open, 0))
      return false;
    if (*open == '(' && length == 9 && memcmp(at, "INK_TABLE", 9) == 0 && !read_table(v, open, 2))
      return false;
    if (mark != SIZE_MAX) {
      size_t bytes;
      const char *name = ink_v_first_argument(open, &bytes);
      if (!ink_v_keep_mark(v, file, line, mark, name, bytes, memcmp(at, "INK_", 4) == 0 ? 0 : ink_v_side_of(text, at, open), false))
        return false;
    } else if (v->macro_count && !ink_v_expand_macro(v, file, line, text, at, end)) {
      return false;
    }
  }
  return true;
}

/* In the folder of cuda_runtime_api.h, or below it. */
static bool is_toolkit_header(const char *path) {
  char folder[4096];
  const size_t bytes = strlen(path);
  if (bytes >= sizeof folder - 32)
    return false;
  memcpy(folder, path, bytes + 1);
  for (int up = 0; up < 8; up++) {
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder)
      return false;
    strcpy(slash, "/cuda_runtime_api.h");
    if (access(folder, F_OK) == 0)
      return true;
    *slash = 0;
  }
  return false;
}

ink_status ink_v_scan_sources(ink_verify *v, ink_error *error) {
  v->lines = calloc(v->file_count + 1, sizeof *v->lines);
  if (!v->lines)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the sources");
  char **texts = calloc(v->file_count + 1, sizeof *texts);
  bool fine = texts != NULL;
  for (uint32_t i = 0; i < v->file_count && fine; i++) {
    if (strstr(v->files[i], "/inkmark/mark") || strstr(v->files[i], "/inkmark/rewritten.cuh"))
      continue;
    v->lines[i].toolkit = is_toolkit_header(v->files[i]);
    texts[i] = read_source(v->files[i]);
    fine = !texts[i] || (ink_v_scan_statements(texts[i], &v->lines[i]) && ink_v_collect_macros(v, texts[i]));
  }
  for (uint32_t i = 0; i < v->file_count && fine; i++)
    fine = !texts[i] || scan_file(v, i, texts[i]);
  for (uint32_t i = 0; texts && i < v->file_count; i++)
    free(texts[i]);
  free(texts);
  if (!fine)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the sources");
  /* A header with nothing but the table has no instruction, so no listing names it. */
  for (size_t i = 0; i < v->hashes.table_count; i++) {
    if (!ink_v_room((void **)&v->tables, v->table_count, &v->table_room, sizeof *v->tables))
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the sources");
    v->tables[v->table_count++] = v->hashes.tables[i];
  }
  return INK_OK;
}

/* The name of section `id` in a table; NULL: it has none. */
static const char *section_in(const char *table, uint32_t id, size_t *bytes) {
  for (uint32_t n = 0; n < id && table; n++) {
    table = strchr(table, ',');
    table = table ? table + 1 : NULL;
  }
  if (!table)
    return NULL;
  table += strspn(table, " \t\r\n\\");
  *bytes = strcspn(table, ", \t\r\n\\");
  return *bytes ? table : NULL;
}

/* Is `name` section `id` of some table? (tables[t] is "Solver, Step, LineSearch") */
static bool names_section(const ink_verify *v, const char *name, uint32_t id) {
  for (size_t t = 0; t < v->table_count; t++) {
    size_t bytes;
    const char *at = section_in(v->tables[t], id, &bytes);
    if (!at)
      continue;
    if (strlen(name) == bytes && memcmp(at, name, bytes) == 0)
      return true;
  }
  return false;
}

bool ink_v_is_section(const ink_verify *v, const char *name) {
  for (size_t t = 0; t < v->table_count; t++) {
    size_t bytes;
    const char *at;
    for (uint32_t id = 1; (at = section_in(v->tables[t], id, &bytes)); id++)
      if (strlen(name) == bytes && memcmp(at, name, bytes) == 0)
        return true;
  }
  return false;
}

const char *ink_v_section_name(ink_verify *v, uint32_t tag) {
  const uint32_t id = tag & INK_SECTION_MASK;
  const char *name = NULL;
  size_t bytes = 0;
  for (size_t t = 0; t < v->table_count; t++) {
    size_t n;
    const char *other = section_in(v->tables[t], id, &n);
    if (other && name && (n != bytes || memcmp(name, other, n) != 0))
      return NULL;
    if (other) {
      name = other;
      bytes = n;
    }
  }
  return name ? ink_v_keep(v, strndup(name, bytes)) : NULL;
}

bool ink_v_mark_fits(const ink_verify *v, const v_mark *mark, uint32_t tag) {
  const uint32_t kind = tag >> INK_SECTION_BITS, id = tag & INK_SECTION_MASK;
  return (mark->kinds >> kind & 1) && (kind == INK_KIND_ITER || names_section(v, mark->name, id));
}
