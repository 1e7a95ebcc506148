/* SPDX-License-Identifier: MIT */
/* Ranges of the host for programs without NVTX, in C99 and C++: `inkmark record --nvtx` and sessions with host_ranges
 * have them above the kernels that were launched in them. They nest in each thread. Where libinkmark is absent, or does
 * not record them, a call costs a load and a branch, and nothing has to be linked but what dlsym needs (-ldl before
 * glibc 2.34). Any thread may call them; the name is copied.
 *
 * @code{.c}
 * #include <inkmark/scope.h>
 * #include <stdio.h>
 *
 * int main(void) {
 *   ink_scope_begin("assemble");
 *   puts("kernels that are launched here are in the range");
 *   ink_scope_end();
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_SCOPE_H
#define INKMARK_SCOPE_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void ink_i_scope_fn(const char *name); /* NULL ends the innermost one */

static inline ink_i_scope_fn *ink_i_scope_find(void) {
  static ink_i_scope_fn *known;
  static int asked;
  ink_i_scope_fn *found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (found || __atomic_load_n(&asked, __ATOMIC_ACQUIRE))
    return found;
  void *symbol = dlsym(NULL /* RTLD_DEFAULT */, "ink_i_host_scope");
  *(void **)&found = symbol;
  __atomic_store_n(&known, found, __ATOMIC_RELEASE);
  __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  return found;
}

/* A range of this thread begins. NULL counts as "". */
static inline void ink_scope_begin(const char *name) {
  ink_i_scope_fn *scope = ink_i_scope_find();
  if (scope)
    scope(name ? name : "");
}

/* The innermost one ends. One too many does nothing. */
static inline void ink_scope_end(void) {
  ink_i_scope_fn *scope = ink_i_scope_find();
  if (scope)
    scope(NULL);
}

#ifdef __cplusplus
}
#endif
#endif
