/* SPDX-License-Identifier: MIT */
/* Instructions of a mark's own that have a line of the source: PROF_ITER's number becomes a word of 64 bits,
 * and the sign that fills its upper half is taken where the number is known, or before the loop. */
#include "verify_private.h"

#include <stdlib.h>
#include <string.h>

static bool has(const v_instruction *i, const char *word) {
  return memmem(i->text, i->text_bytes, word, strlen(word)) != NULL;
}

/* Whether the instruction names the register: `R12`, not `R120` or `UR12`. */
static const char *names(const v_instruction *i, unsigned long number) {
  const char *end = i->text + i->text_bytes;
  for (const char *at = i->text; at < end && (at = memchr(at, 'R', (size_t)(end - at))); at++) {
    char *behind;
    if (at > i->text && at[-1] != ' ' && at[-1] != '[' && at[-1] != '-' && at[-1] != '|' && at[-1] != '~')
      continue;
    if (at + 1 < end && at[1] >= '0' && at[1] <= '9' && strtoul(at + 1, &behind, 10) == number)
      return at;
  }
  return NULL;
}

/* SHF.R.S32.HI R13, RZ, 0x1f, R12: the sign of R12. False: no such. */
static bool takes_sign(const v_instruction *i, unsigned long *into) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  if (bytes != 12 || memcmp(opcode, "SHF.R.S32.HI", 12) || !has(i, ", RZ, 0x1f, R") || opcode[13] != 'R')
    return false;
  *into = strtoul(opcode + 14, NULL, 10);
  return *into > 0;
}

/* STG.E.64 [R2], R12: the last operand. */
static bool stores_pair(const v_instruction *i, unsigned long low) {
  const char *last = memrchr(i->text, ',', i->text_bytes);
  const char *found = names(i, low);
  return i->ours && has(i, "STG") && has(i, ".64") && last && found && found > last;
}

/* The register is written here: the first operand, but of a store. */
static bool writes(const v_instruction *i, unsigned long number) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes), *found = names(i, number);
  return found && found == opcode + bytes + 1 && !has(i, "ST");
}

bool ink_v_is_argument(const ink_verify *v, const v_function *f, uint32_t at) {
  unsigned long high;
  if (!takes_sign(&v->instructions[at], &high))
    return false;
  for (uint32_t i = at + 1; i < f->first + f->count; i++) {
    const v_instruction *next = &v->instructions[i];
    if (stores_pair(next, high - 1))
      return true;
    if (names(next, high) || (!next->ours && has(next, ".64") && names(next, high - 1)) ||
        writes(next, high))
      return false; /* the user's code uses it first, or it is another value from here on */
  }
  return false;
}
