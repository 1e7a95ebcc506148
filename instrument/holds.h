/* SPDX-License-Identifier: MIT */
/* The variables of a function, as the search for held values keeps them. */
#ifndef INKMARK_HOLDS_H
#define INKMARK_HOLDS_H

#include "unit.h"

void ink_variables_free(struct ink_variables *all); /* NULL is fine */

#endif
