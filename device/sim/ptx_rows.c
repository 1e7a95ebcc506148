/* SPDX-License-Identifier: MIT */
/* Virtual registers into rows of the warp: nvcc's PTX names every value once, thousands in a
 * kernel; those that never live at the same time share a row, so that a warp's registers stay in
 * the cache. Liveness by data flow over basic blocks, then a linear scan.
 *
 * Lanes that diverged stand at different places, but each lane owns its column of a row, so that
 * the analysis of one thread holds for each. Predicates (one word for all lanes) and the pairs of
 * rows of .b128 are kept apart. */
#include <stdlib.h>
#include <string.h>

#include "ptx_parser.h"

#define MOST_BITS (UINT64_C(1) << 28)
#define NOWHERE UINT32_MAX

typedef struct span {
  int32_t begin, end; /* instructions */
  uint32_t first_edge, edges;
} span;

typedef struct analysis {
  ptx_parser *p;
  sim_insn *code;
  int32_t begin, end;
  uint32_t registers, words;
  span *blocks;
  uint32_t block_count;
  uint32_t *block_of; /* of each instruction */
  uint32_t *edges;
  size_t edge_count, edge_capacity;
  uint64_t *in, *uses, *kills; /* a set of registers a block */
  uint32_t *start, *stop;      /* of each register: first and last place that it lives at */
} analysis;

/* Calls visit for every register row that the instruction reads or writes. */
typedef void visit_fn(analysis *a, int32_t *row, bool write, bool whole, void *user);

static void visit_rows(analysis *a, sim_insn *insn, visit_fn *visit, void *user) {
  bool atomic = insn->op == SIM_OP_atom || insn->op == SIM_OP_red;
  bool copy = insn->op == SIM_OP_cp; /* its list holds the mask of blocks */
  bool product = insn->op == SIM_OP_mma || (insn->op == SIM_OP_wmma && insn->mode == SIM_M_MMA);
  bool stores = insn->op == SIM_OP_st || insn->op == SIM_OP_stmatrix ||
                (insn->op == SIM_OP_wmma && insn->mode == SIM_M_STORE);
  bool vector = insn->list_count != 0 &&
                (insn->op == SIM_OP_ld || insn->op == SIM_OP_ldu || insn->op == SIM_OP_mov || atomic || copy ||
                 stores || product || insn->op == SIM_OP_ldmatrix || insn->op == SIM_OP_wmma);
  bool list_written = !stores && !atomic && !copy && !product && !(insn->op == SIM_OP_mov && insn->vector == 1);
  bool whole = insn->guard == SIM_NO_ROW;
  if (insn->guard >= 0) {
    visit(a, &insn->guard, false, false, user);
  }
  for (int i = 0; i < 4; i++) {
    if (insn->src[i] >= 0) {
      visit(a, &insn->src[i], false, false, user);
    }
  }
  for (unsigned i = 0; vector && i < insn->list_count; i++) {
    int32_t *row = &a->p->program->rows[(uint32_t)insn->list + i];
    if (*row >= 0) {
      visit(a, row, list_written, whole, user);
    }
  }
  for (unsigned i = 0; (atomic || product) && i < insn->list2_count; i++) {
    int32_t *row = &a->p->program->rows[(uint32_t)insn->list2 + i];
    if (*row >= 0) {
      visit(a, row, true, whole, user);
    }
  }
  if (insn->dst >= 0) {
    visit(a, &insn->dst, true, whole, user);
  }
  if (insn->dst2 >= 0) {
    visit(a, &insn->dst2, true, whole, user);
  }
}

static bool is_branch(unsigned op) {
  return op == SIM_OP_bra || op == SIM_OP_brx || op == SIM_OP_ret || op == SIM_OP_exit;
}

static bool add_edge(analysis *a, uint32_t to) {
  if (!SIM_GROW(a->edges, a->edge_capacity, a->edge_count)) {
    return false;
  }
  a->edges[a->edge_count++] = to;
  return true;
}

static void mark_target(analysis *a, int32_t target) {
  if (target >= a->begin && target < a->end) {
    a->block_of[target - a->begin] = 1;
  }
}

static bool make_blocks(analysis *a) {
  uint32_t size = (uint32_t)(a->end - a->begin), count = 0;
  a->block_of[0] = 1;
  for (uint32_t i = 0; i < size; i++) {
    const sim_insn *insn = &a->code[a->begin + (int32_t)i];
    if (insn->op == SIM_OP_bra) {
      mark_target(a, insn->target);
    }
    for (uint32_t k = 0; insn->op == SIM_OP_brx && k < insn->window; k++) {
      mark_target(a, a->p->program->rows[(uint32_t)insn->target + k]);
    }
    if (is_branch(insn->op) && i + 1 < size) {
      a->block_of[i + 1] = 1;
    }
  }
  for (uint32_t i = 0; i < size; i++) {
    count += a->block_of[i];
  }
  if ((uint64_t)count * a->registers > MOST_BITS) {
    return false;
  }
  a->blocks = calloc(count, sizeof *a->blocks);
  if (a->blocks == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < size; i++) {
    if (a->block_of[i] != 0) {
      a->blocks[a->block_count++].begin = a->begin + (int32_t)i;
    }
    a->block_of[i] = a->block_count - 1;
    a->blocks[a->block_count - 1].end = a->begin + (int32_t)i + 1;
  }
  return true;
}

static bool edge_to(analysis *a, int32_t target) {
  return target < a->begin || target >= a->end ||
         add_edge(a, a->block_of[target - a->begin]);
}

static bool make_edges(analysis *a) {
  for (uint32_t b = 0; b < a->block_count; b++) {
    span *block = &a->blocks[b];
    const sim_insn *last = &a->code[block->end - 1];
    bool good = true;
    block->first_edge = (uint32_t)a->edge_count;
    if (last->op == SIM_OP_bra) {
      good = edge_to(a, last->target);
    }
    for (uint32_t k = 0; good && last->op == SIM_OP_brx && k < last->window; k++) {
      good = edge_to(a, a->p->program->rows[(uint32_t)last->target + k]);
    }
    if (good && (!is_branch(last->op) || last->guard != SIM_NO_ROW)) {
      good = edge_to(a, block->end);
    }
    if (!good) {
      return false;
    }
    block->edges = (uint32_t)a->edge_count - block->first_edge;
  }
  return true;
}

static bool has(const uint64_t *set, uint32_t i) { return set[i / 64] >> (i % 64) & 1; }

static void put(uint64_t *set, uint32_t i) { set[i / 64] |= UINT64_C(1) << (i % 64); }

static void note_block(analysis *a, int32_t *row, bool write, bool whole, void *user) {
  size_t b = *(uint32_t *)user;
  uint64_t *uses = a->uses + b * a->words, *kills = a->kills + b * a->words;
  uint32_t r = (uint32_t)*row;
  if (!write && !has(kills, r)) {
    put(uses, r);
  } else if (write && whole) {
    put(kills, r);
  }
}

/* What lives behind a block: what lives before any that may follow. */
static void live_out(const analysis *a, uint32_t b, uint64_t *out) {
  const span *block = &a->blocks[b];
  memset(out, 0, a->words * sizeof *out);
  for (uint32_t e = 0; e < block->edges; e++) {
    const uint64_t *in = a->in + (size_t)a->edges[block->first_edge + e] * a->words;
    for (uint32_t w = 0; w < a->words; w++) {
      out[w] |= in[w];
    }
  }
}

static bool flow(analysis *a, uint64_t *out) {
  bool changed = true;
  for (unsigned round = 0; changed; round++) {
    changed = false;
    if (round > 200) {
      return false;
    }
    for (uint32_t b = a->block_count; b-- > 0;) {
      size_t at = (size_t)b * a->words;
      live_out(a, b, out);
      for (uint32_t w = 0; w < a->words; w++) {
        uint64_t in = a->uses[at + w] | (out[w] & ~a->kills[at + w]);
        changed |= in != a->in[at + w];
        a->in[at + w] = in;
      }
    }
  }
  return true;
}

static void extend(analysis *a, uint32_t r, uint32_t place) {
  a->start[r] = place < a->start[r] ? place : a->start[r];
  a->stop[r] = a->stop[r] == NOWHERE || place > a->stop[r] ? place : a->stop[r];
}

/* Reads of instruction i are at place 2i, writes at 2i + 1: a result may take the row of an
 * operand that ends there. */
static void note_place(analysis *a, int32_t *row, bool write, bool whole, void *user) {
  (void)whole;
  extend(a, (uint32_t)*row, *(uint32_t *)user * 2 + write);
}

static void measure_lives(analysis *a, uint64_t *out) {
  for (uint32_t b = 0; b < a->block_count; b++) {
    const span *block = &a->blocks[b];
    const uint64_t *in = a->in + (size_t)b * a->words;
    uint32_t first = (uint32_t)(block->begin - a->begin), last = (uint32_t)(block->end - a->begin);
    live_out(a, b, out);
    for (uint32_t w = 0; w < a->words; w++) {
      for (uint64_t rest = in[w]; rest != 0; rest &= rest - 1) {
        extend(a, w * 64 + (uint32_t)__builtin_ctzll(rest), first * 2);
      }
      for (uint64_t rest = out[w]; rest != 0; rest &= rest - 1) {
        extend(a, w * 64 + (uint32_t)__builtin_ctzll(rest), last * 2);
      }
    }
    for (uint32_t i = first; i < last; i++) {
      visit_rows(a, &a->code[a->begin + (int32_t)i], note_place, &i);
    }
  }
}

/* Registers of one class in the order of their first place share rows from `row` on; returns the
 * row behind them. Ends are kept in buckets by place, so that each is looked at once. */
static uint32_t share(const analysis *a, const uint32_t *order, uint32_t count, uint8_t class,
                      uint32_t row, uint32_t *rows, uint32_t *free_rows, uint32_t *heap) {
  uint32_t free_count = 0, heap_count = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t r = order[k], place;
    if (a->p->classes[r] != class) {
      continue;
    }
    while (heap_count != 0 && a->stop[heap[0]] < a->start[r]) {
      uint32_t moved = heap[--heap_count], hole = 0;
      free_rows[free_count++] = rows[heap[0]];
      for (uint32_t child = 1; child < heap_count; child = 2 * hole + 1) {
        child += child + 1 < heap_count && a->stop[heap[child + 1]] < a->stop[heap[child]];
        if (a->stop[moved] <= a->stop[heap[child]]) {
          break;
        }
        heap[hole] = heap[child];
        hole = child;
      }
      heap[hole] = moved;
    }
    rows[r] = free_count != 0 ? free_rows[--free_count] : row++;
    for (place = heap_count++; place != 0 && a->stop[heap[(place - 1) / 2]] > a->stop[r];
         place = (place - 1) / 2) {
      heap[place] = heap[(place - 1) / 2];
    }
    heap[place] = r;
  }
  return row;
}

static void rename_row(analysis *a, int32_t *row, bool write, bool whole, void *user) {
  const uint32_t *rows = user;
  (void)a;
  (void)write;
  (void)whole;
  *row = (int32_t)rows[*row];
}

/* Registers by first place: counting, since places are few times instructions. */
static uint32_t sort_by_start(const analysis *a, uint32_t *order, uint32_t *counts) {
  uint32_t places = (uint32_t)(a->end - a->begin) * 2 + 2, count = 0;
  memset(counts, 0, (places + 1) * sizeof *counts);
  for (uint32_t r = 0; r < a->registers; r++) {
    counts[a->start[r] == NOWHERE ? places : a->start[r] + 1]++;
    count += a->start[r] != NOWHERE;
  }
  for (uint32_t i = 1; i < places; i++) {
    counts[i] += counts[i - 1];
  }
  for (uint32_t r = 0; r < a->registers; r++) {
    if (a->start[r] != NOWHERE) {
      order[counts[a->start[r]]++] = r;
    }
  }
  return count;
}

static uint32_t assign(analysis *a, uint32_t *scratch) {
  uint32_t *rows = scratch, *order = rows + a->registers, *free_rows = order + a->registers;
  uint32_t *heap = free_rows + a->registers, *counts = heap + a->registers;
  uint32_t count = sort_by_start(a, order, counts), row = 0;
  for (uint32_t r = 0; r < a->registers; r++) { /* pairs keep rows of their own */
    rows[r] = 0;
    if (a->p->classes[r] == PTX_CLASS_PAIR) {
      rows[r] = row++;
    }
  }
  row = share(a, order, count, PTX_CLASS_PREDICATE, row, rows, free_rows, heap);
  row = share(a, order, count, PTX_CLASS_DATA, row, rows, free_rows, heap);
  for (int32_t i = a->begin; i < a->end; i++) {
    visit_rows(a, &a->code[i], rename_row, rows);
  }
  return row;
}

/* Returns the rows that the function needs; without memory, or for a function too large to look
 * at, every register keeps its own. */
uint32_t ptx_assign_rows(ptx_parser *p, int32_t begin, int32_t end) {
  analysis a = {.p = p, .code = p->program->code, .begin = begin, .end = end,
                .registers = p->registers, .words = (p->registers + 63) / 64};
  uint32_t size = (uint32_t)(end - begin), rows = p->registers;
  uint32_t *scratch = NULL;
  uint64_t *out = NULL;
  if (p->registers < 2 || p->class_count < p->registers) {
    return p->registers;
  }
  a.block_of = calloc(size, sizeof *a.block_of);
  if (a.block_of == NULL || !make_blocks(&a) || !make_edges(&a)) {
    goto cleanup;
  }
  a.in = calloc((size_t)a.block_count * a.words, sizeof *a.in);
  a.uses = calloc((size_t)a.block_count * a.words, sizeof *a.uses);
  a.kills = calloc((size_t)a.block_count * a.words, sizeof *a.kills);
  a.start = malloc((size_t)a.registers * sizeof *a.start);
  a.stop = malloc((size_t)a.registers * sizeof *a.stop);
  out = malloc((size_t)a.words * sizeof *out);
  scratch = malloc(((size_t)a.registers * 4 + (size_t)size * 2 + 4) * sizeof *scratch);
  if (a.in == NULL || a.uses == NULL || a.kills == NULL || a.start == NULL || a.stop == NULL ||
      out == NULL || scratch == NULL) {
    goto cleanup;
  }
  for (int32_t i = begin; i < end; i++) {
    visit_rows(&a, &a.code[i], note_block, &a.block_of[i - begin]);
  }
  if (!flow(&a, out)) {
    goto cleanup;
  }
  memset(a.start, 0xff, (size_t)a.registers * sizeof *a.start);
  memset(a.stop, 0xff, (size_t)a.registers * sizeof *a.stop);
  measure_lives(&a, out);
  rows = assign(&a, scratch);
cleanup:
  free(a.block_of);
  free(a.blocks);
  free(a.edges);
  free(a.in);
  free(a.uses);
  free(a.kills);
  free(a.start);
  free(a.stop);
  free(out);
  free(scratch);
  return rows;
}
