/* SPDX-License-Identifier: MIT */
/* What the calls of templates call: from the functions that are no templates on, through every instance that
 * they name. An instance's body has the places of its template's, so each call in it tells of the one there. */
#include "unit.h"

#include <stdlib.h>

enum { MOST_INSTANCES = 200000 };

typedef struct walk {
  ink_unit *unit;
  const ink_source *source; /* of the project, that the function in hand is written in; else NULL */
  ink_cursor_map seen;
  struct {
    CXCursor *items;
    size_t count, room;
  } waiting;
} walk;

/* ---- what was found ----------------------------------------------------------------------------- */

static size_t bucket_of(const ink_unit *unit, const ink_source *source, uint32_t start, uint32_t end) {
  const uint64_t key = ((uint64_t)start << 32 | end) ^ (uint64_t)(uintptr_t)source;
  return (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (unit->resolved.buckets - 1);
}

static bool widen(ink_unit *unit) {
  const size_t buckets = unit->resolved.buckets ? 4 * unit->resolved.buckets : 1024;
  uint32_t *heads = calloc(buckets, sizeof *heads);
  if (!heads)
    return false;
  free(unit->resolved.heads);
  unit->resolved.heads = heads;
  unit->resolved.buckets = buckets;
  for (size_t i = unit->resolved.count; i-- > 0;) {
    ink_resolved *item = &unit->resolved.items[i];
    uint32_t *head = &heads[bucket_of(unit, item->source, item->start, item->end)];
    item->next = *head;
    *head = (uint32_t)i + 1;
  }
  return true;
}

CXCursor ink_unit_resolved(const ink_unit *unit, const ink_source *source, const ink_node *node, unsigned which) {
  if (!unit->resolved.buckets || node->in_macro)
    return clang_getNullCursor();
  for (uint32_t i = unit->resolved.heads[bucket_of(unit, source, node->start, node->end)]; i;
       i = unit->resolved.items[i - 1].next) {
    const ink_resolved *item = &unit->resolved.items[i - 1];
    if (item->source == source && item->start == node->start && item->end == node->end && !which--)
      return item->target;
  }
  return clang_getNullCursor();
}

/* Instances of one template count once: all that is asked of them is in its text. */
static CXCursor pattern_of(CXCursor target) {
  const CXCursor pattern = clang_getSpecializedCursorTemplate(target);
  return clang_Cursor_isNull(pattern) || clang_isInvalid(clang_getCursorKind(pattern)) ? target : pattern;
}

static void note(walk *state, CXCursor call, CXCursor target) {
  ink_unit *unit = state->unit;
  const CXSourceRange range = clang_getCursorExtent(call);
  ink_node place = {0};
  if (!ink_source_locate(state->source, clang_getRangeStart(range), &place.start) ||
      !ink_source_locate(state->source, clang_getRangeEnd(range), &place.end))
    return;
  for (unsigned i = 0;; i++) {
    const CXCursor before = ink_unit_resolved(unit, state->source, &place, i);
    if (clang_Cursor_isNull(before))
      break;
    if (clang_equalCursors(pattern_of(before), pattern_of(target)))
      return;
  }
  if ((unit->resolved.count >= 2 * unit->resolved.buckets && !widen(unit)) || !INK_I_GROW(unit->resolved)) {
    unit->failed = true;
    return;
  }
  uint32_t *head = &unit->resolved.heads[bucket_of(unit, state->source, place.start, place.end)];
  unit->resolved.items[unit->resolved.count++] =
      (ink_resolved){state->source, place.start, place.end, *head, target};
  *head = (uint32_t)unit->resolved.count;
}

/* ---- the walk ----------------------------------------------------------------------------------- */

static bool is_concrete_function(enum CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
         kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction;
}

static void wait_for(walk *state, CXCursor target) {
  bool known;
  if (!ink_cursor_map_at(&state->seen, target, 0, &known)) {
    state->unit->failed = true;
    return;
  }
  if (known || state->seen.count > MOST_INSTANCES || clang_Location_isInSystemHeader(clang_getCursorLocation(target)))
    return;
  const CXCursor body = clang_getCursorDefinition(target);
  if (clang_Cursor_isNull(body) || (!clang_equalCursors(body, target) && !ink_cursor_map_at(&state->seen, body, 0, &known)))
    return;
  if (!clang_equalCursors(body, target) && known)
    return;
  if (INK_I_GROW(state->waiting))
    state->waiting.items[state->waiting.count++] = body;
  else
    state->unit->failed = true;
}

static enum CXChildVisitResult walk_body(CXCursor cursor, CXCursor parent, CXClientData data) {
  walk *state = data;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  (void)parent;
  if (kind != CXCursor_CallExpr && kind != CXCursor_DeclRefExpr && kind != CXCursor_MemberRefExpr)
    return CXChildVisit_Recurse;
  const CXCursor target = clang_getCursorReferenced(cursor);
  if (is_concrete_function(clang_getCursorKind(target))) {
    if (kind == CXCursor_CallExpr && state->source)
      note(state, cursor, target);
    wait_for(state, target);
  }
  return state->unit->failed ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static void walk_function(walk *state, CXCursor function) {
  CXFile file;
  clang_getExpansionLocation(clang_getCursorLocation(function), &file, NULL, NULL, NULL);
  const ink_source *source = ink_unit_source(state->unit, file);
  state->source = source && source->is_project ? source : NULL;
  clang_visitChildren(function, walk_body, state);
}

/* What is no template, outside of the system's headers. */
static enum CXChildVisitResult find_roots(CXCursor cursor, CXCursor parent, CXClientData data) {
  walk *state = data;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  (void)parent;
  if (clang_isPreprocessing(kind) || kind == CXCursor_FunctionTemplate || kind == CXCursor_ClassTemplate ||
      kind == CXCursor_ClassTemplatePartialSpecialization)
    return CXChildVisit_Continue;
  const bool around = kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl;
  if (!around && clang_Location_isInSystemHeader(clang_getCursorLocation(cursor)))
    return CXChildVisit_Continue;
  if (is_concrete_function(kind)) {
    wait_for(state, cursor);
    return CXChildVisit_Continue;
  }
  if (kind == CXCursor_VarDecl)
    walk_function(state, cursor);
  return around || kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl
             ? CXChildVisit_Recurse
             : CXChildVisit_Continue;
}

bool ink_unit_find_instances(ink_unit *unit) {
  walk state = {.unit = unit};
  clang_visitChildren(clang_getTranslationUnitCursor(unit->tu), find_roots, &state);
  while (state.waiting.count && !unit->failed)
    walk_function(&state, state.waiting.items[--state.waiting.count]);
  ink_cursor_map_free(&state.seen);
  free(state.waiting.items);
  return !unit->failed;
}

void ink_unit_free_instances(ink_unit *unit) {
  free(unit->resolved.items);
  free(unit->resolved.heads);
}
