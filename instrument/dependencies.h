/* SPDX-License-Identifier: MIT */
/* What the result of a run depends on beside its options: the texts of the files that it read, and that no file came where
 * the compiler would have found it first. As lines of text:
 *   F HASH BYTES SECONDS NANOSECONDS SECONDS NANOSECONDS INODE PATH   a file, with the times of its text and of its inode
 *   D SECONDS NANOSECONDS SECONDS NANOSECONDS INODE FOLDER            a folder, and behind it
 *   -NAME                                                             what is not in it
 *   +PATH                                                             what exists, whatever is in it */
#ifndef INK_DEPENDENCIES_H
#define INK_DEPENDENCIES_H

#include "unit.h"

#include <time.h>

/* False: they cannot be told, for example because a file may have changed since the run began. */
bool ink_dependencies_write(ink_unit *unit, const ink_bytes *result, const struct timespec *begun, ink_bytes *out);
/* The text must be whole and is changed. */
bool ink_dependencies_hold(char *text, size_t bytes);
#endif
