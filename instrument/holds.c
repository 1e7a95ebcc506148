/* SPDX-License-Identifier: MIT */
/* Which values a mark holds: the locals that the section before it assigned and that are used after
 * it. One left out would let its whole chain of arithmetic slide behind the stamp; one too many
 * would cost the compiler what it knows of it. */
#include "holds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct variable {
  CXCursor cursor;
  char *name;
  uint32_t declared;         /* the end of its declaration */
  uint32_t scope, scope_end; /* where it lives */
  bool initialised, is_parameter, excluded, is_integer, is_dependent;
  bool has_literal;
  uint32_t writes; /* behind its declaration */
} variable;

typedef struct use {
  uint32_t variable, offset, node;
  bool write;
} use;

struct ink_variables {
  struct {
    variable *items;
    size_t count, room;
  } list;
  struct {
    use *items;
    size_t count, room;
  } uses;
};

/* ---- types
 * --------------------------------------------------------------------------------------- */

static bool is_scalar(CXType type, bool *integer) {
  *integer = type.kind >= CXType_Char_U && type.kind <= CXType_LongLong &&
             type.kind != CXType_UInt128 && type.kind != CXType_Int128;
  return *integer || type.kind == CXType_Float || type.kind == CXType_Double ||
         type.kind == CXType_Half || type.kind == CXType_Float16;
}

/* float4 and its like, and the half types: plain structs of scalars. */
static bool is_vector(CXType type) {
  static const char *const bases[] = {"char",  "uchar",  "short", "ushort",   "int",
                                      "uint",  "long",   "ulong", "longlong", "ulonglong",
                                      "float", "double", "__half"};
  CXString spelling = clang_getTypeSpelling(clang_getUnqualifiedType(type));
  const char *name = clang_getCString(spelling);
  bool found = false;
  for (size_t i = 0; name && i < sizeof bases / sizeof *bases; i++) {
    const size_t length = strlen(bases[i]);
    const char *tail = name + length;
    found |= !strncmp(name, bases[i], length) &&
             ((*tail >= '1' && *tail <= '4' && !tail[1]) || (*bases[i] == '_' && !*tail));
  }
  found |= name && !strcmp(name, "__nv_bfloat16");
  clang_disposeString(spelling);
  return found && type.kind == CXType_Record;
}

static bool is_holdable(CXType type, bool *integer) {
  *integer = false;
  if (clang_isConstQualifiedType(type) || clang_isVolatileQualifiedType(type))
    return false;
  type = clang_getCanonicalType(type);
  if (clang_isConstQualifiedType(type) || clang_isVolatileQualifiedType(type))
    return false;
  if (type.kind == CXType_ConstantArray) {
    const long long count = clang_getArraySize(type);
    type = clang_getCanonicalType(clang_getArrayElementType(type));
    return count > 0 && count <= 8 && is_scalar(type, integer) &&
           !clang_isConstQualifiedType(type) && !clang_isVolatileQualifiedType(type);
  }
  return is_scalar(type, integer) || is_vector(type);
}

/* ---- variables and their uses
 * -------------------------------------------------------------------- */

static enum CXChildVisitResult find_shared(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  if (kind == CXCursor_CUDASharedAttr || kind == CXCursor_CUDAConstantAttr ||
      kind == CXCursor_CUDADeviceAttr)
    *(bool *)data = true;
  return CXChildVisit_Continue;
}

static void add_variable(struct ink_variables *all, variable item, bool *failed) {
  CXString spelling = clang_getCursorSpelling(item.cursor);
  const CXType type = clang_getCursorType(item.cursor);
  bool shared = false;
  clang_visitChildren(item.cursor, find_shared, &shared);
  const enum CX_StorageClass storage = clang_Cursor_getStorageClass(item.cursor);
  item.is_dependent = type.kind == CXType_Unexposed ||
                      clang_getCanonicalType(type).kind == CXType_Dependent ||
                      clang_getCanonicalType(type).kind == CXType_Unexposed;
  item.excluded |= shared || storage == CX_SC_Static || storage == CX_SC_Extern ||
                   !is_holdable(type, &item.is_integer);
  item.name = strdup(clang_getCString(spelling));
  clang_disposeString(spelling);
  if (!item.name || !*item.name || !INK_I_GROW(all->list)) {
    *failed |= !item.name || *item.name;
    free(item.name);
    return;
  }
  all->list.items[all->list.count++] = item;
}

typedef struct parameters {
  struct ink_variables *all;
  const ink_function *function;
  bool *failed;
} parameters;

static enum CXChildVisitResult add_parameter(CXCursor cursor, CXCursor parent, CXClientData data) {
  parameters *state = data;
  (void)parent;
  if (clang_getCursorKind(cursor) == CXCursor_ParmDecl)
    add_variable(state->all,
                 (variable){.cursor = cursor,
                            .declared = state->function->body_start,
                            .scope = state->function->body_start,
                            .scope_end = state->function->body_end,
                            .initialised = true,
                            .is_parameter = true},
                 state->failed);
  return CXChildVisit_Continue;
}

/* Whether a value stands behind the name: libclang shows an implicit constructor, or the length of
 * an array, like one. */
static bool has_initialiser(const ink_tree *tree, const ink_node *node) {
  const ink_source *source = tree->source;
  uint32_t name;
  if (!ink_source_locate(source, clang_getCursorLocation(node->cursor), &name) || node->in_macro)
    return false;
  size_t token = ink_source_skip(source, ink_source_token_at(source, name) + 1);
  while (ink_source_token_is(source, token, "[")) {
    while (token < source->tokens.count && !ink_source_token_is(source, token, "]"))
      token++;
    token = ink_source_skip(source, token + 1);
  }
  return token < source->tokens.count && source->tokens.items[token].start < node->end;
}

static void add_local(struct ink_variables *all, const ink_tree *tree, uint32_t at, bool *failed) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  uint32_t up = node->parent;
  while (nodes[up].kind == CXCursor_DeclStmt)
    up = nodes[up].parent;
  const uint32_t value = node->last;
  const bool has_value = value != INK_NO_NODE && has_initialiser(tree, node);
  const bool counter = ink_node_is_loop(&nodes[up]) && up == nodes[node->parent].parent;
  add_variable(all,
               (variable){.cursor = node->cursor,
                          .declared = node->end,
                          .scope = nodes[up].start,
                          .scope_end = nodes[up].end,
                          .initialised = has_value,
                          .has_literal = has_value && nodes[value].first == INK_NO_NODE,
                          .excluded = node->in_lambda || counter || node->in_macro},
               failed);
}

/* How the value at a DeclRefExpr is used: found by climbing to what is done with it. */
static void classify(const ink_tree *tree, uint32_t at, bool *write, bool *address) {
  const ink_node *nodes = tree->nodes.items;
  *write = *address = false;
  uint32_t child = at, up = nodes[at].parent;
  while (up != INK_NO_NODE) {
    const enum CXCursorKind kind = nodes[up].kind;
    const bool first = nodes[up].first == child;
    if (kind == CXCursor_CompoundAssignOperator ||
        (kind == CXCursor_BinaryOperator &&
         clang_getCursorBinaryOperatorKind(nodes[up].cursor) == CXBinaryOperator_Assign)) {
      *write = first;
      return;
    }
    if (kind == CXCursor_UnaryOperator) {
      const enum CXUnaryOperatorKind what = clang_getCursorUnaryOperatorKind(nodes[up].cursor);
      *write = what <= CXUnaryOperator_PreDec && what >= CXUnaryOperator_PostInc;
      *address = what == CXUnaryOperator_AddrOf;
      return;
    }
    if (kind == CXCursor_GCCAsmStmt || kind == CXCursor_CallExpr) {
      *write = kind == CXCursor_GCCAsmStmt || child == at; /* by reference: no conversion between */
      return;
    }
    if (kind == CXCursor_LambdaExpr) {
      *address = true;
      return;
    }
    if (!(kind == CXCursor_ParenExpr ||
          ((kind == CXCursor_MemberRefExpr || kind == CXCursor_ArraySubscriptExpr ||
            kind == CXCursor_UnexposedExpr) &&
           first)))
      return;
    child = up;
    up = nodes[up].parent;
  }
}

static void add_use(struct ink_variables *all, const ink_tree *tree, uint32_t at, bool *failed) {
  const ink_node *node = &tree->nodes.items[at];
  const CXCursor target = clang_getCursorReferenced(node->cursor);
  bool write, address;
  for (size_t i = 0; i < all->list.count; i++) {
    if (!clang_equalCursors(all->list.items[i].cursor, target))
      continue;
    if (!INK_I_GROW(all->uses)) {
      *failed = true;
      return;
    }
    classify(tree, at, &write, &address);
    all->list.items[i].excluded |= address || node->in_lambda;
    all->list.items[i].writes += write;
    all->uses.items[all->uses.count++] = (use){(uint32_t)i, node->start, at, write};
    return;
  }
}

static struct ink_variables *find_variables(ink_unit *unit, const ink_function *function) {
  struct ink_variables *all = calloc(1, sizeof *all);
  const ink_tree *tree = &function->tree;
  if (!all) {
    unit->failed = true;
    return NULL;
  }
  parameters state = {all, function, &unit->failed};
  clang_visitChildren(function->cursor, add_parameter, &state);
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    if (tree->nodes.items[i].kind == CXCursor_VarDecl)
      add_local(all, tree, i, &unit->failed);
    else if (tree->nodes.items[i].kind == CXCursor_DeclRefExpr)
      add_use(all, tree, i, &unit->failed);
  }
  return all;
}

void ink_variables_free(struct ink_variables *all) {
  if (!all)
    return;
  for (size_t i = 0; i < all->list.count; i++)
    free(all->list.items[i].name);
  free(all->list.items);
  free(all->uses.items);
  free(all);
}

/* ---- at one mark
 * --------------------------------------------------------------------------------- */

/* The text whose assignments count: the marked statement itself for the mark behind it, else what
 * its block has before the mark, else the loop whose iteration begins here. */
static ink_span section_before(const ink_tree *tree, uint32_t offset, uint32_t statement) {
  const ink_node *nodes = tree->nodes.items;
  if (statement != INK_NO_NODE && nodes[statement].start < offset)
    return (ink_span){nodes[statement].start,
                      nodes[statement].end > offset ? nodes[statement].end : offset};
  uint32_t block = 0;
  for (uint32_t i = 0; i < tree->nodes.count; i++)
    if (nodes[i].kind == CXCursor_CompoundStmt && nodes[i].start < offset && offset < nodes[i].end)
      block = i;
  return (ink_span){nodes[block].start, offset};
}

static bool is_live_after(const struct ink_variables *all, const ink_tree *tree, uint32_t which,
                          uint32_t offset) {
  const ink_node *nodes = tree->nodes.items;
  const variable *item = &all->list.items[which];
  ink_span around = {0, 0}; /* the widest loop around the mark that the variable outlives */
  for (uint32_t i = 0; i < tree->nodes.count; i++)
    if (ink_node_is_loop(&nodes[i]) && nodes[i].start < offset && offset < nodes[i].end &&
        nodes[i].start >= item->declared) {
      around = (ink_span){nodes[i].start, nodes[i].end};
      break;
    }
  for (size_t i = 0; i < all->uses.count; i++)
    if (all->uses.items[i].variable == which &&
        (all->uses.items[i].offset >= offset ||
         (all->uses.items[i].offset >= around.start && all->uses.items[i].offset < around.end)))
      return true;
  return false;
}

/* Its value is there on every way to the mark: from its declaration, or from an assignment that is
 * a statement of a block around the mark. */
static bool is_set_before(const struct ink_variables *all, const ink_tree *tree, uint32_t which,
                          uint32_t offset) {
  const ink_node *nodes = tree->nodes.items;
  if (all->list.items[which].initialised)
    return true;
  for (size_t i = 0; i < all->uses.count; i++) {
    if (all->uses.items[i].variable != which || !all->uses.items[i].write ||
        all->uses.items[i].offset >= offset)
      continue;
    const uint32_t assignment = nodes[all->uses.items[i].node].parent;
    const uint32_t block = nodes[assignment].parent;
    if (nodes[assignment].kind == CXCursor_BinaryOperator && block != INK_NO_NODE &&
        nodes[block].kind == CXCursor_CompoundStmt && nodes[block].start < offset &&
        offset <= nodes[block].end && nodes[assignment].end <= offset)
      return true;
  }
  return false;
}

static bool is_written_in(const struct ink_variables *all, uint32_t which, ink_span section) {
  const variable *item = &all->list.items[which];
  if (item->initialised && !item->is_parameter && item->declared > section.start &&
      item->declared <= section.end && item->writes + !item->is_integer > 0 &&
      (item->writes || !item->has_literal))
    return true;
  for (size_t i = 0; i < all->uses.count; i++)
    if (all->uses.items[i].variable == which && all->uses.items[i].write &&
        all->uses.items[i].offset >= section.start && all->uses.items[i].offset < section.end)
      return true;
  return false;
}

/* A name declared again further in would be held instead. */
static bool is_hidden(const struct ink_variables *all, uint32_t which, uint32_t offset) {
  const variable *item = &all->list.items[which];
  for (size_t i = 0; i < all->list.count; i++) {
    const variable *other = &all->list.items[i];
    if (i != which && other->declared > item->declared && other->declared <= offset &&
        other->scope <= offset && offset <= other->scope_end && !strcmp(other->name, item->name))
      return true;
  }
  return false;
}

char *ink_hold_list(ink_unit *unit, const ink_function *function, uint32_t offset,
                    uint32_t statement) {
  ink_bytes out = {0};
  if (unit->options->hold == INK_HOLD_NONE)
    return strdup("");
  ink_function *owner = (ink_function *)function;
  if (!owner->variables)
    owner->variables = find_variables(unit, function);
  const struct ink_variables *all = owner->variables;
  const ink_tree *tree = &function->tree;
  const ink_span section = section_before(tree, offset, statement);
  for (uint32_t i = 0; all && i < all->list.count; i++) {
    const variable *item = &all->list.items[i];
    const bool here = item->declared <= offset && item->scope < offset && offset < item->scope_end;
    if (!here || !is_written_in(all, i, section) || !is_live_after(all, tree, i, offset))
      continue;
    if (item->is_dependent && !owner->has_untold) {
      owner->has_untold = true;
      ink_unit_say(unit, function->source, offset,
                   "cannot tell whether '%s' can be held: its type depends on a template; what "
                   "computes it may slide past the stamp",
                   item->name);
    }
    if (!item->excluded && is_set_before(all, tree, i, offset) && !is_hidden(all, i, offset))
      ink_bytes_format(&out, ", %s", item->name);
  }
  ink_bytes_add(&out, "", 0);
  char *list = ink_bytes_take(&out);
  unit->failed |= !list;
  return list;
}
