/* SPDX-License-Identifier: MIT */
/* The files of this process that have a name which is not theirs for good, for a handler of signals. */
#ifndef INK_UNFINISHED_H
#define INK_UNFINISHED_H

/* `path` must live until it is dropped. With very many at once the last are not remembered. */
void ink_i_unfinished_add(const char *path);
void ink_i_unfinished_drop(const char *path);

#endif
