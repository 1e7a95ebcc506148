/* SPDX-License-Identifier: MIT */
/* What the result of an instruction is used for. Moves, integer sums, selects and the uniform datapath serve addresses,
 * loops and branches as well as the program's own values, and their names do not tell which: backwards over the flow,
 * a register is needed for work where it goes into arithmetic on values, a store's data, an atomic or a call. */
#include "verify_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* R0 to R254, UR0 to UR254, P0 to P7, UP0 to UP7. */
enum { URS = 256, PS = 512, UPS = 520, REGISTERS = 528, WORDS = (REGISTERS + 63) / 64, OPERANDS = 12 };

typedef struct operand {
  int reg;        /* or -1 */
  bool address;   /* in brackets: where, not what */
} operand;

typedef struct parts {
  operand operands[OPERANDS];
  int count, results; /* the first `results` are written */
  bool guarded;
} parts;

/* ---- text to operands ---- */

static int register_of(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '-' || *at == '~' || *at == '!' || *at == '|' || *at == '+'))
    at++;
  const bool uniform = at < end && *at == 'U';
  at += uniform;
  if (at + 1 >= end || (*at != 'R' && *at != 'P') || !isdigit((unsigned char)at[1]))
    return -1;
  const unsigned long number = strtoul(at + 1, NULL, 10);
  if (*at == 'R')
    return number < 255 ? (int)number + (uniform ? URS : 0) : -1;
  return number < 8 ? (int)number + (uniform ? UPS : PS) : -1;
}

static bool is_predicate_word(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '!'))
    at++;
  at += at < end && *at == 'U';
  return at + 1 < end && *at == 'P' && (isdigit((unsigned char)at[1]) || at[1] == 'T');
}

static bool is_register_word(const char *at, const char *end) {
  while (at < end && *at == ' ')
    at++;
  at += at < end && *at == 'U';
  return at + 1 < end && *at == 'R' && (isdigit((unsigned char)at[1]) || at[1] == 'Z');
}

static bool starts(const char *opcode, size_t bytes, const char *word) {
  return bytes >= strlen(word) && memcmp(opcode, word, strlen(word)) == 0;
}

static bool contains(const char *opcode, size_t bytes, const char *word) {
  return memmem(opcode, bytes, word, strlen(word)) != NULL;
}

/* All registers of an operand in brackets, as addresses. */
static void add_addresses(parts *p, const char *at, const char *end) {
  for (; at < end; at++)
    if ((*at == 'R' || *at == 'U') && !isalnum((unsigned char)at[-1]) && p->count < OPERANDS) {
      const int reg = register_of(at, end);
      if (reg >= 0)
        p->operands[p->count++] = (operand){reg, true};
    }
}

static bool writes_nothing(const char *opcode, size_t bytes) {
  static const char *const words[] = {"ST", "RED", "BRA", "BRX", "JMX", "BAR", "CALL", "RET", "EXIT", "NANOSLEEP",
                                      "WARPSYNC", "UTMA", "UTC", "UBLK", "USETMAXREG", "BMOV", "WARPGROUP", NULL};
  for (const char *const *word = words; *word; word++)
    if (starts(opcode, bytes, *word))
      return true;
  return false;
}

static void split(const v_instruction *i, parts *p) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes), *at = opcode + bytes, *end = i->text + i->text_bytes;
  bool may_write = !writes_nothing(opcode, bytes), predicates = true;
  *p = (parts){.guarded = *i->text == '@' && memcmp(i->text, "@PT", 3) != 0};
  for (int n = 0; at < end && p->count < OPERANDS; n++) {
    int depth = 0;
    const char *stop = at;
    for (; stop < end && (depth || *stop != ','); stop++)
      depth += *stop == '[' || *stop == '{' ? 1 : *stop == ']' || *stop == '}' ? -1 : 0;
    const bool address = memchr(at, '[', (size_t)(stop - at)) != NULL;
    const bool predicate = !address && is_predicate_word(at, stop);
    const bool word = predicate || (!address && is_register_word(at, stop));
    const int before = p->count;
    if (address)
      add_addresses(p, at, stop);
    else
      p->operands[p->count++] = (operand){register_of(at, stop), false};
    /* A result comes first; carries and second predicates follow it, or a register the predicate of SHFL and ATOM. */
    const bool set = contains(opcode, bytes, "SETP") || contains(opcode, bytes, "PLOP3");
    if (may_write && word && (n == 0 || (set ? n == 1 : predicate ? predicates && n < 3 : n == 1 && predicates && p->results == before &&
                                                                       is_predicate_word(opcode + bytes, end))))
      p->results = before + 1;
    else
      may_write = false;
    predicates = predicates && (n == 0 || predicate);
    at = stop < end ? stop + 1 : end;
  }
}

/* Registers of a result or a source. */
static int width_of(const char *opcode, size_t bytes, bool result, bool last) {
  if (contains(opcode, bytes, "MMA") || contains(opcode, bytes, ".128") || starts(opcode, bytes, "LDSM"))
    return starts(opcode, bytes, "HGMMA") || starts(opcode, bytes, "QGMMA") || starts(opcode, bytes, "IGMMA") ? 128 : 4;
  if (contains(opcode, bytes, "WIDE"))
    return result || last ? 2 : 1;
  if (contains(opcode, bytes, ".64") || contains(opcode, bytes, ".F64") || contains(opcode, bytes, ".S64") ||
      contains(opcode, bytes, ".U64"))
    return 2;
  if (contains(opcode, bytes, "LDTM") || contains(opcode, bytes, "STTM"))
    return 128;
  return starts(opcode, bytes, "DADD") || starts(opcode, bytes, "DMUL") || starts(opcode, bytes, "DFMA") ||
                 starts(opcode, bytes, "DSETP") || (starts(opcode, bytes, "CS2R") && bytes == 4)
             ? 2
             : 1;
}

/* ---- what only hands on ---- */

/* Work where what it makes is: integers, predicates, moves. All else that is not an inkmark's own is work by itself. */
static bool hands_on(const v_instruction *i) {
  static const char *const words[] = {
      "IADD", "VIADD", "IMAD", "SHF", "LOP3", "LOP", "ISCADD", "LEA", "SEL", "VIMNMX", "IMNMX", "PRMT", "IABS", "SGXT",
      "BMSK", "ISETP", "PLOP3", "MOV", "R2UR", "R2P", "P2R", "LDC", "LDCU", "S2R", "S2UR", "CS2R", "UR2UP", "UP2UR",
      "VOTE", "BREV", "FLO", "POPC", "ELECT", "BRA", "BRX", "BSSY", "BSYNC", "EXIT", "NOP", "WARPSYNC", "DEPBAR", "YIELD",
      "BMOV", "BREAK", "COLLECTIVE", "ENDCOLLECTIVE", "LD", "LDG", "LDS", "LDL", "LDSM", "NANOSLEEP", "BAR", NULL};
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  if (ink_v_is_device_unit(i))
    return false;
  if (*opcode == 'U' && !contains(opcode, bytes, "UF") && !contains(opcode, bytes, "I2F"))
    return true;
  for (const char *const *word = words; *word; word++)
    if (starts(opcode, bytes, *word) && (bytes == strlen(*word) || opcode[strlen(*word)] == '.' ||
                                         isdigit((unsigned char)opcode[strlen(*word)])))
      return true;
  /* a constant: HFMA2 R5, -RZ, RZ, 0, 0 */
  return starts(opcode, bytes, "HFMA2") && memmem(i->text, i->text_bytes, "-RZ, RZ", 7);
}

/* TMA, bulk copies, tensor memory: of the uniform datapath by their names only. */
bool ink_v_is_device_unit(const v_instruction *i) {
  static const char *const words[] = {"UTMA", "UTC", "UBLK", "UCGABAR", NULL};
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  for (const char *const *word = words; *word; word++)
    if (starts(opcode, bytes, *word))
      return true;
  return false;
}

/* ---- backwards over the flow ---- */

static void put(uint64_t *set, int reg, int width, bool value) {
  const int limit = reg < URS ? URS : reg < PS ? PS : reg + 1;
  for (int i = reg; i < reg + width && i < limit; i++)
    if (value)
      set[i / 64] |= UINT64_C(1) << i % 64;
    else
      set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static bool any(const uint64_t *set, int reg, int width) {
  const int limit = reg < URS ? URS : reg < PS ? PS : reg + 1;
  for (int i = reg; i < reg + width && i < limit; i++)
    if (set[i / 64] >> i % 64 & 1)
      return true;
  return false;
}

static void step(v_instruction *i, uint64_t *needed) {
  parts p;
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  split(i, &p);
  bool work = !i->ours && !hands_on(i);
  for (int k = 0; k < p.results; k++)
    if (p.operands[k].reg >= 0 && any(needed, p.operands[k].reg, width_of(opcode, bytes, true, false)))
      i->work = true;
  work = work || (i->work && !i->ours);
  for (int k = 0; k < p.results && !p.guarded; k++)
    if (p.operands[k].reg >= 0)
      put(needed, p.operands[k].reg, width_of(opcode, bytes, true, false), false);
  for (int k = p.results; work && k < p.count; k++)
    if (p.operands[k].reg >= 0 && !p.operands[k].address)
      put(needed, p.operands[k].reg, width_of(opcode, bytes, false, k == p.count - 1), true);
  if (work && starts(opcode, bytes, "CALL")) /* its arguments: the ABI has them from R4 on */
    put(needed, 4, 28, true);
  if (starts(opcode, bytes, "RET"))
    put(needed, 4, 4, true);
}

ink_status ink_v_find_work(ink_verify *v, const v_function *f, const v_graph *g, ink_error *error) {
  uint64_t(*in)[WORDS] = calloc((size_t)g->count + 1, sizeof *in); /* needed where a block begins */
  if (!in)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the flow of '%s'", f->name);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = g->count; b-- > 0;) {
      uint64_t needed[WORDS] = {0};
      for (uint32_t to = 0; to < g->count; to++)
        for (int w = 0; w < WORDS && ink_v_flows_to(g, b, to); w++)
          needed[w] |= in[to][w];
      for (uint32_t n = g->blocks[b].count; n-- > 0;)
        step(&v->instructions[f->first + g->blocks[b].first + n], needed);
      changed = changed || memcmp(in[b], needed, sizeof needed) != 0;
      memcpy(in[b], needed, sizeof needed);
    }
  }
  free(in);
  return INK_OK;
}
