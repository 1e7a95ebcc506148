/* SPDX-License-Identifier: MIT */
/* What the fuzz targets for other profilers' traces share: input that must be a file, and a
 * conversion into memory. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include "merge/write/convert_notes.h"
#include "merge/read/kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_CHECK(condition)                                                                      \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

typedef struct fuzz_file {
  int fd;
  char path[64];
} fuzz_file;

static inline void fuzz_put(fuzz_file *file, const void *bytes, size_t size) {
  if (!*file->path) {
    file->fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
  }
  FUZZ_CHECK(!ftruncate(file->fd, 0) && pwrite(file->fd, bytes, size, 0) == (ssize_t)size);
}

/* Every failure has one line, and the status that was returned. */
static inline void fuzz_failed(ink_status status, const ink_error *error) {
  FUZZ_CHECK(status == INK_OK ||
             (error->status == status && error->message[0] && !strchr(error->message, '\n')) ||
             status == INK_ERROR_MEMORY || status == INK_ERROR_LIMIT || status == INK_ERROR_IO);
}

/* What merged_perfetto.c does between and with the passes. `again` is the second pass. */
static inline ink_status fuzz_convert(convert *c, const char *output,
                                      ink_status (*again)(convert *c, void *user), void *user) {
  ink_file file;
  FUZZ_CHECK(ink_file_open(&file, output, NULL) == INK_OK);
  perfetto out = {.file = &file, .sequence = 1};
  c->out = &out;
  convert_start(c);
  convert_describe(c);
  ink_status status = convert_arrange(c);
  if (status == INK_OK)
    status = again(c, user);
  if (status == INK_OK)
    FUZZ_CHECK(c->next_slice == c->slice_count);
  if (status == INK_OK)
    status = ink_file_close(&file, NULL);
  ink_file_abandon(&file);
  return status;
}

#endif
