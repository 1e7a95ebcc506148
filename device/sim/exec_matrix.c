/* SPDX-License-Identifier: MIT */
/* Matrices of a warp and memory: ldmatrix, stmatrix and movmatrix of 8 x 8 tiles, wmma.load and wmma.store. */
#include "exec_matrix.h"

static const int32_t *rows_of(const sim_warp *warp, int32_t list) {
  return warp->block->grid->kernel->module->program->rows + list;
}

unsigned sim_matrix_packed(unsigned type) {
  unsigned bytes = sim_type_bytes(type);
  return type == SIM_TF32 || bytes >= 4 ? 1 : 4 / bytes;
}

void sim_matrix_size(const sim_insn *insn, enum sim_matrix which, unsigned *height, unsigned *width) {
  unsigned m = insn->window >> 16, n = insn->window >> 8 & 0xff, k = insn->window & 0xff;
  *height = which == SIM_MATRIX_B ? k : m;
  *width = which == SIM_MATRIX_A ? k : n;
}

/* ---- tiles of 8 x 8 with 16 bits, a row of 16 bytes at each of eight addresses ---- */

/* The two elements that a lane holds of a tile, as halves of a register: row and column of the first; the second is
 * the next in the row or, transposed, in the column. */
static void tile_place(const sim_insn *insn, uint32_t lane, unsigned half, unsigned *row, unsigned *column) {
  bool transposed = insn->more & SIM_X_TRANS;
  unsigned along = lane % 4 * 2 + half, across = lane / 4;
  *row = transposed ? along : across;
  *column = transposed ? across : along;
}

/* The addresses of all rows: lanes 8 i to 8 i + 7 give those of tile i. False after a fault. */
static bool tile_rows(sim_warp *warp, const sim_insn *insn, uint32_t lanes, uint8_t *at[SIM_LANES]) {
  const uint64_t *base = sim_source(warp, insn, 0);
  for (uint32_t l = 0; l < 8u * insn->vector; l++) {
    if ((lanes >> l & 1) == 0) {
      sim_fault(warp, insn, (uint32_t)__builtin_ctz(lanes), SIM_TRAP,
                "lane %u, which has the address of a row, takes no part", l);
      return false;
    }
    at[l] = sim_reach(warp, insn, l, insn->space, base[l] + (uint64_t)insn->offset, 16);
    if (at[l] == NULL) {
      return false;
    }
  }
  return true;
}

static void load_tiles(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const int32_t *rows = rows_of(warp, insn->list);
  uint8_t *at[SIM_LANES];
  if (!tile_rows(warp, insn, lanes, at)) {
    return;
  }
  for (unsigned t = 0; t < insn->vector; t++) {
    uint64_t *d = sim_row_out(warp, rows[t]);
    SIM_EACH_LANE(l, lanes) {
      uint64_t value = 0;
      for (unsigned half = 0; half < 2; half++) {
        unsigned row, column;
        uint16_t element;
        tile_place(insn, l, half, &row, &column);
        memcpy(&element, at[8 * t + row] + 2 * column, sizeof element);
        value |= (uint64_t)element << (16 * half);
      }
      d[l] = value;
    }
  }
}

static void store_tiles(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const int32_t *rows = rows_of(warp, insn->list);
  uint8_t *at[SIM_LANES];
  if (!tile_rows(warp, insn, lanes, at)) {
    return;
  }
  for (unsigned t = 0; t < insn->vector; t++) {
    const uint64_t *a = sim_row(warp, rows[t]);
    SIM_EACH_LANE(l, lanes) {
      for (unsigned half = 0; half < 2; half++) {
        unsigned row, column;
        uint16_t element = (uint16_t)(a[l] >> (16 * half));
        tile_place(insn, l, half, &row, &column);
        memcpy(at[8 * t + row] + 2 * column, &element, sizeof element);
      }
    }
  }
}

/* Transposes a tile in registers. */
static void move_tile(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn);
  uint16_t tile[8][8];
  for (uint32_t l = 0; l < SIM_LANES; l++) {
    tile[l / 4][l % 4 * 2] = (uint16_t)a[l];
    tile[l / 4][l % 4 * 2 + 1] = (uint16_t)(a[l] >> 16);
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = tile[l % 4 * 2][l / 4] | (uint64_t)tile[l % 4 * 2 + 1][l / 4] << 16;
  }
}

/* ---- wmma ---- */

/* Where element i of a lane's fragment lies; what is behind the matrix is the matrix again. PTX leaves the layout
 * open: here elements go round the lanes, by rows. */
void sim_wmma_place(const sim_insn *insn, enum sim_matrix which, uint32_t lane, unsigned i, unsigned *row,
                    unsigned *column) {
  unsigned height, width, element;
  sim_matrix_size(insn, which, &height, &width);
  element = (i * SIM_LANES + lane) % (height * width);
  *row = element / width;
  *column = element % width;
}

/* The element's address, or NULL after a fault. */
static uint8_t *element_at(sim_warp *warp, const sim_insn *insn, uint32_t lane, unsigned i) {
  const uint64_t *base = sim_source(warp, insn, 0), *stride = sim_source(warp, insn, 1);
  unsigned row, column, height, width, bytes = sim_type_bytes(insn->type);
  bool by_columns = insn->more & SIM_X_COLUMNS_A;
  uint64_t leading;
  sim_matrix_size(insn, insn->compare, &height, &width);
  sim_wmma_place(insn, insn->compare, lane, i, &row, &column);
  leading = insn->operands > 1 ? (uint32_t)stride[lane] : by_columns ? height : width;
  return sim_reach(warp, insn, lane, insn->space,
                   base[lane] + (uint64_t)insn->offset +
                       (by_columns ? column * leading + row : row * leading + column) * bytes,
                   bytes);
}

static void wmma_load(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const int32_t *rows = rows_of(warp, insn->list);
  unsigned packed = sim_matrix_packed(insn->type), bytes = sim_type_bytes(insn->type);
  uint64_t out[32][SIM_LANES];
  SIM_EACH_LANE(l, lanes) {
    for (unsigned i = 0; i < insn->list_count * packed; i++) {
      const uint8_t *at = element_at(warp, insn, l, i);
      uint64_t value = 0;
      if (at == NULL) {
        return;
      }
      memcpy(&value, at, bytes);
      out[i / packed][l] = (i % packed == 0 ? 0 : out[i / packed][l]) | value << (8 * bytes * (i % packed));
    }
  }
  for (unsigned r = 0; r < insn->list_count; r++) {
    uint64_t *d = sim_row_out(warp, rows[r]);
    SIM_EACH_LANE(l, lanes) {
      d[l] = out[r][l];
    }
  }
}

static void wmma_store(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const int32_t *rows = rows_of(warp, insn->list);
  unsigned packed = sim_matrix_packed(insn->type), bytes = sim_type_bytes(insn->type);
  SIM_EACH_LANE(l, lanes) {
    for (unsigned i = 0; i < insn->list_count * packed; i++) {
      uint8_t *at = element_at(warp, insn, l, i);
      uint64_t value = sim_row(warp, rows[i / packed])[l] >> (8 * bytes * (i % packed));
      if (at == NULL) {
        return;
      }
      memcpy(at, &value, bytes);
    }
  }
}

/* Whether the fragment's registers hold the matrix, once or several times over. */
static bool fragment_fits(const sim_insn *insn) {
  unsigned height, width, elements = insn->list_count * sim_matrix_packed(insn->type) * SIM_LANES;
  sim_matrix_size(insn, insn->compare, &height, &width);
  return height * width != 0 && elements % (height * width) == 0;
}

sim_exec_fn *sim_select_matrix(const sim_insn *insn) {
  bool tiles = insn->window == (8u << 16 | 8u << 8) && insn->type == SIM_B16;
  switch (insn->op) {
    case SIM_OP_ldmatrix:
    case SIM_OP_stmatrix:
      return !tiles || insn->vector != insn->list_count || (insn->vector != 1 && insn->vector != 2 && insn->vector != 4)
                 ? NULL
             : insn->op == SIM_OP_ldmatrix ? load_tiles
                                           : store_tiles;
    case SIM_OP_movmatrix: return tiles && insn->more & SIM_X_TRANS ? move_tile : NULL;
    case SIM_OP_wmma:
      return insn->mode == SIM_M_MMA || sim_type_bytes(insn->type) == 0 || !fragment_fits(insn) ? NULL
             : insn->mode == SIM_M_LOAD                                                      ? wmma_load
                                                                                             : wmma_store;
    default: return NULL;
  }
}
