/* SPDX-License-Identifier: MIT */
/* Line by line: a mark behind every statement of one kernel, so that the time since the last mark
 * is the statement's; the head of a loop or an if gets what passes before the first statement in
 * it. */
#include "unit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct lines {
  ink_unit *unit;
  ink_function *function;
  uint32_t line;       /* of the section below; 0: none yet */
  const char *section; /* several statements of one line share it */
} lines;

/* Without the half of a UTF-8 character at the end of what was cut off. */
static size_t whole_characters(const char *text, size_t n) {
  size_t lead = n;
  while (lead && n - lead < 3 && ((unsigned char)text[lead - 1] & 0xc0) == 0x80)
    lead--;
  const unsigned char first = lead ? (unsigned char)text[lead - 1] : 0;
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return first >= 0x80 && n - lead + 1 < bytes ? lead - 1 : n;
}

/* The statement as reports show it: its first words. */
static void text_of(const ink_source *source, const ink_node *node, char *out, size_t room) {
  size_t n = 0;
  for (uint32_t at = node->start; at < node->end && n + 1 < room; at++) {
    const char c = source->text.at[at];
    if (c == '\n' || c == '{')
      break;
    if (!isspace((unsigned char)c))
      out[n++] = c;
    else if (n && out[n - 1] != ' ')
      out[n++] = ' ';
  }
  while (n && out[n - 1] == ' ')
    n--;
  out[whole_characters(out, n)] = 0;
}

/* The section of the node's line; NULL: the place was left, with the reason. */
static const char *section_of(lines *state, const ink_node *node, ink_found *found) {
  ink_source *source = state->function->source;
  uint32_t line, column;
  char text[44];
  ink_source_position(source, node->start, &line, &column);
  if (line == state->line)
    return state->section;
  text_of(source, node, text, sizeof text);
  const char *section = ink_section_at(state->unit, text, source, node->start);
  if (!section) {
    ink_found_left(found, "the section table is full");
    return NULL;
  }
  state->line = line;
  state->section = section;
  return section;
}

static ink_found *place_of(lines *state, const ink_node *node) {
  char text[44];
  text_of(state->function->source, node, text, sizeof text);
  return ink_unit_place(state->unit, INK_PLACE_LINE, state->function, state->function->source,
                        node->start, text);
}

/* A statement without others in it. */
static void mark_leaf(lines *state, uint32_t at) {
  ink_function *function = state->function;
  const ink_node *node = &function->tree.nodes.items[at];
  ink_found *found = place_of(state, node);
  ink_edits *edits = &function->source->edits;
  const char *why, *section;
  ink_spot spot;
  if (!ink_spot_find(function, at, &spot, &why))
    ink_found_left(found, "%s", why);
  else if (spot.line || (spot.alone && node->kind == CXCursor_DeclStmt))
    ink_found_left(found, spot.line ? "a #pragma stands before it" : "declares something");
  else if (ink_function_may_mark(state->unit, function, found) &&
           (section = section_of(state, node, found))) {
    char *held = ink_hold_list(state->unit, function, spot.end);
    if (spot.alone)
      ink_edits_add(edits, spot.start, false, spot.depth, 0, "{");
    ink_edits_add(edits, spot.end, true, spot.depth, 0, "%s(%s%s);%s",
                  ink_hold_macro(state->unit, "PROF_MARK", held), section, held,
                  spot.alone ? "}" : "");
    ink_found_marked(found, section, held);
    free(held);
  }
}

/* At the start of a body: what its head took. */
static void mark_head(lines *state, uint32_t at, uint32_t body) {
  ink_function *function = state->function;
  const ink_node *nodes = function->tree.nodes.items, *node = &nodes[body];
  ink_found *found = place_of(state, &nodes[at]);
  const ink_source *source = function->source;
  ink_edits *edits = &function->source->edits;
  const char *section;
  const bool block = node->kind == CXCursor_CompoundStmt;
  const uint32_t start = block ? ink_node_behind_brace(&function->tree, body) : node->start;
  const uint32_t end = block ? node->end : ink_node_statement_end(&function->tree, body);
  if (nodes[at].in_macro || node->in_macro || !end || !start || !ink_source_free_at(source, start) ||
      (!block && source->text.at[node->start] == '#') ||
      !ink_source_same_branch(source, start, end))
    ink_found_left(found, "its body cannot be told from the text");
  else if (ink_function_may_mark(state->unit, function, found) &&
           (section = section_of(state, &nodes[at], found))) {
    char *held = ink_hold_list(state->unit, function, start);
    ink_edits_add(edits, start, false, node->depth, 0, "%s%s(%s%s);", block ? "" : "{",
                  ink_hold_macro(state->unit, "PROF_MARK", held), section, held);
    if (!block)
      ink_edits_add(edits, end, true, node->depth, 0, "}");
    ink_found_marked(found, section, held);
    free(held);
  }
}

static void mark_statement(lines *state, uint32_t at) {
  const ink_tree *tree = &state->function->tree;
  const ink_node *nodes = tree->nodes.items, *node = &nodes[at];
  bool alone;
  if (node->kind == CXCursor_IfStmt) {
    uint32_t branches[2], count = 0;
    for (uint32_t child = node->first; child != INK_NO_NODE; child = nodes[child].next)
      if (ink_node_is_statement(tree, child, &alone) && count < 2)
        branches[count++] = child;
    for (uint32_t i = 0; i < count; i++)
      if (nodes[branches[i]].kind != CXCursor_IfStmt) /* else if: its own head */
        mark_head(state, at, branches[i]);
  } else if (ink_node_is_loop(node)) {
    const uint32_t body = ink_node_body(tree, at);
    if (body != INK_NO_NODE && node->kind != CXCursor_DoStmt)
      mark_head(state, at, body);
  } else if (ink_node_is_expression(node) || node->kind == CXCursor_GCCAsmStmt ||
             (node->kind == CXCursor_DeclStmt && node->first != INK_NO_NODE &&
              nodes[node->first].first != INK_NO_NODE)) {
    mark_leaf(state, at);
  }
}

void ink_rule_lines(ink_unit *unit, ink_function *function) {
  const ink_tree *tree = &function->tree;
  lines state = {.unit = unit, .function = function};
  bool alone;
  for (uint32_t i = 1; i < tree->nodes.count && !unit->failed; i++)
    if (!tree->nodes.items[i].in_lambda && ink_node_is_statement(tree, i, &alone))
      mark_statement(&state, i);
}
