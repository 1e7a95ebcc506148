/* SPDX-License-Identifier: MIT */
/* The calls by which a process becomes another program, of the preloaded library: what was recorded is taken first.
 * A child that shares its parent's memory (vfork) passes through, and what glibc starts itself (posix_spawn, system)
 * does not come by here. */
#include "cuda/ends.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

typedef int exec_fn(const char *, char *const[], char *const[]);
typedef int fexec_fn(int, char *const[], char *const[]);
typedef int exec_at_fn(int, const char *, char *const[], char *const[], int);

static struct {
  exec_fn *exec, *exec_in_path;
  fexec_fn *of_file;
  exec_at_fn *at;
} real;

/* Early, since some of these calls are made where the loader must not be asked: in signal handlers and children. */
static void __attribute__((constructor)) find_real(void) {
  real.exec = (exec_fn *)dlsym(RTLD_NEXT, "execve");
  real.exec_in_path = (exec_fn *)dlsym(RTLD_NEXT, "execvpe");
  real.of_file = (fexec_fn *)dlsym(RTLD_NEXT, "fexecve");
  real.at = (exec_at_fn *)dlsym(RTLD_NEXT, "execveat");
}

/* Other constructors run earlier. */
static void need_real(void) {
  if (!real.exec)
    find_real();
}

static int run(const char *path, char *const argv[], char *const environment[]) {
  need_real();
  ink_record_before_exec();
  return real.exec(path, argv, environment);
}

static int run_in_path(const char *file, char *const argv[], char *const environment[]) {
  need_real();
  ink_record_before_exec();
  return real.exec_in_path(file, argv, environment);
}

INK_API int execve(const char *, char *const[], char *const[]);
int execve(const char *path, char *const argv[], char *const environment[]) { return run(path, argv, environment); }
INK_API int execv(const char *, char *const[]);
int execv(const char *path, char *const argv[]) { return run(path, argv, environ); }
INK_API int execvpe(const char *, char *const[], char *const[]);
int execvpe(const char *file, char *const argv[], char *const environment[]) {
  return run_in_path(file, argv, environment);
}
INK_API int execvp(const char *, char *const[]);
int execvp(const char *file, char *const argv[]) { return run_in_path(file, argv, environ); }

INK_API int fexecve(int, char *const[], char *const[]);
int fexecve(int file, char *const argv[], char *const environment[]) {
  need_real();
  ink_record_before_exec();
  return real.of_file(file, argv, environment);
}

INK_API int execveat(int, const char *, char *const[], char *const[], int);
int execveat(int folder, const char *path, char *const argv[], char *const environment[], int flags) {
  need_real();
  if (!real.at) {
    errno = ENOSYS;
    return -1;
  }
  ink_record_before_exec();
  return real.at(folder, path, argv, environment, flags);
}

/* ---- arguments one by one: no allocation, which a child may not make ---- */

static size_t count(const char *first, va_list *more) {
  size_t n = first != NULL;
  while (first && va_arg(*more, char *))
    n++;
  return n;
}

/* With the NULL at the end; behind it stands what execle has more. */
static void collect(char **argv, const char *first, size_t n, va_list *more) {
  argv[0] = (char *)(uintptr_t)first;
  for (size_t i = 1; i <= n; i++)
    argv[i] = va_arg(*more, char *);
}

/* argv in the caller's frame, `list` behind its arguments. */
#define COLLECT(argv, first, list) \
  va_start(list, first); \
  const size_t n = count(first, &list); \
  va_end(list); \
  char **argv = alloca((n + 1) * sizeof *argv); \
  va_start(list, first); \
  collect(argv, first, n, &list)

INK_API int execl(const char *, const char *, ...);
int execl(const char *path, const char *first, ...) {
  va_list list;
  COLLECT(argv, first, list);
  va_end(list);
  return run(path, argv, environ);
}
INK_API int execlp(const char *, const char *, ...);
int execlp(const char *file, const char *first, ...) {
  va_list list;
  COLLECT(argv, first, list);
  va_end(list);
  return run_in_path(file, argv, environ);
}
INK_API int execle(const char *, const char *, ...);
int execle(const char *path, const char *first, ...) {
  va_list list;
  COLLECT(argv, first, list);
  char *const *environment = va_arg(list, char *const *);
  va_end(list);
  return run(path, argv, environment);
}
