/* SPDX-License-Identifier: MIT */
/* Counts what kernels of a source hold, over the instantiated tree of clang and without the rewriter's rules:
 * corpus_count SOURCE ROOT CUDA DEVICE_FOLDER [NVCC_FLAG...]. From the code that is no template on it follows every
 * function that is named, so it comes to each kernel's instances. A line for each function, loop and call of project
 * code that runs in a kernel (what stands in a static_assert, a type, a sizeof or a constexpr variable runs nowhere):
 *   kernel NAME FILE LINE COLUMN BODY_LINE BODY_COLUMN END_LINE END_COLUMN
 *   function ... the same, called by a kernel
 *   loop FILE LINE COLUMN END_LINE END_COLUMN WEIGHT
 *   call FILE LINE COLUMN END_LINE END_COLUMN WEIGHT NAME CALLEE_FILE CALLEE_LINE CALLEE_COLUMN
 * FILE is absolute; a callee outside of the project is "-" 0 0. WEIGHT is "trivial" or "real": a call is real if what
 * is called, with what that calls, has a loop that is not unrolled, an instruction that waits, or 100 nodes, and it is no
 * operator but a call's own (`a + b` of a half type is a long function in the toolkit); a loop is
 * real if it is not unrolled (by a pragma or a known count below 32) and its body holds, with what it calls, 100 nodes or
 * such an instruction. */
#include "cursor_map.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct weight {
  unsigned nodes;
  bool loops, waits;
} weight;

static struct {
  ink_unit unit;
  ink_cursor_map seen, device; /* functions that were queued; kernels and what they call */
  struct {
    CXCursor *items;
    size_t count, room;
  } queue, kernels;
  char root[4096];
} all;

static bool is_function(enum CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
         kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction;
}

static enum CXChildVisitResult find_kernel(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  *(bool *)data |= clang_getCursorKind(cursor) == CXCursor_CUDAGlobalAttr;
  return CXChildVisit_Continue;
}

static bool is_kernel(CXCursor function) {
  const CXCursor pattern = clang_getSpecializedCursorTemplate(function);
  bool kernel = false;
  clang_visitChildren(function, find_kernel, &kernel);
  if (!clang_Cursor_isNull(pattern))
    clang_visitChildren(pattern, find_kernel, &kernel);
  return kernel;
}

static CXCursor definition_of(CXCursor function) {
  const CXCursor body = clang_getCursorDefinition(function);
  return clang_Cursor_isNull(body) ? function : body;
}

static void queue(CXCursor function) {
  bool known;
  const CXCursor body = definition_of(function);
  if (!ink_cursor_map_at(&all.seen, body, 1, &known) || known || all.seen.count > 400000 || !INK_I_GROW(all.queue))
    return;
  all.queue.items[all.queue.count++] = body;
}

/* ---- places -------------------------------------------------------------------------------------- */

typedef struct place {
  char file[4096];
  unsigned line, column, end_line, end_column;
  bool is_project;
} place;

static place place_of(CXCursor cursor) {
  place found = {.file = "-"};
  CXFile file;
  const CXSourceRange range = clang_getCursorExtent(cursor);
  clang_getExpansionLocation(clang_getRangeStart(range), &file, &found.line, &found.column, NULL);
  clang_getExpansionLocation(clang_getRangeEnd(range), NULL, &found.end_line, &found.end_column, NULL);
  if (!file)
    return found;
  CXString name = clang_getFileName(file);
  char *path = clang_getCString(name) ? realpath(clang_getCString(name), NULL) : NULL;
  clang_disposeString(name);
  if (path && strlen(path) < sizeof found.file)
    strcpy(found.file, path);
  free(path);
  const size_t length = strlen(all.root);
  found.is_project = !strncmp(found.file, all.root, length) && found.file[length] == '/';
  return found;
}

static bool is_loop(enum CXCursorKind kind) {
  return kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt || kind == CXCursor_CXXForRangeStmt;
}

/* `for (int i = A; i < B; i += C)` with A, B and C that the compiler knows: how often; 0: not known. */
static enum CXChildVisitResult take_children(CXCursor cursor, CXCursor parent, CXClientData data) {
  CXCursor *children = data;
  (void)parent;
  for (int i = 0; i < 4; i++)
    if (clang_Cursor_isNull(children[i])) {
      children[i] = cursor;
      return CXChildVisit_Continue;
    }
  return CXChildVisit_Break;
}

static enum CXChildVisitResult find_value(CXCursor cursor, CXCursor parent, CXClientData data) {
  long long *values = data;
  (void)parent;
  CXEvalResult result = clang_isExpression(clang_getCursorKind(cursor)) ? clang_Cursor_Evaluate(cursor) : NULL;
  if (result && clang_EvalResult_getKind(result) == CXEval_Int && values[0] < 3)
    values[1 + values[0]++] = clang_EvalResult_getAsLongLong(result);
  const bool taken = result && clang_EvalResult_getKind(result) == CXEval_Int;
  if (result)
    clang_EvalResult_dispose(result);
  return taken ? CXChildVisit_Continue : CXChildVisit_Recurse;
}

static long long trips(CXCursor loop) {
  CXCursor parts[4];
  for (int i = 0; i < 4; i++)
    parts[i] = clang_getNullCursor();
  if (clang_getCursorKind(loop) != CXCursor_ForStmt)
    return 0;
  clang_visitChildren(loop, take_children, parts);
  if (clang_Cursor_isNull(parts[3]))
    return 0;
  long long from[4] = {0}, to[4] = {0};
  clang_visitChildren(parts[0], find_value, from);
  clang_visitChildren(parts[1], find_value, to);
  return from[0] == 1 && to[0] == 1 && to[1] > from[1] ? to[1] - from[1] : 0;
}

/* The word before the loop asks for unrolling: by a pragma, or a macro of one. */
static bool is_asked_to_unroll(CXCursor loop) {
  CXFile file;
  unsigned offset;
  size_t bytes = 0;
  clang_getExpansionLocation(clang_getRangeStart(clang_getCursorExtent(loop)), &file, NULL, NULL, &offset);
  const char *text = file ? clang_getFileContents(all.unit.tu, file, &bytes) : NULL;
  if (!text || offset > bytes)
    return false;
  unsigned at = offset;
  while (at && strchr(" \t\r\n", text[at - 1]))
    at--;
  unsigned from = at;
  while (from && text[from - 1] != '\n')
    from--;
  char before[200];
  snprintf(before, sizeof before, "%.*s", (int)(at - from < 199 ? at - from : 199), text + from);
  for (char *c = before; *c; c++)
    if (*c >= 'A' && *c <= 'Z')
      *c = (char)(*c + 32);
  const char *word = strstr(before, "unroll");
  return word && !strstr(before, "nounroll") && !strstr(before, "no_unroll") && !strstr(before, "unroll 1") &&
         !strstr(before, "unroll(1)");
}

/* ---- what runs ------------------------------------------------------------------------------------ */

/* `constexpr int n = f();`: its value is known when it is compiled. */
static bool is_constexpr_variable(CXCursor variable) {
  CXFile file;
  unsigned from, to;
  size_t bytes = 0;
  clang_getExpansionLocation(clang_getRangeStart(clang_getCursorExtent(variable)), &file, NULL, NULL, &from);
  clang_getExpansionLocation(clang_getCursorLocation(variable), NULL, NULL, NULL, &to);
  const char *text = file ? clang_getFileContents(all.unit.tu, file, &bytes) : NULL;
  return text && from < to && to <= bytes && memmem(text + from, to - from, "constexpr", 9);
}

/* Nothing in the node runs: assertions, types (`decltype(f(x))`), sizes and template arguments are the compiler's alone. */
static bool never_runs(CXCursor cursor, CXCursor parent) {
  const enum CXCursorKind kind = clang_getCursorKind(cursor), above = clang_getCursorKind(parent);
  if (kind == CXCursor_StaticAssert || kind == CXCursor_UnaryExpr || kind == CXCursor_TypeAliasDecl || kind == CXCursor_TypedefDecl ||
      kind == CXCursor_ParmDecl || above == CXCursor_DeclRefExpr || (kind == CXCursor_VarDecl && is_constexpr_variable(cursor)))
    return true;
  if (above == CXCursor_VarDecl) /* else of its type */
    return !clang_equalCursors(cursor, clang_Cursor_getVarDeclInitializer(parent));
  return is_function(above) && above != CXCursor_Constructor && kind != CXCursor_CompoundStmt && kind != CXCursor_CXXTryStmt;
}

/* ---- weights ------------------------------------------------------------------------------------- */

typedef struct weighing {
  weight sum;
  unsigned depth;
} weighing;

static weight weigh(CXCursor node, unsigned depth);

static bool waits_by_name(CXCursor function) {
  CXString name = clang_getCursorSpelling(function);
  const char *text = clang_getCString(name);
  const bool waits = text && (strstr(text, "syncthreads") || strstr(text, "wait") || strstr(text, "barrier"));
  clang_disposeString(name);
  return waits;
}

static enum CXChildVisitResult add_weight(CXCursor cursor, CXCursor parent, CXClientData data) {
  weighing *state = data;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  if (never_runs(cursor, parent))
    return CXChildVisit_Continue;
  state->sum.nodes++;
  if (is_loop(kind)) {
    const long long n = trips(cursor);
    state->sum.loops |= !is_asked_to_unroll(cursor) && !(n && n < 32);
  }
  if (kind == CXCursor_CallExpr && state->depth < 6) {
    const CXCursor target = clang_getCursorReferenced(cursor);
    if (is_function(clang_getCursorKind(target))) {
      state->sum.waits |= waits_by_name(target);
      const weight of = weigh(definition_of(target), state->depth + 1);
      state->sum.nodes += of.nodes;
      state->sum.loops |= of.loops;
      state->sum.waits |= of.waits;
    }
  }
  return state->sum.nodes > 2000 ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static weight weigh(CXCursor node, unsigned depth) {
  weighing state = {.depth = depth};
  clang_visitChildren(node, add_weight, &state);
  return state.sum;
}

static const char *weight_word(bool real) { return real ? "real" : "trivial"; }

/* ---- the walk ------------------------------------------------------------------------------------ */

static void print_function(const char *word, CXCursor function) {
  const place at = place_of(function);
  unsigned line, column;
  clang_getExpansionLocation(clang_getCursorLocation(function), NULL, &line, &column, NULL);
  CXString name = clang_getCursorSpelling(function);
  if (at.is_project)
    printf("%s\t%s\t%s\t%u\t%u\t%u\t%u\t%u\t%u\n", word, clang_getCString(name), at.file, line, column, at.line, at.column,
           at.end_line, at.end_column);
  clang_disposeString(name);
}

static void print_call(CXCursor call, CXCursor target) {
  const place at = place_of(call), to = place_of(definition_of(target));
  unsigned line, column;
  const weight of = weigh(definition_of(target), 1);
  const enum CXCursorKind kind = clang_getCursorKind(target);
  clang_getExpansionLocation(clang_getCursorLocation(definition_of(target)), NULL, &line, &column, NULL);
  CXString name = clang_getCursorSpelling(target);
  const char *text = clang_getCString(name);
  const bool is_operator = text && !strncmp(text, "operator", 8) && strcmp(text, "operator()") != 0;
  const bool made = kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod; /* an object */
  if (at.is_project && !made)
    printf("call\t%s\t%u\t%u\t%u\t%u\t%s\t%s\t%s\t%u\t%u\n", at.file, at.line, at.column, at.end_line, at.end_column,
           weight_word(!is_operator && (of.loops || of.waits || of.nodes >= 100 || waits_by_name(target))), clang_getCString(name),
           to.is_project ? to.file : "-", to.is_project ? line : 0, to.is_project ? column : 0);
  clang_disposeString(name);
}

static enum CXChildVisitResult walk_device(CXCursor cursor, CXCursor parent, CXClientData data) {
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  if (never_runs(cursor, parent))
    return CXChildVisit_Continue;
  if (is_loop(kind)) {
    const place at = place_of(cursor);
    const long long n = trips(cursor);
    const weight of = weigh(cursor, 1);
    const bool real = !is_asked_to_unroll(cursor) && !(n && n < 32) && (of.nodes >= 100 || of.waits);
    if (at.is_project)
      printf("loop\t%s\t%u\t%u\t%u\t%u\t%s\n", at.file, at.line, at.column, at.end_line, at.end_column, weight_word(real));
  }
  if (kind == CXCursor_CallExpr || kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr) {
    const CXCursor target = clang_getCursorReferenced(cursor);
    if (is_function(clang_getCursorKind(target))) {
      if (kind == CXCursor_CallExpr)
        print_call(cursor, target);
      bool known;
      const CXCursor body = definition_of(target);
      if (ink_cursor_map_at(&all.device, body, 1, &known) && !known && all.device.count < 200000 && INK_I_GROW(all.queue))
        all.queue.items[all.queue.count++] = body;
    }
  }
  return *(int *)data ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static enum CXChildVisitResult walk_host(CXCursor cursor, CXCursor parent, CXClientData data) {
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  (void)parent;
  (void)data;
  if (kind == CXCursor_CallExpr || kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr) {
    const CXCursor target = clang_getCursorReferenced(cursor);
    if (is_function(clang_getCursorKind(target)))
      queue(target);
  }
  return CXChildVisit_Recurse;
}

static enum CXChildVisitResult find_roots(CXCursor cursor, CXCursor parent, CXClientData data) {
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  (void)parent;
  (void)data;
  if (clang_isPreprocessing(kind) || kind == CXCursor_FunctionTemplate || kind == CXCursor_ClassTemplate ||
      kind == CXCursor_ClassTemplatePartialSpecialization)
    return CXChildVisit_Continue;
  if (is_function(kind) && !clang_Location_isInSystemHeader(clang_getCursorLocation(cursor)))
    queue(cursor);
  if (kind == CXCursor_VarDecl)
    clang_visitChildren(cursor, walk_host, NULL);
  return is_function(kind) || kind == CXCursor_VarDecl ? CXChildVisit_Continue : CXChildVisit_Recurse;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fputs("usage: corpus_count SOURCE ROOT CUDA DEVICE_FOLDER [NVCC_FLAG...]\n", stderr);
    return 2;
  }
  const ink_instrument_options options = {.size = sizeof options,
                                          .source = argv[1],
                                          .root = argv[2],
                                          .cuda = argv[3],
                                          .device_include = argv[4],
                                          .flags = (const char *const *)argv + 5,
                                          .flag_count = (size_t)argc - 5};
  ink_error error = {0};
  all.unit.options = &options;
  all.unit.main_path = realpath(argv[1], NULL);
  all.unit.root = realpath(argv[2], NULL);
  if (!all.unit.main_path || !all.unit.root || ink_unit_parse(&all.unit, false, &error)) {
    fprintf(stderr, "corpus_count: %s\n", error.message);
    return 1;
  }
  snprintf(all.root, sizeof all.root, "%s", all.unit.root);
  clang_visitChildren(clang_getTranslationUnitCursor(all.unit.tu), find_roots, NULL);
  while (all.queue.count) {
    const CXCursor function = all.queue.items[--all.queue.count];
    if (is_kernel(function) && INK_I_GROW(all.kernels))
      all.kernels.items[all.kernels.count++] = function;
    else if (!clang_Location_isInSystemHeader(clang_getCursorLocation(function)))
      clang_visitChildren(function, walk_host, NULL);
  }
  int stop = 0;
  for (size_t i = 0; i < all.kernels.count; i++) {
    print_function("kernel", all.kernels.items[i]);
    clang_visitChildren(all.kernels.items[i], walk_device, &stop);
  }
  while (all.queue.count) {
    const CXCursor function = all.queue.items[--all.queue.count];
    if (!place_of(function).is_project)
      continue;
    print_function("function", function);
    clang_visitChildren(function, walk_device, &stop);
  }
  return 0;
}
