/* SPDX-License-Identifier: MIT */
/* Waits: barriers, instructions that wait for memory or for other threads, loops that spin, and calls of functions
 * that do nothing else. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last name of what a member is called on, and how: `full.` of `full[i]->wait(p)`, `b.` of `s.b.wait(p)`, `B::` of
 * `n::B::wait(p)`; "" where it is none, or `this`. */
static void object_of(const ink_tree *tree, const ink_node *call, const char *member, char *name, size_t room) {
  const ink_source *source = tree->source;
  size_t i = ink_source_token_at(source, call->start);
  *name = 0;
  for (; i < source->tokens.count && source->tokens.items[i].start < call->end; i++)
    if (ink_source_token_is(source, i, member))
      break;
  if (i >= source->tokens.count || source->tokens.items[i].start >= call->end || !i)
    return;
  if (ink_source_token_is(source, i - 1, "template"))
    i--;
  const bool within = i && ink_source_token_is(source, i - 1, "::");
  if (!i || !(within || ink_source_token_is(source, i - 1, ".") || ink_source_token_is(source, i - 1, "->")))
    return;
  int depth = 0;
  for (i--; i-- > 0 && source->tokens.items[i].start >= call->start;) {
    const ink_token *token = &source->tokens.items[i];
    const char c = source->text.at[token->start];
    if (c == ']' || c == ')')
      depth++;
    else if (c == '[' || c == '(')
      depth--;
    else if (!depth && token->kind == CXToken_Identifier) {
      snprintf(name, room, "%.*s%s", (int)(token->end - token->start < 30 ? token->end - token->start : 30),
               source->text.at + token->start, within ? "::" : ".");
      return;
    } else if (!depth) {
      return;
    }
  }
}

static void call_name(const ink_tree *tree, const ink_node *node, const char *called, char *name, size_t room) {
  char object[40];
  object_of(tree, node, called, object, sizeof object);
  snprintf(name, room, "%s%.60s", object, called);
}

static bool asm_waits(const ink_node *node, char *name, size_t room) {
  const char *text;
  size_t bytes;
  const char *word = ink_asm_text(node->cursor, &text, &bytes) ? ink_wait_instruction(text, bytes) : NULL;
  if (word)
    snprintf(name, room, "%s", word);
  return word != NULL;
}

ink_wait_kind ink_wait_at(ink_unit *unit, const ink_tree *tree, uint32_t at, char *name, size_t room) {
  const ink_node *node = &tree->nodes.items[at];
  if (node->kind == CXCursor_GCCAsmStmt || node->kind == CXCursor_MSAsmStmt)
    return asm_waits(node, name, room) ? INK_WAIT_ITSELF : INK_WAIT_NONE;
  if (ink_node_is_loop(node)) {
    if (!ink_is_spin(unit, node->cursor))
      return INK_WAIT_NONE;
    ink_loop_name(tree, at, name, room);
    return INK_WAIT_LOOP;
  }
  if (node->kind != CXCursor_CallExpr)
    return INK_WAIT_NONE;
  const CXCursor target = ink_call_known(unit, tree, at);
  const bool known = !clang_Cursor_isNull(target);
  char *called = known ? ink_name_of(target) : ink_name_of(node->cursor);
  ink_wait_kind kind = called && ink_is_wait_name(called, target) ? INK_WAIT_ITSELF : INK_WAIT_NONE;
  if (called && !kind && known && ink_only_waits(unit, target)) {
    kind = INK_WAIT_FUNCTION;
    if (!strncmp(called, "operator", 8)) {
      free(called);
      called = ink_called_name(tree, at);
    }
  }
  if (kind && called)
    call_name(tree, node, called, name, room);
  free(called);
  return kind;
}

bool ink_is_wait(ink_unit *unit, const ink_tree *tree, uint32_t at, char *name, size_t room) {
  return ink_wait_at(unit, tree, at, name, room) != INK_WAIT_NONE;
}

bool ink_takes_wait(const ink_unit *unit, ink_wait_kind kind) {
  const ink_instrument_options *options = unit->options;
  if (options->waits || !ink_rules_are_asked(unit))
    return kind != INK_WAIT_NONE;
  return kind == INK_WAIT_ITSELF || (kind == INK_WAIT_LOOP && !options->loops) ||
         (kind == INK_WAIT_FUNCTION && !options->calls && !unit->has_calls_like);
}

/* Why the rules in force leave the wait out; NULL: they choose it. */
const char *ink_why_no_wait(ink_unit *unit, const ink_function *function, uint32_t at, const char *name) {
  if (unit->options->waits)
    return NULL;
  if (ink_rules_are_asked(unit) || unit->options->kernels_only)
    return "waits are marked with --waits";
  if (!strcmp(name, "__syncwarp") || !strcmp(name, "bar.warp.sync"))
    return "waits for lanes of its warp alone (--waits marks it)";
  const char *why = ink_why_no_registers(unit, function, at);
  return why ? why : ink_why_not_in_loops(unit, function, at);
}

void ink_rule_wait(ink_unit *unit, ink_function *function, uint32_t at) {
  const ink_node *node = &function->tree.nodes.items[at];
  char name[160];
  ink_wait_at(unit, &function->tree, at, name, sizeof name);
  ink_found *found =
      ink_unit_place(unit, INK_PLACE_WAIT, function, function->source, node->start, name);
  const char *why = ink_why_no_wait(unit, function, at, name);
  if (why)
    found->reason = strdup(why);
  else
    ink_mark_call(unit, function, at, name, found);
  if (function->in_rows && found->state == INK_PLACE_MARKED) {
    ink_node *nodes = function->tree.nodes.items;
    for (uint32_t up = nodes[at].parent; up != INK_NO_NODE; up = nodes[up].parent)
      if (ink_node_is_loop(&nodes[up])) {
        nodes[up].rows = true;
        break;
      }
  }
}
