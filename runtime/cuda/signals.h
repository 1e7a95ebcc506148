/* SPDX-License-Identifier: MIT */
/* Private to the preloaded library: signals whose default action ends the process. */
#ifndef INK_CUDA_SIGNALS_H
#define INK_CUDA_SIGNALS_H

/* Puts a handler of ours where the disposition is SIG_DFL; the program goes on seeing SIG_DFL there. */
void ink_signals_take(void);

#endif
