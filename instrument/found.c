/* SPDX-License-Identifier: MIT */
/* Keeps what the rules found and what they have to say, and frees a run. */
#include "holds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ink_found *ink_unit_place(ink_unit *unit, ink_place_kind kind, const ink_function *function,
                          ink_source *source, uint32_t offset, const char *name) {
  static ink_found spare; /* written to when memory ran out; the run fails then */
  if (!INK_I_GROW(unit->found)) {
    unit->failed = true;
    return &spare;
  }
  ink_found *found = &unit->found.items[unit->found.count++];
  *found = (ink_found){.kind = kind,
                       .state = INK_PLACE_NOT_ASKED,
                       .source = source,
                       .offset = offset,
                       .function = function,
                       .name = strdup(name)};
  return found;
}

void ink_found_left(ink_found *found, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  found->state = INK_PLACE_LEFT;
  free(found->reason);
  if (vasprintf(&found->reason, format, arguments) < 0)
    found->reason = NULL;
  va_end(arguments);
}

void ink_found_marked(ink_found *found, const char *section, const char *held) {
  found->state = INK_PLACE_MARKED;
  free(found->reason);
  found->reason = NULL;
  found->section = strdup(section ? section : "");
  if (held && *held && found->section && !(found->held = strdup(held + 2))) { /* behind ", " */
    free(found->section); /* so that it is seen, when the places are written */
    found->section = NULL;
  }
}

void ink_unit_say(ink_unit *unit, ink_source *source, uint32_t offset, const char *format, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, format);
  int n = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (n < 0 || !INK_I_GROW(unit->said)) {
    unit->failed = true;
    return;
  }
  unit->said.items[unit->said.count++] = (ink_said){source, offset, text};
}

static void free_found(ink_unit *unit) {
  for (size_t i = 0; i < unit->found.count; i++) {
    ink_found *found = &unit->found.items[i];
    free(found->name);
    free(found->section);
    free(found->held);
    free(found->reason);
  }
  free(unit->found.items);
  for (size_t i = 0; i < unit->said.count; i++)
    free(unit->said.items[i].text);
  free(unit->said.items);
  for (size_t i = 0; i < unit->hand.count; i++)
    free(unit->hand.items[i].name);
  free(unit->hand.items);
}

void ink_unit_free(ink_unit *unit) {
  free_found(unit);
  ink_unit_free_complaints(unit);
  for (size_t i = 0; i < unit->functions.count; i++) {
    ink_tree_free(&unit->functions.items[i].tree);
    ink_variables_free(unit->functions.items[i].variables);
    free(unit->functions.items[i].name);
  }
  free(unit->functions.items);
  ink_index_free(unit);
  for (size_t i = 0; i < unit->sources.count; i++) {
    ink_source_free(unit->sources.items[i]);
    free(unit->sources.items[i]);
  }
  free(unit->sources.items);
  for (size_t i = 0; i < unit->sections.count; i++) {
    free(unit->sections.items[i].name);
    free(unit->sections.items[i].text);
  }
  free(unit->sections.items);
  for (size_t i = 0; i < unit->declared.count; i++)
    free(unit->declared.items[i]);
  free(unit->declared.items);
  if (unit->has_kernels)
    regfree(&unit->kernels);
  if (unit->has_exclude)
    regfree(&unit->exclude);
  if (unit->has_calls_like)
    regfree(&unit->calls_like);
  ink_file_forget();
  if (unit->tu)
    clang_disposeTranslationUnit(unit->tu);
  if (unit->index)
    clang_disposeIndex(unit->index);
  ink_unit_free_patches(unit);
  ink_unit_free_instances(unit);
  ink_cursor_map_free(&unit->known);
  ink_cursor_map_free(&unit->waiting);
  free(unit->hashes.items);
  for (size_t i = 0; i < unit->kept_files.count; i++)
    free(unit->kept_files.items[i]);
  free(unit->kept_files.items);
  free(unit->main_path);
  free(unit->root);
}
