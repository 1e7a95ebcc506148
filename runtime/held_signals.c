/* SPDX-License-Identifier: MIT */
#include "held_signals.h"

#include <pthread.h>
#include <stddef.h>

void ink_i_hold_signals(ink_i_held *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t all;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&all, faults[i]);
  pthread_sigmask(SIG_BLOCK, &all, &before->signals);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel_state);
}

void ink_i_release_signals(const ink_i_held *before) {
  int none;
  pthread_setcancelstate(before->cancel_state, &none);
  pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
}
