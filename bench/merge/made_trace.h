/* SPDX-License-Identifier: MIT */
/* Made-up traces of any size, shaped like real ones; the same size gives the same bytes. */
#ifndef INK_MADE_TRACE_H
#define INK_MADE_TRACE_H

#include <stdint.h>

typedef struct made_trace {
  uint64_t bytes, events, kernels;
} made_trace;

/* A PyTorch trace of about `bytes`. 0: done. */
int made_kineto(const char *path, uint64_t bytes, made_trace *made);
/* An Nsight Systems export of about `bytes`. 0: done; 1: failed; 2: no libsqlite3. */
int made_nsight(const char *path, uint64_t bytes, made_trace *made);

#endif
