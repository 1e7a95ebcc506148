/* SPDX-License-Identifier: MIT */
/* Applies the edits and packs the result of a run. */
#include "parse_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct pack {
  ink_bytes files, places, remarks, complaints, pool;
  ink_parsed_head head;
} pack;

static uint32_t put(pack *to, const char *text) {
  const uint32_t at = (uint32_t)to->pool.count;
  ink_bytes_add(&to->pool, text ? text : "", text ? strlen(text) + 1 : 1);
  return at;
}

static void put_file(pack *to, const char *path, const char *shown, const ink_bytes *text,
                     uint32_t marks) {
  ink_parsed_file file = {.path = put(to, path), .shown = put(to, shown), .marks = marks};
  file.at = to->pool.count;
  file.bytes = text->count;
  ink_bytes_add(&to->pool, text->at, text->count);
  to->pool.failed |= text->failed;
  ink_bytes_add(&to->files, &file, sizeof file);
  to->head.files++;
}

static void put_source(ink_unit *unit, pack *to, ink_source *source, bool unchanged) {
  ink_bytes preamble = {0}, text = {0};
  unit->failed |= source->edits.failed;
  if (unchanged) {
    ink_bytes_add(&text, source->text.at, source->text.count);
  } else if (ink_section_preamble(unit, source, source->is_main, &preamble)) {
    ink_edits_apply(&source->edits, source->text.at, source->text.count, preamble.at, &text);
  } else {
    unit->failed = true;
  }
  put_file(to, source->path, source->shown, &text, (uint32_t)source->edits.count);
  ink_bytes_free(&text);
  ink_bytes_free(&preamble);
}

/* ---- headers that the parse did not come by: in branches for the host, say ----------------------
 */

typedef struct texts {
  struct {
    char **items; /* absolute paths of what is in the result */
    size_t count, room;
  } have;
} texts;

static bool has(const texts *all, const char *path) {
  for (size_t i = 0; i < all->have.count; i++)
    if (!strcmp(all->have.items[i], path))
      return true;
  return false;
}

static void note(ink_unit *unit, texts *all, const char *path) {
  if (!INK_I_GROW(all->have)) {
    unit->failed = true;
    return;
  }
  all->have.items[all->have.count] = strdup(path);
  if (all->have.items[all->have.count])
    all->have.count++;
  else
    unit->failed = true;
}

static void follow_includes(ink_unit *unit, pack *to, texts *all, const char *path,
                            const ink_bytes *text, unsigned depth);

static void follow(ink_unit *unit, pack *to, texts *all, const char *from, const char *name,
                   size_t length, unsigned depth) {
  char *joined, *slash = strrchr(from, '/');
  if (asprintf(&joined, "%.*s/%.*s", (int)(slash ? slash - from : 0), from, (int)length, name) <
      0) {
    unit->failed = true;
    return;
  }
  char *path = realpath(joined, NULL);
  free(joined);
  struct stat status;
  ink_bytes text = {0}, marked = {0}, preamble = {0};
  if (path && !has(all, path) && !stat(path, &status) && S_ISREG(status.st_mode) &&
      status.st_size < 16 << 20 && ink_bytes_read(&text, path)) {
    ink_source source = {.path = path, .shown = path};
    ink_edits none = {0};
    note(unit, all, path);
    if (ink_section_preamble(unit, &source, false, &preamble))
      ink_edits_apply(&none, text.at ? text.at : "", text.count, preamble.at, &marked);
    put_file(to, path, path, &marked, 0);
    follow_includes(unit, to, all, path, &text, depth + 1);
  }
  ink_bytes_free(&text);
  ink_bytes_free(&marked);
  ink_bytes_free(&preamble);
  free(path);
}

static void follow_includes(ink_unit *unit, pack *to, texts *all, const char *path,
                            const ink_bytes *text, unsigned depth) {
  const char *at = text->at, *end = text->at + text->count;
  while (at && at < end && depth < 64) {
    const char *line = at, *newline = memchr(at, '\n', (size_t)(end - at));
    at = newline ? newline + 1 : end;
    while (line < at && (*line == ' ' || *line == '\t'))
      line++;
    if (line == at || *line != '#')
      continue;
    for (line++; line < at && (*line == ' ' || *line == '\t');)
      line++;
    if (at - line < 10 || memcmp(line, "include", 7))
      continue;
    const char *open = memchr(line, '"', (size_t)(at - line));
    const char *close = open ? memchr(open + 1, '"', (size_t)(at - open - 1)) : NULL;
    if (close)
      follow(unit, to, all, path, open + 1, (size_t)(close - open - 1), depth);
  }
}

static void put_files(ink_unit *unit, pack *to) {
  texts all = {0};
  size_t edits = 0;
  for (size_t i = 0; i < unit->sources.count; i++)
    edits += unit->sources.items[i]->edits.count;
  const bool unchanged = unit->was_marked || (!edits && !unit->sections.count);
  for (int pass = 0; pass < 2; pass++) /* the source itself comes first */
    for (size_t i = 0; i < unit->sources.count; i++) {
      ink_source *source = unit->sources.items[i];
      if (source->is_main != !pass || (pass && !unit->options->headers))
        continue;
      put_source(unit, to, source, unchanged);
      note(unit, &all, source->path);
    }
  for (size_t i = 0; i < unit->sources.count && unit->options->headers; i++)
    follow_includes(unit, to, &all, unit->sources.items[i]->path, &unit->sources.items[i]->text, 0);
  for (size_t i = 0; i < all.have.count; i++)
    free(all.have.items[i]);
  free(all.have.items);
}

static int by_place(const void *left, const void *right) {
  const ink_found *a = left, *b = right;
  if (a->source != b->source) {
    if (a->source->is_main != b->source->is_main)
      return a->source->is_main ? -1 : 1;
    return strcmp(a->source->path, b->source->path);
  }
  if (a->offset != b->offset)
    return a->offset < b->offset ? -1 : 1;
  return (a->kind > b->kind) - (a->kind < b->kind);
}

static void put_places(ink_unit *unit, pack *to) {
  if (unit->found.count)
    qsort(unit->found.items, unit->found.count, sizeof *unit->found.items, by_place);
  for (size_t i = 0; i < unit->found.count; i++) {
    const ink_found *found = &unit->found.items[i], *last = i ? found - 1 : NULL;
    if (last && last->name && found->name && last->source == found->source && last->offset == found->offset &&
        last->kind == found->kind && found->state == INK_PLACE_LEFT && !strcmp(last->name, found->name))
      continue; /* libclang shows a local class twice */
    unit->failed |= !found->name || (found->state == INK_PLACE_MARKED ? !found->section : !found->reason);
    ink_parsed_place place = {.kind = (uint32_t)found->kind, .state = (uint32_t)found->state};
    ink_source_position(found->source, found->offset, &place.line, &place.column);
    if (found->end)
      ink_source_position(found->source, found->end, &place.end_line, &place.end_column);
    place.file = put(to, found->source->shown);
    place.function = put(to, found->function ? found->function->name : "");
    place.name = put(to, found->name);
    place.section = put(to, found->section);
    place.held = put(to, found->held);
    place.reason = put(to, found->reason);
    ink_bytes_add(&to->places, &place, sizeof place);
    to->head.places++;
  }
  for (size_t i = 0; i < unit->said.count; i++) {
    const ink_said *said = &unit->said.items[i];
    ink_parsed_remark remark = {.file = put(to, said->source->shown), .text = put(to, said->text)};
    ink_source_position(said->source, said->offset, &remark.line, &remark.column);
    ink_bytes_add(&to->remarks, &remark, sizeof remark);
    to->head.remarks++;
  }
}

static void put_complaints(ink_unit *unit, pack *to) {
  for (size_t i = 0; i < unit->complaints.count; i++) {
    const ink_complaint *complaint = &unit->complaints.items[i];
    ink_parsed_remark remark = {.line = complaint->line,
                              .column = complaint->column,
                              .file = put(to, complaint->file),
                              .text = put(to, complaint->text)};
    ink_bytes_add(&to->complaints, &remark, sizeof remark);
    to->head.complaints++;
  }
}

bool ink_parsed_write(ink_unit *unit, ink_bytes *out) {
  pack to = {.head = {.header_less = unit->header_less,
                      .was_marked = unit->was_marked,
                      .parse_errors = unit->parse_errors,
                      .parse_ns = unit->parse_ns,
                      .text_hash = ink_unit_text_hash(unit)}};
  for (size_t i = 0; i < unit->sources.count; i++)
    to.head.includes_marks |=
        ink_includes_marks(unit->sources.items[i]->text.at, unit->sources.items[i]->text.count);
  put_files(unit, &to);
  put_places(unit, &to);
  put_complaints(unit, &to);
  to.head.pool_bytes = to.pool.count;
  ink_bytes_add(out, &to.head, sizeof to.head);
  ink_bytes *parts[] = {&to.files, &to.places, &to.remarks, &to.complaints, &to.pool};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    ink_bytes_add(out, parts[i]->at, parts[i]->count);
    out->failed |= parts[i]->failed;
    ink_bytes_free(parts[i]);
  }
  return !out->failed && !unit->failed;
}
