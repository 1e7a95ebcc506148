/* SPDX-License-Identifier: MIT */
/* Which values a mark holds: the locals that were computed before it, and that are used after it.
 * One left out would let its whole chain of arithmetic slide behind the stamp (or, computed from
 * it, before it); one that does not change around the mark would cost the compiler what it knows of
 * it. */
#include "holds.h"

#include <stdlib.h>
#include <string.h>

/* Most names in one mark: each is a level of templates to the compiler. */
#define INK_I_HELD_MOST 100

/* The text in which a variable has to be computed for a mark to hold it: the innermost loop around
 * the mark, for what does not change in it is computed before it whatever a mark says; else the
 * function up to the mark. */
static ink_span computed_in(const ink_function *function, uint32_t offset) {
  const ink_tree *tree = &function->tree;
  ink_span found = {function->body_start, offset};
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (ink_node_is_loop(node) && node->start < offset && offset < node->end)
      found = (ink_span){node->start, node->end};
  }
  return found;
}

/* The first thing that happens to the variable behind the mark is, on every way, a new value. */
static bool is_overwritten_first(const struct ink_variables *all, const ink_tree *tree,
                                 uint32_t which, uint32_t offset) {
  const ink_node *nodes = tree->nodes.items;
  size_t first = 0;
  while (first < all->uses.count &&
         (all->uses.items[first].variable != which || all->uses.items[first].offset < offset))
    first++;
  if (first == all->uses.count || !all->uses.items[first].write)
    return false;
  const uint32_t by = all->uses.items[first].node, block = nodes[by].parent;
  if (nodes[by].kind != CXCursor_BinaryOperator || block == INK_NO_NODE ||
      nodes[block].kind != CXCursor_CompoundStmt || nodes[block].start >= offset ||
      offset > nodes[block].end || nodes[nodes[by].first].kind != CXCursor_DeclRefExpr)
    return false;
  for (size_t i = first + 1; i < all->uses.count; i++)
    if (all->uses.items[i].variable == which && all->uses.items[i].offset < nodes[by].end)
      return false;
  for (uint32_t i = 0; i < tree->nodes.count; i++) /* a way around it */
    if ((nodes[i].kind == CXCursor_GotoStmt || nodes[i].kind == CXCursor_ContinueStmt ||
         nodes[i].kind == CXCursor_BreakStmt) &&
        nodes[i].start >= offset && nodes[i].start < nodes[by].start)
      return false;
  return true;
}

static bool is_live_after(const struct ink_variables *all, const ink_tree *tree, uint32_t which,
                          uint32_t offset) {
  const ink_node *nodes = tree->nodes.items;
  const ink_variable *item = &all->list.items[which];
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
      return !is_overwritten_first(all, tree, which, offset);
  return false;
}

/* Its value is there at the mark: from its declaration, or from an assignment before it. Where the
 * host compiles the function too, the assignment must lie on every way: its compilers warn of
 * others. */
static bool is_set_before(const struct ink_variables *all, const ink_function *function,
                          uint32_t which, uint32_t offset) {
  const ink_node *nodes = function->tree.nodes.items;
  if (all->list.items[which].initialised)
    return true;
  for (size_t i = 0; i < all->uses.count; i++) {
    const ink_use *one = &all->uses.items[i];
    if (one->variable != which || !one->write || nodes[one->node].end > offset)
      continue;
    const uint32_t block = nodes[one->node].parent;
    if (!function->host || (block != INK_NO_NODE && nodes[block].kind == CXCursor_CompoundStmt &&
                            nodes[block].start < offset && offset <= nodes[block].end))
      return true;
  }
  return false;
}

static bool is_computed_in(const struct ink_variables *all, uint32_t which, ink_span region) {
  const ink_variable *item = &all->list.items[which];
  const bool counts = item->writes || (!item->is_integer && !item->has_literal) ||
                      (item->is_computed && !item->is_counter);
  if (item->initialised && !item->is_parameter && item->declared > region.start &&
      item->declared <= region.end && counts)
    return true;
  for (size_t i = 0; i < all->uses.count; i++)
    if (all->uses.items[i].variable == which && all->uses.items[i].write &&
        all->uses.items[i].offset >= region.start && all->uses.items[i].offset < region.end)
      return true;
  return false;
}

/* Assigned before the mark, outside of loops. */
static bool is_written_in_line(const struct ink_variables *all, const ink_function *function,
                               uint32_t which, uint32_t offset) {
  for (size_t i = 0; i < all->uses.count; i++) {
    const ink_use *one = &all->uses.items[i];
    if (one->variable == which && one->write && one->offset < offset &&
        computed_in(function, one->offset).start == function->body_start)
      return true;
  }
  return false;
}

/* A name declared again further in, or being declared, would be held instead. */
static bool is_hidden(const struct ink_variables *all, uint32_t which, uint32_t offset) {
  const ink_variable *item = &all->list.items[which];
  for (size_t i = 0; i < all->list.count; i++) {
    const ink_variable *other = &all->list.items[i];
    if (i != which && other->named > item->named && other->named <= offset &&
        other->scope <= offset && offset <= other->scope_end && !strcmp(other->name, item->name))
      return true;
  }
  return false;
}

char *ink_hold_list(ink_unit *unit, const ink_function *function, uint32_t offset) {
  ink_bytes out = {0};
  if (unit->options->hold == INK_HOLD_NONE || function->guarded) {
    char *none = strdup("");
    unit->failed |= !none;
    return none;
  }
  ink_function *owner = (ink_function *)function;
  if (!owner->variables)
    owner->variables = ink_variables_find(unit, function);
  struct ink_variables *all = owner->variables;
  const ink_tree *tree = &function->tree;
  const ink_span region = computed_in(function, offset);
  unsigned count = 0;
  for (uint32_t i = 0; all && i < all->list.count; i++) {
    ink_variable *item = &all->list.items[i];
    const bool here = item->declared <= offset && item->scope < offset && offset < item->scope_end;
    if (!here || item->never || item->is_counter || !is_computed_in(all, i, region) ||
        !is_live_after(all, tree, i, offset) || is_hidden(all, i, offset))
      continue;
    if (!item->why_not && !is_set_before(all, function, i, offset))
      continue;
    if (item->why_not || ++count > INK_I_HELD_MOST)
      item->missed = true;
    else if (item->fields)
      ink_bytes_text(&out, item->fields);
    else
      ink_bytes_format(&out, item->is_dependent ? ", INK_MAYBE(%s)" : ", %s", item->name);
    item->waits |= item->is_loaded && region.start == function->body_start &&
                   is_written_in_line(all, function, i, offset);
  }
  ink_bytes_add(&out, "", 0);
  char *list = ink_bytes_take(&out);
  unit->failed |= !list;
  return list;
}

const char *ink_hold_macro(const ink_unit *unit, const char *macro, const char *held) {
  static const char *const strict[][2] = {{"PROF_MARK", "PROF_MARK_STRICT"},
                                          {"PROF_BEGIN", "INK_BEGIN_STRICT"},
                                          {"PROF_END", "INK_END_STRICT"}};
  for (size_t i = 0; i < 3 && held && *held && unit->options->hold == INK_HOLD_STRICT; i++)
    if (!strcmp(macro, strict[i][0]))
      return strict[i][1];
  return macro;
}

/* A value that is held in the PTX and waits for its load: ptxas reads the clock while it is in
 * flight, and what is computed from it is found behind the stamp. */
static void remark_waiting(ink_unit *unit, const ink_function *function) {
  const struct ink_variables *all = function->variables;
  const ink_variable *first = NULL;
  unsigned count = 0;
  for (size_t i = 0; all && i < all->list.count && unit->options->hold == INK_HOLD_AUTO; i++)
    if (all->list.items[i].waits && !count++)
      first = &all->list.items[i];
  if (first)
    ink_unit_say(
        unit, function->source, first->declared,
        "'%s'%s in '%s' comes straight from a load: ptxas may move arithmetic that waits for "
        "it behind the stamps (--hold strict keeps it)",
        first->name, count > 1 ? " and others" : "", function->name);
}

void ink_hold_remarks(ink_unit *unit, const ink_function *function) {
  remark_waiting(unit, function);
  const struct ink_variables *all = function->variables;
  ink_bytes names = {0};
  unsigned count = 0;
  for (size_t i = 0; all && i < all->list.count; i++) {
    const ink_variable *item = &all->list.items[i];
    /* objects that only have their functions called are seldom results of arithmetic */
    if (!item->missed || (item->why_not && !item->assigned && strstr(item->why_not, "structure")))
      continue;
    if (count++ < 6)
      ink_bytes_format(&names, "%s'%s' (%s)", count > 1 ? ", " : "", item->name,
                       item->why_not ? item->why_not : "too many values in one mark");
  }
  if (count > 6)
    ink_bytes_format(&names, " and %u more", count - 6);
  ink_bytes_add(&names, "", 0);
  char *text = ink_bytes_take(&names);
  if (count && text)
    ink_unit_say(unit, function->source, function->start,
                 "not held in '%s', so what computes them may slide past the stamps: %s",
                 function->name, text);
  unit->failed |= !text;
  free(text);
}
