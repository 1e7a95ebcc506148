/* SPDX-License-Identifier: MIT */
/* A call of nvcc with several CUDA sources, done source by source: each then has marked headers of
 * its own. */
#ifndef INKMARK_CLI_NVCC_SPLIT_H
#define INKMARK_CLI_NVCC_SPLIT_H

#include "nvcc_args.h"

/* False where splitting would change what the call means (-x, dependencies of a linking call). */
bool nvcc_can_split(const nvcc_args *args);
/* Has `inkmark nvcc` compile each source of the call, and nvcc link what comes out. Objects of a
 * linking call lie in `folder`. The exit code of the first call that fails, or 0. `args` must still
 * hold the user's words; `compiler` is nvcc, with a launcher before it or without. */
int nvcc_split(const nvcc_args *args, const word_list *compiler, const char *folder);

#endif
