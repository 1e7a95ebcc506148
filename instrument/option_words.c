/* SPDX-License-Identifier: MIT */
/* Splits a file of compiler options (--options-file) at white space; quotes and backslashes as a
 * shell has them. */
#include "bytes.h"

#include "inkmark/instrument.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void split(FILE *file, ink_bytes *out) {
  int quote = 0;
  bool begun = false;
  for (int c = fgetc(file);; c = fgetc(file)) {
    const bool ends = c == EOF || (!quote && isspace(c));
    if (ends && begun) {
      ink_bytes_add(out, "", 1);
      begun = false;
    }
    if (c == EOF)
      return;
    if (ends)
      continue;
    begun = true;
    if ((c == '"' || c == '\'') && (!quote || quote == c)) {
      quote = quote ? 0 : c;
      continue;
    }
    if (c == '\\' && quote != '\'' && (c = fgetc(file)) == EOF)
      continue; /* the next read gives the end again */
    const char one = (char)c;
    ink_bytes_add(out, &one, 1);
  }
}

ink_status ink_option_words(const char *path, char **words, size_t *bytes, ink_error *error) {
  ink_bytes text = {0};
  if (!path || !words || !bytes)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no options file");
  FILE *file = fopen(path, "r");
  if (!file)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "cannot read the options file '%s': %s", path,
                         strerror(errno));
  split(file, &text);
  const bool failed = ferror(file);
  fclose(file);
  if (failed || text.failed) {
    ink_bytes_free(&text);
    return failed ? ink_error_set(error, INK_ERROR_IO, "cannot read the options file '%s'", path)
                  : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  }
  *bytes = text.count;
  ink_bytes_add(&text, "", 1);
  *words = ink_bytes_take(&text);
  return *words ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}
