/* SPDX-License-Identifier: MIT */
/* What an instruction is for, by its opcode, and what it moves and computes where the opcode alone tells. */
#include "verify_private.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *opcode; /* begins with it */
  bool whole;         /* to the end or to a dot */
  enum ink_instruction_kind kind;
} opcodes[] = {
    {"LDGSTS", true, INK_INSTRUCTION_MEMORY},  {"LDGDEPBAR", true, INK_INSTRUCTION_BARRIER},
    {"LDG", true, INK_INSTRUCTION_MEMORY},     {"STG", true, INK_INSTRUCTION_MEMORY},
    {"LD", true, INK_INSTRUCTION_MEMORY},      {"ST", true, INK_INSTRUCTION_MEMORY},
    {"REDAS", true, INK_INSTRUCTION_SHARED},   {"REDUX", true, INK_INSTRUCTION_INT},
    {"RED", false, INK_INSTRUCTION_MEMORY},    {"ATOMS", true, INK_INSTRUCTION_SHARED},
    {"ATOM", false, INK_INSTRUCTION_MEMORY},   {"UTMACMDFLUSH", true, INK_INSTRUCTION_BARRIER},
    {"UTMA", false, INK_INSTRUCTION_MEMORY},   {"UBLK", false, INK_INSTRUCTION_MEMORY},
    {"CCTL", false, INK_INSTRUCTION_MEMORY},   {"TEX", false, INK_INSTRUCTION_MEMORY},
    {"TLD", false, INK_INSTRUCTION_MEMORY},    {"SULD", false, INK_INSTRUCTION_MEMORY},
    {"SUST", false, INK_INSTRUCTION_MEMORY},   {"SURED", false, INK_INSTRUCTION_MEMORY},
    {"SUATOM", false, INK_INSTRUCTION_MEMORY}, {"TXD", false, INK_INSTRUCTION_MEMORY},
    {"LDSM", true, INK_INSTRUCTION_SHARED},    {"STSM", true, INK_INSTRUCTION_SHARED},
    {"LDS", true, INK_INSTRUCTION_SHARED},     {"STS", true, INK_INSTRUCTION_SHARED},
    {"STAS", true, INK_INSTRUCTION_SHARED},    {"SHFL", true, INK_INSTRUCTION_SHARED},
    {"LDL", true, INK_INSTRUCTION_LOCAL},      {"STL", true, INK_INSTRUCTION_LOCAL},
    {"HMMA", true, INK_INSTRUCTION_TENSOR},    {"IMMA", true, INK_INSTRUCTION_TENSOR},
    {"DMMA", true, INK_INSTRUCTION_TENSOR},    {"BMMA", true, INK_INSTRUCTION_TENSOR},
    {"QMMA", true, INK_INSTRUCTION_TENSOR},    {"OMMA", true, INK_INSTRUCTION_TENSOR},
    {"HGMMA", true, INK_INSTRUCTION_TENSOR},   {"IGMMA", true, INK_INSTRUCTION_TENSOR},
    {"QGMMA", true, INK_INSTRUCTION_TENSOR},   {"BGMMA", true, INK_INSTRUCTION_TENSOR},
    {"UTCBAR", true, INK_INSTRUCTION_BARRIER}, {"UTC", false, INK_INSTRUCTION_TENSOR},
    {"LDTM", true, INK_INSTRUCTION_TENSOR},    {"STTM", true, INK_INSTRUCTION_TENSOR},
    {"BAR", true, INK_INSTRUCTION_BARRIER},    {"SYNCS", true, INK_INSTRUCTION_BARRIER},
    {"B2R", true, INK_INSTRUCTION_BARRIER},    {"DEPBAR", true, INK_INSTRUCTION_BARRIER},
    {"MEMBAR", true, INK_INSTRUCTION_BARRIER}, {"ERRBAR", true, INK_INSTRUCTION_BARRIER},
    {"CGAERRBAR", true, INK_INSTRUCTION_BARRIER},
    {"FENCE", true, INK_INSTRUCTION_BARRIER},  {"WARPSYNC", true, INK_INSTRUCTION_BARRIER},
    {"WARPGROUP", true, INK_INSTRUCTION_BARRIER}, {"WARPGROUPSET", true, INK_INSTRUCTION_BARRIER},
    {"ARRIVES", true, INK_INSTRUCTION_BARRIER},   {"UCGABAR_ARV", true, INK_INSTRUCTION_BARRIER},
    {"UCGABAR_WAIT", true, INK_INSTRUCTION_BARRIER}, {"NANOSLEEP", true, INK_INSTRUCTION_BARRIER},
    {"ACQBULK", true, INK_INSTRUCTION_BARRIER},   {"ACQSHMINIT", true, INK_INSTRUCTION_BARRIER},
    {"BRA", true, INK_INSTRUCTION_CONTROL},    {"BRX", true, INK_INSTRUCTION_CONTROL},
    {"BRXU", true, INK_INSTRUCTION_CONTROL},   {"JMP", true, INK_INSTRUCTION_CONTROL},
    {"JMX", true, INK_INSTRUCTION_CONTROL},    {"CALL", true, INK_INSTRUCTION_CONTROL},
    {"RET", true, INK_INSTRUCTION_CONTROL},    {"EXIT", true, INK_INSTRUCTION_CONTROL},
    {"KILL", true, INK_INSTRUCTION_CONTROL},   {"BSSY", true, INK_INSTRUCTION_CONTROL},
    {"BSYNC", true, INK_INSTRUCTION_CONTROL},  {"BREAK", true, INK_INSTRUCTION_CONTROL},
    {"BMOV", true, INK_INSTRUCTION_CONTROL},   {"NOP", true, INK_INSTRUCTION_CONTROL},
    {"YIELD", true, INK_INSTRUCTION_CONTROL},  {"BPT", true, INK_INSTRUCTION_CONTROL},
    {"COLLECTIVE", true, INK_INSTRUCTION_CONTROL}, {"ENDCOLLECTIVE", true, INK_INSTRUCTION_CONTROL},
    {"MUFU", true, INK_INSTRUCTION_MATH},      {"FLO", true, INK_INSTRUCTION_INT},
    {"F2FP", true, INK_INSTRUCTION_MATH},      {"F2F", true, INK_INSTRUCTION_MATH},
    {"F2I", false, INK_INSTRUCTION_MATH},      {"I2F", false, INK_INSTRUCTION_MATH},
    {"FRND", true, INK_INSTRUCTION_MATH},      {"FADD", false, INK_INSTRUCTION_MATH},
    {"FMUL", false, INK_INSTRUCTION_MATH},     {"FFMA", false, INK_INSTRUCTION_MATH},
    {"FMNMX", false, INK_INSTRUCTION_MATH},    {"FSET", false, INK_INSTRUCTION_MATH},
    {"FSEL", true, INK_INSTRUCTION_MATH},      {"FSWZADD", true, INK_INSTRUCTION_MATH},
    {"FCHK", true, INK_INSTRUCTION_MATH},      {"DADD", true, INK_INSTRUCTION_MATH},
    {"DMUL", true, INK_INSTRUCTION_MATH},      {"DFMA", true, INK_INSTRUCTION_MATH},
    {"DSET", false, INK_INSTRUCTION_MATH},     {"DMNMX", true, INK_INSTRUCTION_MATH},
    {"HADD2", true, INK_INSTRUCTION_MATH},     {"HMUL2", true, INK_INSTRUCTION_MATH},
    {"HFMA2", true, INK_INSTRUCTION_MATH},     {"HSET", false, INK_INSTRUCTION_MATH},
    {"HMNMX2", true, INK_INSTRUCTION_MATH},    {"UF", false, INK_INSTRUCTION_MATH},
};

enum ink_instruction_kind ink_v_kind(const v_instruction *i) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  /* HFMA2 R5, -RZ, RZ, 0, 0 loads a constant. */
  if (ink_v_opcode_is(i, "HFMA2") && memmem(i->text, i->text_bytes, "-RZ, RZ", 7))
    return INK_INSTRUCTION_INT;
  if (ink_v_opcode_is(i, "UFLO"))
    return INK_INSTRUCTION_INT;
  for (size_t n = 0; n < sizeof opcodes / sizeof *opcodes; n++) {
    const size_t length = strlen(opcodes[n].opcode);
    if (opcodes[n].whole ? ink_v_opcode_is(i, opcodes[n].opcode) : bytes >= length && memcmp(opcode, opcodes[n].opcode, length) == 0)
      return opcodes[n].kind;
  }
  return INK_INSTRUCTION_INT;
}

static bool has_word(const v_instruction *i, const char *word) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  const char *found = memmem(opcode, bytes, word, strlen(word));
  const char *behind = found ? found + strlen(word) : NULL;
  return found && (behind == opcode + bytes || *behind == '.');
}

/* Of one thread. Bulk copies name no size in their text. */
uint32_t ink_v_memory_bytes(const v_instruction *i) {
  static const char *const none[] = {"CCTL", "CCTLL", "CCTLT", NULL};
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  if (ink_v_kind(i) != INK_INSTRUCTION_MEMORY || *opcode == 'U' || *opcode == 'T' || (*opcode == 'S' && opcode[1] == 'U') ||
      ink_v_opcode_in(i, none))
    return 0;
  return has_word(i, ".256") ? 32 : has_word(i, ".128") ? 16 : has_word(i, ".64") ? 8
         : has_word(i, ".U8") || has_word(i, ".S8") ? 1 : has_word(i, ".U16") || has_word(i, ".S16") ? 2 : 4;
}

/* HMMA.16816.F32: m, n and k; HGMMA.64x128x16.F32. */
static uint32_t matrix_operations(const char *opcode, size_t bytes) {
  const char *dot = memchr(opcode, '.', bytes), *end = opcode + bytes;
  if (!dot || dot + 1 >= end)
    return 0;
  char shape[24] = {0};
  const char *stop = memchr(dot + 1, '.', (size_t)(end - dot - 1));
  const size_t n = (size_t)((stop ? stop : end) - dot - 1);
  if (n >= sizeof shape)
    return 0;
  memcpy(shape, dot + 1, n);
  char *at = shape;
  if (strchr(shape, 'x')) { /* of a warp group: 128 threads */
    uint64_t product = 2;
    for (int dimensions = 0; dimensions < 3; dimensions++, at += *at == 'x')
      product *= strtoul(at, &at, 10);
    return *at ? 0 : (uint32_t)(product / 128);
  }
  static const struct {
    const char *text;
    uint32_t m, n, k;
  } shapes[] = {{"884", 8, 8, 4}, {"1684", 16, 8, 4}, {"1688", 16, 8, 8}, {"16816", 16, 8, 16}, {"16832", 16, 8, 32},
                {"16864", 16, 8, 64}, {"8816", 8, 8, 16}, {"8832", 8, 8, 32}, {"88128", 8, 8, 128}, {"168128", 16, 8, 128},
                {"168256", 16, 8, 256}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    if (strcmp(shape, shapes[s].text) == 0)
      return 2 * shapes[s].m * shapes[s].n * shapes[s].k / 32;
  return 0;
}

uint32_t ink_v_operations(const v_instruction *i) {
  static const struct {
    const char *opcode;
    uint32_t operations;
  } scalar[] = {{"FADD", 1}, {"FMUL", 1}, {"FFMA", 2}, {"FADD2", 2}, {"FMUL2", 2}, {"FFMA2", 4}, {"DADD", 1}, {"DMUL", 1}, {"DFMA", 2},
                {"HADD2", 2}, {"HMUL2", 2}, {"HFMA2", 4}, {"MUFU", 1}};
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  const enum ink_instruction_kind kind = ink_v_kind(i);
  if (kind == INK_INSTRUCTION_TENSOR)
    return matrix_operations(opcode, bytes);
  for (size_t n = 0; kind == INK_INSTRUCTION_MATH && n < sizeof scalar / sizeof *scalar; n++)
    if (ink_v_opcode_is(i, scalar[n].opcode))
      return scalar[n].operations;
  return 0;
}
