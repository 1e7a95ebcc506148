/* SPDX-License-Identifier: MIT */
/* `// prof:` comments, and the names in marks that were written by hand. */
#include "unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct directive {
  char verb[16], argument[200];
  uint32_t start, end; /* of the comment */
} directive;

/* "// prof: verb argument" or the same in a block comment. */
static bool read_directive(const ink_source *source, const ink_token *token, directive *out) {
  char text[300];
  size_t length = token->end - token->start;
  if (token->kind != CXToken_Comment || length < 9 || length >= sizeof text)
    return false;
  memcpy(text, source->text.at + token->start, length);
  text[length] = 0;
  if (text[1] == '*' && length > 4)
    text[length - 2] = 0;
  const char *at = text + 2;
  at += strspn(at, " \t");
  if (strncmp(at, "prof:", 5))
    return false;
  at += 5;
  at += strspn(at, " \t");
  const size_t verb = strcspn(at, " \t\r\n");
  if (!verb || verb >= sizeof out->verb)
    return false;
  *out = (directive){.start = token->start, .end = token->end};
  memcpy(out->verb, at, verb);
  at += verb;
  at += strspn(at, " \t");
  size_t argument = strlen(at);
  while (argument && isspace((unsigned char)at[argument - 1]))
    argument--;
  if (argument >= sizeof out->argument)
    return false;
  memcpy(out->argument, at, argument);
  return true;
}

void ink_unit_find_off(ink_unit *unit) {
  for (size_t f = 0; f < unit->functions.count; f++) {
    ink_function *function = &unit->functions.items[f];
    const ink_source *source = function->source;
    uint32_t before = 0; /* the end of the function before this one: its comments are not ours */
    for (size_t o = 0; o < unit->functions.count; o++)
      if (unit->functions.items[o].source == source &&
          unit->functions.items[o].body_end <= function->start &&
          unit->functions.items[o].body_end > before)
        before = unit->functions.items[o].body_end;
    for (size_t i = ink_source_token_at(source, before); i < source->tokens.count; i++) {
      const ink_token *token = &source->tokens.items[i];
      directive found;
      if (token->start >= function->body_end)
        break;
      if (!read_directive(source, token, &found) || strcmp(found.verb, "off"))
        continue;
      const size_t next = ink_source_skip(source, i);
      const bool right_before = token->start < function->start && next < source->tokens.count &&
                                source->tokens.items[next].start >= function->start;
      function->is_off |= (token->start > function->body_start &&
                           !ink_is_in_inner(unit, function, token->start)) ||
                          right_before;
    }
  }
}

char *ink_directive_name(const ink_source *source, uint32_t offset) {
  directive found;
  const size_t here = ink_source_token_at(source, offset);
  if (here && read_directive(source, &source->tokens.items[here - 1], &found) &&
      !strcmp(found.verb, "loop") && found.argument[0])
    return strdup(found.argument);
  const char *line_end = memchr(source->text.at + offset, '\n', source->text.count - offset);
  for (size_t i = here; i < source->tokens.count; i++) {
    const ink_token *token = &source->tokens.items[i];
    if (line_end && source->text.at + token->start > line_end)
      return NULL;
    if (read_directive(source, token, &found) && !strcmp(found.verb, "loop") && found.argument[0])
      return strdup(found.argument);
  }
  return NULL;
}

/* The compound whose statements the offset stands between; INK_NO_NODE when it is inside of one. */
static uint32_t compound_at(const ink_tree *tree, uint32_t offset) {
  const ink_node *nodes = tree->nodes.items;
  uint32_t at = 0;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (uint32_t child = nodes[at].first; child != INK_NO_NODE; child = nodes[child].next) {
      if (nodes[child].kind != CXCursor_CompoundStmt && nodes[at].kind == CXCursor_CompoundStmt) {
        uint32_t end = ink_node_statement_end(tree, child);
        end = end ? end : nodes[child].end;
        if (offset <= nodes[child].start || offset >= end)
          continue;
      } else if (offset <= nodes[child].start || offset >= nodes[child].end) {
        continue;
      }
      at = child;
      deeper = true;
      break;
    }
  }
  return nodes[at].kind == CXCursor_CompoundStmt && !nodes[at].in_lambda && !nodes[at].in_macro
             ? at
             : INK_NO_NODE;
}

static bool is_identifier(const char *text) {
  if (!isalpha((unsigned char)*text) && *text != '_')
    return false;
  for (; *text; text++)
    if (!isalnum((unsigned char)*text) && *text != '_')
      return false;
  return true;
}

typedef struct open_range {
  directive at;
  uint32_t compound;
} open_range;

static void wrong(ink_unit *unit, ink_found *found, ink_source *source, const char *text) {
  found->state = INK_PLACE_ERROR;
  free(found->reason);
  found->reason = strdup(text);
  ink_unit_say(unit, source, found->offset, "error: %s", text);
}

/* Something between two offsets of a compound leaves it: the range would not end. */
static bool leaves_between(const ink_tree *tree, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < tree->nodes.count; i++) {
    const ink_node *node = &tree->nodes.items[i];
    if (node->start < from || node->end > to || node->in_lambda)
      continue;
    if (node->kind == CXCursor_ReturnStmt || node->kind == CXCursor_GotoStmt)
      return true;
    if (node->kind != CXCursor_BreakStmt && node->kind != CXCursor_ContinueStmt)
      continue;
    uint32_t up = node->parent;
    while (up != INK_NO_NODE && !ink_node_is_loop(&tree->nodes.items[up]) &&
           !(node->kind == CXCursor_BreakStmt && tree->nodes.items[up].kind == CXCursor_SwitchStmt))
      up = tree->nodes.items[up].parent;
    if (up == INK_NO_NODE || tree->nodes.items[up].start < from)
      return true;
  }
  return false;
}

static void end_range(ink_unit *unit, ink_function *function, open_range *open, size_t *depth,
                      const directive *found, uint32_t compound, ink_found *place) {
  char text[256];
  uint32_t line = 0, column;
  if (*depth)
    ink_source_position(function->source, open[*depth - 1].at.start, &line, &column);
  if (!*depth)
    snprintf(text, sizeof text, "'prof: end' without a 'prof: begin'");
  else if (strcmp(open[*depth - 1].at.argument, found->argument))
    snprintf(text, sizeof text, "ends '%.60s', but '%.60s' began last, at line %u", found->argument,
             open[*depth - 1].at.argument, line);
  else if (open[*depth - 1].compound != compound)
    snprintf(text, sizeof text, "ends '%.60s' in another block than it began in, at line %u",
             found->argument, line);
  else if (leaves_between(&function->tree, open[*depth - 1].at.end, found->start))
    snprintf(text, sizeof text, "'%.60s', which began at line %u, is left on a way around its end",
             found->argument, line);
  else
    text[0] = 0;
  if (text[0])
    wrong(unit, place, function->source, text);
  if (*depth)
    (*depth)--;
}

static void put(ink_unit *unit, ink_function *function, const directive *found, const char *macro,
                ink_found *place) {
  const bool row = !strcmp(macro, "PROF_ITER");
  const char *section = row ? found->argument : ink_section_named(unit, found->argument);
  char *held = ink_hold_list(unit, function, found->start);
  if (!section) {
    ink_found_left(place, "the section table is full");
  } else {
    ink_edits_add(&function->source->edits, found->start, false, 3000, 0, "%s(%s%s);",
                  ink_hold_macro(unit, macro, held), section, held);
    ink_found_marked(place, row ? "" : section, held);
  }
  free(held);
}

void ink_function_directives(ink_unit *unit, ink_function *function) {
  ink_source *source = function->source;
  open_range open[64];
  size_t depth = 0;
  for (size_t i = ink_source_token_at(source, function->body_start); i < source->tokens.count;
       i++) {
    directive found;
    if (source->tokens.items[i].start >= function->body_end)
      break;
    if (!read_directive(source, &source->tokens.items[i], &found) || !strcmp(found.verb, "off") ||
        !strcmp(found.verb, "loop") || ink_is_in_inner(unit, function, found.start))
      continue;
    ink_found *place =
        ink_unit_place(unit, INK_PLACE_DIRECTIVE, function, source, found.start, found.verb);
    const bool row = !strcmp(found.verb, "iteration");
    const bool begin = !strcmp(found.verb, "begin"), end = !strcmp(found.verb, "end");
    const uint32_t compound = compound_at(&function->tree, found.start);
    if (!row && !begin && !end && strcmp(found.verb, "mark"))
      wrong(unit, place, source, "is none of mark, begin, end, iteration, loop, off");
    else if (row ? !found.argument[0] : !is_identifier(found.argument))
      wrong(unit, place, source, row ? "needs the number of the row" : "needs a name");
    else if (compound == INK_NO_NODE || !ink_source_free_at(source, found.start))
      wrong(unit, place, source, "does not stand between statements of a block");
    else if (begin && depth == 64)
      wrong(unit, place, source, "more than 64 ranges inside of each other");
    else {
      if (begin)
        open[depth++] = (open_range){found, compound};
      if (end)
        end_range(unit, function, open, &depth, &found, compound, place);
      if (place->state != INK_PLACE_ERROR)
        put(unit, function, &found,
            row     ? "PROF_ITER"
            : begin ? "PROF_BEGIN"
            : end   ? "PROF_END"
                    : "PROF_MARK",
            place);
    }
  }
  while (depth) {
    const directive *left = &open[--depth].at;
    ink_unit_say(unit, source, left->start, "error: 'prof: begin %s' has no end in its block",
                 left->argument);
  }
}

/* ---- marks written by hand ----------------------------------------------------------------------
 */

/* The `which`th argument of the macro call whose name is at `token`, counted from 0; "" if absent.
 */
static void macro_argument(const ink_source *source, size_t token, unsigned which, char *out,
                           size_t room) {
  unsigned at = 0, depth = 0;
  size_t length = 0;
  for (size_t i = token + 1; i < source->tokens.count; i++) {
    const ink_token *piece = &source->tokens.items[i];
    const char c = source->text.at[piece->start];
    const bool one = piece->end - piece->start == 1 && piece->kind == CXToken_Punctuation;
    if (one && (c == ')' || c == ']' || c == '}') && --depth == 0)
      break;
    if (one && c == ',' && depth == 1)
      at++;
    else if (depth && at == which && piece->kind != CXToken_Comment &&
             length + piece->end - piece->start < room) {
      memcpy(out + length, source->text.at + piece->start, piece->end - piece->start);
      length += piece->end - piece->start;
    }
    if (one && (c == '(' || c == '[' || c == '{'))
      depth++;
    if (!depth)
      break;
  }
  out[length] = 0;
}

static void declare(ink_unit *unit, const ink_source *source, size_t token) {
  char name[200];
  for (unsigned i = 1;; i++) {
    macro_argument(source, token, i, name, sizeof name);
    if (!name[0])
      return;
    if (!INK_I_GROW(unit->declared)) {
      unit->failed = true;
      return;
    }
    unit->declared.items[unit->declared.count] = strdup(name);
    unit->failed |= !unit->declared.items[unit->declared.count];
    unit->declared.count++;
  }
}

static void note_hand(ink_unit *unit, ink_function *in, const ink_macro_use *at, const char *macro, const char *name) {
  const char *bare = strrchr(name, ':') ? strrchr(name, ':') + 1 : name;
  if (!INK_I_GROW(unit->hand)) {
    unit->failed = true;
    return;
  }
  unit->hand.items[unit->hand.count++] = (ink_hand){in, at->start, at->end, ink_hand_kind_of(macro), strdup(bare)};
  unit->failed |= !unit->hand.items[unit->hand.count - 1].name;
}

static void use(ink_unit *unit, ink_source *source, size_t token, const ink_macro_use *at, const char *macro) {
  static const char *const nameless[] = {"PROF_ITER",        "PROF_LAMBDA", "PROF_CLOCKS",   "PROF_SECTIONS",
                                         "PROF_PARAMS",      "PROF_ARGS",   "PROF_ARGS_OFF", "PROF_PARAMS_ROWS",
                                         "PROF_BIND",        "PROF_MEMBER", "PROF_MARK_ID",  "PROF_ITER_END",
                                         "PROF_SUM_FLUSH"};
  char name[200], second[200];
  const uint32_t offset = source->tokens.items[token].start;
  ink_function *in = NULL;
  for (size_t i = 0; i < unit->functions.count; i++)
    if (unit->functions.items[i].source == source && offset > unit->functions.items[i].body_start &&
        offset < unit->functions.items[i].body_end)
      in = &unit->functions.items[i]; /* a lambda comes behind the function that it is in */
  const bool kernel = ink_macro_opens(macro);
  for (size_t i = 0; i < unit->functions.count && !strcmp(macro, "PROF_PARAMS_ROWS"); i++)
    if (unit->functions.items[i].source == source && offset > unit->functions.items[i].start &&
        offset < unit->functions.items[i].body_start)
      unit->functions.items[i].has_rows = true;
  if (in)
    ink_function_note_hand(in, macro, offset);
  if (in && (kernel || !strcmp(macro, "PROF_LAMBDA")))
    in->is_opened = true;
  if (in && kernel && strstr(macro, "_ROWS"))
    in->has_rows = true;
  for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++)
    if (!strcmp(macro, nameless[i])) {
      if (in)
        note_hand(unit, in, at, macro, "");
      return;
    }
  const unsigned first = kernel && strlen(macro) > 3 && !strcmp(macro + strlen(macro) - 3, "_IF");
  macro_argument(source, token, first, name, sizeof name);
  macro_argument(source, token, first + 1, second, sizeof second);
  if (kernel && second[0])
    memcpy(name, second, sizeof name);
  if (in)
    note_hand(unit, in, at, macro, name);
  ink_found *place = ink_unit_place(unit, INK_PLACE_HAND, in, source, offset, macro);
  const char *near = is_identifier(name) ? ink_section_misspelt(unit, name) : NULL;
  if (near)
    ink_unit_say(unit, source, offset,
                 "warning: '%s' is in no PROF_SECTIONS and is taken as a section of its own; did you mean '%s'?",
                 name, near);
  if (is_identifier(name))
    ink_found_marked(place, ink_section_named(unit, name), NULL);
  else
    ink_found_marked(place, name, NULL); /* Table::Name: in a table of the user's */
}

void ink_unit_find_hand_marks(ink_unit *unit) {
  for (int pass = 0; pass < 2; pass++)
    for (size_t s = 0; s < unit->sources.count; s++) {
      ink_source *source = unit->sources.items[s];
      for (size_t m = 0; m < source->macros.count && source->is_project; m++) {
        const size_t token = ink_source_token_at(source, source->macros.items[m].start);
        char macro[40];
        if (token >= source->tokens.count ||
            source->tokens.items[token].start != source->macros.items[m].start)
          continue;
        const ink_token *word = &source->tokens.items[token];
        const size_t length = word->end - word->start;
        if (length < 6 || length >= sizeof macro ||
            memcmp(source->text.at + word->start, "PROF_", 5))
          continue;
        memcpy(macro, source->text.at + word->start, length);
        macro[length] = 0;
        if (!pass && !strcmp(macro, "PROF_SECTIONS"))
          declare(unit, source, token);
        else if (pass && !source->is_marked_already)
          use(unit, source, token, &source->macros.items[m], macro);
      }
    }
}
