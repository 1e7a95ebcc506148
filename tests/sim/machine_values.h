/* SPDX-License-Identifier: MIT */
/* The values of registers as the host's types, and functions of three registers: what the tests of the machine's instructions
 * compute with. */
#ifndef INKMARK_TEST_MACHINE_VALUES_H
#define INKMARK_TEST_MACHINE_VALUES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

#define REF(name, expression) \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c) { \
    (void)a; \
    (void)b; \
    (void)c; \
    return (uint64_t)(expression); \
  }

static inline float f(uint64_t bits) {
  uint32_t word = (uint32_t)bits;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

/* As PTX has it: one NaN. */
static inline uint64_t of(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return isnan(value) ? 0x7fffffff : word;
}

static inline double d(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint64_t od(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* .ftz: a subnormal value is 0 with its sign. */
static inline float z(float value) { return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value; }

#endif
