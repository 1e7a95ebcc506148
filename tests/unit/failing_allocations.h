/* SPDX-License-Identifier: MIT */
/* One allocation of a library fails: the linker sends them through here (-Wl,--wrap). */
#ifndef INKMARK_TEST_FAILING_ALLOCATIONS_H
#define INKMARK_TEST_FAILING_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

static bool counting;
static long countdown;            /* the allocation that makes it 0 fails */
static long made_here, *made = &made_here; /* so many were asked for; a test may have it in memory that it shares */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);

static bool fails(void) {
  if (!counting)
    return false;
  ++*made;
  return --countdown == 0;
}

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { return fails() ? NULL : __real_calloc(n, bytes); }
void *__wrap_realloc(void *old, size_t bytes) { return fails() ? NULL : __real_realloc(old, bytes); }
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }

#endif
