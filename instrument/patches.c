/* SPDX-License-Identifier: MIT */
/* What nvcc takes and clang does not: the parse gets such a file with other bytes, as many as there were.
 * What is written, and every place in it, is that of the file's own. */
#include "instantiations.h"
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  return at;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* `define NAME #pragma ...`: where the second # is in the line, behind the first one; else NULL. */
static char *pragma_of(char *at, const char *end) {
  static const char define[] = "define", pragma[] = "pragma";
  at = (char *)skip_blanks(at, end);
  if ((size_t)(end - at) < sizeof define || memcmp(at, define, sizeof define - 1))
    return NULL;
  const char *name = skip_blanks(at + sizeof define - 1, end), *behind = name;
  while (behind < end && is_word(*behind))
    behind++;
  char *hash = (char *)skip_blanks(behind, end);
  if (name == at + sizeof define - 1 || behind == name || hash == end || *hash != '#')
    return NULL;
  const char *word = skip_blanks(hash + 1, end);
  return (size_t)(end - word) >= sizeof pragma - 1 && !memcmp(word, pragma, sizeof pragma - 1) ? hash : NULL;
}

/* `#define UNROLL #pragma unroll`: nvcc follows it where the macro is used, clang reads an expression. Without
 * it the loop behind is a loop of its own. */
static bool blank_pragmas(char *text, size_t bytes) {
  bool changed = false;
  char *end = text + bytes;
  for (char *line = text; line && line < end;) {
    char *at = (char *)skip_blanks(line, end), *next = memchr(line, '\n', (size_t)(end - line));
    char *stop = next ? next : end;
    line = next ? next + 1 : NULL;
    char *hash = at < stop && *at == '#' ? pragma_of(at + 1, stop) : NULL;
    if (!hash)
      continue;
    memset(hash, ' ', (size_t)(stop - hash));
    changed = true;
  }
  return changed;
}

/* Behind the file's own text, on lines of its own even where that ends with a backslash. */
static bool append(ink_patch *patch, const char *more) {
  const size_t n = patch->original.count;
  patch->more = strlen(more) + 2;
  char *wider = realloc(patch->text, n + patch->more);
  if (!wider)
    return false;
  patch->text = wider;
  memcpy(wider + n, "\n\n", 2);
  memcpy(wider + n + 2, more, patch->more - 2);
  return true;
}

/* Takes ownership of both, which may be NULL. */
static bool add(ink_unit *unit, char *name, char *path, bool is_main) {
  ink_patch patch = {.name = name, .path = path};
  if (name && path && ink_bytes_read(&patch.original, path) && patch.original.count)
    patch.text = malloc(patch.original.count);
  char *more = patch.text && is_main ? ink_instantiations(patch.original.at, patch.original.count) : NULL;
  if (more && !append(&patch, more)) {
    free(patch.text);
    patch.text = NULL;
  }
  if (patch.text) {
    memcpy(patch.text, patch.original.at, patch.original.count);
    bool changed = more != NULL;
    changed |= blank_pragmas(patch.text, patch.original.count);
    if (is_main && ink_suffix_patch(patch.text, patch.original.count))
      changed = true;
    if (changed && INK_I_GROW(unit->patches)) {
      unit->patches.items[unit->patches.count++] = patch;
      free(more);
      return true;
    }
  }
  free(more);
  free(patch.name);
  free(patch.path);
  free(patch.text);
  ink_bytes_free(&patch.original);
  return false;
}

/* ---- before the parse: headers of -I folders that the text leads to, whatever its conditions say ----
 * A header that is not found so is found behind the parse, which is then done twice. */

enum { MOST_FILES = 4000 };

typedef struct header_names { /* open addressing, of hashes alone: a header that is missed costs a second parse */
  uint64_t seen[4 * MOST_FILES];
  struct {
    char **items;
    size_t count, room;
  } left;
} header_names;

static bool is_new(header_names *names, const char *name) {
  const uint64_t hash = ink_text_hash(name, strlen(name)) | 1;
  const size_t room = sizeof names->seen / sizeof *names->seen;
  size_t at = hash % room;
  while (names->seen[at] && names->seen[at] != hash)
    at = (at + 1) % room;
  const bool fresh = !names->seen[at];
  names->seen[at] = hash;
  return fresh;
}

static bool follow(header_names *names, const char *folder, size_t folder_length, const char *name, size_t length) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%.*s%s%.*s", (int)folder_length, folder, folder_length ? "/" : "", (int)length, name) >=
          (int)sizeof path ||
      access(path, R_OK))
    return false;
  if (names->left.count < MOST_FILES && is_new(names, path) && INK_I_GROW(names->left)) {
    names->left.items[names->left.count] = strdup(path);
    names->left.count += names->left.items[names->left.count] != NULL;
  }
  return true;
}

static void follow_includes(const ink_unit *unit, header_names *names, const char *from, const ink_bytes *text) {
  static const char include[] = "include";
  const char *end = text->at + text->count, *slash = strrchr(from, '/');
  for (const char *hash = text->at; hash && (hash = memchr(hash, '#', (size_t)(end - hash)));) {
    const char *at = skip_blanks(++hash, end), *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    if ((size_t)(stop - at) < sizeof include || memcmp(at, include, sizeof include - 1))
      continue;
    at = skip_blanks(at + sizeof include - 1, stop);
    const char *close = at < stop && (*at == '<' || *at == '"') ? memchr(at + 1, *at == '<' ? '>' : '"', (size_t)(stop - at - 1)) : NULL;
    if (!close)
      continue;
    const char *name = at + 1;
    const size_t length = (size_t)(close - name);
    bool found = *at == '"' && follow(names, from, slash ? (size_t)(slash - from) : 0, name, length);
    for (size_t i = 0; i < unit->options->flag_count && !found; i++) {
      const char *flag = unit->options->flags[i];
      const char *folder = strncmp(flag, "-I", 2) ? NULL : flag[2] ? flag + 2 : i + 1 < unit->options->flag_count ? flag + strlen(flag) : NULL;
      if (folder && !*folder)
        folder = unit->options->flags[++i];
      found = folder && follow(names, folder, strlen(folder), name, length);
    }
  }
}

static void patch_ahead(ink_unit *unit, const char *source) {
  header_names *names = calloc(1, sizeof *names);
  if (!names)
    return;
  follow(names, "", 0, source, strlen(source));
  for (size_t i = 0; i < names->left.count; i++) {
    const char *name = names->left.items[i];
    ink_bytes text = {0};
    if (ink_bytes_read(&text, name) && text.count) {
      follow_includes(unit, names, name, &text);
      if (i && blank_pragmas(text.at, text.count))
        add(unit, strdup(name), realpath(name, NULL), false);
    }
    ink_bytes_free(&text);
  }
  for (size_t i = 0; i < names->left.count; i++)
    free(names->left.items[i]);
  free(names->left.items);
  free(names);
}

void ink_unit_patch_source(ink_unit *unit) {
  add(unit, strdup(unit->options->source), realpath(unit->options->source, NULL), true);
  patch_ahead(unit, unit->options->source);
}

typedef struct header_search {
  ink_unit *unit;
  bool changed;
} header_search;

static bool is_named(const ink_unit *unit, const char *name) {
  for (size_t i = 0; i < unit->patches.count; i++)
    if (!strcmp(unit->patches.items[i].name, name))
      return true;
  return false;
}

static void patch_header(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data) {
  header_search *search = data;
  if (!depth || ink_is_system(search->unit, file, stack))
    return;
  CXString spelling = clang_getFileName(file);
  const char *name = clang_getCString(spelling);
  char *path = name ? realpath(name, NULL) : NULL;
  if (path && !is_named(search->unit, name))
    search->changed |= add(search->unit, strdup(name), path, false);
  else
    free(path);
  clang_disposeString(spelling);
}

bool ink_unit_patch_headers(ink_unit *unit) {
  header_search search = {unit, false};
  clang_getInclusions(unit->tu, patch_header, &search);
  return search.changed;
}

const ink_patch *ink_patch_of(const ink_unit *unit, const char *path) {
  for (size_t i = 0; i < unit->patches.count; i++)
    if (!strcmp(unit->patches.items[i].path, path))
      return &unit->patches.items[i];
  return NULL;
}

const char *ink_unit_file_text(const ink_unit *unit, CXFile file, size_t *bytes) {
  const char *text = file ? ink_file_text(unit->tu, file, bytes) : NULL;
  CXString spelling = clang_getFileName(file);
  const char *name = unit->patches.count ? clang_getCString(spelling) : NULL;
  char *path = name ? realpath(name, NULL) : NULL;
  const ink_patch *patch = path ? ink_patch_of(unit, path) : NULL;
  if (patch) {
    text = patch->original.at;
    *bytes = patch->original.count;
  }
  free(path);
  clang_disposeString(spelling);
  return text;
}

void ink_unit_free_patches(ink_unit *unit) {
  for (size_t i = 0; i < unit->patches.count; i++) {
    free(unit->patches.items[i].name);
    free(unit->patches.items[i].path);
    free(unit->patches.items[i].text);
    ink_bytes_free(&unit->patches.items[i].original);
  }
  free(unit->patches.items);
}
