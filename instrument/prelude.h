/* SPDX-License-Identifier: MIT */
/* What every source of a build begins with for the parse, the toolkit's headers and ours, parsed once and kept. */
#ifndef INK_PRELUDE_H
#define INK_PRELUDE_H

#include "unit.h"

/* The path of what is kept for a parse that begins with these arguments, and what is in it in unit->hashes and kept_files; NULL: nothing
 * can be kept, or it is the first parse with them. The caller frees. `files` are those handed to libclang, with room for
 * one more, which every later parse needs too. */
char *ink_prelude_take(ink_unit *unit, const char *const *arguments, size_t count, struct CXUnsavedFile *files, size_t *file_count);
void ink_prelude_drop(const char *path, bool crashed); /* it cannot be read, or crashed the parse: then it is not made again */
void ink_prelude_forget(ink_unit *unit); /* the parse is without it */
#endif
