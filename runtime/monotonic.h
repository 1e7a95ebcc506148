/* SPDX-License-Identifier: MIT */
/* Private: the clock that nobody sets. Safe in signal handlers. */
#ifndef INK_MONOTONIC_H
#define INK_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t ink_i_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t ink_i_monotonic_ms(void) { return ink_i_monotonic_ns() / 1000000; }

#endif
