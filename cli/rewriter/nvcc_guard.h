/* SPDX-License-Identifier: MIT */
/* The guard of `inkmark nvcc`: compiles the device code of a source plain and marked, and finds the kernels that
 * marks harm. It decides by counts of PTX and machine code alone. */
#ifndef INKMARK_CLI_NVCC_GUARD_H
#define INKMARK_CLI_NVCC_GUARD_H

#include "nvcc_args.h"
#include "nvcc_counts.h"

#include "inkmark/instrument.h"

/* The name of what the guard tries, and when: another one where that changes, for what is kept. */
#define GUARD_STEPS "registers bounded, 12, kernels alone"

typedef struct guard_verdicts { /* the kernels that get fewer marks, and why */
  ink_guarded *items;           /* names malloc'ed */
  char **reasons;
  size_t count;
} guard_verdicts;

/* Compiles the device code of a call of nvcc in `folder`, and counts. 0, or the compiler's code. */
int guard_measure(const char *compiler, const word_list *words, const char *folder, counts *out);
/* The kernel has this level at least, and so many registers at most (0: as many as before). `why` is kept, if it had none.
 * False: out of memory. */
bool guard_raise_to(guard_verdicts *verdicts, const char *name, ink_guard_level level, unsigned registers, const char *why);
typedef enum guard_step {
  GUARD_STEP,    /* more steps can be measured behind this one */
  GUARD_LAST,    /* only the output is measured: a kernel keeps what can be expected to fit */
  GUARD_NO_MORE, /* nothing is: a kernel keeps no marks */
} guard_step;
/* Raises the level of every kernel that is worse than before, or bounds its registers; all others are skipped in what is measured next. False:
 * there is none. *settled: those that are raised have no marks now, so nothing is left to be measured. */
bool guard_raise(const counts *plain, const counts *marked, guard_step step, guard_verdicts *verdicts, bool *settled);
/* The same for the kernel that ptxas refuses; the others are still to be measured. */
bool guard_refuse(const counts *marked, guard_verdicts *verdicts);
/* Kernels that were raised now are less than half of the source's PTX. */
bool guard_raised_few(const counts *plain, const counts *marked, const guard_verdicts *verdicts);
/* What was not raised now is skipped, of all kernels that were measured. False: out of memory. */
bool guard_skip(const counts *marked, guard_verdicts *verdicts);
/* No kernel is skipped. */
void guard_skip_none(guard_verdicts *verdicts);
/* The folder of what is kept, made if need be; NULL: there is no home for it. malloc'ed. */
char *guard_cache(void);
/* What was found for this hash before. */
bool guard_recall(uint64_t hash, guard_verdicts *verdicts);
void guard_remember(uint64_t hash, const guard_verdicts *verdicts);
/* "; guard: 'k' keeps its track alone: it would spill 8 bytes more". malloc'ed, "" where there is nothing to say. */
char *guard_text(const guard_verdicts *verdicts, bool fixed);
void guard_free(guard_verdicts *verdicts);
uint64_t guard_hash_text(uint64_t hash, const char *text); /* NULL is fine */
/* What of a call the device code depends on: not the kind of output, nor where it goes. */
uint64_t guard_hash_call(uint64_t hash, const char *compiler, const word_list *words);
uint64_t guard_hash_headers(uint64_t hash, const char *folder);

#endif
