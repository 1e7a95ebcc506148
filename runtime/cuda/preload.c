/* SPDX-License-Identifier: MIT */
/* libinkmark-preload.so, which `inkmark record` puts into LD_PRELOAD: finds the moment after all
 * static constructors and before main, and the ways out of a program that run no exit handler. Kept
 * apart from libinkmark, whose users link it without any of this. */
#include "cuda/behind.h"
#include "cuda/preload_close.h"
#include "cuda/ends.h"
#include "cuda/record_mode.h"
#include "cuda/signals.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef int main_fn(int, char **, char **);
typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_fn *program_main;

static int recorded_main(int argc, char **argv, char **environment) {
  ink_record_start(ink_signals_take);
  const int code = program_main(argc, argv, environment);
  ink_i_exit_begins();
  return code;
}

INK_API int __libc_start_main(main_fn *, int, char **, void (*)(void), void (*)(void),
                              void (*)(void), void *);
int __libc_start_main(main_fn *main_function, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end) {
  start_fn *real = (start_fn *)dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = main_function;
  return real(recorded_main, argc, argv, init, fini, loader_fini, stack_end);
}

static _Noreturn void leave(const char *name, int status) {
  ink_record_leave(0);
  void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, name);
  real(status);
  __builtin_unreachable();
}

INK_API _Noreturn void _exit(int status);
void _exit(int status) { leave("_exit", status); }
INK_API _Noreturn void _Exit(int status);
void _Exit(int status) { leave("_Exit", status); }

/* One of the program's: it runs first, and may jump away from what it interrupted. */
static bool has_handler(int number) {
  struct sigaction now;
  return !sigaction(number, NULL, &now) && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
}

/* A failed assert: glibc's own call of abort does not come by here. */
typedef void assert_fn(const char *, const char *, unsigned, const char *);
INK_API _Noreturn void __assert_fail(const char *, const char *, unsigned, const char *);
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function) {
  if (has_handler(SIGABRT))
    ink_record_keep();
  else
    ink_record_leave(SIGABRT);
  assert_fn *real = (assert_fn *)dlsym(RTLD_NEXT, "__assert_fail");
  real(condition, file, line, function);
  __builtin_unreachable();
}

/* An exception that nobody catches. */
INK_API _Noreturn void abort(void);
void abort(void) {
  if (has_handler(SIGABRT)) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(SIGABRT);
    signal(SIGABRT, SIG_DFL); /* it has returned, which does not keep the process */
  }
  ink_record_leave(SIGABRT);
  void (*real)(void) = (void (*)(void))dlsym(RTLD_NEXT, "abort");
  real();
  __builtin_unreachable();
}

INK_API pid_t fork(void);
pid_t fork(void) {
  pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
  ink_i_held before;
  ink_record_fork_begin(&before);
  const pid_t pid = real();
  if (!pid)
    ink_i_closings_after_fork();
  ink_record_fork_end(&before);
  return pid;
}

/* CUDA_INJECTION64_PATH names this library where activity is wanted: the driver calls this when it
 * starts, before any context is made, and so does the simulated runtime. */
INK_API int InitializeInjection(void);
int InitializeInjection(void) {
  ink_record_cuda_starts();
  return 1;
}

typedef int reset_fn(void);

/* Where the CUDA runtime is a shared library: a reset takes the buffers with it. */
INK_API int cudaDeviceReset(void);
int cudaDeviceReset(void) {
  static ink_behind known;
  reset_fn *real = (reset_fn *)ink_behind_find(&known, "cudaDeviceReset", __builtin_return_address(0));
  if (!real)
    return 999; /* cudaErrorUnknown */
  ink_i_held before;
  const int device = ink_record_before_reset(-1, &before);
  const int code = real();
  ink_record_after_reset(device, &before);
  return code;
}
