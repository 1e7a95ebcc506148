/* SPDX-License-Identifier: MIT */
/* One instruction: guard, opcode, operands. What is not simulated becomes a trap that names
 * itself when, and only when, it is executed. */
#include "ptx_parser.h"

#include <string.h>

static bool push_row(ptx_parser *p, int32_t row) {
  sim_program *program = p->program;
  if (program->row_count >= INT32_MAX / 2 ||
      !SIM_GROW(program->rows, program->row_capacity, program->row_count)) {
    return ptx_no_memory(p);
  }
  program->rows[program->row_count++] = row;
  return true;
}

/* What stands for an element: in a vector a row, none for '_'; in a call's list a symbol, -1 for
 * what is not simulated there. */
static bool element_row(ptx_parser *p, ptx_operand *element, bool vector, int32_t *row) {
  if (!vector) {
    *row = element->kind == PTX_O_SYMBOL && element->frame ? element->symbol : -1;
    return true;
  }
  switch (element->kind) {
    case PTX_O_ROW: *row = element->row; return true;
    case PTX_O_SINK: *row = SIM_NO_ROW; return true;
    case PTX_O_NUMBER:
      *row = sim_program_constant(p->program, element->value, SIM_NO_SYMBOL);
      return *row != SIM_NO_ROW || ptx_no_memory(p);
    default: return ptx_fail(p, SIM_BAD_PTX, "an element of a vector is no register or number");
  }
}

/* {a, b} or (a, b); elements are read first, so that nested lists do not mix with this one. */
static bool list_operand(ptx_parser *p, ptx_operand *operand, char end, unsigned nesting) {
  int32_t rows[32];
  uint32_t count = 0;
  operand->kind = end == '}' ? PTX_O_VECTOR : PTX_O_LIST;
  while (!ptx_take(p, end)) {
    ptx_operand element;
    if (count == 32) {
      return ptx_fail(p, SIM_UNSUPPORTED, "a list of more than 32 operands is not simulated");
    }
    if (!ptx_operand_read(p, &element, nesting + 1) ||
        !element_row(p, &element, end == '}', &rows[count])) {
      return false;
    }
    count++;
    if (!ptx_take(p, ',') && !ptx_at(p, end)) {
      return ptx_need(p, end);
    }
  }
  operand->first = (uint32_t)p->program->row_count;
  operand->count = count;
  for (uint32_t i = 0; i < count; i++) {
    if (!push_row(p, rows[i])) {
      return false;
    }
  }
  return true;
}

static bool offsets(ptx_parser *p, ptx_operand *operand) {
  while (ptx_at(p, '+') || ptx_at(p, '-')) {
    uint64_t value;
    uint8_t literal;
    if (!ptx_take_number(p, &value, &literal)) {
      return false;
    }
    operand->offset = (int64_t)((uint64_t)operand->offset + value);
  }
  return true;
}

static bool symbol_operand(ptx_parser *p, ptx_operand *operand, int32_t index) {
  sim_symbol *symbol = &p->program->symbols[index];
  operand->kind = PTX_O_SYMBOL;
  operand->symbol = index;
  if (symbol->function < 0 && (symbol->space == SIM_LOCAL || symbol->space == SIM_PARAM)) {
    operand->frame = symbol->frame_offset < SIM_ENTRY_PARAMETERS;
    operand->offset = (int64_t)symbol->frame_offset;
  }
  return ptx_use(p, index) && offsets(p, operand);
}

static bool name_operand(ptx_parser *p, ptx_operand *operand) {
  const char *begin, *text;
  uint32_t length, index;
  ptx_name *name;
  int special;
  ptx_skip_space(p);
  begin = p->at;
  if (!ptx_take_name(p, &text, &length)) {
    return false;
  }
  if (text[0] == '%' && p->at[0] == '.' && p->at[1] >= 'w' && p->at[1] <= 'z' &&
      !ptx_name_char(p->at[2])) {
    p->at += 2;
    length = (uint32_t)(p->at - begin);
  }
  if (ptx_is(text, length, "WARP_SZ")) {
    operand->kind = PTX_O_NUMBER;
    operand->value = SIM_LANES;
    return true;
  }
  name = ptx_find(p, text, length, &index);
  if (name == NULL && text[0] == '%') {
    special = ptx_special(text, length);
    if (special < 0) {
      return ptx_fail(p, SIM_BAD_PTX, "unknown register '%.*s'", (int)length, text);
    }
    operand->kind = PTX_O_SPECIAL;
    operand->special = (uint16_t)special;
    return true;
  }
  if (name != NULL && name->kind == PTX_REGISTER) {
    operand->kind = PTX_O_ROW;
    operand->is_register = true;
    operand->row = name->value + (int32_t)(index * name->rows);
    return true;
  }
  if (name != NULL && name->kind == PTX_SYMBOL) {
    return symbol_operand(p, operand, name->value);
  }
  operand->kind = PTX_O_NAME;
  operand->text = text;
  operand->length = length;
  return true;
}

static bool address_operand(ptx_parser *p, ptx_operand *operand, unsigned nesting) {
  ptx_operand inner;
  if (!ptx_operand_read(p, &inner, nesting + 1)) {
    return false;
  }
  *operand = inner;
  operand->kind = PTX_O_ADDRESS;
  if (inner.kind == PTX_O_ROW) {
    operand->symbol = SIM_NO_SYMBOL;
  } else if (inner.kind == PTX_O_NUMBER) {
    operand->row = SIM_NO_ROW;
    operand->symbol = SIM_NO_SYMBOL;
    operand->offset = (int64_t)inner.value;
  } else if (inner.kind == PTX_O_SYMBOL) {
    operand->row = SIM_NO_ROW;
  } else {
    return ptx_fail(p, SIM_BAD_PTX, "an address is no register, number or variable");
  }
  return offsets(p, operand) && ptx_need(p, ']');
}

bool ptx_operand_read(ptx_parser *p, ptx_operand *operand, unsigned nesting) {
  *operand = (ptx_operand){.row = SIM_NO_ROW, .row2 = SIM_NO_ROW, .symbol = SIM_NO_SYMBOL};
  if (nesting > 4) {
    return ptx_fail(p, SIM_BAD_PTX, "operands nest too deep");
  }
  if (ptx_take(p, '!')) {
    bool good = ptx_operand_read(p, operand, nesting + 1);
    operand->negated = !operand->negated;
    return good;
  }
  if (ptx_take(p, '[')) {
    return address_operand(p, operand, nesting);
  }
  if (ptx_take(p, '{')) {
    return list_operand(p, operand, '}', nesting);
  }
  if (ptx_take(p, '(')) {
    return list_operand(p, operand, ')', nesting);
  }
  if (ptx_at_number(p)) {
    operand->kind = PTX_O_NUMBER;
    return ptx_take_number(p, &operand->value, &operand->literal);
  }
  if (*p->at == '_' && !ptx_name_char(p->at[1])) {
    p->at++;
    operand->kind = PTX_O_SINK;
  } else if (!name_operand(p, operand)) {
    return false;
  }
  if (ptx_take(p, '|')) {
    ptx_operand second;
    if (!ptx_operand_read(p, &second, nesting + 1)) {
      return false;
    }
    operand->row2 = second.kind == PTX_O_ROW ? second.row : SIM_NO_ROW;
  }
  return true;
}

static sim_insn *append(ptx_parser *p, const char *text, uint32_t length) {
  sim_program *program = p->program;
  sim_insn *insn;
  int32_t word = sim_program_word(program, text, length < 120 ? length : 120);
  if (word < 0 || program->code_count >= INT32_MAX / 2 ||
      !SIM_GROW(program->code, program->code_capacity, program->code_count)) {
    ptx_no_memory(p);
    return NULL;
  }
  insn = &program->code[program->code_count];
  *insn = (sim_insn){.guard = SIM_NO_ROW, .dst = SIM_NO_ROW, .dst2 = SIM_NO_ROW,
                     .src = {SIM_NO_ROW, SIM_NO_ROW, SIM_NO_ROW, SIM_NO_ROW}, .target = -1,
                     .line = p->line, .source_line = p->source_line,
                     .source_file = p->source_file, .text = (uint32_t)word, .latency = 4};
  return insn;
}

static void make_unsupported(sim_insn *insn) {
  insn->op = SIM_OP_unsupported;
  insn->run = sim_exec_unsupported;
  insn->kind = SIM_K_PLAIN;
}

static bool guard_prefix(ptx_parser *p, int32_t *row, bool *negated) {
  ptx_operand guard;
  *row = SIM_NO_ROW;
  *negated = false;
  if (!ptx_take(p, '@')) {
    return true;
  }
  if (!ptx_operand_read(p, &guard, 0)) {
    return false;
  }
  if (guard.kind != PTX_O_ROW || !guard.is_register) {
    return ptx_fail(p, SIM_BAD_PTX, "a guard is no predicate");
  }
  *row = guard.row;
  *negated = guard.negated;
  return true;
}

bool ptx_instruction(ptx_parser *p) {
  ptx_operand operands[PTX_OPERANDS];
  unsigned count = 0;
  const char *text;
  uint32_t length;
  int32_t guard;
  bool negated;
  sim_insn *insn, made;
  if (!guard_prefix(p, &guard, &negated) || !ptx_take_word(p, &text, &length)) {
    return false;
  }
  insn = append(p, text, length);
  if (insn == NULL) {
    return false;
  }
  insn->guard = guard;
  insn->guard_negated = negated;
  if (!ptx_words(p, insn, text, length)) {
    make_unsupported(insn);
    p->program->code_count++;
    return ptx_skip_past(p, ';');
  }
  made = *insn;
  while (!ptx_at(p, ';')) {
    if (count == PTX_OPERANDS) {
      return ptx_fail(p, SIM_BAD_PTX, "an instruction has more than %d operands", PTX_OPERANDS);
    }
    if (!ptx_operand_read(p, &operands[count], 0)) {
      return false;
    }
    count++;
    if (!ptx_take(p, ',') && !ptx_at(p, ';')) {
      return ptx_need(p, ';');
    }
  }
  p->at++;
  if (!ptx_decode(p, &made, operands, count)) {
    if (p->failed) {
      return false;
    }
    make_unsupported(&made);
  }
  p->program->code[p->program->code_count++] = made;
  return true;
}
