/* SPDX-License-Identifier: MIT */
/* What a function's machine code is made of, so that it can be held against another build of the same function: marks
 * that make ptxas spill, wait for matrix instructions or unroll less show there. */
#include "verify_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The highest register that the text names, and one more. */
static uint32_t registers_in(const v_instruction *i) {
  const char *end = i->text + i->text_bytes;
  uint32_t most = 0;
  for (const char *at = i->text; at + 1 < end; at++) {
    if (*at != 'R' || !isdigit((unsigned char)at[1]) || (at > i->text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
      continue;
    const unsigned long number = strtoul(at + 1, NULL, 10);
    most = number < 255 && number >= most ? (uint32_t)number + 1 : most;
  }
  return most;
}

/* A branch to an instruction before it, or to itself; ptxas ends each function with one to itself, behind its last EXIT. */
static bool goes_back(const v_graph *g, uint32_t block) {
  const v_block *b = &g->blocks[block];
  const bool padding = b->count == 1 && b->to[0] == INK_V_NONE && b->to[1] == block;
  return !padding && b->to[1] != INK_V_NONE && b->to[1] <= block;
}

void ink_v_count(const ink_verify *v, const v_function *f, const v_graph *g, ink_verify_counts *out) {
  static const char *const matrix[] = {"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA", "BGMMA",
                                       "UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA", NULL};
  static const char *const waits[] = {"DEPBAR", "WARPGROUP.DEPBAR", NULL};
  *out = (ink_verify_counts){0};
  for (uint32_t b = 0; b < g->count; b++)
    out->loops += goes_back(g, b);
  for (uint32_t n = f->first; n < f->first + f->count; n++) {
    const v_instruction *i = &v->instructions[n];
    const uint32_t registers = registers_in(i);
    if (ink_v_opcode_is(i, "NOP"))
      continue;
    out->instructions++;
    out->own += i->ours;
    out->registers = registers > out->registers ? registers : out->registers;
    out->spill_stores += ink_v_is_spill(i) && ink_v_opcode_is(i, "STL");
    out->spill_loads += ink_v_is_spill(i) && ink_v_opcode_is(i, "LDL");
    out->matrix += ink_v_opcode_in(i, matrix);
    out->waits += ink_v_opcode_in(i, waits);
    out->drains += ink_v_opcode_in(i, waits) && memmem(i->text, i->text_bytes, ", 0x0", 5) && !memmem(i->text, i->text_bytes, ", 0x0,", 6);
    out->arrives += ink_v_opcode_is(i, "WARPGROUP.ARRIVE");
  }
}
