/* SPDX-License-Identifier: MIT */
/* Functions that machine_math.cu computes on the simulated device and machine_math_test.c on the
 * host: name, least and greatest argument. */
#ifndef INKMARK_TEST_MACHINE_MATH_H
#define INKMARK_TEST_MACHINE_MATH_H

#define MATH_FUNCTIONS(X) \
  X(sin, -100, 100) X(cos, -100, 100) X(tan, -1.5, 1.5) X(asin, -1, 1) X(acos, -1, 1) \
  X(atan, -50, 50) X(sinh, -20, 20) X(cosh, -20, 20) X(tanh, -5, 5) X(asinh, -100, 100) \
  X(acosh, 1, 100) X(atanh, -0.99, 0.99) X(exp, -40, 40) X(exp2, -60, 60) X(expm1, -10, 10) \
  X(log, 1e-6, 1e6) X(log2, 1e-6, 1e6) X(log10, 1e-6, 1e6) X(log1p, -0.9, 100) \
  X(sqrt, 0, 1e6) X(cbrt, -1000, 1000) X(erf, -4, 4) X(erfc, -3, 8) X(lgamma, 0.1, 40) \
  X(tgamma, 0.1, 20) X(floor, -1000, 1000) X(ceil, -1000, 1000) X(trunc, -1000, 1000) \
  X(round, -1000, 1000) X(rint, -1000, 1000) X(fabs, -10, 10) X(logb, 1e-10, 1e10)

#endif
