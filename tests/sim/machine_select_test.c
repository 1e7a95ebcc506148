/* SPDX-License-Identifier: MIT */
/* Which instructions each family of the machine takes, and with how many functions: for every opcode many drawn forms of it,
 * most of which no PTX has. What a family leaves is refused by name, so one that takes too much computes something wrong
 * instead. A digest for each family and opcode: that the functions are right the other tests of the machine show. */
#include "../unit/expected.h"
#include "exec_matrix.h"
#include "program.h"

#include <inttypes.h>

enum { FORMS = 4000, RARE_FORMS = 60000, FUNCTIONS = 64 };

static uint64_t state;
static uint32_t below(uint32_t n) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)((state >> 33) % n);
}

/* Mostly none of the bits, else one or two. */
static uint32_t few_bits(unsigned bits) {
  const uint32_t how = below(6), first = below(bits), second = below(bits);
  return how < 3 ? 0 : how < 5 ? 1u << first : 1u << first | 1u << second;
}

/* Of what few of all forms are taken, more are drawn, and what these have more often. */
static bool is_rare(unsigned op) {
  return op == SIM_OP_mma || op == SIM_OP_wmma || op == SIM_OP_ldmatrix || op == SIM_OP_stmatrix || op == SIM_OP_movmatrix || op == SIM_OP_cp ||
         op == SIM_OP_st || op == SIM_OP_red || op == SIM_OP_atom || op == SIM_OP_vabsdiff4 || op == SIM_OP_mbarrier || op == SIM_OP_redux;
}

static void make_likely(sim_insn *insn) {
  static const uint8_t types[] = {SIM_B8, SIM_B16, SIM_B32, SIM_B64, SIM_B128, SIM_U8, SIM_S8, SIM_U32, SIM_S32, SIM_U64, SIM_F16, SIM_BF16, SIM_F32, SIM_F64, SIM_TF32, SIM_F16X2};
  static const uint32_t more[] = {0, SIM_X_MBARRIER, SIM_X_BULK_GROUP, SIM_X_BULK_GROUP | SIM_X_REDUCE, SIM_X_MBARRIER | SIM_X_REDUCE, SIM_X_ASYNC, SIM_X_TRANS,
                                  SIM_X_COLUMNS_B, SIM_X_LAYOUT_A | SIM_X_COLUMNS_B, SIM_X_COLUMNS_A | SIM_X_COLUMNS_B};
  insn->type = types[below(16)];
  insn->type2 = below(3) ? insn->type : types[below(16)];
  insn->type_a = types[below(16)];
  insn->type_b = below(4) ? insn->type_a : types[below(16)];
  insn->flags |= below(2) ? SIM_F_BULK : 0;
  insn->more = more[below(10)];
  insn->more |= below(4) ? 0 : few_bits(16);
  if (!below(3))
    insn->flags &= SIM_F_BULK;
  if (below(3))
    insn->mode = (uint8_t)(SIM_M_AND + below(SIM_M_CAS));
  else if (below(2))
    insn->mode = (uint8_t)(SIM_M_LOAD + below(3));
  if (below(2))
    insn->list_count = insn->vector;
  insn->rounding = SIM_R_NONE;
}

/* A product's registers: as many as the shape asks for, or not. */
static void make_product(sim_insn *insn) {
  static const uint8_t kinds[][4] = {/* a, b, c, d */
      {SIM_F16, SIM_F16, SIM_F16, SIM_F16}, {SIM_F16, SIM_F16, SIM_F32, SIM_F32}, {SIM_F16, SIM_F16, SIM_F16, SIM_F32}, {SIM_BF16, SIM_BF16, SIM_F32, SIM_F32},
      {SIM_TF32, SIM_TF32, SIM_F32, SIM_F32}, {SIM_S8, SIM_U8, SIM_S32, SIM_S32}, {SIM_U8, SIM_S8, SIM_S32, SIM_S32}, {SIM_F64, SIM_F64, SIM_F64, SIM_F64}};
  const uint8_t *kind = kinds[below(8)];
  insn->type_a = kind[0];
  insn->type_b = kind[1];
  insn->type2 = kind[2];
  insn->type = kind[3];
  uint8_t *const all[] = {&insn->type_a, &insn->type_b, &insn->type2, &insn->type};
  uint8_t *const one = all[below(4)];
  if (!below(3)) /* one of them is another */
    *one = (uint8_t)below(SIM_TYPES);
  if (insn->op == SIM_OP_wmma)
    insn->mode = SIM_M_MMA;
  insn->more = below(2) ? SIM_X_COLUMNS_B : insn->more;
  const uint8_t types[] = {insn->type_a, insn->type_b, insn->type2, insn->type};
  unsigned counts[4];
  for (int i = 0; i < 4; i++) {
    unsigned height, width;
    const unsigned packed = sim_type_bytes(types[i]) ? sim_matrix_packed(types[i]) : 0;
    sim_matrix_size(insn, (enum sim_matrix)i, &height, &width);
    counts[i] = packed ? height * width / 32 / packed + (below(8) == 0) : 1;
  }
  insn->frame = counts[0] | counts[1] << 8 | counts[2] << 16;
  insn->list2_count = (uint8_t)counts[3];
}

static sim_insn drawn(unsigned op) {
  static const uint32_t windows[] = {0, 8u << 16 | 8u << 8, 16u << 16 | 16u << 8 | 16, 16u << 16 | 8u << 8 | 8, 16u << 16 | 8u << 8 | 16,
                                     8u << 16 | 8u << 8 | 4, 16u << 16 | 8u << 8 | 32, 32u << 16 | 8u << 8 | 16, 8u << 16 | 32u << 8 | 16, 16u << 16 | 8u << 8 | 4};
  static const uint8_t lists[] = {0, 1, 2, 4, 8};
  sim_insn insn = {.op = (uint8_t)op};
  insn.type = (uint8_t)below(SIM_TYPES);
  insn.type2 = (uint8_t)(below(2) ? below(SIM_TYPES) : below(2) ? insn.type : SIM_T_NONE);
  insn.type_a = (uint8_t)below(SIM_TYPES);
  insn.type_b = (uint8_t)(below(2) ? insn.type_a : below(SIM_TYPES));
  insn.mode = (uint8_t)(below(2) ? below(SIM_M_MMA + 1) : SIM_M_NONE);
  insn.rounding = (uint8_t)(below(2) ? below(SIM_RPI + 1) : SIM_R_NONE);
  insn.compare = (uint8_t)below(SIM_HS + 1);
  insn.space = (uint8_t)below(SIM_SPACES);
  insn.space2 = (uint8_t)below(SIM_SPACES);
  insn.flags = few_bits(31);
  insn.more = few_bits(16);
  insn.vector = lists[below(2) ? 0 : below(5)];
  insn.list_count = lists[below(5)];
  insn.list2_count = lists[below(5)];
  insn.operands = (uint8_t)(1 + below(4));
  insn.window = windows[below(10)];
  if (is_rare(op))
    make_likely(&insn);
  if ((op == SIM_OP_mma || op == SIM_OP_wmma) && below(2))
    make_product(&insn);
  return insn;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    sim_exec_fn *(*select)(const sim_insn *);
  } families[] = {{"move", sim_select_move}, {"integer", sim_select_integer}, {"bits", sim_select_bits}, {"float", sim_select_float},
                  {"half", sim_select_half}, {"compare", sim_select_compare}, {"convert", sim_select_convert}, {"memory", sim_select_memory},
                  {"atomic", sim_select_atomic}, {"control", sim_select_control}, {"warp", sim_select_warp}, {"cluster", sim_select_cluster},
                  {"barrier", sim_select_barrier}, {"async", sim_select_async}, {"bulk", sim_select_bulk}, {"mbarrier", sim_select_mbarrier},
                  {"matrix", sim_select_matrix}, {"mma", sim_select_mma}};
  expected_begin();
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    for (unsigned op = 0; op < SIM_OP_COUNT; op++) {
      sim_exec_fn *functions[FUNCTIONS];
      uint64_t digest = UINT64_C(0xcbf29ce484222325);
      uint32_t count = 0, taken = 0;
      state = op;
      const int forms = is_rare(op) ? RARE_FORMS : FORMS;
      for (int i = 0; i < forms; i++) {
        const sim_insn insn = drawn(op);
        sim_exec_fn *const run = families[f].select(&insn);
        uint32_t which = 0; /* of its functions: numbered as they come */
        while (run && which < count && functions[which] != run)
          which++;
        if (run && which == count && count < FUNCTIONS)
          functions[count++] = run;
        taken += run != NULL;
        digest = (digest ^ (run ? which + 1 : 0)) * UINT64_C(0x100000001b3);
      }
      if (taken)
        fprintf(expected_out, "%s %s: %u of %d taken, %u functions, %08" PRIx64 "\n", families[f].name, sim_op_name(op), taken, forms, count,
                digest & 0xffffffff);
    }
  expected_end(argc > 1 ? argv[1] : "select.txt");
  return check_result("select");
}
