/* SPDX-License-Identifier: MIT */
#include "held_signals.h"

#include <pthread.h>
#include <stddef.h>

void ink_i_hold_signals(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t all;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&all, faults[i]);
  pthread_sigmask(SIG_BLOCK, &all, before);
}

void ink_i_release_signals(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }
