/* SPDX-License-Identifier: MIT */
/* Parsed operands into rows, and the choice of how an instruction runs and how long it takes.
 *
 * Latencies in cycles, counted from issue to the issue of the same warp's next instruction (an SM
 * issues one instruction a cycle; a warp has one in flight): 4, except those in latency(). */
#include "ptx_parser.h"

#include <string.h>

static uint16_t latency(const sim_insn *insn) {
  switch (insn->op) {
    case SIM_OP_ld:
    case SIM_OP_ldu:
      switch (insn->space) {
        case SIM_PARAM:
        case SIM_CONST: return 8;
        case SIM_SHARED: return 24;
        case SIM_CLUSTER: return 180;
        case SIM_LOCAL: return 40;
        default: return 200;
      }
    case SIM_OP_atom:
    case SIM_OP_red: return 300;
    case SIM_OP_div:
    case SIM_OP_rem: return 30;
    case SIM_OP_rcp: case SIM_OP_sqrt: case SIM_OP_rsqrt: case SIM_OP_sin: case SIM_OP_cos:
    case SIM_OP_lg2: case SIM_OP_ex2: case SIM_OP_tanh: return 16;
    case SIM_OP_shfl: return 23;
    case SIM_OP_bra: case SIM_OP_call: return 8;
    case SIM_OP_bar: case SIM_OP_barrier: return insn->flags & SIM_F_WARP ? 4 : 10;
    case SIM_OP_mbarrier: return 20;
    case SIM_OP_ldmatrix: case SIM_OP_stmatrix: case SIM_OP_mma: case SIM_OP_wmma: return 32;
    default: return 4;
  }
}

/* The bits of a literal in the type that the instruction works on. */
static uint64_t literal_bits(const ptx_operand *operand, unsigned type) {
  double wide;
  float narrow;
  uint32_t bits32;
  uint64_t bits;
  if (operand->literal == 2 && (type == SIM_F32 || type == SIM_B32)) {
    memcpy(&wide, &operand->value, sizeof wide);
    narrow = (float)wide;
    memcpy(&bits32, &narrow, sizeof bits32);
    return bits32;
  }
  if (operand->literal == 1 && type == SIM_F64) {
    bits32 = (uint32_t)operand->value;
    memcpy(&narrow, &bits32, sizeof narrow);
    wide = (double)narrow;
    memcpy(&bits, &wide, sizeof bits);
    return bits;
  }
  if (type == SIM_PRED) {
    return operand->value & 1 ? UINT64_MAX : 0; /* a predicate row holds one bit a lane */
  }
  return operand->value;
}

int32_t ptx_constant(ptx_parser *p, uint64_t value, int32_t symbol) {
  int32_t row = sim_program_constant(p->program, value, symbol);
  if (row == SIM_NO_ROW) {
    ptx_no_memory(p);
  }
  return row;
}

static bool is_number_type(unsigned type) { return type != SIM_PRED; }

/* A source that is a register, a number or an address of something that has one address. */
bool ptx_source(ptx_parser *p, sim_insn *insn, unsigned slot, const ptx_operand *operand,
                   unsigned type) {
  switch (operand->kind) {
    case PTX_O_ROW: insn->src[slot] = operand->row; break;
    case PTX_O_NUMBER:
      insn->src[slot] = ptx_constant(p, literal_bits(operand, type), SIM_NO_SYMBOL);
      break;
    case PTX_O_SYMBOL:
      if (operand->frame) {
        return false;
      }
      if (p->program->symbols[operand->symbol].function >= 0) {
        p->program->symbols[operand->symbol].address_taken = 1;
      } else if (p->program->symbols[operand->symbol].space == SIM_PARAM) {
        insn->src[slot] = ptx_constant(p, (uint64_t)operand->offset, SIM_NO_SYMBOL);
        break;
      }
      insn->src[slot] = ptx_constant(p, (uint64_t)operand->offset, operand->symbol);
      break;
    case PTX_O_NAME:
      return ptx_fail(p, SIM_BAD_PTX, "unknown name '%.*s'", (int)operand->length, operand->text);
    default: return false;
  }
  if (operand->negated) {
    if (is_number_type(type)) {
      return false;
    }
    insn->negated |= (uint8_t)(1u << slot);
  }
  return insn->src[slot] != SIM_NO_ROW;
}

bool ptx_address(ptx_parser *p, sim_insn *insn, unsigned slot, const ptx_operand *operand,
                    int64_t *offset) {
  if (operand->kind != PTX_O_ADDRESS) {
    return p->failed ? false
                     : ptx_fail(p, SIM_BAD_PTX, "'%s' needs an address in brackets",
                                sim_op_name(insn->op));
  }
  *offset = operand->offset;
  if (operand->row != SIM_NO_ROW) {
    insn->src[slot] = operand->row;
    return true;
  }
  if (operand->symbol == SIM_NO_SYMBOL) {
    insn->src[slot] = ptx_constant(p, 0, SIM_NO_SYMBOL);
  } else {
    const sim_symbol *symbol = &p->program->symbols[operand->symbol];
    bool framed = symbol->function < 0 &&
                  (symbol->space == SIM_LOCAL || symbol->space == SIM_PARAM);
    insn->flags |= operand->frame ? SIM_F_FRAME : 0;
    insn->src[slot] = ptx_constant(p, 0, framed ? SIM_NO_SYMBOL : operand->symbol);
  }
  return insn->src[slot] != SIM_NO_ROW;
}

bool ptx_destination(sim_insn *insn, const ptx_operand *operand) {
  switch (operand->kind) {
    case PTX_O_ROW:
      if (!operand->is_register) {
        return false;
      }
      insn->dst = operand->row;
      insn->dst2 = operand->row2;
      return true;
    case PTX_O_SINK: return true;
    case PTX_O_VECTOR:
      insn->list = (int32_t)operand->first;
      insn->list_count = (uint8_t)operand->count;
      return true;
    default: return false;
  }
}

/* Type of source i (0 is the first after the destination). */
static unsigned source_type(const sim_insn *insn, unsigned i) {
  switch (insn->op) {
    case SIM_OP_cvt: return insn->type2 != SIM_T_NONE ? insn->type2 : insn->type;
    case SIM_OP_set: return i < 2 ? insn->type2 : SIM_PRED;
    case SIM_OP_setp: return i < 2 ? insn->type : SIM_PRED;
    case SIM_OP_selp: return i < 2 ? insn->type : SIM_PRED;
    case SIM_OP_slct: return i < 2 ? insn->type : insn->type2;
    case SIM_OP_vote: return SIM_PRED;
    default: return insn->type;
  }
}

static bool decode_move(ptx_parser *p, sim_insn *insn, const ptx_operand *operands) {
  const ptx_operand *from = &operands[1];
  if (from->kind == PTX_O_SPECIAL) {
    insn->special = (uint16_t)(from->special + 1);
    return insn->dst != SIM_NO_ROW || operands[0].kind == PTX_O_SINK;
  }
  if (from->kind == PTX_O_VECTOR) {
    if (operands[0].kind == PTX_O_VECTOR) {
      return false;
    }
    insn->vector = 1; /* packs */
    insn->list = (int32_t)from->first;
    insn->list_count = (uint8_t)from->count;
    return from->count != 0;
  }
  if (from->kind == PTX_O_SYMBOL && from->frame) {
    insn->flags |= SIM_F_FRAME;
    insn->offset = from->offset;
    return true;
  }
  if (operands[0].kind == PTX_O_VECTOR) {
    insn->vector = 2; /* unpacks */
    if (operands[0].count == 0) {
      return false;
    }
  }
  return ptx_source(p, insn, 0, from, insn->type);
}

static bool decode_load(ptx_parser *p, sim_insn *insn, const ptx_operand *operands) {
  if (!ptx_destination(insn, &operands[0])) {
    return false;
  }
  if ((insn->vector != 0) != (operands[0].kind == PTX_O_VECTOR) ||
      (insn->vector != 0 && operands[0].count != insn->vector)) {
    return ptx_fail(p, SIM_BAD_PTX, "the vector's length does not match its registers");
  }
  return ptx_address(p, insn, 0, &operands[1], &insn->offset);
}

static bool decode_store(ptx_parser *p, sim_insn *insn, const ptx_operand *operands) {
  const ptx_operand *value = &operands[1];
  if (!ptx_address(p, insn, 0, &operands[0], &insn->offset)) {
    return false;
  }
  if (insn->vector == 0) {
    return ptx_source(p, insn, 1, value, insn->type);
  }
  if (value->kind != PTX_O_VECTOR || value->count != insn->vector) {
    return ptx_fail(p, SIM_BAD_PTX, "the vector's length does not match its registers");
  }
  insn->list = (int32_t)value->first;
  insn->list_count = (uint8_t)value->count;
  for (uint32_t i = 0; i < value->count; i++) {
    if (p->program->rows[value->first + i] == SIM_NO_ROW) {
      return ptx_fail(p, SIM_BAD_PTX, "'_' cannot be stored");
    }
  }
  return true;
}

/* atom.v2 {d, e}, [address], {a, b}: operands in list, results in list2. */
static bool decode_vector_atomic(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                                 unsigned count) {
  unsigned first = insn->op == SIM_OP_atom ? 1 : 0;
  const ptx_operand *values = &operands[first + 1];
  if (count < first + 2 || values->kind != PTX_O_VECTOR || values->count != insn->vector ||
      (first == 1 && (operands[0].kind != PTX_O_VECTOR || operands[0].count != insn->vector))) {
    return ptx_fail(p, SIM_BAD_PTX, "the vector's length does not match its registers");
  }
  for (uint32_t i = 0; i < values->count; i++) {
    if (p->program->rows[values->first + i] == SIM_NO_ROW) {
      return ptx_fail(p, SIM_BAD_PTX, "'_' cannot be added");
    }
  }
  insn->list = (int32_t)values->first;
  insn->list_count = (uint8_t)values->count;
  if (first == 1) {
    insn->list2 = (int32_t)operands[0].first;
    insn->list2_count = (uint8_t)operands[0].count;
  }
  return ptx_address(p, insn, 0, &operands[first], &insn->offset);
}

static bool decode_atomic(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                          unsigned count) {
  unsigned first = insn->op == SIM_OP_atom ? 1 : 0;
  if (insn->vector != 0) {
    return decode_vector_atomic(p, insn, operands, count);
  }
  if (first == 1 && !ptx_destination(insn, &operands[0])) {
    return false;
  }
  if (count < first + 2 || !ptx_address(p, insn, 0, &operands[first], &insn->offset)) {
    return false;
  }
  if (!ptx_source(p, insn, 1, &operands[first + 1], insn->type)) {
    return false;
  }
  if (insn->mode == SIM_M_CAS) {
    return count > first + 2 && ptx_source(p, insn, 2, &operands[first + 2], insn->type);
  }
  return true;
}

static bool decode_branch(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                          unsigned count) {
  const ptx_operand *to = &operands[0];
  uint32_t index;
  ptx_name *name;
  if (insn->op == SIM_OP_bra) {
    if (to->kind != PTX_O_NAME) {
      return false;
    }
    name = ptx_find(p, to->text, to->length, &index);
    if (name != NULL && name->kind == PTX_LABEL) {
      insn->target = name->value;
      return true;
    }
    return ptx_want_label(p, to->text, to->length, p->line, false,
                          (int32_t)p->program->code_count);
  }
  if (count < 2 || operands[1].kind != PTX_O_NAME) {
    return false;
  }
  name = ptx_find(p, operands[1].text, operands[1].length, &index);
  if (name == NULL || name->kind != PTX_TABLE) {
    return ptx_fail(p, SIM_BAD_PTX, "'%.*s' is no list of branch targets",
                    (int)operands[1].length, operands[1].text);
  }
  insn->target = name->value;
  insn->window = name->entries;
  return ptx_source(p, insn, 0, to, SIM_U32);
}

/* The symbols of a call's list into pairs of frame offset and bytes. */
static bool call_list(ptx_parser *p, const ptx_operand *operand, int32_t *first, uint8_t *count) {
  sim_program *program = p->program;
  *first = (int32_t)program->row_count;
  *count = (uint8_t)operand->count;
  for (uint32_t i = 0; i < operand->count; i++) {
    int32_t index = program->rows[operand->first + i];
    const sim_symbol *symbol;
    if (index < 0) {
      return false;
    }
    symbol = &program->symbols[index];
    for (int k = 0; k < 2; k++) {
      if (!SIM_GROW(program->rows, program->row_capacity, program->row_count)) {
        return ptx_no_memory(p);
      }
      program->rows[program->row_count++] =
          (int32_t)(k == 0 ? symbol->frame_offset : symbol->bytes);
    }
  }
  return true;
}

static bool decode_call(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                        unsigned count) {
  unsigned at = 0;
  if (at < count && operands[at].kind == PTX_O_LIST) {
    if (operands[at].count > 1 || !call_list(p, &operands[at], &insn->list2,
                                             &insn->list2_count)) {
      return false;
    }
    at++;
  }
  if (at >= count) {
    return ptx_fail(p, SIM_BAD_PTX, "a call names nothing to call");
  }
  if (operands[at].kind == PTX_O_SYMBOL &&
      p->program->symbols[operands[at].symbol].function >= 0) {
    insn->target = operands[at].symbol;
  } else if (operands[at].kind == PTX_O_ROW) {
    p->program->functions[p->function].indirect = true;
    insn->src[0] = operands[at].row;
  } else if (operands[at].kind == PTX_O_NAME) {
    return ptx_fail(p, SIM_BAD_PTX, "call of '%.*s', which nothing declares",
                    (int)operands[at].length, operands[at].text);
  } else {
    return false;
  }
  at++;
  if (at < count && operands[at].kind == PTX_O_LIST) {
    return call_list(p, &operands[at], &insn->list, &insn->list_count);
  }
  return true;
}

static bool decode_barrier(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                           unsigned count) {
  unsigned at = 0;
  if (insn->more & SIM_X_CLUSTER) { /* an arrival is plain, a wait moves its lanes itself */
    insn->kind = insn->flags & SIM_F_WAIT ? SIM_K_CONTROL : SIM_K_PLAIN;
    return count == 0;
  }
  if (insn->flags & SIM_F_WARP) {
    insn->kind = SIM_K_WARPBAR;
    return count == 1 && ptx_source(p, insn, 3, &operands[0], SIM_U32);
  }
  insn->kind = SIM_K_CONTROL;
  if (insn->flags & SIM_F_RED) {
    if (count < 3 || !ptx_destination(insn, &operands[0]) ||
        !ptx_source(p, insn, 2, &operands[count - 1], SIM_PRED)) {
      return false;
    }
    at = 1;
    count--;
  }
  if (count < at + 1 || count > at + 2) {
    return false;
  }
  insn->operands = (uint8_t)(count - at); /* 2: with a thread count */
  return ptx_source(p, insn, 0, &operands[at], SIM_U32) &&
         (count == at + 1 || ptx_source(p, insn, 1, &operands[at + 1], SIM_U32));
}

/* shfl, vote, match, redux, elect: the member mask goes to source 3. */
static bool decode_sync(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                        unsigned count) {
  if (!(insn->flags & SIM_F_SYNC) || count < 2 || !ptx_destination(insn, &operands[0])) {
    return false;
  }
  insn->kind = SIM_K_SYNC;
  for (unsigned i = 1; i + 1 < count; i++) {
    if (i > 3 || !ptx_source(p, insn, i - 1, &operands[i], source_type(insn, i - 1))) {
      return false;
    }
  }
  return ptx_source(p, insn, 3, &operands[count - 1], SIM_U32);
}

/* How few operands are absurd. */
static unsigned least_operands(unsigned op) {
  switch (op) {
    case SIM_OP_ret: case SIM_OP_exit: case SIM_OP_trap: case SIM_OP_brkpt: case SIM_OP_membar:
    case SIM_OP_fence: case SIM_OP_griddepcontrol: case SIM_OP_cp:
    case SIM_OP_barrier: return 0;
    case SIM_OP_bra: case SIM_OP_call: case SIM_OP_bar:
    case SIM_OP_nanosleep: case SIM_OP_pmevent: case SIM_OP_prefetch: case SIM_OP_prefetchu:
    case SIM_OP_activemask: case SIM_OP_discard: case SIM_OP_applypriority: case SIM_OP_mbarrier:
    case SIM_OP_setmaxnreg: case SIM_OP_stacksave: case SIM_OP_stackrestore: return 1;
    case SIM_OP_add: case SIM_OP_sub: case SIM_OP_mul: case SIM_OP_div: case SIM_OP_rem:
    case SIM_OP_min: case SIM_OP_max: case SIM_OP_and: case SIM_OP_or: case SIM_OP_xor:
    case SIM_OP_shl: case SIM_OP_shr: case SIM_OP_set: case SIM_OP_setp: case SIM_OP_atom:
    case SIM_OP_copysign: case SIM_OP_vote: case SIM_OP_match: case SIM_OP_redux:
    case SIM_OP_addc: case SIM_OP_subc: case SIM_OP_mul24: return 3;
    case SIM_OP_mad: case SIM_OP_madc: case SIM_OP_fma: case SIM_OP_mad24: case SIM_OP_sad:
    case SIM_OP_bfe: case SIM_OP_selp: case SIM_OP_slct: case SIM_OP_shf: case SIM_OP_prmt:
    case SIM_OP_dp4a: case SIM_OP_dp2a: return 4;
    case SIM_OP_bfi: case SIM_OP_lop3: case SIM_OP_shfl: return 5;
    default: return 2;
  }
}

static bool decode_plain(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                         unsigned count) {
  if (!ptx_destination(insn, &operands[0])) {
    return false;
  }
  insn->operands = (uint8_t)(count - 1);
  if (insn->op == SIM_OP_mov) {
    return decode_move(p, insn, operands);
  }
  if (operands[0].kind == PTX_O_VECTOR) {
    return false;
  }
  if (insn->op == SIM_OP_lop3 && count >= 5) {
    if (insn->mode != SIM_M_NONE || operands[4].kind != PTX_O_NUMBER) {
      return false;
    }
    insn->offset = (int64_t)(operands[4].value & 0xff);
    count = 4;
  }
  for (unsigned i = 1; i < count; i++) {
    if (i > 4 || !ptx_source(p, insn, i - 1, &operands[i], source_type(insn, i - 1))) {
      return false;
    }
  }
  return true;
}

static bool decode_operands(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                            unsigned count) {
  switch (insn->op) {
    case SIM_OP_ld:
    case SIM_OP_ldu: return decode_load(p, insn, operands);
    case SIM_OP_st:
      return decode_store(p, insn, operands) && ptx_decode_told(p, insn, operands, count);
    case SIM_OP_atom:
    case SIM_OP_red:
      return decode_atomic(p, insn, operands, count) && ptx_decode_told(p, insn, operands, count);
    case SIM_OP_bra:
    case SIM_OP_brx: return decode_branch(p, insn, operands, count);
    case SIM_OP_call: return decode_call(p, insn, operands, count);
    case SIM_OP_bar:
    case SIM_OP_barrier: return decode_barrier(p, insn, operands, count);
    case SIM_OP_shfl: case SIM_OP_vote: case SIM_OP_match: case SIM_OP_redux: case SIM_OP_elect:
      return decode_sync(p, insn, operands, count);
    case SIM_OP_cp: return ptx_decode_copy(p, insn, operands, count);
    case SIM_OP_mbarrier: return ptx_decode_mbarrier(p, insn, operands, count);
    case SIM_OP_ldmatrix: case SIM_OP_stmatrix: case SIM_OP_movmatrix: case SIM_OP_mma: case SIM_OP_wmma:
      return ptx_decode_matrix(p, insn, operands, count);
    case SIM_OP_ret: case SIM_OP_exit: case SIM_OP_trap: case SIM_OP_brkpt: case SIM_OP_membar:
    case SIM_OP_fence: case SIM_OP_pmevent: case SIM_OP_prefetch: case SIM_OP_prefetchu:
    case SIM_OP_discard: case SIM_OP_applypriority: case SIM_OP_setmaxnreg: return true;
    case SIM_OP_griddepcontrol:
      insn->kind = insn->flags & SIM_F_WAIT ? SIM_K_CONTROL : SIM_K_PLAIN;
      return true;
    case SIM_OP_nanosleep: return ptx_source(p, insn, 0, &operands[0], SIM_U32);
    case SIM_OP_activemask: return ptx_destination(insn, &operands[0]);
    default: return decode_plain(p, insn, operands, count);
  }
}

static bool is_control(unsigned op) {
  return op == SIM_OP_bra || op == SIM_OP_brx || op == SIM_OP_call || op == SIM_OP_ret ||
         op == SIM_OP_exit;
}

bool ptx_decode(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count) {
  static sim_exec_fn *(*const families[])(const sim_insn *) = {
      sim_select_move,    sim_select_integer, sim_select_bits,    sim_select_float,
      sim_select_half,    sim_select_compare, sim_select_convert, sim_select_memory,
      sim_select_atomic,  sim_select_control, sim_select_warp,    sim_select_cluster, sim_select_barrier,
      sim_select_async,   sim_select_bulk,    sim_select_mbarrier,
      sim_select_matrix,  sim_select_mma};
  int32_t zero = ptx_constant(p, 0, SIM_NO_SYMBOL);
  if (zero == SIM_NO_ROW) {
    return false;
  }
  if (count < least_operands(insn->op)) {
    return ptx_fail(p, SIM_BAD_PTX, "'%s' has too few operands", sim_op_name(insn->op));
  }
  insn->kind = is_control(insn->op) ? SIM_K_CONTROL : SIM_K_PLAIN;
  if (!decode_operands(p, insn, operands, count)) {
    return false;
  }
  if (insn->op == SIM_OP_ret) {
    insn->target = p->function;
  }
  for (unsigned i = 0; i < 4; i++) {
    insn->src[i] = insn->src[i] == SIM_NO_ROW ? zero : insn->src[i];
  }
  insn->latency = latency(insn);
  for (size_t i = 0; i < sizeof families / sizeof *families && insn->run == NULL; i++) {
    insn->run = families[i](insn);
  }
  return insn->run != NULL;
}
