/* SPDX-License-Identifier: MIT */
/* Which functions do nothing but wait: for a barrier, a copy, an instruction or a flag. Wherever it is called such
 * a function is a wait. What instances call is looked into as well, and what is outside of the project. */
#include "unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const wait_names[] = {"__syncthreads",
                                         "__syncthreads_count",
                                         "__syncthreads_and",
                                         "__syncthreads_or",
                                         "__syncwarp",
                                         "__barrier_sync",
                                         "__pipeline_wait_prior",
                                         "cudaGridDependencySynchronize",
                                         "consumer_wait",
                                         "producer_acquire",
                                         "arrive_and_wait",
                                         "wait_prior",
                                         "pipeline_consumer_wait_prior",
                                         "mbarrier_try_wait",
                                         "mbarrier_test_wait",
                                         "__mbarrier_try_wait",
                                         "__mbarrier_test_wait",
                                         "cluster_sync",
                                         "barrier_wait"};
static const char *const sync_names[] = {"sync", "wait", "barrier_sync", "wait_parity", "try_wait"};
static const char *const wait_instructions[] = {
    "mbarrier.try_wait",   "mbarrier.test_wait", "cp.async.wait", "cp.async.bulk.wait",
    "griddepcontrol.wait", "bar.sync",           "barrier.sync",  "barrier.cta.sync",
    "barrier.cluster.wait", "wgmma.wait_group",  "bar.warp.sync", "tcgen05.wait",
    "bar.red",             "barrier.cta.red",    "barrier.red"};
/* What an assembly statement beside a wait may hold: it orders, arrives or computes where to wait. */
static const char *const quiet_instructions[] = {"arrive", "fence",  "membar", "commit", "nanosleep", "elect",
                                                 "cvta",   "mapa",   "mov.",   "getctarank", "trap", "activemask",
                                                 "griddepcontrol"};
/* Beside these it does work. */
static const char *const work_instructions[] = {"mma",         "st.",           "red.",           "cp.async.ca",
                                                "cp.async.cg", "cp.async.bulk.shared", "cp.async.bulk.global", "cp.async.bulk.tensor",
                                                "cp.async.bulk.prefetch", "ldmatrix", "tcgen05.ld", "tcgen05.cp",
                                                "cp.reduce", "add.", "fma."};
static const char *const read_instructions[] = {"ld.", "atom.", "atom{"};
static const char *const quiet_names[] = {"__cvta", "__nanosleep", "clock", "__globaltimer", "printf", "__trap",
                                          "__assert", "__threadfence", "__activemask", "__shfl", "__is", "min", "max",
                                          "__builtin", "__ffs", "__popc", "__mbarrier"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- words -------------------------------------------------------------------------------------- */

static const char *instruction_in(const char *text, size_t bytes, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *at = text, *found;
    for (; (found = memmem(at, bytes - (size_t)(at - text), words[i], strlen(words[i]))); at = found + 1)
      if (found == text || !isalpha((unsigned char)found[-1]) || (found > text + 1 && found[-2] == '\\')) /* `red.` of `shared.` is none, that of `\\tred.` is */
        return words[i];
  }
  return NULL;
}

static bool is_among(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(name, names[i]))
      return true;
  return false;
}

/* `sync` and `wait` are waits where they come from the toolkit: cooperative groups, barriers. */
static bool is_from_toolkit(CXCursor target) {
  CXFile file;
  if (clang_Location_isInSystemHeader(clang_getCursorLocation(target)))
    return true;
  clang_getExpansionLocation(clang_getCursorLocation(target), &file, NULL, NULL, NULL);
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name);
  const bool found = path && (strstr(path, "/cooperative_groups") || strstr(path, "/cuda/") ||
                              strstr(path, "cuda_pipeline"));
  clang_disposeString(name);
  return found;
}

bool ink_is_wait_name(const char *name, CXCursor target) {
  return is_among(name, wait_names, COUNT(wait_names)) ||
         (is_among(name, sync_names, COUNT(sync_names)) && !clang_Cursor_isNull(target) && is_from_toolkit(target));
}

const char *ink_wait_instruction(const char *text, size_t bytes) {
  return instruction_in(text, bytes, wait_instructions, COUNT(wait_instructions));
}

/* ---- what a function does ----------------------------------------------------------------------- */

enum { UNDER_WAY = 1, WORKS, QUIET, WAITS, READS }; /* of unit->waiting; READS: quiet, and reads what others write */
enum { MOST_DEEP = 6 };

typedef struct deeds {
  ink_unit *unit;
  unsigned depth;
  bool works, waits, reads;
  bool atomics; /* that count only where it spins: how a barrier of one's own arrives */
  bool spins;
} deeds;

static enum CXChildVisitResult see(CXCursor cursor, CXCursor parent, CXClientData data);

bool ink_asm_text(CXCursor cursor, const char **text, size_t *bytes) {
  const CXSourceRange range = clang_getCursorExtent(cursor);
  CXFile file, last;
  unsigned start, end;
  size_t all;
  clang_getSpellingLocation(clang_getRangeStart(range), &file, NULL, NULL, &start);
  clang_getSpellingLocation(clang_getRangeEnd(range), &last, NULL, NULL, &end);
  const char *whole = file && last && clang_File_isEqual(file, last)
                          ? ink_file_text(clang_Cursor_getTranslationUnit(cursor), file, &all)
                          : NULL;
  if (!whole || start >= end || end > all)
    return false;
  *text = whole + start;
  *bytes = end - start;
  return true;
}

static void see_asm(deeds *found, CXCursor cursor) {
  const char *text;
  size_t bytes;
  if (!ink_asm_text(cursor, &text, &bytes)) {
    found->works = true;
    return;
  }
  if (ink_wait_instruction(text, bytes))
    found->waits = true;
  else if (instruction_in(text, bytes, work_instructions, COUNT(work_instructions)))
    found->works = true;
  else if (instruction_in(text, bytes, read_instructions, COUNT(read_instructions)))
    found->reads = true;
  else if (!instruction_in(text, bytes, quiet_instructions, COUNT(quiet_instructions)))
    found->works = true;
}

static int deeds_of(ink_unit *unit, CXCursor function, unsigned depth);

static void see_call(deeds *found, CXCursor cursor) {
  const CXCursor target = ink_call_target(cursor);
  char *name = clang_Cursor_isNull(target) ? ink_name_of(cursor) : ink_name_of(target);
  if (!name || clang_Cursor_isNull(target)) {
    found->works |= !name || !ink_is_wait_name(name, target);
    found->waits |= name && ink_is_wait_name(name, target);
  } else if (ink_is_wait_name(name, target)) {
    found->waits = true;
  } else if (!strncmp(name, "atomic", 6)) {
    found->atomics = found->reads = true;
  } else if (!strncmp(name, "operator", 8) && clang_Location_isInSystemHeader(clang_getCursorLocation(target))) {
    found->works |= !strcmp(name, "operator=") || !strcmp(name, "operator+=");
  } else {
    bool quiet = clang_getCursorKind(target) == CXCursor_ConversionFunction;
    for (size_t i = 0; i < COUNT(quiet_names); i++)
      quiet |= !strncmp(name, quiet_names[i], strlen(quiet_names[i]));
    const int does = quiet ? QUIET : deeds_of(found->unit, target, found->depth + 1);
    found->works |= does == WORKS;
    found->waits |= does == WAITS;
    found->reads |= does == READS;
  }
  free(name);
}

/* What is written is memory: `*p = 1`, `a[i] = 1`, `q->x = 1` where q is no object of a barrier's own. */
static bool writes_memory(CXCursor left) {
  for (;;) {
    const enum CXCursorKind kind = clang_getCursorKind(left);
    if (kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_UnaryOperator)
      return true;
    if (kind != CXCursor_ParenExpr && kind != CXCursor_UnexposedExpr)
      return false;
    const CXCursor inner = ink_first_child(left);
    if (clang_Cursor_isNull(inner))
      return true;
    left = inner;
  }
}

static bool writes(CXCursor cursor) {
  switch (clang_getCursorKind(cursor)) {
  case CXCursor_CompoundAssignOperator:
    return writes_memory(ink_first_child(cursor));
  case CXCursor_BinaryOperator:
    return clang_getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign &&
           writes_memory(ink_first_child(cursor));
  case CXCursor_UnaryOperator:
    switch (clang_getCursorUnaryOperatorKind(cursor)) {
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_PreDec:
      return writes_memory(ink_first_child(cursor));
    default:
      return false;
    }
  case CXCursor_CXXNewExpr:
  case CXCursor_CXXDeleteExpr:
  case CXCursor_CXXThrowExpr:
    return true;
  default:
    return false;
  }
}

static bool is_loop(enum CXCursorKind kind) {
  return kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt ||
         kind == CXCursor_CXXForRangeStmt;
}

typedef struct head_search {
  bool counts; /* a declaration in the head: the loop counts */
  unsigned parts;
} head_search;

static enum CXChildVisitResult see_head(CXCursor cursor, CXCursor parent, CXClientData data) {
  head_search *head = data;
  (void)parent;
  head->counts |= clang_getCursorKind(cursor) == CXCursor_DeclStmt && !head->parts;
  head->parts++;
  return CXChildVisit_Continue;
}

/* A loop that does nothing until another thread writes what it reads, and no number of times. */
static bool spins(CXCursor loop, const deeds *inside) {
  head_search head = {0};
  if (clang_getCursorKind(loop) == CXCursor_CXXForRangeStmt || inside->works || !inside->reads)
    return false;
  clang_visitChildren(loop, see_head, &head);
  return !(clang_getCursorKind(loop) == CXCursor_ForStmt && head.counts);
}

static void see_loop(deeds *found, CXCursor loop) {
  deeds inside = {.unit = found->unit, .depth = found->depth};
  clang_visitChildren(loop, see, &inside);
  const bool spinning = spins(loop, &inside);
  found->spins |= inside.spins || spinning;
  found->waits |= inside.waits || spinning;
  found->atomics |= inside.atomics;
  found->works |= inside.works || !(inside.waits || spinning);
}

static enum CXChildVisitResult see(CXCursor cursor, CXCursor parent, CXClientData data) {
  deeds *found = data;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  (void)parent;
  if (is_loop(kind)) {
    see_loop(found, cursor);
    return CXChildVisit_Continue;
  }
  if (kind == CXCursor_GCCAsmStmt || kind == CXCursor_MSAsmStmt)
    see_asm(found, cursor);
  else if (kind == CXCursor_CallExpr)
    see_call(found, cursor);
  else
    found->works |= writes(cursor);
  if (clang_isExpression(kind) && clang_isVolatileQualifiedType(clang_getCursorType(cursor)))
    found->reads = true;
  return found->works ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static enum CXChildVisitResult find_body(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_CompoundStmt)
    return CXChildVisit_Continue;
  *(CXCursor *)data = cursor;
  return CXChildVisit_Break;
}

static int deeds_of(ink_unit *unit, CXCursor function, unsigned depth) {
  CXCursor definition = clang_getCursorDefinition(function), body = clang_getNullCursor();
  bool known = false;
  if (clang_Cursor_isNull(definition) || depth > MOST_DEEP)
    return WORKS;
  uint32_t *kept = ink_cursor_map_at(&unit->waiting, definition, UNDER_WAY, &known);
  if (!kept || known)
    return kept && *kept != UNDER_WAY ? (int)*kept : WORKS;
  deeds found = {.unit = unit, .depth = depth};
  clang_visitChildren(definition, find_body, &body);
  if (clang_Cursor_isNull(body))
    found.works = true;
  else
    clang_visitChildren(body, see, &found);
  const bool works = found.works || (found.atomics && found.waits && !found.spins);
  const int does = works ? WORKS : found.waits ? WAITS : found.reads ? READS : QUIET;
  if ((kept = ink_cursor_map_at(&unit->waiting, definition, UNDER_WAY, NULL)))
    *kept = (uint32_t)does;
  return does;
}

bool ink_only_waits(ink_unit *unit, CXCursor function) {
  return !clang_Cursor_isNull(function) && !clang_isInvalid(clang_getCursorKind(function)) &&
         deeds_of(unit, function, 0) == WAITS;
}

bool ink_is_spin(ink_unit *unit, CXCursor loop) {
  deeds found = {.unit = unit};
  see_loop(&found, loop);
  return found.waits && !found.works;
}
