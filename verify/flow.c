/* SPDX-License-Identifier: MIT */
/* The flow of control of a function, and over it the stamps that can have been passed last before each
 * instruction and those that can be passed next after it. */
#include "verify_private.h"

#include <stdlib.h>
#include <string.h>

bool ink_v_opcode_is(const v_instruction *i, const char *name) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  const size_t n = strlen(name);
  return bytes >= n && memcmp(opcode, name, n) == 0 && (bytes == n || opcode[n] == '.');
}

bool ink_v_opcode_in(const v_instruction *i, const char *const *names) {
  for (; *names; names++)
    if (ink_v_opcode_is(i, *names))
      return true;
  return false;
}

/* Control can go on behind it: it is predicated, or a branch that has a condition before its target
 * (`BRA P1, ...`, `BRA.DIV ~URZ, ...`). */
static bool may_fall_through(const v_instruction *i) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  if ((*i->text == '@' && memcmp(i->text, "@PT", 3) != 0) || ink_v_opcode_is(i, "CALL") ||
      ink_v_opcode_is(i, "BRA.DIV"))
    return true;
  const char *operand = opcode + bytes, *end = i->text + i->text_bytes;
  while (operand < end && *operand == ' ')
    operand++;
  return ink_v_opcode_is(i, "BRA") && operand < end && *operand != '`';
}

static uint32_t target_of(const ink_verify *v, const v_function *f, const v_instruction *i) {
  const char *open = memmem(i->text, i->text_bytes, "`(", 2);
  const char *end = i->text + i->text_bytes;
  const char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
  if (!close)
    return INK_V_NONE;
  const size_t bytes = (size_t)(close - open - 2);
  for (uint32_t l = f->first_label; l < f->first_label + f->label_count; l++)
    if (v->labels[l].bytes == bytes && memcmp(v->labels[l].name, open + 2, bytes) == 0)
      return v->labels[l].instruction;
  return INK_V_NONE;
}

/* CALL to a label of the function itself: code that ptxas put aside, which comes back by RET or BRA. */
static bool is_branch(const v_instruction *i) {
  return ink_v_opcode_is(i, "BRA") || (ink_v_opcode_is(i, "CALL") && memmem(i->text, i->text_bytes, "`(.L_", 5));
}
static bool is_indirect(const v_instruction *i) {
  return ink_v_opcode_is(i, "BRX") || ink_v_opcode_is(i, "BRXU") || ink_v_opcode_is(i, "JMX");
}
static bool is_leaving(const v_instruction *i) {
  return ink_v_opcode_is(i, "EXIT") || ink_v_opcode_is(i, "RET") || ink_v_opcode_is(i, "KILL");
}

static void find_starts(const ink_verify *v, const v_function *f, bool *starts) {
  starts[0] = true;
  for (uint32_t l = f->first_label; l < f->first_label + f->label_count; l++)
    if (v->labels[l].instruction - f->first < f->count)
      starts[v->labels[l].instruction - f->first] = true;
  for (uint32_t i = 0; i + 1 < f->count; i++) {
    const v_instruction *at = &v->instructions[f->first + i];
    if (is_branch(at) || is_indirect(at) || is_leaving(at))
      starts[i + 1] = true;
  }
}

static void link_block(const ink_verify *v, const v_function *f, v_graph *g, uint32_t b) {
  v_block *this = &g->blocks[b];
  const v_instruction *last = &v->instructions[f->first + this->first + this->count - 1];
  const bool stops = is_branch(last) || is_indirect(last) || is_leaving(last);
  this->to[0] = this->to[1] = INK_V_NONE;
  this->leaves = is_leaving(last);
  this->anywhere = is_indirect(last);
  if ((!stops || may_fall_through(last)) && b + 1 < g->count)
    this->to[0] = b + 1;
  if (is_branch(last)) {
    const uint32_t target = target_of(v, f, last);
    if (target != INK_V_NONE && target - f->first < f->count)
      this->to[1] = g->block_of[target - f->first];
  }
}

bool ink_v_make_graph(const ink_verify *v, const v_function *f, v_graph *g) {
  bool *starts = calloc(f->count + 1, sizeof *starts);
  g->block_of = calloc(f->count + 1, sizeof *g->block_of);
  g->blocks = calloc(f->count + 1, sizeof *g->blocks);
  if (!starts || !g->block_of || !g->blocks) {
    free(starts);
    return false;
  }
  find_starts(v, f, starts);
  for (uint32_t i = 0; i < f->count; i++) {
    if (starts[i])
      g->blocks[g->count++].first = i;
    g->blocks[g->count - 1].count++;
    g->block_of[i] = g->count - 1;
  }
  free(starts);
  for (uint32_t b = 0; b < g->count; b++)
    link_block(v, f, g, b);
  return true;
}

void ink_v_free_graph(v_graph *g) {
  free(g->blocks);
  free(g->block_of);
}

static bool has_opcode(const ink_verify *v, const v_function *f, const v_block *b, const char *name) {
  for (uint32_t i = 0; i < b->count; i++)
    if (ink_v_opcode_is(&v->instructions[f->first + b->first + i], name))
      return true;
  return false;
}

/* The only block but itself that goes to `b`; NONE: another number. */
static uint32_t only_entry(const v_graph *g, uint32_t b) {
  uint32_t entry = INK_V_NONE;
  for (uint32_t other = 0; other < g->count; other++)
    if (other != b && ink_v_flows_to(g, other, b)) {
      if (entry != INK_V_NONE)
        return INK_V_NONE;
      entry = other;
    }
  return entry;
}

void ink_v_place_retries(ink_verify *v, const v_function *f, const v_graph *g) {
  for (uint32_t b = 0; b < g->count; b++) {
    const uint32_t entry = only_entry(g, b);
    if (entry == INK_V_NONE || entry + 1 == b || !ink_v_flows_to(g, b, b) ||
        !has_opcode(v, f, &g->blocks[b], "SYNCS") || !has_opcode(v, f, &g->blocks[entry], "SYNCS"))
      continue;
    const v_block *from = &g->blocks[entry];
    const v_place place = v->instructions[f->first + from->first + from->count - 1].place;
    for (uint32_t i = 0; i < g->blocks[b].count && place.count; i++)
      v->instructions[f->first + g->blocks[b].first + i].place = place;
  }
}

static bool merge(uint64_t *into, const uint64_t *from, size_t words) {
  bool changed = false;
  for (size_t i = 0; i < words; i++) {
    changed = changed || (from[i] & ~into[i]);
    into[i] |= from[i];
  }
  return changed;
}

static void set_only(uint64_t *set, size_t words, uint32_t bit) {
  memset(set, 0, words * sizeof *set);
  set[bit / 64] |= 1ull << bit % 64;
}

/* One pass over a block, forwards for `last`, backwards for `next`; the result is what leaves it. */
static void run_block(const ink_verify *v, const v_function *f, const v_block *b, bool forward,
                      uint64_t *state, uint64_t *sets, size_t words) {
  for (uint32_t n = 0; n < b->count; n++) {
    const uint32_t i = b->first + (forward ? n : b->count - 1 - n);
    memcpy(sets + i * words, state, words * sizeof *state);
    const uint32_t stamp = v->instructions[f->first + i].stamp;
    if (stamp != INK_V_NONE)
      set_only(state, words, stamp);
  }
}

bool ink_v_flows_to(const v_graph *g, uint32_t from, uint32_t to) {
  const v_block *b = &g->blocks[from];
  return b->to[0] == to || b->to[1] == to || b->anywhere;
}

/* What a block starts (or ends) with: the function's begin (end); or, where control comes (goes) in a
 * way that is not seen, such as through a return address, the bit behind both edges: unknown. */
static uint32_t edge_of(const v_graph *g, uint32_t b, bool forward, uint32_t edge_bit) {
  const v_block *this = &g->blocks[b];
  if (!forward) {
    if (this->leaves)
      return edge_bit;
    return this->to[0] == INK_V_NONE && this->to[1] == INK_V_NONE && !this->anywhere ? edge_bit + 1
                                                                                   : INK_V_NONE;
  }
  if (b == 0)
    return edge_bit;
  for (uint32_t other = 0; other < g->count; other++)
    if (ink_v_flows_to(g, other, b))
      return INK_V_NONE;
  return edge_bit + 2;
}

/* Rounds until nothing changes; functions have hundreds of blocks, sets few words. */
static bool solve(const ink_verify *v, const v_function *f, const v_graph *g, bool forward,
                  uint32_t edge_bit, uint64_t *sets, size_t words) {
  uint64_t *in = calloc((g->count + 1) * words, sizeof *in);
  uint64_t *state = calloc(words, sizeof *state);
  bool changed = in && state;
  const bool fine = changed;
  for (uint32_t b = 0; fine && b < g->count; b++) {
    const uint32_t bit = edge_of(g, b, forward, edge_bit);
    if (bit != INK_V_NONE)
      in[b * words + bit / 64] |= 1ull << bit % 64;
  }
  while (changed) {
    changed = false;
    for (uint32_t n = 0; n < g->count; n++) {
      const uint32_t b = forward ? n : g->count - 1 - n;
      memcpy(state, in + b * words, words * sizeof *state);
      run_block(v, f, &g->blocks[b], forward, state, sets, words);
      if (forward && !g->blocks[b].anywhere) {
        for (int k = 0; k < 2; k++)
          if (g->blocks[b].to[k] != INK_V_NONE)
            changed |= merge(in + g->blocks[b].to[k] * words, state, words);
        continue;
      }
      for (uint32_t other = 0; other < g->count; other++)
        if (forward ? ink_v_flows_to(g, b, other) : ink_v_flows_to(g, other, b))
          changed |= merge(in + other * words, state, words);
    }
  }
  free(in);
  free(state);
  return fine;
}

ink_status ink_v_flow(const ink_verify *v, const v_function *f, const v_graph *g, size_t stamp_count,
                      uint64_t **last, uint64_t **next, size_t *words, ink_error *error) {
  *words = (stamp_count + 3 + 63) / 64;
  *last = calloc(f->count * *words + 1, sizeof **last);
  *next = calloc(f->count * *words + 1, sizeof **next);
  if (*last && *next && solve(v, f, g, true, (uint32_t)stamp_count, *last, *words) &&
      solve(v, f, g, false, (uint32_t)stamp_count + 1, *next, *words))
    return INK_OK;
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the flow of '%s'", f->name);
}
