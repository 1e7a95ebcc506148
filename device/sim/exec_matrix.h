/* SPDX-License-Identifier: MIT */
/* Matrices that a warp holds in fragments: what exec_matrix.c and exec_mma.c share. */
#ifndef INKMARK_SIM_EXEC_MATRIX_H
#define INKMARK_SIM_EXEC_MATRIX_H

#include "exec_lanes.h"

enum sim_matrix { SIM_MATRIX_A, SIM_MATRIX_B, SIM_MATRIX_C, SIM_MATRIX_D };

/* Elements in a register. */
unsigned sim_matrix_packed(unsigned type);
/* Of the shape m x n x k: A is m x k, B k x n, C and D m x n. */
void sim_matrix_size(const sim_insn *insn, enum sim_matrix which, unsigned *height, unsigned *width);
/* Where element i of a lane's wmma fragment lies. */
void sim_wmma_place(const sim_insn *insn, enum sim_matrix which, uint32_t lane, unsigned i, unsigned *row,
                    unsigned *column);

#endif
