/* SPDX-License-Identifier: MIT */
/* Where a command's data goes: standard output, or a file that gets its name only when whole. */
#ifndef INKMARK_CLI_OUTFILE_H
#define INKMARK_CLI_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct outfile {
  FILE *stream;
  const char *path; /* NULL: standard output */
  char *beside;     /* the temporary name; NULL: written in place (a device, a pipe) */
} outfile;

/* path NULL or "-": standard output. False after a message. */
bool outfile_open(outfile *file, const char *path);
/* Whether both names are of one file that is there. */
bool outfile_are_one(const char *left, const char *right);
/* The same as outfile_open for what is made of other files: none of them, by whatever name or link, is written to. */
bool outfile_open_for(outfile *file, const char *path, char *const *inputs, size_t n);
/* False after a message: `path` is one of the inputs. NULL and "-" are none. */
bool outfile_is_none_of(const char *path, char *const *inputs, size_t n);
/* keep: the data is whole. Closes and renames, or removes. False after a message. */
bool outfile_close(outfile *file, bool keep);

#endif
