/* SPDX-License-Identifier: MIT */
#ifndef INKMARK_INSTANTIATIONS_H
#define INKMARK_INSTANTIATIONS_H

#include <stddef.h>

/* A pointer to each kernel that the text instantiates, to be put behind it; NULL: there is none, or out of memory. The
 * caller frees. */
char *ink_instantiations(const char *text, size_t bytes);

#endif
