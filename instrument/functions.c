/* SPDX-License-Identifier: MIT */
/* Finds the files of the project, the kernels and device functions in them, and how deep each
 * function is called from a kernel. */
#include "shim.h"
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ink_source *ink_unit_source(ink_unit *unit, CXFile file) {
  if (file && file == unit->last_file)
    return unit->last_source;
  ink_source *found = NULL;
  for (size_t i = 0; i < unit->sources.count && file && !found; i++)
    if (clang_File_isEqual(unit->sources.items[i]->file, file))
      found = unit->sources.items[i];
  unit->last_file = file;
  unit->last_source = found;
  return found;
}

static bool is_below(const char *path, const char *root) {
  const size_t length = strlen(root);
  return !strncmp(path, root, length) &&
         (path[length] == '/' || (length && root[length - 1] == '/'));
}

/* The name that nvcc's compilers show: for `#include "x.h"` in `a.cu` clang says `./x.h`, they
 * `x.h`. */
static const char *name_shown(ink_unit *unit, const char *name, const CXSourceLocation *stack,
                              unsigned depth) {
  CXFile from;
  unsigned offset;
  size_t bytes;
  if (!depth || strncmp(name, "./", 2))
    return name;
  clang_getExpansionLocation(stack[0], &from, NULL, NULL, &offset);
  const char *text = from ? ink_file_text(unit->tu, from, &bytes) : NULL;
  if (!text || offset >= bytes)
    return name;
  CXString spelling = clang_getFileName(from);
  const char *includer = clang_getCString(spelling);
  const bool beside = includer && !strchr(includer, '/');
  clang_disposeString(spelling);
  const size_t line = strcspn(text + offset, "\n<");
  return beside && memchr(text + offset, '"', line) ? name + 2 : name;
}

/* `-include` brought the file in, or one that includes it: nvcc opens the user's own then. */
static bool is_forced(const CXSourceLocation *stack, unsigned depth) {
  for (unsigned i = 0; i < depth; i++) {
    CXFile from;
    clang_getExpansionLocation(stack[i], &from, NULL, NULL, NULL);
    if (!from)
      return true;
  }
  return false;
}

bool ink_is_system(const ink_unit *unit, CXFile file, const CXSourceLocation *stack) {
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name);
  /* not of the project, and a header of the system includes it: told without looking for it */
  const bool outside = path && path[0] == '/' && !strstr(path, "/../") && !(unit->root && is_below(path, unit->root)) &&
            clang_Location_isInSystemHeader(stack[0]);
  clang_disposeString(name);
  return outside || clang_Location_isInSystemHeader(ink_file_start(unit->tu, file));
}

/* For the hash of all that is included, as it lies on the disk. */
static void note_text(ink_unit *unit, CXFile file) {
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name);
  ink_bytes text = {0};
  if (path && strncmp(path, INK_SHIM "/", sizeof INK_SHIM) && ink_bytes_read(&text, path) && INK_I_GROW(unit->hashes))
    unit->hashes.items[unit->hashes.count++] = ink_text_hash(text.at, text.count);
  ink_bytes_free(&text);
  clang_disposeString(name);
}

static void add_source(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data) {
  ink_unit *unit = data;
  note_text(unit, file);
  if (ink_unit_source(unit, file) || (depth && ink_is_system(unit, file, stack)))
    return;
  size_t bytes = 0;
  const char *text = ink_file_text(unit->tu, file, &bytes);
  CXString name = clang_getFileName(file);
  const char *shown = clang_getCString(name);
  char *path = shown ? realpath(shown, NULL) : NULL;
  const ink_patch *patch = path ? ink_patch_of(unit, path) : NULL;
  if (patch && patch->original.count + patch->more == bytes) {
    text = patch->original.at;
    bytes = patch->original.count;
  }
  const char *ours = unit->options->device_include;
  if (path && ours && is_below(path, ours)) {
    free(path);
    path = NULL;
  }
  ink_source *source = path && text && bytes < UINT32_MAX / 2 ? calloc(1, sizeof *source) : NULL;
  if (source && INK_I_GROW(unit->sources)) {
    unit->sources.items[unit->sources.count++] = source;
    unit->last_file = NULL;
    source->file = file;
    source->path = path;
    source->shown = strdup(name_shown(unit, shown, stack, depth));
    source->is_main = depth == 0;
    source->is_forced = is_forced(stack, depth);
    source->is_project = depth == 0 || (unit->root && is_below(path, unit->root));
    ink_bytes_add(&source->text, text, bytes);
    ink_bytes_add(&source->text, "", 0);
    source->is_marked_already = ink_edits_present(text, bytes);
    unit->failed |= !source->shown || source->text.failed;
  } else {
    unit->failed |= path && text && bytes < UINT32_MAX / 2;
    free(source);
    free(path);
  }
  clang_disposeString(name);
}

static enum CXChildVisitResult note_macro(CXCursor cursor, CXCursor parent, CXClientData data) {
  ink_unit *unit = data;
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_MacroExpansion)
    return CXChildVisit_Continue;
  CXFile file;
  unsigned start, end;
  CXSourceRange range = clang_getCursorExtent(cursor);
  clang_getExpansionLocation(clang_getRangeStart(range), &file, NULL, NULL, &start);
  clang_getExpansionLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &end);
  ink_source *source = ink_unit_source(unit, file);
  if (!source || end <= start)
    return CXChildVisit_Continue;
  if (!INK_I_GROW(source->macros)) {
    unit->failed = true;
    return CXChildVisit_Break;
  }
  source->macros.items[source->macros.count++] = (ink_macro_use){start, end, cursor};
  return CXChildVisit_Continue;
}

static void lex_source(ink_unit *unit, ink_source *source) {
  unit->failed |= !ink_source_lex(source, unit->tu);
  CXSourceRangeList *skipped = clang_getSkippedRanges(unit->tu, source->file);
  for (unsigned s = 0; skipped && s < skipped->count; s++) {
    unsigned start, end;
    clang_getExpansionLocation(clang_getRangeStart(skipped->ranges[s]), NULL, NULL, NULL, &start);
    clang_getExpansionLocation(clang_getRangeEnd(skipped->ranges[s]), NULL, NULL, NULL, &end);
    if (INK_I_GROW(source->skipped))
      source->skipped.items[source->skipped.count++] = (ink_span){start, end};
    else
      unit->failed = true;
  }
  clang_disposeSourceRangeList(skipped);
}

bool ink_unit_find_sources(ink_unit *unit) {
  ink_unit_grow_root(unit);
  clang_getInclusions(unit->tu, add_source, unit);
  for (size_t i = 0; i < unit->sources.count && !unit->failed; i++)
    if (unit->sources.items[i]->is_project)
      lex_source(unit, unit->sources.items[i]);
  clang_visitChildren(clang_getTranslationUnitCursor(unit->tu), note_macro, unit);
  return !unit->failed;
}

typedef struct traits {
  bool kernel, device, host;
  CXCursor body;
} traits;

static enum CXChildVisitResult note_trait(CXCursor cursor, CXCursor parent, CXClientData data) {
  traits *found = data;
  (void)parent;
  switch (clang_getCursorKind(cursor)) {
  case CXCursor_CUDAGlobalAttr:
    found->kernel = true;
    break;
  case CXCursor_CUDADeviceAttr:
    found->device = true;
    break;
  case CXCursor_CUDAHostAttr:
    found->host = true;
    break;
  case CXCursor_CompoundStmt:
    found->body = cursor;
    break;
  default:
    break;
  }
  return CXChildVisit_Continue;
}

static bool is_function(enum CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_FunctionTemplate || kind == CXCursor_Constructor ||
         kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction;
}

bool ink_cursor_is_device(ink_unit *unit, CXCursor cursor, bool *system) {
  CXCursor tries[3] = {cursor, clang_getCursorDefinition(cursor),
                       clang_getSpecializedCursorTemplate(cursor)};
  traits found = {.body = clang_getNullCursor()};
  *system = true;
  for (int i = 0; i < 3; i++) {
    if (clang_Cursor_isNull(tries[i]) || !is_function(clang_getCursorKind(tries[i])))
      continue;
    clang_visitChildren(tries[i], note_trait, &found);
    CXFile file;
    clang_getExpansionLocation(clang_getCursorLocation(tries[i]), &file, NULL, NULL, NULL);
    const ink_source *source = ink_unit_source(unit, file);
    *system = *system && !(source && source->is_project);
  }
  return found.device && !found.kernel;
}

/* Whether `constexpr` stands between the start of a function and its body; of a lambda also in the
 * statement before it, whose value may be needed by the compiler. */
static bool is_constexpr(const ink_function *function) {
  const ink_source *source = function->source;
  for (size_t i = ink_source_token_at(source, function->start);
       (function->outer || function->in_host) && i-- > 0;) {
    if (ink_source_token_is(source, i, ";") || ink_source_token_is(source, i, "{") ||
        ink_source_token_is(source, i, "}"))
      break;
    if (ink_source_token_is(source, i, "constexpr"))
      return true;
  }
  for (size_t i = ink_source_token_at(source, function->start);
       i < source->tokens.count && source->tokens.items[i].start < function->body_start; i++)
    if (ink_source_token_is(source, i, "constexpr") || ink_source_token_is(source, i, "consteval"))
      return true;
  return false;
}

static char *lambda_name(const char *outer) {
  char *name;
  return asprintf(&name, "%.*s lambda", (int)strcspn(outer, "<"), outer) < 0 ? NULL : name;
}

/* The index and 1 of the function that has the same text; 0: none has. */
static uint32_t known_function(const ink_unit *unit, const ink_function *function) {
  for (size_t i = 0; i < unit->functions.count; i++)
    if (unit->functions.items[i].source == function->source && !unit->functions.items[i].in_macro &&
        unit->functions.items[i].body_start == function->body_start)
      return (uint32_t)i + 1;
  return 0;
}

static void add_inner(ink_unit *unit, uint32_t which);

/* ---- braces ------------------------------------------------------------------------------------- */

static bool is_at(const ink_source *source, uint32_t offset, const char *what) {
  const size_t length = strlen(what);
  return offset + length <= source->text.count && !memcmp(source->text.at + offset, what, length);
}

/* The use of a macro that makes what begins at the location; NULL: it is no macro's, or another file's. */
static const ink_macro_use *begun_by(const ink_source *source, CXSourceLocation location) {
  CXFile file;
  unsigned at;
  clang_getExpansionLocation(location, &file, NULL, NULL, &at);
  for (size_t i = 0; i < source->macros.count && file && clang_File_isEqual(file, source->file); i++)
    if (source->macros.items[i].start == at)
      return &source->macros.items[i];
  return NULL;
}

/* Of what ends in a macro, libclang gives the end of the macro's use. */
static const ink_macro_use *ended_by(const ink_source *source, uint32_t end) {
  const ink_macro_use *found = NULL;
  for (size_t i = 0; i < source->macros.count; i++) {
    const ink_macro_use *use = &source->macros.items[i];
    if (use->end == end && (!found || use->start < found->start)) /* of `F(G)` no one else's */
      found = use;
  }
  return found;
}

/* Finds body_start, which is one before the text of the body, and body_end, one behind: the braces' own places, but
 * for `<%`, `%>` and braces that are made by a macro. */
static void find_braces(ink_function *function) {
  const ink_source *source = function->source;
  const CXSourceRange body = clang_getCursorExtent(function->body);
  uint32_t *start = &function->body_start, *end = &function->body_end;
  const bool opens = ink_source_locate(source, clang_getRangeStart(body), start);
  const bool closes = ink_source_locate(source, clang_getRangeEnd(body), end);
  const bool brace = closes && *end && is_at(source, *end - 1, "}");
  const bool angle = closes && *end > 1 && is_at(source, *end - 2, "%>");
  const ink_macro_use *open = opens ? NULL : begun_by(source, clang_getRangeStart(body));
  const ink_macro_use *close = closes && !brace && !angle ? ended_by(source, *end) : NULL;
  function->opens_by_macro = open != NULL;
  function->closes_by_macro = close != NULL;
  function->odd_braces = open || close || angle;
  if (open)
    *start = open->end - 1;
  if (close)
    *end = close->start + 1;
  else if (angle)
    --*end;
  if (opens && is_at(source, *start, "<%")) {
    ++*start;
    function->odd_braces = true;
  } else if (!open && !(opens && is_at(source, *start, "{"))) {
    function->in_macro = true;
  }
  function->in_macro |= !(brace || angle || close) || *end <= *start + 1 || !ink_source_free_at(source, *start + 1) ||
                        !ink_source_free_at(source, *end - 1);
}

/* What the macros of the braces begin or end is theirs: `#define BEGIN(x) __global__ void x() { if (y)`. */
static void check_braces(ink_function *function) {
  ink_node *nodes = function->tree.nodes.items;
  const uint32_t from = function->body_start, to = function->body_end - 1;
  for (uint32_t i = nodes[0].first; i != INK_NO_NODE; i = nodes[i].next)
    if ((function->opens_by_macro && nodes[i].start <= from && nodes[i].end > from + 1) ||
        (function->closes_by_macro && nodes[i].start < to && nodes[i].end > to))
      function->in_macro = true;
  nodes[0].start = from;
  nodes[0].end = function->body_end;
  nodes[0].in_macro = nodes[0].included = false;
}

/* `host`: the name of the host function that a `__device__` lambda stands in, else NULL. */
static void add_function(ink_unit *unit, CXCursor cursor, const traits *found, uint32_t outer,
                         const char *host) {
  CXFile file;
  clang_getExpansionLocation(clang_getRangeStart(clang_getCursorExtent(cursor)), &file, NULL, NULL,
                             NULL);
  ink_source *source = ink_unit_source(unit, file);
  if (source && !source->is_project && found->kernel && !clang_Cursor_isNull(found->body))
    source->kernels_outside++;
  if (!source || !source->is_project || clang_Cursor_isNull(found->body) || (unit->joins && !source->is_joined))
    return;
  ink_function function = {.cursor = cursor,
                           .body = found->body,
                           .source = source,
                           .kernel = found->kernel,
                           .device = found->device,
                           .host = found->host,
                           .outer = outer,
                           .in_host = host != NULL,
                           .calls_deep = found->kernel ? 0
                                         : host        ? 1
                                                       : -1};
  ink_source_locate(source, clang_getRangeStart(clang_getCursorExtent(cursor)), &function.start);
  if (!ink_source_locate(source, clang_getCursorLocation(cursor), &function.named_at))
    function.named_at = function.start;
  find_braces(&function);
  function.repeats = function.in_macro ? 0 : known_function(unit, &function);
  if ((outer || host) && (function.in_macro || function.repeats))
    return; /* libclang shows a local class twice */
  CXString name = clang_getCursorSpelling(cursor);
  const char *text = clang_getCString(name);
  const size_t length = text ? strcspn(text, "<") : 0;
  if (clang_getCursorKind(cursor) == CXCursor_LambdaExpr)
    function.name = lambda_name(host ? host : unit->functions.items[outer - 1].name);
  else
    function.name = strndup(text ? text : "", length);
  clang_disposeString(name);
  function.is_constexpr = is_constexpr(&function);
  if (!function.name || !INK_I_GROW(unit->functions) ||
      ((!function.in_macro || function.kernel) && !ink_tree_build(&function.tree, source, found->body))) {
    ink_tree_free(&function.tree);
    free(function.name);
    unit->failed = true;
    return;
  }
  if (!function.in_macro && function.odd_braces)
    check_braces(&function);
  unit->functions.items[unit->functions.count++] = function;
  add_inner(unit, (uint32_t)unit->functions.count);
}

/* The lambdas in a function and the functions of its local classes, as functions of their own. */
static void add_inner(ink_unit *unit, uint32_t which) {
  const ink_tree tree = unit->functions.items[which - 1].tree;
  for (uint32_t i = 1; i < tree.nodes.count && !unit->failed; i++) {
    const ink_node *node = &tree.nodes.items[i];
    bool direct = true;
    if (node->kind != CXCursor_LambdaExpr && !is_function(node->kind))
      continue;
    for (uint32_t up = node->parent; up != INK_NO_NODE; up = tree.nodes.items[up].parent)
      direct &= tree.nodes.items[up].kind != CXCursor_LambdaExpr &&
                !is_function(tree.nodes.items[up].kind);
    traits found = {.body = clang_getNullCursor()};
    clang_visitChildren(node->cursor, note_trait, &found);
    found.device = true;
    if (direct && !clang_Cursor_isNull(found.body))
      add_function(unit, node->cursor, &found, which, NULL);
  }
}

/* ---- extended lambdas in host code
 * ---------------------------------------------------------------
 */

typedef struct host_search {
  ink_unit *unit;
  ink_source *source;
  const char *name;
} host_search;

/* libclang shows no attributes of a lambda: `__device__` is looked for between its `[` and its
 * body. */
static bool is_device_lambda(const host_search *search, CXCursor lambda, traits *found) {
  const ink_source *source = search->source;
  uint32_t start, body;
  *found = (traits){.body = clang_getNullCursor()};
  clang_visitChildren(lambda, note_trait, found);
  if (clang_Cursor_isNull(found->body) ||
      !ink_source_locate(source, clang_getRangeStart(clang_getCursorExtent(lambda)), &start) ||
      !ink_source_locate(source, clang_getRangeStart(clang_getCursorExtent(found->body)), &body))
    return false;
  for (size_t i = ink_source_token_at(source, start);
       i < source->tokens.count && source->tokens.items[i].start < body; i++) {
    found->device |= ink_source_token_is(source, i, "__device__");
    found->host |= ink_source_token_is(source, i, "__host__");
  }
  return found->device;
}

static enum CXChildVisitResult find_lambda(CXCursor cursor, CXCursor parent, CXClientData data) {
  host_search *search = data;
  traits found;
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_LambdaExpr ||
      !is_device_lambda(search, cursor, &found))
    return CXChildVisit_Recurse;
  add_function(search->unit, cursor, &found, 0, search->name);
  return search->unit->failed ? CXChildVisit_Break : CXChildVisit_Continue;
}

static void find_host_lambdas(ink_unit *unit, CXCursor function) {
  CXFile file;
  clang_getExpansionLocation(clang_getRangeStart(clang_getCursorExtent(function)), &file, NULL,
                             NULL, NULL);
  ink_source *source = ink_unit_source(unit, file);
  if (!source || !source->is_project)
    return;
  CXString name = clang_getCursorSpelling(function);
  host_search search = {unit, source, clang_getCString(name)};
  clang_visitChildren(function, find_lambda, &search);
  clang_disposeString(name);
}

static enum CXChildVisitResult find_function(CXCursor cursor, CXCursor parent, CXClientData data) {
  ink_unit *unit = data;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  (void)parent;
  if (clang_isPreprocessing(kind))
    return CXChildVisit_Continue;
  if (is_function(kind)) {
    traits found = {.body = clang_getNullCursor()};
    ink_unit_note_comma(unit, cursor);
    clang_visitChildren(cursor, note_trait, &found);
    if (found.kernel || found.device)
      add_function(unit, cursor, &found, 0, NULL);
    else
      find_host_lambdas(unit, cursor);
    return unit->failed ? CXChildVisit_Break : CXChildVisit_Continue;
  }
  if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
      kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl ||
      kind == CXCursor_UnionDecl || kind == CXCursor_ClassTemplate ||
      kind == CXCursor_ClassTemplatePartialSpecialization || kind == CXCursor_FriendDecl) {
    CXFile file;
    clang_getExpansionLocation(clang_getRangeStart(clang_getCursorExtent(cursor)), &file, NULL,
                               NULL, NULL);
    if (kind == CXCursor_Namespace || ink_unit_source(unit, file))
      return CXChildVisit_Recurse;
  }
  return CXChildVisit_Continue;
}

/* The project has functions for a device and no kernel: its kernels are those of a library's header (CUTLASS's device_kernel),
 * which calls these functions. */
static bool join_outside(ink_unit *unit) {
  bool any = false;
  for (size_t i = 0; i < unit->functions.count; i++)
    if (unit->functions.items[i].kernel)
      return false;
  for (size_t i = 0; i < unit->sources.count && unit->functions.count; i++) {
    ink_source *source = unit->sources.items[i];
    if (source->is_project || !source->kernels_outside)
      continue;
    any = source->is_project = source->is_joined = true;
    lex_source(unit, source);
  }
  return any;
}

bool ink_unit_find_functions(ink_unit *unit) {
  clang_visitChildren(clang_getTranslationUnitCursor(unit->tu), find_function, unit);
  if (!unit->failed && join_outside(unit)) {
    unit->joins = true;
    clang_visitChildren(clang_getTranslationUnitCursor(unit->tu), find_function, unit);
  }
  return !unit->failed;
}

/* The function of ours whose body is the cursor's, be it an instance or the operator of a lambda: and 1, 0: none. */
static uint32_t find_by_body(ink_unit *unit, CXCursor cursor) {
  traits found = {.body = clang_getNullCursor()};
  CXFile file;
  uint32_t start;
  clang_visitChildren(cursor, note_trait, &found);
  if (clang_Cursor_isNull(found.body))
    return 0;
  const CXSourceLocation at = clang_getRangeStart(clang_getCursorExtent(found.body));
  clang_getExpansionLocation(at, &file, NULL, NULL, NULL);
  const ink_source *source = ink_unit_source(unit, file);
  const bool located = source && ink_source_locate(source, at, &start);
  const ink_macro_use *use = source && !located ? begun_by(source, at) : NULL;
  if (!located && !use)
    return 0;
  if (use)
    start = use->end - 1;
  else if (is_at(source, start, "<%"))
    start++;
  return ink_function_by_body(unit, source, start, !located);
}

ink_function *ink_unit_function(ink_unit *unit, CXCursor cursor) {
  bool known = false;
  uint32_t *kept = ink_cursor_map_at(&unit->known, cursor, 0, &known), found;
  if (kept && known)
    return *kept ? &unit->functions.items[*kept - 1] : NULL;
  CXCursor tries[3] = {clang_getCursorDefinition(cursor), cursor, clang_getSpecializedCursorTemplate(cursor)};
  if (!clang_Cursor_isNull(tries[2])) {
    CXCursor definition = clang_getCursorDefinition(tries[2]);
    if (!clang_Cursor_isNull(definition))
      tries[2] = definition;
  }
  found = clang_Cursor_isNull(tries[0]) ? 0 : find_by_body(unit, tries[0]);
  for (int t = 0; t < 3 && !found; t++)
    found = ink_function_by_cursor(unit, tries[t]);
  if ((kept = ink_cursor_map_at(&unit->known, cursor, found, NULL)))
    *kept = found;
  return found ? &unit->functions.items[found - 1] : NULL;
}

typedef struct overloaded {
  CXCursor found;
} overloaded;

static enum CXChildVisitResult find_overloaded(CXCursor cursor, CXCursor parent,
                                               CXClientData data) {
  overloaded *state = data;
  (void)parent;
  if (clang_getCursorKind(cursor) == CXCursor_OverloadedDeclRef &&
      clang_getNumOverloadedDecls(cursor)) {
    state->found = cursor;
    return CXChildVisit_Break;
  }
  /* another call, whose value this one is made on: `make(x).run()`, `make(x).v + y` */
  return clang_getCursorKind(cursor) == CXCursor_CallExpr ? CXChildVisit_Continue
                                                          : CXChildVisit_Recurse;
}

static enum CXChildVisitResult first_child(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  *(CXCursor *)data = cursor;
  return CXChildVisit_Break;
}

CXCursor ink_first_child(CXCursor cursor) {
  CXCursor child = clang_getNullCursor();
  clang_visitChildren(cursor, first_child, &child);
  return child;
}

CXCursor ink_call_overloads(CXCursor call) {
  const CXCursor target = clang_getCursorReferenced(call);
  overloaded state = {clang_getNullCursor()};
  if (!clang_Cursor_isNull(target) && clang_getCursorKind(target) != CXCursor_OverloadedDeclRef &&
      !clang_isInvalid(clang_getCursorKind(target)))
    return clang_getNullCursor();
  const CXCursor child = ink_first_child(call);
  if (clang_getCursorKind(child) == CXCursor_OverloadedDeclRef &&
      clang_getNumOverloadedDecls(child))
    return child;
  if (!clang_Cursor_isNull(child) && clang_getCursorKind(child) != CXCursor_CallExpr)
    clang_visitChildren(child, find_overloaded, &state);
  return state.found;
}

CXCursor ink_call_target(CXCursor call) {
  const CXCursor target = clang_getCursorReferenced(call);
  if (!clang_Cursor_isNull(target) && clang_getCursorKind(target) != CXCursor_OverloadedDeclRef &&
      !clang_isInvalid(clang_getCursorKind(target)))
    return target;
  const CXCursor overloads = ink_call_overloads(call);
  return clang_Cursor_isNull(overloads) ? overloads : clang_getOverloadedDecl(overloads, 0);
}

static bool reach(ink_unit *unit, ink_function *from) {
  if (from->reached_at == from->calls_deep + 1)
    return false;
  from->reached_at = from->calls_deep + 1;
  const bool through = from->is_forwarder && (!unit->options->depth || (from->kernel && from->in_macro));
  const int deep = from->calls_deep + !through;
  bool more = false;
  for (uint32_t n = 0; n < from->tree.nodes.count; n++) {
    if (from->tree.nodes.items[n].kind != CXCursor_CallExpr)
      continue;
    ink_function *to;
    for (unsigned i = 0; (to = ink_called_function(unit, &from->tree, n, i)); i++)
      if (!to->kernel && (to->calls_deep < 0 || to->calls_deep > deep)) {
        to->calls_deep = deep;
        more = true;
      }
  }
  return more;
}

void ink_unit_find_depths(ink_unit *unit) {
  for (size_t i = 0; i < unit->functions.count; i++) /* what opens a track by hand is as good as a kernel */
    if (unit->functions.items[i].opened_at)
      unit->functions.items[i].calls_deep = 0;
  ink_unit_find_forwarders(unit);
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < unit->functions.count; i++)
      if (unit->functions.items[i].calls_deep >= 0)
        more |= reach(unit, &unit->functions.items[i]);
    for (size_t i = 0; i < unit->functions.count; i++) { /* what is inside of one is one deeper */
      ink_function *inner = &unit->functions.items[i];
      const int deep = inner->outer ? unit->functions.items[inner->outer - 1].calls_deep : -1;
      if (deep >= 0 && (inner->calls_deep < 0 || inner->calls_deep > deep + 1)) {
        inner->calls_deep = deep + 1;
        more = true;
      }
    }
  }
}
