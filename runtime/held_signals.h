/* SPDX-License-Identifier: MIT */
/* Signals of a program that this library runs in. */
#ifndef INKMARK_HELD_SIGNALS_H
#define INKMARK_HELD_SIGNALS_H

#include <signal.h>

/* Between the two the calling thread, and threads that it makes, take no signal, other than of a fault of their own. */
void ink_i_hold_signals(sigset_t *before);
void ink_i_release_signals(const sigset_t *before);

#endif
