/* SPDX-License-Identifier: MIT */
/* Private to the preloaded library: the functions of the CUDA runtime that stand behind its own. */
#ifndef INK_CUDA_BEHIND_H
#define INK_CUDA_BEHIND_H

enum { INK_BEHIND_CALLERS = 64 };

/* What was found for callers of one function so far; zeroed at first. */
typedef struct ink_behind {
  void *_Atomic callers[INK_BEHIND_CALLERS];
  void *found[INK_BEHIND_CALLERS];
} ink_behind;

/* The function that `caller`, a return address, would have reached without this library, or NULL: two CUDA
 * runtimes may be in a process, and each has its own kernels. */
void *ink_behind_find(ink_behind *known, const char *name, void *caller);

#endif
