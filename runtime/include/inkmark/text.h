/* SPDX-License-Identifier: MIT */
/* Writes text from outside (names in captures, traces and sources, command lines, hosts) in safe forms. Also opens
 * output files that get their name only when they are whole.
 *
 * Threads: any number of threads, each with outfiles of its own.
 * Lifetime: an outfile and its stream live until ink_outfile_close, which frees both.
 *
 * @code{.c}
 * #include <inkmark/text.h>
 * #include <stdio.h>
 * #include <string.h>
 *
 * int main(void) {
 *   const char *name = "red \x1b[31m"; // a name that would steer the terminal
 *   char shown[64];
 *   ink_text_put(shown, sizeof shown, INK_TEXT_SHOWN, name, strlen(name));
 *   puts(shown); // red \x1b[31m, as these very characters
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_TEXT_H
#define INKMARK_TEXT_H

#include "inkmark/status.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What could steer a terminal or hide from a reader is escaped: control characters (C0, DEL, C1, the
 * separators of lines and paragraphs), invisible formatting characters (bidirectional overrides, zero
 * width, tags), and bytes that are no UTF-8. docs/outputs.md has the rules. */
enum ink_text_form {
  INK_TEXT_SHOWN, /* for people: \n \t \r \x1b for what is below U+0080 and for single bytes, \u202e, \U000e0001 */
  INK_TEXT_CELL,  /* a cell of CSV, quoted where it must be: as shown, every backslash doubled, and a '
                     before what a spreadsheet would take for a formula */
  INK_TEXT_JSON   /* what stands between the quotes of a JSON string: always UTF-8, U+FFFD for what is none */
};

/* Writes the first `bytes` bytes of `text` to `to`, as much as fits into `room` bytes with the NUL that ends it
 * (nothing if room is 0; an escape is never cut).
 * Returns: the length of the whole text in that form, without the NUL. */
INK_API size_t ink_text_put(char *to, size_t room, enum ink_text_form form, const char *text,
                            size_t bytes);

/* A file that is written beside its name and renamed when it is whole: a failure, or a death of the
 * process, leaves what was there. Links are followed. Devices and pipes are written in place; a name
 * that ends in .gz is packed. */
typedef struct ink_outfile ink_outfile;

/* Opens a file that gets its name when it is closed. `stream` belongs to the outfile: ink_outfile_close closes it.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (no path), INK_ERROR_IO (it cannot be made), INK_ERROR_MEMORY. */
INK_API ink_status ink_outfile_open(const char *path, ink_outfile **out, FILE **stream,
                                    ink_error *error);
/* Gives the file its name, or with keep false throws away what was written. The outfile is freed whatever happens.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_IO (not all of it could be written, or not renamed; nothing is left of it then). */
INK_API ink_status ink_outfile_close(ink_outfile *file, bool keep, ink_error *error);

/* Removes the files without a final name that this process has open, of outputs too, if the file system knows no
 * unnamed files. For a handler of a signal that ends the process: async-signal-safe. */
INK_API void ink_outfile_remove_unfinished(void);

#ifdef __cplusplus
}
#endif
#endif
