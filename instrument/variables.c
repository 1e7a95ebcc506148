/* SPDX-License-Identifier: MIT */
/* Finds the variables of a function: their types, where they live, where they are read and written.
 */
#include "holds.h"

#include <stdlib.h>
#include <string.h>

/* Most numbers in an array that is held: beyond, it hardly is in registers. */
#define INK_I_HELD_NUMBERS 32

/* ---- types --------------------------------------------------------------------------------------
 */

static bool is_scalar(CXType type, bool *integer) {
  *integer = type.kind >= CXType_Char_U && type.kind <= CXType_LongLong &&
             type.kind != CXType_UInt128 && type.kind != CXType_Int128;
  return *integer || type.kind == CXType_Bool || type.kind == CXType_Float ||
         type.kind == CXType_Double || type.kind == CXType_Half || type.kind == CXType_Float16;
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
  found |= name && (!strcmp(name, "__nv_bfloat16") || !strcmp(name, "__nv_bfloat162"));
  clang_disposeString(spelling);
  const long long bytes = clang_Type_getSizeOf(type); /* mark_hold.cuh takes 1, 2 and whole words; of uchar3 the numbers are held */
  return found && type.kind == CXType_Record && (bytes == 1 || bytes == 2 || (bytes > 0 && bytes % 4 == 0));
}

/* ---- plain structures: their numbers are held one by one ---- */

typedef struct field_list {
  ink_bytes text;
  char prefix[200];
  unsigned count;
  bool plain;
} field_list;

static enum CXVisitorResult add_field(CXCursor cursor, CXClientData data) {
  field_list *fields = data;
  CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
  CXString spelling = clang_getCursorSpelling(cursor);
  const char *name = clang_getCString(spelling);
  bool integer;
  const size_t length = strlen(fields->prefix);
  const bool named = name && *name && length + strlen(name) + 2 < sizeof fields->prefix;
  if (!named || clang_Cursor_isBitField(cursor) || clang_isConstQualifiedType(type) ||
      clang_isVolatileQualifiedType(type) || fields->count >= 16 ||
      (clang_getCXXAccessSpecifier(cursor) != CX_CXXPublic &&
       clang_getCXXAccessSpecifier(cursor) != CX_CXXInvalidAccessSpecifier)) {
    fields->plain = false;
  } else if (is_scalar(type, &integer) || is_vector(type)) {
    ink_bytes_format(&fields->text, ", %s.%s", fields->prefix, name);
    fields->count++;
  } else if (type.kind == CXType_Record && length < 100) {
    strcat(strcat(fields->prefix, "."), name);
    clang_Type_visitFields(type, add_field, fields);
    fields->prefix[length] = 0;
  } else {
    fields->plain = false;
  }
  clang_disposeString(spelling);
  return fields->plain ? CXVisit_Continue : CXVisit_Break;
}

static enum CXChildVisitResult find_base(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  *(bool *)data |= clang_getCursorKind(cursor) == CXCursor_CXXBaseSpecifier;
  return CXChildVisit_Continue;
}

/* ", p.x, p.y": NULL where a field is no number or cannot be named. */
static char *fields_of(CXType type, const char *name) {
  field_list fields = {.plain = strlen(name) < 100};
  bool has_base = false;
  const CXCursor record = clang_getTypeDeclaration(type);
  clang_visitChildren(record, find_base, &has_base);
  if (!fields.plain || has_base || clang_getCursorKind(record) == CXCursor_UnionDecl)
    return NULL;
  strcpy(fields.prefix, name);
  clang_Type_visitFields(type, add_field, &fields);
  if (fields.plain && fields.count)
    return ink_bytes_take(&fields.text);
  ink_bytes_free(&fields.text);
  return NULL;
}

static bool is_qualified(CXType type) {
  const CXType canonical = clang_getCanonicalType(type);
  return clang_isConstQualifiedType(type) || clang_isVolatileQualifiedType(type) ||
         clang_isConstQualifiedType(canonical) || clang_isVolatileQualifiedType(canonical);
}

static bool depends_on_template(CXType type) {
  const CXType canonical = clang_getCanonicalType(type);
  return canonical.kind == CXType_Dependent || canonical.kind == CXType_Unexposed ||
         (canonical.kind == CXType_Auto && type.kind == CXType_Auto);
}

/* Whether values of the type are held; fills in what the variable needs to know of it. */
static void judge_type(ink_variable *item, CXType type) {
  long long numbers = 1;
  bool is_array = false;
  item->never = is_qualified(type);
  type = clang_getCanonicalType(type);
  while (type.kind == CXType_ConstantArray || type.kind == CXType_DependentSizedArray) {
    is_array = true;
    item->is_dependent |= type.kind == CXType_DependentSizedArray;
    if (type.kind == CXType_ConstantArray)
      numbers *= clang_getArraySize(type) > 1000 ? 1000 : clang_getArraySize(type);
    type = clang_getCanonicalType(clang_getArrayElementType(type));
  }
  item->never |= is_qualified(type);
  item->is_dependent |= depends_on_template(type);
  bool integer;
  if (is_scalar(type, &integer) || is_vector(type) || item->is_dependent) {
    item->is_integer = integer && !is_array;
    if (numbers > INK_I_HELD_NUMBERS)
      item->why_not = "a large array";
  } else if (type.kind == CXType_Record && !is_array) {
    item->fields = fields_of(type, item->name);
    item->why_not = item->fields ? NULL : "a structure of more than numbers";
  } else if (type.kind == CXType_Record) {
    item->why_not = "an array of structures";
  } else {
    item->never = true;
  }
}

static enum CXChildVisitResult find_shared(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  if (kind == CXCursor_CUDASharedAttr || kind == CXCursor_CUDAConstantAttr ||
      kind == CXCursor_CUDADeviceAttr)
    *(bool *)data = true;
  if (kind == CXCursor_AnnotateAttr) { /* what parse.c makes of __shared__ */
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *text = clang_getCString(spelling);
    *(bool *)data |= text && !strcmp(text, "ink_shared");
    clang_disposeString(spelling);
  }
  return CXChildVisit_Continue;
}

bool ink_is_in_memory_space(CXCursor variable) {
  bool found = false;
  clang_visitChildren(variable, find_shared, &found);
  return found;
}

/* ---- declarations -------------------------------------------------------------------------------
 */

static bool is_pack(CXType type) {
  CXString spelling = clang_getTypeSpelling(type);
  const char *text = clang_getCString(spelling);
  const size_t length = text ? strlen(text) : 0;
  const bool is = length > 3 && !strcmp(text + length - 3, "...");
  clang_disposeString(spelling);
  return is;
}

static void add_variable(struct ink_variables *all, ink_variable item, bool *failed) {
  CXString spelling = clang_getCursorSpelling(item.cursor);
  const bool shared = ink_is_in_memory_space(item.cursor);
  const enum CX_StorageClass storage = clang_Cursor_getStorageClass(item.cursor);
  const bool never = item.never;
  item.name = strdup(clang_getCString(spelling));
  clang_disposeString(spelling);
  if (is_pack(clang_getCursorType(item.cursor)))
    item.why_not = "a parameter pack";
  else if (item.name && *item.name)
    judge_type(&item, clang_getCursorType(item.cursor));
  item.never |= never || shared || storage == CX_SC_Static || storage == CX_SC_Extern;
  if (!item.name || !*item.name || !INK_I_GROW(all->list)) {
    *failed |= !item.name || *item.name;
    free(item.name);
    free(item.fields);
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
                 (ink_variable){.cursor = cursor,
                                .declared = state->function->body_start,
                                .named = state->function->body_start,
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

static const ink_variable *variable_of(const struct ink_variables *all, CXCursor target) {
  for (size_t i = 0; i < all->list.count; i++)
    if (clang_equalCursors(all->list.items[i].cursor, target))
      return &all->list.items[i];
  return NULL;
}

/* Every name in nodes [at, end) is a constant, or a counter that unrolling makes one. */
static bool is_known(const struct ink_variables *all, const ink_tree *tree, uint32_t at,
                     uint32_t end) {
  for (uint32_t i = at; i < end; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->kind == CXCursor_CallExpr)
      return false;
    if (node->kind != CXCursor_DeclRefExpr)
      continue;
    const CXCursor target = clang_getCursorReferenced(node->cursor);
    const enum CXCursorKind kind = clang_getCursorKind(target);
    const ink_variable *item = variable_of(all, target);
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl)
      continue;
    bool integer;
    const CXType type = clang_getCursorType(target);
    if (item ? !item->is_known
             : !clang_isConstQualifiedType(type) ||
                   !is_scalar(clang_getCanonicalType(type), &integer))
      return false; /* threadIdx is const too */
  }
  return true;
}

/* An integer's first value comes from more than sums and products: a function, a hash. */
static bool is_computed(const ink_tree *tree, uint32_t value) {
  for (uint32_t i = value, end = ink_tree_end(tree, value); i < end; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->kind == CXCursor_CallExpr ||
        (node->kind == CXCursor_BinaryOperator &&
         clang_getCursorBinaryOperatorKind(node->cursor) == CXBinaryOperator_Xor))
      return true;
  }
  return false;
}

/* `p[i]` or `*p`, converted or not: arithmetic on it waits for the load. Not a local array's
 * element. */
static bool is_load(const ink_tree *tree, uint32_t value) {
  const ink_node *nodes = tree->nodes.items;
  while (nodes[value].last != INK_NO_NODE &&
         (nodes[value].kind == CXCursor_UnexposedExpr || nodes[value].kind == CXCursor_ParenExpr ||
          nodes[value].kind == CXCursor_CStyleCastExpr ||
          nodes[value].kind == CXCursor_MemberRefExpr))
    value = nodes[value].last;
  if (nodes[value].kind == CXCursor_UnaryOperator)
    return clang_getCursorUnaryOperatorKind(nodes[value].cursor) == CXUnaryOperator_Deref;
  if (nodes[value].kind != CXCursor_ArraySubscriptExpr)
    return false;
  uint32_t base = nodes[value].first;
  while (nodes[base].kind == CXCursor_UnexposedExpr && nodes[base].first != INK_NO_NODE)
    base = nodes[base].first;
  const enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(nodes[base].cursor)).kind;
  return kind == CXType_Pointer || kind == CXType_Dependent;
}

static void add_local(struct ink_variables *all, const ink_tree *tree, uint32_t at, bool *failed) {
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  uint32_t up = node->parent;
  while (nodes[up].kind == CXCursor_DeclStmt)
    up = nodes[up].parent;
  const uint32_t value = node->last, body = ink_node_is_loop(&nodes[up]) ? nodes[up].last : 0;
  const bool has_value = value != INK_NO_NODE && has_initialiser(tree, node);
  const bool counter = ink_node_is_loop(&nodes[up]) && up == nodes[node->parent].parent;
  const bool literal = has_value && nodes[value].first == INK_NO_NODE;
  /* what `for (int v : f())` declares is not there in f() yet */
  const bool ranged = nodes[node->parent].kind == CXCursor_CXXForRangeStmt;
  const uint32_t inside = ranged ? ink_node_body(tree, node->parent) : INK_NO_NODE;
  const uint32_t there = inside != INK_NO_NODE ? nodes[inside].start : nodes[node->parent].end;
  uint32_t named;
  if (!ink_source_locate(tree->source, clang_getCursorLocation(node->cursor), &named))
    named = node->end;
  ink_variable item = {.cursor = node->cursor,
                       .declared = ranged ? there : node->end,
                       .named = ranged ? there : named,
                       .scope = nodes[up].start,
                       .scope_end = nodes[up].end,
                       .initialised = has_value,
                       .has_literal = literal,
                       .is_counter = counter,
                       .is_computed = has_value && is_computed(tree, value),
                       .is_loaded = has_value && is_load(tree, value),
                       .never = node->in_lambda || node->in_macro};
  if (!counter)
    item.is_known = literal && clang_isConstQualifiedType(clang_getCursorType(node->cursor));
  add_variable(all, item, failed);
  if (counter && all->list.count && nodes[up].kind == CXCursor_ForStmt && body != INK_NO_NODE) {
    all->list.items[all->list.count - 1].is_known = true; /* for its own condition */
    all->list.items[all->list.count - 1].is_known = is_known(all, tree, up + 1, body);
  }
}

/* ---- uses ---------------------------------------------------------------------------------------
 */

typedef struct use_kind {
  bool write, assigned; /* assigned: by an operator */
  bool address;
  uint32_t by; /* the node that writes */
} use_kind;

/* How the value at a DeclRefExpr is used: found by climbing to what is done with it. */
static use_kind classify(const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  uint32_t child = at, up = nodes[at].parent;
  while (up != INK_NO_NODE) {
    const enum CXCursorKind kind = nodes[up].kind;
    const bool first = nodes[up].first == child;
    if (kind == CXCursor_CompoundAssignOperator ||
        (kind == CXCursor_BinaryOperator &&
         clang_getCursorBinaryOperatorKind(nodes[up].cursor) == CXBinaryOperator_Assign))
      return (use_kind){.write = first, .assigned = first, .by = up};
    if (kind == CXCursor_UnaryOperator) {
      const enum CXUnaryOperatorKind what = clang_getCursorUnaryOperatorKind(nodes[up].cursor);
      const bool steps = what <= CXUnaryOperator_PreDec && what >= CXUnaryOperator_PostInc;
      return (use_kind){
          .write = steps, .assigned = steps, .by = up, .address = what == CXUnaryOperator_AddrOf};
    }
    if (kind == CXCursor_GCCAsmStmt)
      return (use_kind){.write = true, .assigned = true, .by = up};
    if (kind == CXCursor_CallExpr) /* by reference: no conversion between */
      return (use_kind){.write = nodes[child].kind != CXCursor_UnexposedExpr &&
                                 !(first && child == at), /* not what is called */
                        .by = up};
    if (kind == CXCursor_LambdaExpr)
      return (use_kind){.address = true, .by = up};
    if (!(kind == CXCursor_ParenExpr ||
          ((kind == CXCursor_MemberRefExpr || kind == CXCursor_ArraySubscriptExpr ||
            kind == CXCursor_UnexposedExpr) &&
           first)))
      break;
    child = up;
    up = nodes[up].parent;
  }
  return (use_kind){.by = at};
}

/* `acc[k]` with a k that only a running kernel knows: the array is memory then. */
static bool is_indexed_at_run_time(const struct ink_variables *all, const ink_tree *tree,
                                   uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  uint32_t child = at;
  for (uint32_t up = nodes[at].parent; up != INK_NO_NODE; child = up, up = nodes[up].parent) {
    if (nodes[up].kind == CXCursor_UnexposedExpr || nodes[up].kind == CXCursor_ParenExpr)
      continue;
    if (nodes[up].kind != CXCursor_ArraySubscriptExpr || nodes[up].first != child)
      return false;
    const uint32_t index = nodes[up].last;
    if (index != child && !is_known(all, tree, index, ink_tree_end(tree, index)))
      return true;
  }
  return false;
}

static void add_use(struct ink_variables *all, const ink_tree *tree, uint32_t at, bool *failed) {
  const ink_node *node = &tree->nodes.items[at];
  const ink_variable *found = variable_of(all, clang_getCursorReferenced(node->cursor));
  if (!found)
    return;
  const uint32_t which = (uint32_t)(found - all->list.items);
  ink_variable *item = &all->list.items[which];
  if (!INK_I_GROW(all->uses)) {
    *failed = true;
    return;
  }
  const use_kind how = classify(tree, at);
  if (how.address || node->in_lambda)
    item->why_not = node->in_lambda ? "a lambda uses it" : "its address is taken";
  else if (!item->why_not && is_indexed_at_run_time(all, tree, at))
    item->why_not = "indexed by what only the kernel knows";
  item->writes += how.write;
  item->assigned += how.assigned;
  all->uses.items[all->uses.count++] = (ink_use){which, node->start, how.by, how.write};
}

/* `int k; for (k = 0; k < n; k++)` and `while (k < n) k += 2`: counters too, where nothing else
 * writes them. */
static void find_counters(struct ink_variables *all, const ink_tree *tree) {
  const ink_node *nodes = tree->nodes.items;
  for (uint32_t v = 0; v < all->list.count; v++) {
    ink_variable *item = &all->list.items[v];
    bool steps = item->is_integer && item->writes, heads = false;
    for (size_t i = 0; i < all->uses.count && steps; i++) {
      const ink_use *one = &all->uses.items[i];
      const ink_node *by = &nodes[one->node];
      if (one->variable != v)
        continue;
      uint32_t loop = one->node;
      while (loop != INK_NO_NODE && !ink_node_is_loop(&nodes[loop]))
        loop = nodes[loop].parent;
      const uint32_t body = loop == INK_NO_NODE ? INK_NO_NODE : ink_node_body(tree, loop);
      const bool in_head = body != INK_NO_NODE &&
                           (one->offset < nodes[body].start || one->offset >= nodes[body].end);
      heads |= in_head;
      if (one->write)
        steps = by->kind == CXCursor_UnaryOperator || by->kind == CXCursor_CompoundAssignOperator ||
                in_head;
    }
    item->is_counter |= steps && heads;
  }
}

/* What the tensor cores may still write at a mark: to read it there would have them waited for. */
static void find_in_flight(ink_unit *unit, struct ink_variables *all, const ink_tree *tree) {
  uint32_t last = INK_NO_NODE;
  bool flies = false;
  for (size_t i = 0; i < all->uses.count; i++) {
    const ink_use *one = &all->uses.items[i];
    if (!one->write)
      continue;
    if (one->node != last)
      flies = ink_writes_in_flight(unit, tree, one->node);
    last = one->node;
    all->list.items[one->variable].never |= flies;
  }
}

struct ink_variables *ink_variables_find(ink_unit *unit, const ink_function *function) {
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
  find_counters(all, tree);
  find_in_flight(unit, all, tree);
  return all;
}

void ink_variables_free(struct ink_variables *all) {
  if (!all)
    return;
  for (size_t i = 0; i < all->list.count; i++) {
    free(all->list.items[i].name);
    free(all->list.items[i].fields);
  }
  free(all->list.items);
  free(all->uses.items);
  free(all);
}
