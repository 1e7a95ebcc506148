/* SPDX-License-Identifier: MIT */
/* What inline assembly tells of a kernel: values that the tensor cores still write, and branches that gave
 * their registers away. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

typedef struct text_span {
  const char *at;
  size_t bytes;
} text_span;

enum { registers_for_marks = 40 }; /* with fewer a branch has none to spare for a track */

/* The text of an assembly statement, where it stands or in the macro that it comes from. Not terminated. */
static text_span text_of(const ink_unit *unit, const ink_node *node) {
  const CXSourceRange range = clang_getCursorExtent(node->cursor);
  CXFile file, last;
  unsigned start, end;
  size_t bytes;
  clang_getSpellingLocation(clang_getRangeStart(range), &file, NULL, NULL, &start);
  clang_getSpellingLocation(clang_getRangeEnd(range), &last, NULL, NULL, &end);
  const char *text = file && last && clang_File_isEqual(file, last) ? ink_file_text(unit->tu, file, &bytes) : NULL;
  return text && start < end && end <= bytes ? (text_span){text + start, end - start}
                                             : (text_span){"", 0};
}

static const char *find(text_span text, const char *word) {
  return memmem(text.at, text.bytes, word, strlen(word));
}

/* ---- tensor cores ---- */

/* Nodes [at, end) come to an instruction that goes on writing registers behind it. */
static bool leaves_writes(ink_unit *unit, const ink_tree *tree, uint32_t at, uint32_t end) {
  const ink_node *nodes = tree->nodes.items;
  for (uint32_t i = at; i < end; i++) {
    if (nodes[i].kind == CXCursor_GCCAsmStmt) {
      const text_span text = text_of(unit, &nodes[i]);
      if (find(text, "wgmma.mma_async") || find(text, "tcgen05.ld"))
        return true;
    }
    if (nodes[i].kind != CXCursor_CallExpr)
      continue;
    ink_function *body = ink_called_function(unit, tree, i, 0);
    if (body && !body->leaves_writes) {
      body->leaves_writes = 1; /* where it calls itself */
      body->leaves_writes += leaves_writes(unit, &body->tree, 0, (uint32_t)body->tree.nodes.count);
    }
    if (body && body->leaves_writes > 1)
      return true;
  }
  return false;
}

bool ink_writes_in_flight(ink_unit *unit, const ink_tree *tree, uint32_t at) {
  return leaves_writes(unit, tree, at, ink_tree_end(tree, at));
}

/* ---- setmaxnreg ---- */

enum { as_argument_says = 257 }; /* setmaxnreg takes 256 at most: the number is one of the function's template arguments */

/* The number behind the instruction, or that of its operand "%0". */
static unsigned registers_of(const ink_tree *tree, uint32_t at, text_span text, const char *word) {
  const char *end = text.at + text.bytes;
  long long value = 0;
  while (word < end && *word != ' ' && *word != '\t' && *word != '"')
    word++;
  while (word < end && (*word == ' ' || *word == '\t'))
    word++;
  if (word < end && *word >= '0' && *word <= '9')
    return (unsigned)strtoul(word, NULL, 10);
  for (uint32_t i = tree->nodes.items[at].first; i != INK_NO_NODE; i = tree->nodes.items[i].next)
    if (ink_node_is_expression(&tree->nodes.items[i]) &&
        ink_constant_of(tree->nodes.items[i].cursor, &value) && value > 0 && value <= 256)
      return (unsigned)value;
  return as_argument_says;
}

/* The first argument of the function that the call names, or of its instance, that can be a number of registers: 24 of
 * `reg_dealloc<24>()`, and of `reg_dealloc<producer_registers>()` where an instance says what that is; 0: none. */
static unsigned registers_of_call(const ink_unit *unit, const ink_tree *tree, uint32_t at) {
  const ink_source *source = tree->source;
  const ink_node *node = &tree->nodes.items[at];
  const CXCursor target = ink_call_known(unit, tree, at);
  const int arguments = clang_Cursor_isNull(target) ? 0 : clang_Cursor_getNumTemplateArguments(target);
  for (int i = 0; i < arguments; i++) {
    if (clang_Cursor_getTemplateArgumentKind(target, (unsigned)i) != CXTemplateArgumentKind_Integral)
      continue;
    const long long value = clang_Cursor_getTemplateArgumentValue(target, (unsigned)i);
    if (value >= 24 && value <= 256 && value % 8 == 0)
      return (unsigned)value;
  }
  for (size_t i = ink_source_token_at(source, node->start);
       i + 2 < source->tokens.count && source->tokens.items[i].start < node->end; i++)
    if (ink_source_token_is(source, i, "<") && ink_source_token_is(source, i + 2, ">"))
      return (unsigned)strtoul(source->text.at + source->tokens.items[i + 1].start, NULL, 10);
  return 0;
}

/* What the statement leaves the warp with: 0: it does not say. */
static unsigned registers_behind(ink_unit *unit, const ink_tree *tree, uint32_t at) {
  const ink_node *nodes = tree->nodes.items;
  unsigned found = 0;
  for (uint32_t i = at, end = ink_tree_end(tree, at); i < end; i++) {
    if (nodes[i].kind == CXCursor_GCCAsmStmt) {
      const text_span text = text_of(unit, &nodes[i]);
      const char *down = find(text, "setmaxnreg.dec"), *up = find(text, "setmaxnreg.inc");
      found = down ? registers_of(tree, i, text, down) : up ? 255 : found;
    } else if (nodes[i].kind == CXCursor_CallExpr) {
      ink_function *body = ink_called_function(unit, tree, i, 0);
      if (body && !body->registers_behind) {
        body->registers_behind = 1; /* where it calls itself */
        body->registers_behind += body->tree.nodes.count ? (int)registers_behind(unit, &body->tree, 0) : 0;
      }
      unsigned inner = body ? (unsigned)body->registers_behind - 1 : 0;
      if (inner == as_argument_says || (!inner && ink_node_is_named(&nodes[i], "warpgroup_reg_dealloc")))
        inner = registers_of_call(unit, tree, i);
      found = inner ? inner : found;
    }
  }
  return found;
}

/* How many registers the branches around the node have left its warp; 255: all. */
static unsigned registers_at(ink_unit *unit, const ink_function *function, uint32_t at) {
  const ink_tree *tree = &function->tree;
  const ink_node *nodes = tree->nodes.items;
  for (uint32_t child = at, up = nodes[at].parent; up != INK_NO_NODE; child = up, up = nodes[up].parent) {
    unsigned left = 0;
    if (nodes[up].kind != CXCursor_CompoundStmt)
      continue;
    for (uint32_t i = nodes[up].first; i != child; i = nodes[i].next) {
      const bool simple = ink_node_is_expression(&nodes[i]) || nodes[i].kind == CXCursor_GCCAsmStmt;
      const unsigned behind = simple ? registers_behind(unit, tree, i) : 0;
      left = behind ? behind : left;
    }
    if (left)
      return left == as_argument_says ? 255 : left;
  }
  return 255;
}

const char *ink_why_no_registers(ink_unit *unit, const ink_function *function, uint32_t at) {
  return registers_at(unit, function, at) < registers_for_marks
             ? "setmaxnreg left fewer than 40 registers here (--loops, --calls and --waits mark it)"
             : NULL;
}
