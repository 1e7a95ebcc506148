/* SPDX-License-Identifier: MIT */
/* TRY(call) returns what a call returned, where that is a failure. */
#ifndef INK_TRY_H
#define INK_TRY_H

#include "inkmark/status.h"

#define TRY(expression)                                                                            \
  do {                                                                                             \
    ink_status status_ = (expression);                                                             \
    if (status_ != INK_OK)                                                                         \
      return status_;                                                                              \
  } while (0)

#endif
