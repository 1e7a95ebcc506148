/* SPDX-License-Identifier: MIT */
/* The words of an opcode, "fma.rn.ftz.f32", into the fields of an instruction. */
#include "ptx_parser.h"

#include <stddef.h>
#include <string.h>

#include "special.h"

static const char *const specials[SIM_SR_COUNT] = {
#define X(name, text) text,
    SIM_SPECIALS(X)
#undef X
};

int ptx_special(const char *text, uint32_t length) {
  for (int i = 0; i < SIM_SR_COUNT; i++) {
    if (ptx_is(text, length, specials[i])) {
      return i;
    }
  }
  if (length > 7 && strncmp(text, "%envreg", 7) == 0) {
    return SIM_SR_ENVREG_OTHER;
  }
  return -1;
}

enum word_target { TO_FLAG, TO_MORE, TO_MODE, TO_ROUNDING, TO_SPACE, TO_VECTOR, TO_COMPARE, TO_NOTHING };

static const struct word {
  const char *text;
  uint8_t target;
  uint32_t value;
} words[] = {
    {"lo", TO_FLAG, SIM_F_LO},
    {"hi", TO_FLAG, SIM_F_HI},
    {"wide", TO_FLAG, SIM_F_WIDE},
    {"ftz", TO_FLAG, SIM_F_FTZ},
    {"sat", TO_FLAG, SIM_F_SAT},
    {"satfinite", TO_FLAG, SIM_F_SATFINITE},
    {"cc", TO_FLAG, SIM_F_CC},
    {"to", TO_FLAG, SIM_F_TO},
    {"uni", TO_FLAG, SIM_F_UNI},
    {"l", TO_FLAG, SIM_F_LEFT},
    {"r", TO_NOTHING, 0},
    {"wrap", TO_FLAG, SIM_F_WRAP},
    {"clamp", TO_FLAG, SIM_F_CLAMP},
    {"shiftamt", TO_FLAG, SIM_F_SHIFTAMT},
    {"arrive", TO_FLAG, SIM_F_ARRIVE},
    {"warp", TO_FLAG, SIM_F_WARP},
    {"red", TO_FLAG, SIM_F_RED},
    {"sync", TO_FLAG, SIM_F_SYNC},
    {"approx", TO_FLAG, SIM_F_APPROX},
    {"full", TO_FLAG, SIM_F_APPROX},
    {"NaN", TO_FLAG, SIM_F_NAN},
    {"relu", TO_FLAG, SIM_F_RELU},
    {"xorsign", TO_FLAG, SIM_F_XORSIGN},
    {"noftz", TO_FLAG, SIM_F_NOFTZ},
    {"bulk", TO_FLAG, SIM_F_BULK},
    {"init", TO_FLAG, SIM_F_INIT},
    {"inval", TO_FLAG, SIM_F_INVAL},
    {"parity", TO_FLAG, SIM_F_PARITY},
    {"test_wait", TO_FLAG, SIM_F_TEST_WAIT},
    {"try_wait", TO_FLAG, SIM_F_TRY_WAIT},
    {"expect_tx", TO_FLAG, SIM_F_EXPECT_TX},
    {"commit_group", TO_FLAG, SIM_F_COMMIT},
    {"wait_group", TO_FLAG, SIM_F_WAIT},
    {"wait_all", TO_FLAG, SIM_F_WAIT},
    {"wait", TO_FLAG, SIM_F_WAIT},
    {"launch_dependents", TO_FLAG, SIM_F_COMMIT},
    {"cluster", TO_MORE, SIM_X_CLUSTER},
    {"noinc", TO_MORE, SIM_X_NOINC},
    {"arrive_drop", TO_MORE, SIM_X_DROP},
    {"complete_tx", TO_MORE, SIM_X_COMPLETE_TX},
    {"pending_count", TO_MORE, SIM_X_PENDING},
    {"mbarrier", TO_MORE, SIM_X_MBARRIER},
    {"mbarrier::complete_tx::bytes", TO_MORE, SIM_X_MBARRIER},
    {"bulk_group", TO_MORE, SIM_X_BULK_GROUP},
    {"multicast::cluster", TO_MORE, SIM_X_MULTICAST},
    {"prefetch", TO_MORE, SIM_X_PREFETCH},
    {"reduce", TO_MORE, SIM_X_REDUCE},
    {"cp_mask", TO_MORE, SIM_X_BYTE_MASK},
    {"rn", TO_ROUNDING, SIM_RN},
    {"rz", TO_ROUNDING, SIM_RZ},
    {"rm", TO_ROUNDING, SIM_RM},
    {"rp", TO_ROUNDING, SIM_RP},
    {"rna", TO_ROUNDING, SIM_RNA},
    {"rni", TO_ROUNDING, SIM_RNI},
    {"rzi", TO_ROUNDING, SIM_RZI},
    {"rmi", TO_ROUNDING, SIM_RMI},
    {"rpi", TO_ROUNDING, SIM_RPI},
    {"global", TO_SPACE, SIM_GLOBAL},
    {"shared", TO_SPACE, SIM_SHARED},
    {"shared::cta", TO_SPACE, SIM_SHARED},
    {"shared::cluster", TO_SPACE, SIM_CLUSTER},
    {"local", TO_SPACE, SIM_LOCAL},
    {"param", TO_SPACE, SIM_PARAM},
    {"param::entry", TO_SPACE, SIM_PARAM},
    {"param::func", TO_SPACE, SIM_PARAM},
    {"const", TO_SPACE, SIM_CONST},
    {"and", TO_MODE, SIM_M_AND},
    {"or", TO_MODE, SIM_M_OR},
    {"xor", TO_MODE, SIM_M_XOR},
    {"add", TO_MODE, SIM_M_ADD},
    {"inc", TO_MODE, SIM_M_INC},
    {"dec", TO_MODE, SIM_M_DEC},
    {"min", TO_MODE, SIM_M_MIN},
    {"max", TO_MODE, SIM_M_MAX},
    {"exch", TO_MODE, SIM_M_EXCH},
    {"cas", TO_MODE, SIM_M_CAS},
    {"all", TO_MODE, SIM_M_ALL},
    {"any", TO_MODE, SIM_M_ANY},
    {"ballot", TO_MODE, SIM_M_BALLOT},
    {"up", TO_MODE, SIM_M_UP},
    {"down", TO_MODE, SIM_M_DOWN},
    {"bfly", TO_MODE, SIM_M_BFLY},
    {"idx", TO_MODE, SIM_M_IDX},
    {"popc", TO_MODE, SIM_M_POPC},
    {"f4e", TO_MODE, SIM_M_F4E},
    {"b4e", TO_MODE, SIM_M_B4E},
    {"rc8", TO_MODE, SIM_M_RC8},
    {"ecl", TO_MODE, SIM_M_ECL},
    {"ecr", TO_MODE, SIM_M_ECR},
    {"rc16", TO_MODE, SIM_M_RC16},
    {"finite", TO_MODE, SIM_M_FINITE},
    {"infinite", TO_MODE, SIM_M_INFINITE},
    {"number", TO_MODE, SIM_M_NUMBER},
    {"notanumber", TO_MODE, SIM_M_NOTANUMBER},
    {"normal", TO_MODE, SIM_M_NORMAL},
    {"subnormal", TO_MODE, SIM_M_SUBNORMAL},
    {"v2", TO_VECTOR, 2},
    {"v4", TO_VECTOR, 4},
    {"v8", TO_VECTOR, 8},
    /* What only a real memory system tells apart. */
    {"volatile", TO_NOTHING, 0},
    {"relaxed", TO_NOTHING, 0},
    {"acquire", TO_NOTHING, 0},
    {"release", TO_NOTHING, 0},
    {"acq_rel", TO_NOTHING, 0},
    {"sc", TO_NOTHING, 0},
    {"weak", TO_NOTHING, 0},
    {"gpu", TO_NOTHING, 0},
    {"cta", TO_NOTHING, 0},
    {"sys", TO_NOTHING, 0},
    {"gl", TO_NOTHING, 0},
    {"aligned", TO_NOTHING, 0},
    {"nc", TO_NOTHING, 0},
    {"ca", TO_NOTHING, 0},
    {"cg", TO_NOTHING, 0},
    {"cs", TO_NOTHING, 0},
    {"lu", TO_NOTHING, 0},
    {"cv", TO_NOTHING, 0},
    {"wb", TO_NOTHING, 0},
    {"wt", TO_NOTHING, 0},
    {"mmio", TO_NOTHING, 0},
    {"L1", TO_NOTHING, 0},
    {"L2", TO_NOTHING, 0},
    {"convergent", TO_NOTHING, 0},
    {"unified", TO_NOTHING, 0},
    {"proxy", TO_NOTHING, 0},
    {"alias", TO_NOTHING, 0},
    {"async", TO_NOTHING, 0},
    {"async::generic", TO_NOTHING, 0},
    {"sync_restrict::shared::cta", TO_NOTHING, 0},
    {"sync_restrict::shared::cluster", TO_NOTHING, 0},
    {"noComplete", TO_NOTHING, 0},
    {"read", TO_NOTHING, 0}, /* of a bulk group: here read when all is done */
    {"async::global", TO_NOTHING, 0},
    {"async::shared::cta", TO_NOTHING, 0},
    {"mbarrier_init", TO_NOTHING, 0},
    {"acquire::gpu", TO_NOTHING, 0},
    {"tensormap::generic", TO_NOTHING, 0},
};

static const char *const compares[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                       "equ", "neu", "ltu", "leu", "gtu", "geu",
                                       "num", "nan", "lo",  "ls",  "hi",  "hs"};

static bool set_compare(sim_insn *insn, const char *text, uint32_t length) {
  if (insn->op != SIM_OP_set && insn->op != SIM_OP_setp) {
    return false;
  }
  for (unsigned i = 0; i < sizeof compares / sizeof *compares; i++) {
    if (ptx_is(text, length, compares[i])) {
      insn->compare = (uint8_t)i;
      return true;
    }
  }
  return false;
}

/* "async" means nothing here on one instruction, and much on another. */
static bool is_async_access(const sim_insn *insn, const char *text, uint32_t length) {
  bool memory = insn->op == SIM_OP_ld || insn->op == SIM_OP_st || insn->op == SIM_OP_red ||
                insn->op == SIM_OP_atom;
  return memory && ptx_is(text, length, "async");
}

static bool set_word(sim_insn *insn, const char *text, uint32_t length) {
  if (is_async_access(insn, text, length)) {
    insn->more |= SIM_X_ASYNC;
    return true;
  }
  if (ptx_is(text, length, "abs")) { /* of min.xorsign.abs; alone it means something else */
    return (insn->op == SIM_OP_min || insn->op == SIM_OP_max) && insn->flags & SIM_F_XORSIGN;
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const struct word *word = &words[i];
    if (!ptx_is(text, length, word->text)) {
      continue;
    }
    switch (word->target) {
      case TO_FLAG: insn->flags |= word->value; break;
      case TO_MODE: insn->mode = (uint8_t)word->value; break;
      case TO_ROUNDING: insn->rounding = (uint8_t)word->value; break;
      case TO_SPACE:
        /* cp.async names two spaces, the first is the destination's. */
        if (insn->space != SIM_GENERIC && insn->op == SIM_OP_cp) {
          insn->space2 = (uint8_t)word->value;
        } else {
          insn->space = (uint8_t)word->value;
        }
        break;
      case TO_MORE: insn->more |= word->value; break;
      case TO_VECTOR: insn->vector = (uint8_t)word->value; break;
      default: break;
    }
    return true;
  }
  /* Cache hints: L1::evict_last, L2::128B, L1::no_allocate, L2::cache_hint has an operand. */
  return length > 4 && (strncmp(text, "L1::", 4) == 0 || strncmp(text, "L2::", 4) == 0);
}

static bool set_type(sim_insn *insn, const char *text, uint32_t length) {
  unsigned type = SIM_T_NONE;
  for (unsigned i = 1; i < SIM_TYPES && type == SIM_T_NONE; i++) {
    type = ptx_is(text, length, sim_type_name(i)) ? i : SIM_T_NONE;
  }
  if (type == SIM_T_NONE) {
    return false;
  }
  if (insn->type == SIM_T_NONE) {
    insn->type = (uint8_t)type;
    return true;
  }
  if (insn->type_a == SIM_T_NONE) { /* a product has four: of D, A, B and C */
    insn->type_a = (uint8_t)type;
  } else if (insn->type_b == SIM_T_NONE) {
    insn->type_b = (uint8_t)type;
  }
  insn->type2 = (uint8_t)type;
  return true;
}

/* m16n8k16, and m8n8 of tiles, as m << 16 | n << 8 | k. */
static bool set_shape(sim_insn *insn, const char *text, uint32_t length) {
  unsigned sizes[3] = {0}, shape = 0;
  uint32_t at = 0;
  for (unsigned i = 0; i < 3 && at < length; i++) {
    if (text[at++] != "mnk"[i]) {
      return false;
    }
    for (; at < length && text[at] >= '0' && text[at] <= '9' && sizes[i] < 100; at++) {
      sizes[i] = sizes[i] * 10 + (unsigned)(text[at] - '0');
    }
    shape |= (sizes[i] & 0xff) << (16 - 8 * i);
  }
  insn->window = shape;
  return at == length && sizes[0] != 0 && sizes[1] != 0;
}

/* Words that mean something else than elsewhere on instructions of matrices. */
static bool set_matrix_word(sim_insn *insn, const char *text, uint32_t length) {
  static const struct word own[] = {{"load", TO_MODE, SIM_M_LOAD}, {"store", TO_MODE, SIM_M_STORE},
                                    {"mma", TO_MODE, SIM_M_MMA},   {"trans", TO_MORE, SIM_X_TRANS},
                                    {"a", TO_COMPARE, 0},          {"b", TO_COMPARE, 1},
                                    {"c", TO_COMPARE, 2},          {"d", TO_COMPARE, 3},
                                    {"x1", TO_VECTOR, 1},          {"x2", TO_VECTOR, 2},
                                    {"x4", TO_VECTOR, 4}};
  bool columns = ptx_is(text, length, "col");
  if (columns || ptx_is(text, length, "row")) {
    bool first = !(insn->more & SIM_X_LAYOUT_A);
    insn->more |= SIM_X_LAYOUT_A | (!columns ? 0 : first ? SIM_X_COLUMNS_A : SIM_X_COLUMNS_B);
    return true;
  }
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    if (ptx_is(text, length, own[i].text)) {
      switch (own[i].target) {
        case TO_MODE: insn->mode = (uint8_t)own[i].value; break;
        case TO_MORE: insn->more |= own[i].value; break;
        case TO_VECTOR: insn->vector = (uint8_t)own[i].value; break;
        default: insn->compare = (uint8_t)own[i].value; break;
      }
      return true;
    }
  }
  return set_shape(insn, text, length);
}

static bool is_matrix(unsigned op) { return op >= SIM_OP_ldmatrix && op <= SIM_OP_wmma; }

static unsigned find_op(const char *text, uint32_t length) {
  for (unsigned op = 1; op < SIM_OP_unsupported; op++) {
    if (ptx_is(text, length, sim_op_name(op))) {
      return op;
    }
  }
  return SIM_OP_NONE;
}

/* False when a word is not known: the instruction is not simulated. */
bool ptx_words(ptx_parser *p, sim_insn *insn, const char *text, uint32_t length) {
  const char *end = text + length;
  const char *dot = memchr(text, '.', length);
  (void)p;
  dot = dot == NULL ? end : dot;
  insn->op = (uint8_t)find_op(text, (uint32_t)(dot - text));
  if (insn->op == SIM_OP_NONE) {
    return false;
  }
  while (dot < end) {
    const char *begin = dot + 1;
    uint32_t word_length;
    dot = memchr(begin, '.', (size_t)(end - begin));
    dot = dot == NULL ? end : dot;
    word_length = (uint32_t)(dot - begin);
    if (set_type(insn, begin, word_length) || set_compare(insn, begin, word_length)) {
      continue;
    }
    if (is_matrix(insn->op) && set_matrix_word(insn, begin, word_length)) {
      continue;
    }
    if (insn->op == SIM_OP_vote && ptx_is(begin, word_length, "uni")) {
      insn->mode = SIM_M_UNI;
      continue;
    }
    if (!set_word(insn, begin, word_length)) {
      return false;
    }
  }
  return true;
}
