/* SPDX-License-Identifier: MIT */
/* Signals and cancellations of a program that this library runs in. */
#ifndef INKMARK_HELD_SIGNALS_H
#define INKMARK_HELD_SIGNALS_H

#include <signal.h>

typedef struct ink_i_held {
  sigset_t signals;
  int cancel_state;
} ink_i_held;

/* Between the two the calling thread, and threads that it makes, take no signal, other than of a fault of their own.
 * The calling thread cannot be cancelled either: it would take a lock of ours with it. */
void ink_i_hold_signals(ink_i_held *before);
void ink_i_release_signals(const ink_i_held *before);

#endif
