/* SPDX-License-Identifier: MIT */
/* A growing byte string. An allocation that fails is remembered in `failed`: checked once, at the
 * end, and everything after it is a no-op. */
#ifndef INKMARK_BYTES_H
#define INKMARK_BYTES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ink_bytes {
  char *at;
  size_t count, room;
  bool failed;
} ink_bytes;

void ink_bytes_add(ink_bytes *bytes, const void *data, size_t count);
void ink_bytes_text(ink_bytes *bytes, const char *text);
__attribute__((format(printf, 2, 3))) void ink_bytes_format(ink_bytes *bytes, const char *format,
                                                            ...);
void ink_bytes_free(ink_bytes *bytes);
/* Terminates the string and gives it away; NULL when memory ran out. */
char *ink_bytes_take(ink_bytes *bytes);
/* Reads a whole regular file; false with errno when that fails. */
bool ink_bytes_read(ink_bytes *bytes, const char *path);

/* What a child process wrote into a file that both have open, and how it writes. */
bool ink_bytes_read_back(ink_bytes *bytes, int file);
bool ink_write_all(int file, const void *data, size_t bytes);

/* Room for one more item in an array { items, count, room }; false when memory ran out. */
#define INK_I_GROW(array)                                                                          \
  ink_i_grow((void **)&(array).items, &(array).room, (array).count, sizeof *(array).items)
bool ink_i_grow(void **items, size_t *room, size_t count, size_t item_bytes);

#endif
