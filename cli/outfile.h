/* SPDX-License-Identifier: MIT */
/* Where a command's data goes: standard output, or a file that gets its name only when whole. */
#ifndef INKMARK_CLI_OUTFILE_H
#define INKMARK_CLI_OUTFILE_H

#include "inkmark/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct outfile {
  FILE *stream;
  ink_outfile *file; /* NULL: standard output */
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

/* A signal that ends this command first removes what it has not finished. Programs that it starts are
 * not concerned: handlers do not outlive exec. */
void outfile_clean_on_signals(void);

#endif
