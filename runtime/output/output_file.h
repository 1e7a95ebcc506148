/* SPDX-License-Identifier: MIT */
/* The file that an output is written into: it gets its name only when it is whole, so that a
 * failure leaves what was there before. A write error is kept and told once, by close. */
#ifndef INK_OUTPUT_FILE_H
#define INK_OUTPUT_FILE_H

#include "inkmark/status.h"

#include <stdbool.h>
#include <string.h>

typedef struct ink_file {
  char *path;   /* the name it will have; NULL: stdout */
  char *beside; /* the temporary name, NULL while the file has none */
  int fd;
  bool direct; /* written in place: stdout, a device or a pipe */
  int failed;  /* errno of the first failed write */
  unsigned char *buffer;
  size_t used, room;
  struct ink_gzip *gzip; /* NULL: plain */
  uint64_t written;      /* bytes taken from the writer, before packing */
  bool utf8;             /* see ink_file_utf8 */
  bool sums;             /* crc counts what is flushed */
  uint32_t crc;          /* CRC-32, as zip has it */
} ink_file;

/* Opens for writing; "-" is stdout. A name that ends in .gz is packed with gzip. */
ink_status ink_file_open(ink_file *file, const char *path, ink_error *error);
/* The same for JSON and what holds it: always UTF-8. */
ink_status ink_file_open_utf8(ink_file *file, const char *path, ink_error *error);
/* Puts the rest on disk without giving the file its name yet. */
ink_status ink_file_finish(ink_file *file, ink_error *error);
/* Gives a finished file its name. */
ink_status ink_file_commit(ink_file *file, ink_error *error);
/* Finish and commit; the file is closed and freed whatever happens. */
ink_status ink_file_close(ink_file *file, ink_error *error);
/* Closes and removes what was written. Fine on a zeroed or closed file. */
void ink_file_abandon(ink_file *file);

/* INK_OK, or the write error so far, so that a long job can stop early. */
ink_status ink_file_check(const ink_file *file, ink_error *error);

void ink_file_flush(ink_file *file);
/* From here on, or until here, bytes that are no UTF-8 are written as U+FFFD; `written` counts what
 * that makes of them. Off again flushes everything. */
void ink_file_utf8(ink_file *file, bool on);
/* Writes over bytes that were flushed before; only where the file is neither packed nor direct. */
void ink_file_patch(ink_file *file, uint64_t at, const void *bytes, size_t size);
void ink_file_write_slow(ink_file *file, const void *bytes, size_t size);

/* Room for `size` (at most 64 KiB) bytes; ink_file_took says where the writing ended. */
static inline char *ink_file_room(ink_file *file, size_t size) {
  if (file->room - file->used < size)
    ink_file_flush(file);
  return (char *)file->buffer + file->used;
}

static inline void ink_file_took(ink_file *file, const char *end) {
  size_t used = (size_t)(end - (char *)file->buffer);
  file->written += used - file->used;
  file->used = used;
}

static inline void ink_file_write(ink_file *file, const void *bytes, size_t size) {
  if (file->room - file->used < size) {
    ink_file_write_slow(file, bytes, size);
    return;
  }
  memcpy(file->buffer + file->used, bytes, size);
  file->used += size;
  file->written += size;
}

static inline void ink_file_text(ink_file *file, const char *text) {
  ink_file_write(file, text, strlen(text));
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void ink_file_print(ink_file *file, const char *format, ...); /* at most 4 KiB */

#endif
