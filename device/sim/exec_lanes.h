/* SPDX-License-Identifier: MIT */
/* Shapes of instructions that compute each lane by itself. EXPR sees the operands as a, b, c of
 * type T; its value, cast to R, is what the destination gets. A full warp is computed into a
 * local array first, so that compilers can use vector instructions. */
#ifndef INKMARK_SIM_EXEC_LANES_H
#define INKMARK_SIM_EXEC_LANES_H

#include <string.h>

#include "exec.h"

#define SIM_LANEWISE(name, LOADS, READ, R, EXPR) \
  static void name(sim_warp *warp, const sim_insn *insn, uint32_t lanes) { \
    LOADS; \
    uint64_t *d = sim_target(warp, insn); \
    if (lanes == UINT32_MAX) { \
      uint64_t out[SIM_LANES]; \
      for (int l = 0; l < SIM_LANES; l++) { \
        READ; \
        out[l] = (uint64_t)(R)(EXPR); \
      } \
      memcpy(d, out, sizeof out); \
    } else { \
      SIM_EACH_LANE(l, lanes) { \
        READ; \
        d[l] = (uint64_t)(R)(EXPR); \
      } \
    } \
  }

#define SIM_LOAD1 const uint64_t *pa = sim_source(warp, insn, 0)
#define SIM_LOAD2 SIM_LOAD1, *pb = sim_source(warp, insn, 1)
#define SIM_LOAD3 SIM_LOAD2, *pc = sim_source(warp, insn, 2)

#define SIM_UNARY(name, T, R, EXPR) SIM_LANEWISE(name, SIM_LOAD1, T a = (T)pa[l], R, EXPR)
#define SIM_BINARY(name, T, R, EXPR) \
  SIM_LANEWISE(name, SIM_LOAD2, T a = (T)pa[l]; T b = (T)pb[l], R, EXPR)
#define SIM_TERNARY(name, T, R, EXPR) \
  SIM_LANEWISE(name, SIM_LOAD3, T a = (T)pa[l]; T b = (T)pb[l]; T c = (T)pc[l], R, EXPR)

/* The same with raw 64-bit operands, for what takes them apart itself. */
#define SIM_RAW1(name, EXPR) SIM_UNARY(name, uint64_t, uint64_t, EXPR)
#define SIM_RAW2(name, EXPR) SIM_BINARY(name, uint64_t, uint64_t, EXPR)
#define SIM_RAW3(name, EXPR) SIM_TERNARY(name, uint64_t, uint64_t, EXPR)

#endif
