/* SPDX-License-Identifier: MIT */
/* The few words that the unit tests share: count failures, say where, exit with 1 if there are any. */
#ifndef INKMARK_TESTS_CHECK_H
#define INKMARK_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static int check_failures, check_count;

#define CHECK(cond, ...)                                                                           \
  do {                                                                                             \
    check_count++;                                                                                 \
    if (!(cond) && ++check_failures <= 20) {                                                       \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond);                                   \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fputc('\n', stderr);                                                                         \
    }                                                                                              \
  } while (0)

/* For what must hold before anything else can be tested. */
#define NEED(status, error)                                                                        \
  do {                                                                                             \
    if ((status) != INK_OK) {                                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, (error).message);                         \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static inline int check_result(const char *name) {
  printf("%s: %d checks, %d failed\n", name, check_count, check_failures);
  return check_failures || !check_count;
}

#endif
