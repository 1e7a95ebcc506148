/* SPDX-License-Identifier: MIT */
/* Storage of a program: growing arrays, constants that become rows, interned words. */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  unsigned bytes;
} types[SIM_TYPES] = {
    [SIM_T_NONE] = {"", 0},       [SIM_B8] = {"b8", 1},         [SIM_B16] = {"b16", 2},
    [SIM_B32] = {"b32", 4},       [SIM_B64] = {"b64", 8},       [SIM_B128] = {"b128", 16},
    [SIM_U8] = {"u8", 1},         [SIM_U16] = {"u16", 2},       [SIM_U32] = {"u32", 4},
    [SIM_U64] = {"u64", 8},       [SIM_S8] = {"s8", 1},         [SIM_S16] = {"s16", 2},
    [SIM_S32] = {"s32", 4},       [SIM_S64] = {"s64", 8},       [SIM_F16] = {"f16", 2},
    [SIM_BF16] = {"bf16", 2},     [SIM_F32] = {"f32", 4},       [SIM_F64] = {"f64", 8},
    [SIM_F16X2] = {"f16x2", 4},   [SIM_BF16X2] = {"bf16x2", 4}, [SIM_U16X2] = {"u16x2", 4},
    [SIM_S16X2] = {"s16x2", 4},   [SIM_F32X2] = {"f32x2", 8},   [SIM_TF32] = {"tf32", 4},
    [SIM_E4M3X2] = {"e4m3x2", 2}, [SIM_E5M2X2] = {"e5m2x2", 2}, [SIM_PRED] = {"pred", 1},
};

static const char *const op_names[SIM_OP_COUNT] = {
    "?",
#define X(name) #name,
    SIM_OPS(X)
#undef X
    "unsupported"};

static const char *const space_names[SIM_SPACES] = {
    "generic", "global", "shared", "local", "param", "const", "shared::cluster"};

unsigned sim_type_bytes(unsigned type) { return type < SIM_TYPES ? types[type].bytes : 0; }

bool sim_type_signed(unsigned type) { return type >= SIM_S8 && type <= SIM_S64; }

bool sim_type_float(unsigned type) { return type >= SIM_F16 && type <= SIM_F64; }

const char *sim_type_name(unsigned type) { return type < SIM_TYPES ? types[type].name : "?"; }

const char *sim_op_name(unsigned op) { return op < SIM_OP_COUNT ? op_names[op] : "?"; }

const char *sim_space_name(unsigned space) {
  return space < SIM_SPACES ? space_names[space] : "?";
}

void sim_error_set(sim_error *error, enum sim_error_kind kind, const char *format, ...) {
  va_list arguments;
  if (error == NULL) {
    return;
  }
  error->kind = kind;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  for (char *c = error->text; *c != '\0'; c++) {
    if (*c == '\n' || *c == '\r') {
      *c = ' ';
    }
  }
}

bool sim_grow(void *array, size_t *capacity, size_t count, size_t item_bytes) {
  void *old, *grown;
  size_t wanted;
  if (count < *capacity) {
    return true;
  }
  wanted = *capacity < 16 ? 16 : *capacity * 2;
  if (wanted <= count || wanted > SIZE_MAX / 4 / item_bytes) {
    return false;
  }
  memcpy(&old, array, sizeof old);
  grown = realloc(old, wanted * item_bytes);
  if (grown == NULL) {
    return false;
  }
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return true;
}

static size_t constant_bucket(uint64_t value, int32_t symbol) {
  uint64_t h = (value ^ ((uint64_t)(uint32_t)symbol << 40)) * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(h >> 52);
}

int32_t sim_program_constant(sim_program *program, uint64_t value, int32_t symbol) {
  size_t bucket = constant_bucket(value, symbol);
  sim_constant *constant;
  for (int32_t i = program->constant_heads[bucket]; i >= 0; i = program->constants[i].next) {
    if (program->constants[i].value == value && program->constants[i].symbol == symbol) {
      return ~i;
    }
  }
  if (program->constant_count >= (1u << 24) ||
      !SIM_GROW(program->constants, program->constant_capacity, program->constant_count)) {
    return SIM_NO_ROW;
  }
  constant = &program->constants[program->constant_count];
  constant->value = value;
  constant->symbol = symbol;
  constant->next = program->constant_heads[bucket];
  program->constant_heads[bucket] = (int32_t)program->constant_count++;
  return ~program->constant_heads[bucket];
}

int32_t sim_program_word(sim_program *program, const char *text, size_t length) {
  char *copy;
  /* Opcodes repeat: a look back over the newest few dozen words finds most of them. */
  size_t first = program->word_count > 256 ? program->word_count - 256 : 0;
  for (size_t i = program->word_count; i > first; i--) {
    const char *word = program->words[i - 1];
    if (strncmp(word, text, length) == 0 && word[length] == '\0') {
      return (int32_t)(i - 1);
    }
  }
  if (!SIM_GROW(program->words, program->word_capacity, program->word_count)) {
    return -1;
  }
  copy = strndup(text, length);
  if (copy == NULL) {
    return -1;
  }
  program->words[program->word_count] = copy;
  return (int32_t)program->word_count++;
}

const sim_symbol *sim_program_symbol(const sim_program *program, int32_t symbol) {
  while (program->symbols[symbol].forward != symbol) {
    symbol = program->symbols[symbol].forward;
  }
  return &program->symbols[symbol];
}

void sim_program_free(sim_program *program) {
  if (program == NULL) {
    return;
  }
  for (size_t i = 0; i < program->symbol_count; i++) {
    free(program->symbols[i].name);
    free(program->symbols[i].init);
    free(program->symbols[i].relocs);
  }
  for (size_t i = 0; i < program->function_count; i++) {
    free(program->functions[i].name);
    free(program->functions[i].parameters);
    free(program->functions[i].uses);
  }
  for (size_t i = 0; i < program->word_count; i++) {
    free(program->words[i]);
  }
  for (size_t i = 0; i < program->file_count; i++) {
    free(program->files[i]);
  }
  free(program->code);
  free(program->symbols);
  free(program->functions);
  free(program->constants);
  free(program->constant_rows);
  free(program->rows);
  free(program->words);
  free(program->files);
  free(program);
}
