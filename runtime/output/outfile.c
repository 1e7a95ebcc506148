/* SPDX-License-Identifier: MIT */
/* An output file as a stream of stdio, and the list of files that have no final name yet. */
#include "inkmark/text.h"
#include "output_file.h"
#include "unfinished.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct ink_outfile {
  ink_file file;
  FILE *stream;
};

/* ---- what a signal must remove --------------------------------------------------------------- */

enum { UNFINISHED_MAX = 64 };
static _Atomic(const char *) unfinished[UNFINISHED_MAX];

void ink_i_unfinished_add(const char *path) {
  for (size_t i = 0; i < UNFINISHED_MAX; i++) {
    const char *none = NULL;
    if (atomic_compare_exchange_strong(&unfinished[i], &none, path))
      return;
  }
}

void ink_i_unfinished_drop(const char *path) {
  for (size_t i = 0; i < UNFINISHED_MAX; i++) {
    const char *same = path;
    if (atomic_compare_exchange_strong(&unfinished[i], &same, NULL))
      return;
  }
}

void ink_outfile_remove_unfinished(void) {
  for (size_t i = 0; i < UNFINISHED_MAX; i++) {
    const char *path = atomic_load(&unfinished[i]);
    if (path)
      unlink(path);
  }
}

/* ---- a stream -------------------------------------------------------------------------------- */

static ssize_t take(void *cookie, const char *bytes, size_t size) {
  ink_outfile *file = cookie;
  ink_file_write(&file->file, bytes, size);
  return ink_file_check(&file->file, NULL) == INK_OK ? (ssize_t)size : 0; /* 0: an error */
}

ink_status ink_outfile_open(const char *path, ink_outfile **out, FILE **stream, ink_error *error) {
  if (!path || !out || !stream)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no file to write");
  ink_outfile *file = calloc(1, sizeof *file);
  if (!file)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  const ink_status status = ink_file_open(&file->file, path, error);
  if (status != INK_OK) {
    free(file);
    return status;
  }
  file->stream = fopencookie(file, "w", (cookie_io_functions_t){.write = take});
  if (!file->stream) {
    ink_file_abandon(&file->file);
    free(file);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  }
  *out = file;
  *stream = file->stream;
  return INK_OK;
}

ink_status ink_outfile_close(ink_outfile *file, bool keep, ink_error *error) {
  if (!file)
    return INK_OK;
  fclose(file->stream); /* what failed is known to ink_file */
  const ink_status status = keep ? ink_file_close(&file->file, error) : INK_OK;
  ink_file_abandon(&file->file);
  free(file);
  return status;
}
