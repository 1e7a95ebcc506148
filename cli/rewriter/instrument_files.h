/* SPDX-License-Identifier: MIT */
/* The files that `inkmark instrument` reads and writes: what is no source is refused, a source is
 * never written to, and what was written is said. */
#ifndef INKMARK_CLI_INSTRUMENT_FILES_H
#define INKMARK_CLI_INSTRUMENT_FILES_H

#include "inkmark/instrument.h"

#include <stdbool.h>
#include <stddef.h>

/* False after a message: not there, a folder or a device, not text. An empty file is one, and that
 * is said. */
bool instrument_readable(const char *source);
/* False after a message: `output` is the source itself, by name or through a link. */
bool instrument_spares(const char *source, const char *output);

bool instrument_write_text(const char *path, const char *text, size_t bytes);

typedef struct written_file {
  char *path;
  bool marked;
} written_file;

typedef struct written_files { /* zeroed at first */
  written_file *items;
  size_t count, room;
} written_files;

/* Writes the files of a result below `folder`: as they lie below `root` (NULL: the current folder),
 * those outside of it by their whole path. *done is every file of this command. False after a
 * message: it cannot be written, is a source itself, or another source needs other marks in a
 * header that both include. */
bool instrument_write_folder(const char *folder, const char *root, const ink_instrumented *result,
                             written_files *done);
void written_files_free(written_files *done);

/* "PATH: 3 kernels, 12 marks" on stderr. */
void instrument_say_done(const char *path, const ink_instrumented *result);

#endif
