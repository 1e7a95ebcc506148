/* SPDX-License-Identifier: MIT */
/* The rule of every options struct of the public headers. Its first member is `size`, which the caller sets to sizeof
 * of the struct as his header has it. A shorter struct is of an older header: the members that it lacks keep their
 * defaults. A longer one is of a newer header: what this library does not know of it must be zero. */
#ifndef INKMARK_OPTIONS_TAKE_H
#define INKMARK_OPTIONS_TAKE_H

#include "inkmark/status.h"

/* Copies `given` over *own, which has `bytes` bytes and holds the defaults; NULL keeps them. `least`: how much the first
 * header with the struct had; `name`: of the struct. Returns INK_OK, INK_ERROR_ARGUMENT (the size is not set, or no
 * header ever had it) or INK_ERROR_UNSUPPORTED (an option is set that this library does not know). */
ink_status ink_i_options_take(void *own, size_t bytes, size_t least, const void *given, const char *name,
                              ink_error *error);

/* The same with the names at hand: LAST is the last member of the first header. */
#define INK_I_OPTIONS_TAKE(own, type, last, given, error)                                                       \
  ink_i_options_take(own, sizeof(type), offsetof(type, last) + sizeof((own)->last), given, #type, error)

#endif
