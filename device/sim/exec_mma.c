/* SPDX-License-Identifier: MIT */
/* mma.sync and wmma.mma: D = A B + C of a warp. Products and their sum are made in double and rounded once at the
 * end, to nearest even; a GPU's tensor cores round differently within the sum, in ways that PTX leaves open.
 * Integers are exact. */
#include <math.h>

#include "exec_matrix.h"

#define MOST 32 /* of m, n and k */

/* PTX's fragments of mma.sync: eight groups of four lanes; each register holds elements that follow each other along
 * k, the next registers are eight rows further down (A of 16 rows), then four registers' width further along k. */
static void mma_place(const sim_insn *insn, enum sim_matrix which, uint32_t lane, unsigned i, unsigned packed,
                      unsigned *row, unsigned *column) {
  unsigned group = lane / 4, in_group = lane % 4, tall = insn->window >> 16 == 16;
  unsigned reg = i / packed, along = in_group * packed + i % packed;
  switch (which) {
    case SIM_MATRIX_A:
      *row = group + (tall ? reg % 2 * 8 : 0);
      *column = along + (tall ? reg / 2 : reg) * 4 * packed;
      break;
    case SIM_MATRIX_B:
      *row = along + reg * 4 * packed;
      *column = group;
      break;
    default:
      *row = group + i / 2 * 8;
      *column = in_group * 2 + i % 2;
      break;
  }
}

static void place(const sim_insn *insn, enum sim_matrix which, uint32_t lane, unsigned i, unsigned packed,
                  unsigned *row, unsigned *column) {
  if (insn->op == SIM_OP_wmma) {
    sim_wmma_place(insn, which, lane, i, row, column);
  } else {
    mma_place(insn, which, lane, i, packed, row, column);
  }
}

static double value_of(unsigned type, uint64_t bits) {
  switch (type) {
    case SIM_F16: case SIM_BF16: return sim_half_to_double(type, bits & 0xffff);
    case SIM_TF32: return sim_f32(bits & ~UINT64_C(0x1fff)); /* ten bits of mantissa */
    case SIM_F32: return sim_f32(bits);
    case SIM_F64: return sim_f64(bits);
    case SIM_S8: return (int8_t)bits;
    case SIM_U8: return (uint8_t)bits;
    default: return (int32_t)bits;
  }
}

static uint64_t bits_of(const sim_insn *insn, double value) {
  switch (insn->type) {
    case SIM_F16: return sim_half_from_double(SIM_F16, value);
    case SIM_F32: return sim_f32_bits((float)value);
    case SIM_F64: return sim_f64_bits(value);
    default:
      if (insn->flags & SIM_F_SATFINITE) {
        value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
      }
      return (uint32_t)(int64_t)value;
  }
}

static void gather(const sim_warp *warp, const sim_insn *insn, enum sim_matrix which, const int32_t *rows,
                   unsigned count, unsigned type, double matrix[MOST][MOST]) {
  unsigned packed = sim_matrix_packed(type), bits = 32 / packed;
  for (uint32_t l = 0; l < SIM_LANES; l++) {
    for (unsigned i = 0; i < count * packed; i++) {
      uint64_t reg = sim_row(warp, rows[i / packed])[l];
      unsigned row, column;
      place(insn, which, l, i, packed, &row, &column);
      matrix[row][column] = value_of(type, packed == 1 ? reg : reg >> (i % packed * bits));
    }
  }
}

static void multiply(const sim_insn *insn, double a[MOST][MOST], double b[MOST][MOST], double c[MOST][MOST]) {
  unsigned m = insn->window >> 16, n = insn->window >> 8 & 0xff, k = insn->window & 0xff;
  for (unsigned row = 0; row < m; row++) {
    for (unsigned column = 0; column < n; column++) {
      double sum = insn->type == SIM_F64 ? c[row][column] : 0;
      for (unsigned i = 0; i < k; i++) {
        sum = insn->type == SIM_F64 ? fma(a[row][i], b[i][column], sum) : sum + a[row][i] * b[i][column];
      }
      c[row][column] = insn->type == SIM_F64 ? sum : sum + c[row][column];
    }
  }
}

static void mma(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const int32_t *all = warp->block->grid->kernel->module->program->rows;
  const int32_t *sources = all + insn->list, *targets = all + insn->list2;
  unsigned na = insn->frame & 0xff, nb = insn->frame >> 8 & 0xff, nc = insn->frame >> 16 & 0xff;
  unsigned packed = sim_matrix_packed(insn->type);
  double a[MOST][MOST], b[MOST][MOST], c[MOST][MOST];
  gather(warp, insn, SIM_MATRIX_A, sources, na, insn->type_a, a);
  gather(warp, insn, SIM_MATRIX_B, sources + na, nb, insn->type_b, b);
  gather(warp, insn, SIM_MATRIX_C, sources + na + nb, nc, insn->type2, c);
  multiply(insn, a, b, c);
  for (unsigned r = 0; r < insn->list2_count; r++) {
    uint64_t *d = sim_row_out(warp, targets[r]);
    SIM_EACH_LANE(l, lanes) {
      uint64_t value = 0;
      for (unsigned i = 0; i < packed; i++) {
        unsigned row, column;
        place(insn, SIM_MATRIX_D, l, r * packed + i, packed, &row, &column);
        value |= bits_of(insn, c[row][column]) << (i * 16);
      }
      d[l] = value;
    }
  }
}

static bool types_known(const sim_insn *insn) {
  unsigned d = insn->type, a = insn->type_a, b = insn->type_b, c = insn->type2;
  switch (a) {
    case SIM_F16: return b == a && (d == SIM_F16 || d == SIM_F32) && (c == SIM_F16 || c == SIM_F32);
    case SIM_BF16: case SIM_TF32: return b == a && d == SIM_F32 && c == d;
    case SIM_S8: case SIM_U8: return (b == SIM_S8 || b == SIM_U8) && d == SIM_S32 && c == d;
    case SIM_F64: return b == a && d == a && c == a;
    default: return false;
  }
}

/* The registers hold just what the shape asks for. (wmma's may hold it several times over.) */
static bool counts_fit(const sim_insn *insn) {
  const unsigned types[] = {insn->type_a, insn->type_b, insn->type2, insn->type};
  const unsigned counts[] = {insn->frame & 0xff, insn->frame >> 8 & 0xff, insn->frame >> 16 & 0xff, insn->list2_count};
  for (int i = 0; i < 4; i++) {
    unsigned height, width, elements = counts[i] * sim_matrix_packed(types[i]) * SIM_LANES;
    sim_matrix_size(insn, (enum sim_matrix)i, &height, &width);
    if (height == 0 || width == 0 || height > MOST || width > MOST || elements == 0 ||
        (insn->op == SIM_OP_mma ? elements != height * width : elements % (height * width) != 0)) {
      return false;
    }
  }
  return true;
}

sim_exec_fn *sim_select_mma(const sim_insn *insn) {
  unsigned m = insn->window >> 16, n = insn->window >> 8 & 0xff, k = insn->window & 0xff;
  if ((insn->op != SIM_OP_mma && (insn->op != SIM_OP_wmma || insn->mode != SIM_M_MMA)) || !types_known(insn) ||
      !counts_fit(insn)) {
    return NULL;
  }
  if (insn->op == SIM_OP_mma &&
      ((m != 8 && m != 16) || n != 8 || k % (4 * sim_matrix_packed(insn->type_a)) != 0 || insn->more & SIM_X_COLUMNS_A || !(insn->more & SIM_X_COLUMNS_B))) {
    return NULL; /* m8n8k4 of .f16 has other fragments */
  }
  return mma;
}
