/* SPDX-License-Identifier: MIT */
/* Operands of copies, mbarriers and matrices: what ptx_decode.c does for the other instructions. */
#include "ptx_parser.h"

/* The second (0) or third (1) address of an instruction, into source slot which + 1 or slot 3. */
static bool further_address(ptx_parser *p, sim_insn *insn, unsigned slot, unsigned which,
                            const ptx_operand *operand) {
  int64_t offset;
  if (!ptx_address(p, insn, slot, operand, &offset) || offset > INT32_MAX || offset < -INT32_MAX) {
    return false;
  }
  insn->offsets[which] = (int32_t)offset;
  return true;
}

bool ptx_decode_told(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count) {
  return !(insn->more & SIM_X_ASYNC) ||
         (insn->more & SIM_X_MBARRIER && count == 3 && further_address(p, insn, 3, 1, &operands[2]));
}

/* cp.async.bulk [to], [from], bytes {, [mbarrier]} {, mask of blocks} {, cache policy} */
static bool decode_bulk_copy(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                             unsigned count) {
  if (insn->flags & SIM_F_COMMIT || insn->more & SIM_X_PREFETCH) {
    return true;
  }
  if (insn->flags & SIM_F_WAIT) {
    insn->kind = SIM_K_CONTROL;
    insn->offset = count == 1 && operands[0].kind == PTX_O_NUMBER ? (int64_t)operands[0].value : -1;
    return insn->offset >= 0;
  }
  if (count < 3 || !ptx_address(p, insn, 0, &operands[0], &insn->offset) ||
      !further_address(p, insn, 1, 0, &operands[1]) || !ptx_source(p, insn, 2, &operands[2], SIM_U32)) {
    return false;
  }
  if (insn->more & SIM_X_MBARRIER &&
      (count < 4 || !further_address(p, insn, 3, 1, &operands[3]))) {
    return false;
  }
  if (insn->more & SIM_X_MULTICAST) {
    if (count < 5 || operands[4].kind != PTX_O_ROW ||
        !SIM_GROW(p->program->rows, p->program->row_capacity, p->program->row_count)) {
      return false;
    }
    insn->list = (int32_t)p->program->row_count;
    insn->list_count = 1;
    p->program->rows[p->program->row_count++] = operands[4].row;
  }
  return true;
}

bool ptx_decode_copy(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                        unsigned count) {
  if (insn->flags & SIM_F_BULK) {
    return decode_bulk_copy(p, insn, operands, count);
  }
  if (insn->flags & (SIM_F_COMMIT | SIM_F_WAIT)) {
    return true;
  }
  if (count < 3 || insn->flags & SIM_F_ARRIVE || operands[2].kind != PTX_O_NUMBER) {
    return insn->flags & SIM_F_ARRIVE && count == 1 &&
           ptx_address(p, insn, 0, &operands[0], &insn->offset);
  }
  if (!ptx_address(p, insn, 0, &operands[0], &insn->offset) ||
      !further_address(p, insn, 1, 0, &operands[1])) {
    return false;
  }
  insn->window = (uint32_t)operands[2].value;
  if (count > 3) {
    bool predicate = operands[3].negated;
    insn->operands = 4;
    return !predicate && ptx_source(p, insn, 2, &operands[3], SIM_U32);
  }
  return true;
}

/* mbarrier.x [state,] [address] [, a [, b]] */
bool ptx_decode_mbarrier(ptx_parser *p, sim_insn *insn, const ptx_operand *operands,
                            unsigned count) {
  unsigned at = 0, slot = 1;
  if (count != 0 && operands[0].kind != PTX_O_ADDRESS) {
    if (!ptx_destination(insn, &operands[0])) {
      return false;
    }
    at = 1;
  }
  if (insn->more & SIM_X_PENDING) {
    return count == 2 && ptx_source(p, insn, 1, &operands[1], SIM_U64);
  }
  if (insn->flags & SIM_F_TRY_WAIT) {
    insn->kind = SIM_K_CONTROL;
  }
  if (at >= count || !ptx_address(p, insn, 0, &operands[at], &insn->offset)) {
    return false;
  }
  for (at++; at < count; at++, slot++) {
    if (slot > 3 || !ptx_source(p, insn, slot, &operands[at], SIM_U64)) {
      return false;
    }
  }
  insn->operands = (uint8_t)(slot - 1);
  return true;
}

/* Appends the rows of a vector, or of a register alone, to the list that ends the program's rows. */
static bool append_rows(ptx_parser *p, sim_insn *insn, const ptx_operand *operand) {
  sim_program *program = p->program;
  uint32_t count = operand->kind == PTX_O_VECTOR ? operand->count : operand->kind == PTX_O_ROW ? 1 : 0;
  for (uint32_t i = 0; i < count; i++) {
    int32_t row = operand->kind == PTX_O_VECTOR ? program->rows[operand->first + i] : operand->row;
    if (row == SIM_NO_ROW || insn->list_count == UINT8_MAX) {
      return false;
    }
    if (!SIM_GROW(program->rows, program->row_capacity, program->row_count)) {
      return ptx_no_memory(p);
    }
    program->rows[program->row_count++] = row;
    insn->list_count++;
  }
  return count != 0;
}

/* All lanes of a warp take part. */
static bool whole_warp(ptx_parser *p, sim_insn *insn) {
  insn->kind = SIM_K_SYNC;
  insn->src[3] = ptx_constant(p, UINT32_MAX, SIM_NO_SYMBOL);
  return insn->src[3] != SIM_NO_ROW;
}

/* D, A, B, C: D in list2, the others in list, their numbers in `frame`. */
static bool decode_product(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count) {
  if (insn->type_b == SIM_T_NONE) { /* wmma of .f16 names D and C */
    insn->type_a = insn->type_b = SIM_F16;
  }
  if (count != 4) {
    return false;
  }
  insn->list = (int32_t)p->program->row_count;
  if (!append_rows(p, insn, &operands[0])) {
    return false;
  }
  insn->list2 = insn->list;
  insn->list2_count = insn->list_count;
  insn->list = (int32_t)p->program->row_count;
  insn->list_count = 0;
  insn->frame = 0;
  for (unsigned i = 0; i < 3; i++) {
    unsigned before = insn->list_count;
    if (!append_rows(p, insn, &operands[1 + i])) {
      return false;
    }
    insn->frame |= (insn->list_count - before) << (8 * i);
  }
  return true;
}

/* ldmatrix {d}, [a]; stmatrix [a], {b}; wmma.load {d}, [a] {, stride}; wmma.store [a], {d} {, stride} */
bool ptx_decode_matrix(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count) {
  bool stores = insn->op == SIM_OP_stmatrix || (insn->op == SIM_OP_wmma && insn->mode == SIM_M_STORE);
  if (!whole_warp(p, insn)) {
    return false;
  }
  if (insn->op == SIM_OP_mma || (insn->op == SIM_OP_wmma && insn->mode == SIM_M_MMA)) {
    return decode_product(p, insn, operands, count);
  }
  if (insn->op == SIM_OP_movmatrix) {
    return ptx_destination(insn, &operands[0]) && ptx_source(p, insn, 0, &operands[1], SIM_B32);
  }
  if (insn->op == SIM_OP_wmma && insn->mode != SIM_M_LOAD && insn->mode != SIM_M_STORE) {
    return false;
  }
  insn->list = (int32_t)p->program->row_count;
  insn->operands = (uint8_t)(count - 1); /* 2: with a stride */
  return append_rows(p, insn, &operands[stores ? 1 : 0]) &&
         ptx_address(p, insn, 0, &operands[stores ? 0 : 1], &insn->offset) &&
         (count < 3 || ptx_source(p, insn, 1, &operands[2], SIM_U32));
}
