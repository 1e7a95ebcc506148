/* SPDX-License-Identifier: MIT */
/* Which loops marks inside would harm: those that the compiler unrolls, whose arrays live in registers for that
 * reason alone, and those whose body is a few operations, which a mark would cost more than they do. */
#include "unit.h"

#include <string.h>
#include <strings.h>

enum {
  short_trips = 32,    /* a loop known to be shorter than this is unrolled */
  few_operations = 400, /* a body below this is small beside what a row or the sum of its passes costs */
  light_operations = 100, /* a call of fewer is small beside its own sum */
  unknown_trips = 8,   /* of an unrolled loop whose count is not known */
  most_operations = 5000,
  most_steps = 4096 /* of a counter that is multiplied, divided or shifted: it ends sooner, or never */
};

/* ---- what the text says ---- */

/* "unroll", "unroll 4", but neither "nounroll" nor "unroll 1"; in a macro's text also the names of other
 * macros, as TILE_UNROLL and NO_UNROLL. */
static bool asks_to_unroll(const char *text, size_t bytes) {
  size_t at = 0;
  while (at + 6 <= bytes && strncasecmp(text + at, "unroll", 6))
    at++;
  const bool no = (at >= 2 && !strncasecmp(text + at - 2, "no", 2)) ||
                  (at >= 3 && !strncasecmp(text + at - 3, "no_", 3));
  if (at + 6 > bytes || no)
    return false;
  for (at += 6; at < bytes && (text[at] == ' ' || text[at] == '(');)
    at++;
  return at == bytes || (text[at] != '0' && text[at] != '1') ||
         (at + 1 < bytes && text[at + 1] >= '0' && text[at + 1] <= '9');
}

/* The use of a macro that begins at the offset comes to the pragma, by itself or through others that
 * it uses: these are shown at the same place. */
static bool macro_asks(const ink_unit *unit, const ink_source *source, uint32_t offset) {
  for (size_t i = 0; i < source->macros.count; i++) {
    if (source->macros.items[i].start != offset)
      continue;
    const CXSourceRange range =
        clang_getCursorExtent(clang_getCursorReferenced(source->macros.items[i].cursor));
    CXFile file;
    unsigned start, end;
    size_t bytes;
    clang_getFileLocation(clang_getRangeStart(range), &file, NULL, NULL, &start);
    clang_getFileLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &end);
    const char *text = file ? ink_unit_file_text(unit, file, &bytes) : NULL;
    while (text && end < bytes && text[end] != '\n') /* a #pragma that the parse has as nothing */
      end++;
    while (text && end <= bytes && start < end && text[start] != ' ' && text[start] != '\t' && text[start] != '(')
      start++; /* the macro's own name */
    if (text && end <= bytes && start < end && asks_to_unroll(text + start, end - start))
      return true;
  }
  return false;
}

/* Where the `(` is that the `)` of this index closes; 0: none. */
static size_t opening_of(const ink_source *source, size_t at) {
  for (int depth = 0; at; at--) {
    depth += ink_source_token_is(source, at, ")") - ink_source_token_is(source, at, "(");
    if (!depth)
      return at;
  }
  return 0;
}

/* What stands right before the loop: `#pragma unroll`, `_Pragma("unroll")`, a macro that becomes one. */
static bool pragma_unrolls(const ink_unit *unit, const ink_source *source, uint32_t start) {
  size_t at = ink_source_token_at(source, start);
  while (at && source->tokens.items[at - 1].kind == CXToken_Comment && !source->tokens.items[at - 1].directive)
    at--;
  if (!at)
    return false;
  const ink_token *before = &source->tokens.items[at - 1];
  if (before->directive) {
    size_t first = at - 1;
    while (first && !ink_source_token_is(source, first, "#"))
      first--;
    const uint32_t from = source->tokens.items[first].start;
    return ink_source_token_is(source, first + 1, "pragma") &&
           asks_to_unroll(source->text.at + from, before->end - from);
  }
  const size_t head = ink_source_token_is(source, at - 1, ")") ? opening_of(source, at - 1) : at;
  if (!head)
    return false;
  const uint32_t from = source->tokens.items[head - 1].start;
  if (ink_source_token_is(source, head - 1, "_Pragma"))
    return asks_to_unroll(source->text.at + from, before->end - from);
  if (at >= head + 3 && ink_source_token_is(source, at - 2, "1") && ink_source_token_is(source, at - 3, "("))
    return false; /* UNROLL(1) */
  return macro_asks(unit, source, from);
}

/* ---- how often it runs ---- */

bool ink_constant_of(CXCursor cursor, long long *value) {
  CXEvalResult result = clang_Cursor_Evaluate(cursor);
  const bool is = result && clang_EvalResult_getKind(result) == CXEval_Int;
  if (is)
    *value = clang_EvalResult_getAsLongLong(result);
  if (result)
    clang_EvalResult_dispose(result);
  return is;
}

typedef struct loop_head { /* `for (int i = first; i < bound; i += step)` */
  CXCursor counter;
  uint32_t first, condition, bound, increment;
  bool plain; /* the counter itself is compared and stepped */
} loop_head;

static bool refers_to(const ink_tree *tree, uint32_t at, CXCursor target) {
  for (uint32_t i = at, end = ink_tree_end(tree, at); i < end; i++)
    if (tree->nodes.items[i].kind == CXCursor_DeclRefExpr &&
        clang_equalCursors(clang_getCursorReferenced(tree->nodes.items[i].cursor), target))
      return true;
  return false;
}

static bool read_head(const ink_tree *tree, uint32_t at, loop_head *head) {
  const ink_node *nodes = tree->nodes.items;
  const uint32_t init = nodes[at].first;
  if (nodes[at].kind != CXCursor_ForStmt || init == INK_NO_NODE ||
      nodes[init].kind != CXCursor_DeclStmt || nodes[init].first == INK_NO_NODE ||
      nodes[init].first != nodes[init].last)
    return false;
  const uint32_t variable = nodes[init].first;
  head->counter = nodes[variable].cursor;
  head->first = nodes[variable].last;
  head->condition = nodes[init].next;
  head->increment = head->condition == INK_NO_NODE ? INK_NO_NODE : nodes[head->condition].next;
  if (nodes[variable].kind != CXCursor_VarDecl || head->first == INK_NO_NODE ||
      head->increment == INK_NO_NODE || nodes[head->increment].next == INK_NO_NODE ||
      nodes[head->condition].kind != CXCursor_BinaryOperator)
    return false;
  uint32_t left = nodes[head->condition].first;
  head->bound = nodes[head->condition].last;
  while (left != INK_NO_NODE && nodes[left].kind == CXCursor_UnexposedExpr) /* a conversion */
    left = nodes[left].first;
  head->plain = left != INK_NO_NODE && nodes[left].kind == CXCursor_DeclRefExpr && nodes[head->increment].first != INK_NO_NODE &&
                refers_to(tree, nodes[head->increment].first, head->counter);
  return nodes[head->condition].first != head->bound && refers_to(tree, nodes[head->condition].first, head->counter) &&
         !refers_to(tree, head->bound, head->counter);
}

static bool goes_on(enum CXBinaryOperatorKind kind, long long value, long long bound) {
  switch (kind) {
  case CXBinaryOperator_LT:
    return value < bound;
  case CXBinaryOperator_LE:
    return value <= bound;
  case CXBinaryOperator_GT:
    return value > bound;
  case CXBinaryOperator_GE:
    return value >= bound;
  case CXBinaryOperator_NE:
    return value != bound;
  default:
    return false;
  }
}

/* One step of the counter; false: it cannot be told. */
static bool step(const ink_tree *tree, uint32_t at, long long *value) {
  const ink_node *node = &tree->nodes.items[at];
  long long by;
  if (node->kind == CXCursor_UnaryOperator) {
    const enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(node->cursor);
    const bool up = kind == CXUnaryOperator_PostInc || kind == CXUnaryOperator_PreInc;
    *value += up ? 1 : -1;
    return up || kind == CXUnaryOperator_PostDec || kind == CXUnaryOperator_PreDec;
  }
  if (node->kind != CXCursor_CompoundAssignOperator ||
      !ink_constant_of(tree->nodes.items[node->last].cursor, &by) || by < -1000000 || by > 1000000)
    return false;
  switch (clang_getCursorBinaryOperatorKind(node->cursor)) {
  case CXBinaryOperator_AddAssign:
    *value += by;
    return true;
  case CXBinaryOperator_SubAssign:
    *value -= by;
    return true;
  case CXBinaryOperator_MulAssign:
    *value *= by;
    return true;
  case CXBinaryOperator_DivAssign:
    *value = by ? *value / by : *value;
    return by != 0;
  case CXBinaryOperator_ShrAssign:
    *value = by >= 0 && by < 63 ? *value >> by : 0;
    return by >= 0;
  case CXBinaryOperator_ShlAssign:
    *value = by >= 0 && by < 20 ? *value * (1 << by) : 0;
    return by >= 0 && by < 20;
  default:
    return false;
  }
}

static bool is_additive(const ink_node *increment) {
  if (increment->kind == CXCursor_UnaryOperator)
    return true;
  const enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(increment->cursor);
  return increment->kind == CXCursor_CompoundAssignOperator && (kind == CXBinaryOperator_AddAssign || kind == CXBinaryOperator_SubAssign);
}

/* How often the loop runs, at most `most`; -1: it cannot be told. */
static long long trips_up_to(const ink_tree *tree, uint32_t at, long long most) {
  loop_head head;
  long long value, bound;
  if (!read_head(tree, at, &head) || !head.plain || !ink_constant_of(tree->nodes.items[head.first].cursor, &value) ||
      !ink_constant_of(tree->nodes.items[head.bound].cursor, &bound))
    return -1;
  const enum CXBinaryOperatorKind kind =
      clang_getCursorBinaryOperatorKind(tree->nodes.items[head.condition].cursor);
  long long trips = 0;
  if (goes_on(kind, value, bound) && is_additive(&tree->nodes.items[head.increment])) {
    long long next = value;
    if (value < -(1LL << 40) || value > 1LL << 40 || bound < -(1LL << 40) || bound > 1LL << 40 ||
        !step(tree, head.increment, &next) || (next > value) != (bound > value || (bound == value && next > value)) || next == value)
      return -1;
    const long long sure = (bound - value) / (next - value) - 1; /* steps that do not reach the bound */
    if (sure > 0) {
      trips = sure;
      value += sure * (next - value);
    }
  }
  for (int steps = 0; trips < most && goes_on(kind, value, bound); steps++) {
    if (steps > most_steps || value < -(1LL << 40) || value > 1LL << 40 || !step(tree, head.increment, &value))
      return -1;
    trips++;
  }
  return trips < most ? trips : most;
}

static int trips_of(const ink_tree *tree, uint32_t at) { return (int)trips_up_to(tree, at, short_trips); }

long long ink_trips_of(const ink_tree *tree, uint32_t at, long long most) { return trips_up_to(tree, at, most); }

/* Every instance knows the value: nothing in it is the kernel's argument, a variable or a call. */
static bool is_compile_time(const ink_tree *tree, uint32_t at) {
  for (uint32_t i = at, end = ink_tree_end(tree, at); i < end; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->kind == CXCursor_CallExpr || node->kind == CXCursor_ArraySubscriptExpr)
      return false;
    if (node->kind != CXCursor_DeclRefExpr && node->kind != CXCursor_MemberRefExpr)
      continue;
    const CXCursor target = clang_getCursorReferenced(node->cursor);
    const enum CXCursorKind kind = clang_getCursorKind(target);
    long long value;
    if (kind == CXCursor_ParmDecl || kind == CXCursor_FieldDecl ||
        (kind == CXCursor_VarDecl && !ink_constant_of(node->cursor, &value) &&
         (!clang_isConstQualifiedType(clang_getCursorType(target)) ||
          clang_getCanonicalType(clang_getCursorType(target)).kind == CXType_Record)))
      return false; /* threadIdx is const too */
  }
  return true;
}

/* ---- arrays that are in registers as long as the loop is unrolled ---- */

static enum CXChildVisitResult find_shared(CXCursor cursor, CXCursor parent, CXClientData data) {
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  (void)parent;
  *(bool *)data |= kind == CXCursor_CUDASharedAttr || kind == CXCursor_CUDAConstantAttr ||
                   kind == CXCursor_CUDADeviceAttr || kind == CXCursor_AnnotateAttr;
  return CXChildVisit_Continue;
}

static bool is_array(CXType type) {
  type = clang_getCanonicalType(type);
  if (type.kind == CXType_LValueReference)
    type = clang_getCanonicalType(clang_getPointeeType(type));
  return type.kind == CXType_ConstantArray || type.kind == CXType_DependentSizedArray;
}

/* The array is the function's own, or a parameter that refers to one. */
static bool is_local_array(CXCursor target) {
  const enum CXCursorKind kind = clang_getCursorKind(target);
  const enum CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(target));
  bool shared = false;
  if ((kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl) ||
      clang_Cursor_getStorageClass(target) == CX_SC_Static ||
      clang_Cursor_getStorageClass(target) == CX_SC_Extern || parent == CXCursor_Namespace ||
      parent == CXCursor_LinkageSpec || parent == CXCursor_TranslationUnit)
    return false;
  clang_visitChildren(target, find_shared, &shared);
  return !shared;
}

/* What it is read from lies in memory: an array that became a pointer to be indexed is none. */
static bool is_pointer(const ink_node *node) {
  return (node->kind == CXCursor_DeclRefExpr || node->kind == CXCursor_MemberRefExpr || node->kind == CXCursor_ArraySubscriptExpr) &&
         clang_getCanonicalType(clang_getCursorType(node->cursor)).kind == CXType_Pointer;
}

/* `acc[i]`, `acc[0][i]`, `fragment.x[i]` with the loop's counter. */
static bool indexes_registers(const ink_tree *tree, uint32_t at, CXCursor counter) {
  const ink_node *nodes = tree->nodes.items;
  for (uint32_t i = at + 1, end = ink_tree_end(tree, at); i < end; i++) {
    if (nodes[i].kind != CXCursor_ArraySubscriptExpr || nodes[i].first == nodes[i].last ||
        !refers_to(tree, nodes[i].last, counter))
      continue;
    uint32_t base = nodes[i].first;
    bool array = false, pointer = is_pointer(&nodes[base]);
    while (nodes[base].first != INK_NO_NODE &&
           (nodes[base].kind == CXCursor_UnexposedExpr || nodes[base].kind == CXCursor_ParenExpr ||
            nodes[base].kind == CXCursor_MemberRefExpr || nodes[base].kind == CXCursor_ArraySubscriptExpr)) {
      array |= is_array(clang_getCursorType(nodes[base].cursor));
      base = nodes[base].first;
      pointer |= is_pointer(&nodes[base]);
    }
    if (nodes[base].kind != CXCursor_DeclRefExpr || pointer)
      continue;
    const CXCursor target = clang_getCursorReferenced(nodes[base].cursor);
    if ((array || is_array(clang_getCursorType(target))) && is_local_array(target))
      return true;
  }
  return false;
}

static bool is_unrolled(const ink_unit *unit, const ink_tree *tree, uint32_t at) {
  const ink_node *node = &tree->nodes.items[at];
  const int trips = trips_of(tree, at);
  loop_head head;
  if (!node->in_macro && pragma_unrolls(unit, tree->source, node->start))
    return true;
  if (trips >= 0 && trips < short_trips)
    return true;
  return read_head(tree, at, &head) &&
         (trips >= 0 || (is_compile_time(tree, head.first) && is_compile_time(tree, head.bound))) &&
         indexes_registers(tree, at, head.counter);
}

/* ---- what a body costs ---- */

typedef struct weight {
  double operations;
  bool heavy; /* a loop that is not unrolled, a barrier, a call of what is not known */
} weight;

static void weigh(ink_unit *unit, const ink_tree *tree, uint32_t at, uint32_t end, double times,
                  unsigned depth, weight *sum);

static void weigh_call(ink_unit *unit, const ink_tree *tree, uint32_t at, double times, unsigned depth,
                       weight *sum) {
  const ink_node *node = &tree->nodes.items[at];
  const CXCursor target = ink_call_target(node->cursor);
  const ink_function *body = ink_called_function(unit, tree, at, 0);
  bool alone, system;
  sum->operations += times;
  if (!body && clang_Cursor_isNull(target)) { /* of a template: what nobody uses the value of does some work */
    sum->heavy |= ink_node_is_statement(tree, at, &alone);
    return;
  }
  if (body && body->tree.nodes.count && depth < 8)
    weigh(unit, &body->tree, 1, (uint32_t)body->tree.nodes.count, times, depth + 1, sum);
  else
    sum->heavy |= body || (ink_cursor_is_device(unit, target, &system) && !system);
}

static void weigh(ink_unit *unit, const ink_tree *tree, uint32_t at, uint32_t end, double times,
                  unsigned depth, weight *sum) {
  const ink_node *nodes = tree->nodes.items;
  char name[64];
  for (uint32_t i = at; i < end && !sum->heavy && sum->operations < most_operations; i++) {
    if (ink_node_is_loop(&nodes[i])) {
      const uint32_t behind = ink_tree_end(tree, i);
      const int trips = trips_of(tree, i);
      sum->heavy |= !is_unrolled(unit, tree, i);
      weigh(unit, tree, i + 1, behind, times * (trips >= 0 ? trips : unknown_trips), depth, sum);
      i = behind - 1;
    } else if (ink_is_wait(unit, tree, i, name, sizeof name)) {
      sum->heavy |= strcmp(name, "__syncwarp") != 0;
    } else if (nodes[i].kind == CXCursor_CallExpr) {
      weigh_call(unit, tree, i, times, depth, sum);
    } else if (nodes[i].kind == CXCursor_BinaryOperator || nodes[i].kind == CXCursor_UnaryOperator ||
               nodes[i].kind == CXCursor_CompoundAssignOperator || nodes[i].kind == CXCursor_GCCAsmStmt ||
               nodes[i].kind == CXCursor_ConditionalOperator) {
      sum->operations += times;
    }
  }
}

/* `p[i]` and `*p` of a pointer: of an array the function may have registers. */
static bool reads_memory(const ink_tree *tree, uint32_t at) {
  const ink_node *node = &tree->nodes.items[at];
  if (node->kind == CXCursor_UnaryOperator)
    return clang_getCursorUnaryOperatorKind(node->cursor) == CXUnaryOperator_Deref;
  if (node->kind != CXCursor_ArraySubscriptExpr || node->first == INK_NO_NODE)
    return false;
  for (uint32_t i = node->first, end = ink_tree_end(tree, node->first); i < end; i++) {
    const enum CXCursorKind kind = tree->nodes.items[i].kind;
    if (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr)
      return clang_getCanonicalType(clang_getCursorType(clang_getCursorReferenced(tree->nodes.items[i].cursor))).kind ==
             CXType_Pointer;
  }
  return false;
}

bool ink_is_light(ink_unit *unit, const ink_function *function) {
  weight sum = {0};
  weigh(unit, &function->tree, 1, (uint32_t)function->tree.nodes.count, 1, 0, &sum);
  for (uint32_t i = 1; i < function->tree.nodes.count && !sum.heavy; i++)
    sum.heavy = reads_memory(&function->tree, i);
  return !sum.heavy && sum.operations < light_operations;
}

/* What a macro makes as `do { ... } while (0)` is a block. */
static bool runs_once(const ink_tree *tree, uint32_t at) {
  const ink_node *node = &tree->nodes.items[at];
  long long again;
  return node->in_macro && node->kind == CXCursor_DoStmt && node->last != INK_NO_NODE &&
         ink_constant_of(tree->nodes.items[node->last].cursor, &again) && !again;
}

ink_loop_cost ink_loop_judge(ink_unit *unit, const ink_function *function, uint32_t at) {
  const ink_tree *tree = &function->tree;
  weight sum = {0};
  weigh(unit, tree, at + 1, ink_tree_end(tree, at), 1, 0, &sum);
  if (is_unrolled(unit, tree, at) || runs_once(tree, at))
    return sum.heavy ? INK_LOOP_UNROLLED : INK_LOOP_LEFT;
  return sum.heavy || sum.operations >= few_operations ? INK_LOOP_LONG : INK_LOOP_SMALL;
}

bool ink_is_unrolled(const ink_unit *unit, const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  for (uint32_t up = nodes[at].parent; up != INK_NO_NODE; up = nodes[up].parent)
    if (ink_node_is_loop(&nodes[up]) && is_unrolled(unit, tree, up))
      return true;
  return false;
}
