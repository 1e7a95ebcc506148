/* SPDX-License-Identifier: MIT */
/* What a compile said and made of each kernel: registers, stack, spills and warnings of ptxas, instructions of PTX. */
#ifndef INKMARK_CLI_NVCC_COUNTS_H
#define INKMARK_CLI_NVCC_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kernel_counts {
  char *entry, *target; /* as ptxas names them; "" of the target: what holds for all */
  unsigned registers, stack, spilled, instructions;
  unsigned threads; /* of a block at most, as its PTX says; 0: it does not */
  bool bounded;     /* its PTX bounds its registers, or the blocks of an SM */
  bool warned[100]; /* by the last two digits of C75xx */
} kernel_counts;

typedef struct counts {
  kernel_counts *items;
  size_t count, room;
  char *failed, *words; /* the entry that ptxas refuses and what it says; NULL: none */
} counts;

/* False: out of memory. */
bool counts_read_words(counts *all, const char *text);
/* Takes the lines out that -Xptxas -v brings. */
void counts_drop_words(char *text);
/* Of one entry, or NULL. */
const kernel_counts *counts_find(const counts *all, const char *entry, const char *target);
bool counts_read_ptx(counts *all, const char *folder); /* every .ptx in it */
void counts_free(counts *all);

/* The name of a kernel in its source, without namespaces and arguments. malloc'ed, or NULL. */
char *counts_kernel_name(const char *entry);
/* Why the marked kernel is worse than the plain one, in words; false: it is not. */
bool counts_judge(const counts *plain, const counts *marked, const kernel_counts *one, char *why, size_t room);
/* No such harm, but it takes so many registers more that far fewer of its warps fit an SM: said in words. */
bool counts_crowds(const counts *plain, const counts *marked, const kernel_counts *one, char *why, size_t room);
/* Its track alone, or with marks that take no registers, can be expected to fit in what its block may have. */
bool counts_has_room(const counts *plain, const kernel_counts *one);
/* What is worse is the number of registers alone: the most with which it would not be. 0: something else is worse, or the
 * registers cannot be bounded, as its source bounds the block or spills without marks. */
unsigned counts_most_registers(const counts *plain, const counts *marked, const kernel_counts *one);

#endif
