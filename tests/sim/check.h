/* SPDX-License-Identifier: MIT */
/* How the simulator's test programs check: each failure is told with its line, main returns
 * check_result(). */
#ifndef INKMARK_TESTS_SIM_CHECK_H
#define INKMARK_TESTS_SIM_CHECK_H

#include <stdio.h>

static int checks_done, checks_failed;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    checks_done++;                                                                                 \
    if (!(condition)) {                                                                            \
      checks_failed++;                                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                \
    }                                                                                              \
  } while (0)

#define CHECK_EQUAL(actual, expected)                                                              \
  do {                                                                                             \
    const long long actual_ = (long long)(actual), expected_ = (long long)(expected);              \
    checks_done++;                                                                                 \
    if (actual_ != expected_) {                                                                    \
      checks_failed++;                                                                             \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, actual_,       \
              expected_);                                                                          \
    }                                                                                              \
  } while (0)

#define OK(call) CHECK_EQUAL(call, 0)

static inline int check_result(void) {
  printf("%d checks, %d failed\n", checks_done, checks_failed);
  return checks_failed || !checks_done;
}

#endif
