/* SPDX-License-Identifier: MIT */
/* Several parsed texts into one program: names that meet, what nothing defines, call targets and
 * the rows of constants. */
#include "ptx_parser.h"

#include <stdlib.h>
#include <string.h>

/* Of two symbols of one name the higher rank stays. */
static int rank(const sim_program *program, const sim_symbol *symbol) {
  bool body = symbol->function < 0 ? symbol->defined != 0
                                   : program->functions[symbol->function].body;
  if (!body || symbol->linkage == SIM_L_EXTERN) {
    return 0;
  }
  switch (symbol->linkage) {
    case SIM_L_VISIBLE: return 3;
    case SIM_L_WEAK: return 2;
    default: return 1;
  }
}

static uint32_t name_hash(const char *text) {
  uint32_t h = 2166136261u;
  for (; *text != '\0'; text++) {
    h = (h ^ (uint8_t)*text) * 16777619u;
  }
  return h;
}

static bool merge(sim_program *program, int32_t first, int32_t second, sim_error *error,
                  int32_t *kept) {
  sim_symbol *a = &program->symbols[first], *b = &program->symbols[second];
  int rank_a = rank(program, a), rank_b = rank(program, b);
  sim_symbol *winner = rank_b > rank_a ? b : a, *loser = rank_b > rank_a ? a : b;
  if (rank_a == 3 && rank_b == 3) {
    sim_error_set(error, SIM_BAD_PTX, "'%s' is defined in two of the linked texts", a->name);
    return false;
  }
  if ((a->function < 0) != (b->function < 0)) {
    sim_error_set(error, SIM_BAD_PTX, "'%s' is a function in one text and a variable in another",
                  a->name);
    return false;
  }
  if (rank_a == 1 && rank_b == 1 && b->bytes > a->bytes) {
    winner = b;
    loser = a;
  }
  winner->used |= loser->used;
  winner->address_taken |= loser->address_taken;
  loser->forward = winner->forward;
  *kept = winner->forward;
  return true;
}

static bool join_names(sim_program *program, sim_error *error) {
  size_t slots = 64;
  int32_t *table;
  bool good = true;
  while (slots < program->symbol_count * 2) {
    slots *= 2;
  }
  table = malloc(slots * sizeof *table);
  if (table == NULL) {
    sim_error_set(error, SIM_NO_MEMORY, "no memory to link the program");
    return false;
  }
  for (size_t i = 0; i < slots; i++) {
    table[i] = -1;
  }
  for (size_t i = 0; good && i < program->symbol_count; i++) {
    sim_symbol *symbol = &program->symbols[i];
    size_t slot = name_hash(symbol->name) & (slots - 1);
    if (symbol->linkage == SIM_L_LOCAL || symbol->forward != (int32_t)i) {
      continue;
    }
    while (table[slot] >= 0 && strcmp(program->symbols[table[slot]].name, symbol->name) != 0) {
      slot = (slot + 1) & (slots - 1);
    }
    if (table[slot] < 0) {
      table[slot] = (int32_t)i;
    } else {
      good = merge(program, table[slot], (int32_t)i, error, &table[slot]);
    }
  }
  free(table);
  return good;
}

static uint8_t builtin(const char *name) {
  static const struct {
    const char *name;
    uint8_t builtin;
  } known[] = {{"vprintf", SIM_B_VPRINTF}, {"__assertfail", SIM_B_ASSERTFAIL},
               {"malloc", SIM_B_MALLOC}, {"free", SIM_B_FREE}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].name, name) == 0) {
      return known[i].builtin;
    }
  }
  return SIM_B_NONE;
}

/* Calls into the device-side CUDA runtime fail when they are made, not when they are linked. */
static bool device_runtime(const char *name) {
  return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0 ||
         strncmp(name, "cnp", 3) == 0;
}

static bool check_defined(sim_program *program, sim_error *error) {
  for (size_t i = 0; i < program->symbol_count; i++) {
    sim_symbol *symbol = &program->symbols[i];
    if (symbol->forward != (int32_t)i) {
      continue;
    }
    if (symbol->function >= 0) {
      sim_function *function = &program->functions[symbol->function];
      function->builtin = function->body ? SIM_B_NONE : builtin(symbol->name);
      if (function->body || function->builtin != SIM_B_NONE || !symbol->used ||
          device_runtime(symbol->name)) {
        continue;
      }
    } else if (symbol->defined || !symbol->used || symbol->space == SIM_SHARED) {
      continue;
    }
    sim_error_set(error, SIM_BAD_PTX, "PTX line %u: nothing defines '%s'", symbol->line,
                  symbol->name);
    return false;
  }
  return true;
}

static void complete_calls(sim_program *program) {
  for (size_t f = 0; f < program->function_count; f++) {
    const sim_function *function = &program->functions[f];
    for (int32_t i = function->start; function->body && i < function->end; i++) {
      sim_insn *insn = &program->code[i];
      if (insn->op != SIM_OP_call) {
        continue;
      }
      insn->window = function->registers;
      insn->frame = (uint32_t)function->frame_bytes;
      if (insn->target >= 0) {
        insn->target = sim_program_symbol(program, insn->target)->function;
      }
    }
  }
}

static bool fill_rows(sim_program *program, sim_error *error) {
  size_t count = program->constant_count;
  program->constant_rows = calloc(count != 0 ? count : 1, sizeof *program->constant_rows);
  if (program->constant_rows == NULL) {
    sim_error_set(error, SIM_NO_MEMORY, "no memory for the program's constants");
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    for (int lane = 0; lane < SIM_LANES; lane++) {
      program->constant_rows[i][lane] = program->constants[i].value;
    }
  }
  return true;
}

bool sim_program_link(sim_program *program, sim_error *error) {
  if (!join_names(program, error) || !check_defined(program, error)) {
    return false;
  }
  complete_calls(program);
  return fill_rows(program, error);
}

static bool parse_one(sim_program *program, const char *text, size_t unit, sim_error *error) {
  ptx_parser parser = {.program = program, .error = error, .at = text, .line = 1,
                       .unit = (uint32_t)unit, .function = -1};
  bool good;
  for (int i = 0; i < PTX_HEADS; i++) {
    parser.heads[i] = -1;
  }
  good = ptx_unit(&parser) && !parser.failed;
  free(parser.names);
  free(parser.fixups);
  free(parser.files);
  free(parser.classes);
  return good;
}

sim_program *sim_program_parse(const char *const *texts, size_t n, sim_error *error) {
  sim_program *program = calloc(1, sizeof *program);
  bool good = program != NULL;
  if (error != NULL) {
    *error = (sim_error){.kind = SIM_OK};
  }
  if (!good) {
    sim_error_set(error, SIM_NO_MEMORY, "no memory for the program");
    return NULL;
  }
  /* Lists begin somewhere in the rows even when they are empty. */
  if (!SIM_GROW(program->rows, program->row_capacity, 0)) {
    sim_error_set(error, SIM_NO_MEMORY, "no memory for the program");
    sim_program_free(program);
    return NULL;
  }
  for (size_t i = 0; i < sizeof program->constant_heads / sizeof *program->constant_heads; i++) {
    program->constant_heads[i] = -1;
  }
  for (size_t i = 0; good && i < n; i++) {
    good = parse_one(program, texts[i], i, error);
  }
  if (!good || !sim_program_link(program, error)) {
    sim_program_free(program);
    return NULL;
  }
  return program;
}
