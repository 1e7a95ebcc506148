/* SPDX-License-Identifier: MIT */
/* Which calls a rule could choose, and what they call: as the text says, as instances of the template say, or,
 * where there is none in the file, by name. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

char *ink_name_of(CXCursor cursor) {
  CXString spelling = clang_getCursorSpelling(cursor);
  const char *text = clang_getCString(spelling);
  char *name = strndup(text ? text : "", text ? strcspn(text, "<") : 0);
  clang_disposeString(spelling);
  return name;
}

enum { TINY_DEPTH = sizeof((ink_function *)NULL)->tiny - 1 };

/* ---- what is tiny ------------------------------------------------------------------------------- */

static bool has_loop(const ink_tree *tree) {
  for (size_t i = 0; i < tree->nodes.count; i++)
    if (ink_node_is_loop(&tree->nodes.items[i]))
      return true;
  return false;
}

/* A wrapper weighs what it calls, and a wait is long. What is constexpr (CuTe's layouts) weighs nothing by itself: most of
 * it is computed when it is compiled. */
static bool is_tiny(ink_unit *unit, const ink_function *function, unsigned depth);

static bool look_whether_tiny(ink_unit *unit, const ink_function *function, unsigned depth) {
  char name[160];
  if (!function->is_constexpr && (function->tree.nodes.count >= 40 || has_loop(&function->tree)))
    return false;
  for (uint32_t i = 0; i < function->tree.nodes.count && depth < TINY_DEPTH; i++) {
    if (ink_is_wait(unit, &function->tree, i, name, sizeof name) && strcmp(name, "__syncwarp"))
      return false;
    if (function->tree.nodes.items[i].kind != CXCursor_CallExpr)
      continue;
    const ink_function *called = ink_called_function(unit, &function->tree, i, 0);
    if (called && called != function && !is_tiny(unit, called, depth + 1))
      return false;
  }
  return true;
}

static bool is_tiny(ink_unit *unit, const ink_function *function, unsigned depth) {
  if (!function)
    return false;
  uint8_t *known = &unit->functions.items[function - unit->functions.items].tiny[depth];
  if (!*known)
    *known = look_whether_tiny(unit, function, depth) ? 1 : 2;
  return *known == 1;
}

bool ink_is_tiny(ink_unit *unit, const ink_function *function) {
  return is_tiny(unit, function, 0);
}

/* ---- what is called ----------------------------------------------------------------------------- */

/* Of `f(x)`, `a.f<3>(x)`, `op(x)`: the token of the parenthesis; tokens.count where the node is no call in this form. */
static size_t parenthesis_of(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  const ink_source *source = tree->source;
  if (node->first == INK_NO_NODE || node->in_macro || nodes[node->first].in_macro ||
      nodes[node->first].kind == CXCursor_TypeRef || nodes[node->first].kind == CXCursor_TemplateRef ||
      nodes[node->first].kind == CXCursor_NamespaceRef)
    return source->tokens.count; /* T(x) */
  const size_t open = ink_source_skip(source, ink_source_token_at(source, nodes[node->first].end));
  const size_t close = ink_source_token_is(source, open, "(") ? ink_source_match(source, open) : source->tokens.count;
  return close < source->tokens.count && source->tokens.items[close].end == node->end ? open : source->tokens.count;
}

/* The token of the last name before the parenthesis, behind what stands in brackets: `get` of `p.get<4>(x)`, `f` of
 * `f[i](x)`; tokens.count: there is none. */
static size_t name_token(const ink_source *source, size_t open) {
  int depth = 0;
  for (size_t i = open; i-- > 0;) {
    const ink_token *token = &source->tokens.items[i];
    const char c = source->text.at[token->start];
    if (token->kind == CXToken_Punctuation && strchr(">])", c))
      depth += (int)(token->end - token->start); /* `>>` */
    else if (token->kind == CXToken_Punctuation && strchr("<[(", c))
      depth -= (int)(token->end - token->start);
    else if (!depth && token->kind == CXToken_Identifier)
      return i;
    else if (!depth || strchr(";{}", c))
      break;
  }
  return source->tokens.count;
}

static char *name_before(const ink_source *source, size_t open) {
  const size_t name = name_token(source, open);
  if (name == source->tokens.count)
    return strdup("call");
  const ink_token *token = &source->tokens.items[name];
  return strndup(source->text.at + token->start, token->end - token->start);
}

static bool is_known(CXCursor target) {
  return !clang_Cursor_isNull(target) && !clang_isInvalid(clang_getCursorKind(target));
}

/* The `which`th that the text or an instance names. */
static CXCursor target_at(const ink_unit *unit, const ink_tree *tree, uint32_t at, unsigned which) {
  const ink_node *node = &tree->nodes.items[at];
  const CXCursor written = ink_call_target(node->cursor);
  if (is_known(written) && clang_getCursorKind(written) == CXCursor_ConversionFunction)
    return which ? clang_getNullCursor() : written; /* it has the place of the call whose value it converts */
  const CXCursor resolved = ink_unit_resolved(unit, tree->source, node, which);
  return is_known(resolved) || which ? resolved : written;
}

CXCursor ink_call_known(const ink_unit *unit, const ink_tree *tree, uint32_t at) {
  const CXCursor target = target_at(unit, tree, at, 0);
  return is_known(target) ? target : clang_getNullCursor();
}

bool ink_call_words(const ink_tree *tree, uint32_t at, size_t *name, size_t *open) {
  const ink_source *source = tree->source;
  *open = parenthesis_of(tree, at);
  *name = *open < source->tokens.count ? name_token(source, *open) : source->tokens.count;
  const size_t next = ink_source_skip(source, *name + 1);
  return *name < source->tokens.count && (next == *open || ink_source_token_is(source, next, "<"));
}

bool ink_call_is_told(const ink_unit *unit, const ink_tree *tree, uint32_t at) {
  const ink_node *node = &tree->nodes.items[at];
  return is_known(ink_unit_resolved(unit, tree->source, node, 0)) ||
         (is_known(ink_call_target(node->cursor)) && clang_Cursor_isNull(ink_call_overloads(node->cursor)));
}

char *ink_called_name(const ink_tree *tree, uint32_t at) {
  const size_t open = parenthesis_of(tree, at);
  return open < tree->source->tokens.count ? name_before(tree->source, open) : strdup("call");
}

ink_function *ink_called_function(ink_unit *unit, const ink_tree *tree, uint32_t at, unsigned which) {
  if (unit->found_by.tree != tree || unit->found_by.at != at || !which) { /* not the call that was asked for last */
    const CXCursor target = target_at(unit, tree, at, which);
    unit->found_by.tree = NULL;
    if (is_known(target))
      return ink_unit_function(unit, target);
    const size_t open = which && is_known(target_at(unit, tree, at, 0)) ? tree->source->tokens.count
                                                                            : parenthesis_of(tree, at);
    char *name = open < tree->source->tokens.count ? name_before(tree->source, open) : NULL;
    if (!name)
      return NULL;
    ink_functions_named(unit, name, strlen(name), &unit->found_by.from, &unit->found_by.to);
    free(name);
    unit->found_by.tree = tree;
    unit->found_by.at = at;
  }
  const size_t found = unit->found_by.from + which;
  return found < unit->found_by.to ? ink_named_function(unit, found) : NULL;
}

/* What is called; where a template's instance decides, one that is constexpr, if any is. */
static ink_function *body_of(ink_unit *unit, const ink_function *function, uint32_t at) {
  ink_function *body = ink_called_function(unit, &function->tree, at, 0);
  const CXCursor overloads = ink_call_overloads(function->tree.nodes.items[at].cursor);
  const unsigned count = clang_Cursor_isNull(overloads) ? 0 : clang_getNumOverloadedDecls(overloads);
  for (unsigned i = 0; i < count && !(body && body->is_constexpr); i++) {
    ink_function *other = ink_unit_function(unit, clang_getOverloadedDecl(overloads, i));
    if (other && (!body || other->is_constexpr))
      body = other;
  }
  for (unsigned i = 1; !(body && body->is_constexpr); i++) {
    ink_function *other = ink_called_function(unit, &function->tree, at, i);
    if (!other)
      break;
    if (!body || other->is_constexpr)
      body = other;
  }
  return body;
}

/* ---- which calls -------------------------------------------------------------------------------- */

/* Why the rules in force leave the call out; NULL: they choose it. */
static const char *why_not(ink_unit *unit, const ink_function *function, const ink_callee *called) {
  const ink_instrument_options *options = unit->options;
  if (called->body && called->body->is_constexpr)
    return "the function is constexpr";
  if (unit->has_exclude && !regexec(&unit->exclude, called->name, 0, NULL, 0))
    return "excluded by --exclude";
  if (unit->has_calls_like)
    return called->matched ? NULL : "its name does not match --calls";
  if (called->body && ink_hand_is_whole(unit, called->body))
    return "all that the function does is in a range by hand";
  if (options->calls)
    return NULL;
  if (options->loops || options->waits || options->kernels_only)
    return "calls are marked with --calls";
  if (called->body && ink_is_tiny(unit, called->body))
    return "a tiny helper (--calls marks it)";
  const ink_function *body = called->body;
  return function->is_forwarder && body && !body->calls_deep && !body->is_off && !body->in_macro &&
                 (body->source->is_main || options->headers)
             ? "all that its function does: what it calls is marked instead (--calls marks it)"
             : NULL;
}

/* What is called is a pointer's: `table[i](x)`, `(*chosen)(x)`. */
static bool is_through_pointer(const ink_tree *tree, uint32_t at) {
  const uint32_t callee = tree->nodes.items[at].first;
  if (callee == INK_NO_NODE)
    return false;
  const CXType type = clang_getCanonicalType(clang_getCursorType(tree->nodes.items[callee].cursor));
  return type.kind == CXType_Pointer && clang_getCanonicalType(clang_getPointeeType(type)).kind == CXType_FunctionProto;
}

/* The text does not say what is called, and no instance does. */
static bool find_dependent(ink_unit *unit, const ink_function *function, uint32_t at, ink_callee *found) {
  const size_t open = parenthesis_of(&function->tree, at);
  const ink_node *nodes = function->tree.nodes.items;
  const CXCursor overloads = ink_call_overloads(nodes[at].cursor);
  if (open == function->source->tokens.count || !clang_Cursor_isNull(overloads))
    return false;
  found->name = name_before(function->source, open);
  found->body = found->name ? body_of(unit, function, at) : NULL;
  if (!found->body && unit->header_less) { /* names of the toolkit are unknown too */
    free(found->name);
    return false;
  }
  if (!found->body && !is_through_pointer(&function->tree, at))
    found->why_left = "depends on a template, and no instance in the file reaches this call";
  return found->name != NULL;
}

static bool find_known(ink_unit *unit, const ink_function *function, uint32_t at, CXCursor target, ink_callee *found,
                       bool *system) {
  const enum CXCursorKind kind = clang_getCursorKind(target);
  const ink_function *ours = ink_unit_function(unit, target);
  *system = false;
  if (kind == CXCursor_Constructor || kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction ||
      (!(ours && !ours->kernel) && !ink_cursor_is_device(unit, target, system)))
    return false;
  found->name = ink_name_of(target);
  unit->failed |= !found->name;
  if (found->name && !strncmp(found->name, "operator", 8)) {
    const size_t open = parenthesis_of(&function->tree, at);
    const bool called = !strcmp(found->name, "operator()") && open < function->source->tokens.count;
    free(found->name);
    found->name = called ? name_before(function->source, open) : NULL;
    unit->failed |= called && !found->name;
    if (found->name && !strcmp(found->name, "call")) { /* tag{}(x) */
      free(found->name);
      found->name = ink_name_of(clang_getCursorSemanticParent(target));
      if (found->name && found->name[0] == '(') /* clang's name of a lambda's class */
        strcpy(found->name, "lambda");
    }
  }
  found->body = found->name ? body_of(unit, function, at) : NULL;
  return found->name != NULL;
}

/* A variable that points to a function, or is a reference to one, is what is called. */
static bool find_variable(CXCursor target, ink_callee *found) {
  const enum CXCursorKind kind = clang_getCursorKind(target);
  const CXType type = clang_getCanonicalType(clang_getCursorType(target));
  if ((kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl && kind != CXCursor_FieldDecl &&
       kind != CXCursor_NonTypeTemplateParameter) ||
      (type.kind != CXType_Pointer && type.kind != CXType_LValueReference) ||
      clang_getCanonicalType(clang_getPointeeType(type)).kind != CXType_FunctionProto)
    return false;
  found->name = ink_name_of(target);
  if (kind == CXCursor_NonTypeTemplateParameter)
    found->why_left = "is a parameter of the template";
  return found->name != NULL;
}

bool ink_find_callee(ink_unit *unit, const ink_function *function, uint32_t at, ink_callee *found) {
  *found = (ink_callee){0};
  const CXCursor target = target_at(unit, &function->tree, at, 0);
  bool system = false;
  const bool known = is_known(target);
  if (!(known && find_variable(target, found)) &&
      (known ? !find_known(unit, function, at, target, found, &system) : !find_dependent(unit, function, at, found)))
    return false;
  found->matched = unit->has_calls_like && !regexec(&unit->calls_like, found->name, 0, NULL, 0);
  if (system && !found->matched) {
    free(found->name);
    return false;
  }
  found->why_not = why_not(unit, function, found);
  return true;
}

/* ---- functions that are one call ---------------------------------------------------------------- */

/* The call is a statement by itself, or all that is returned. */
static bool is_all_of_it(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  uint32_t up = nodes[at].parent;
  while (up != INK_NO_NODE && nodes[up].kind == CXCursor_UnexposedExpr)
    up = nodes[up].parent;
  return up != INK_NO_NODE && (nodes[up].kind == CXCursor_CompoundStmt || nodes[up].kind == CXCursor_ReturnStmt);
}

/* Loops, waits and calls of more than tiny helpers; *call is the last of these. */
static unsigned count_work(ink_unit *unit, const ink_function *function, uint32_t *call) {
  const ink_tree *tree = &function->tree;
  unsigned count = 0;
  char name[64];
  *call = INK_NO_NODE;
  for (uint32_t i = 1; i < tree->nodes.count && count < 2; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->in_lambda)
      continue;
    if (ink_node_is_loop(node) || ink_is_wait(unit, tree, i, name, sizeof name)) {
      count++;
    } else if (node->kind == CXCursor_CallExpr) {
      const ink_function *called = ink_called_function(unit, tree, i, 0);
      if (called && !called->kernel && called != function && !called->is_constexpr && !ink_is_tiny(unit, called)) {
        count++;
        *call = i;
      }
    }
  }
  return count;
}

/* There is more to see in what is called than in the call. */
static bool forwards(ink_unit *unit, const ink_function *function, unsigned depth) {
  uint32_t call, ignored;
  if ((function->in_macro && !function->kernel) || depth > 8 || count_work(unit, function, &call) != 1 || call == INK_NO_NODE ||
      !is_all_of_it(&function->tree, call))
    return false;
  const ink_function *called = ink_called_function(unit, &function->tree, call, 0);
  return !called->in_macro && (count_work(unit, called, &ignored) > 1 || forwards(unit, called, depth + 1));
}

void ink_unit_find_forwarders(ink_unit *unit) {
  for (size_t i = 0; i < unit->functions.count; i++)
    unit->functions.items[i].is_forwarder = forwards(unit, &unit->functions.items[i], 0);
}
