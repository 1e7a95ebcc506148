/* SPDX-License-Identifier: MIT */
/* Text from outside (names in captures, traces and sources, command lines, hosts) in the forms in which
 * inkmark lets it out, and files that get their name when they are whole.
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

/* Writes the first `bytes` bytes of `text` to `to`, as much as fits into `room` bytes with the NUL that
 * ends it (nothing where room is 0; an escape is never cut). Returns the length of the whole. */
INK_API size_t ink_text_put(char *to, size_t room, enum ink_text_form form, const char *text,
                            size_t bytes);

/* A file that is written beside its name and renamed when it is whole: a failure, or a death of the
 * process, leaves what was there. Links are followed. Devices and pipes are written in place; a name
 * that ends in .gz is packed. */
typedef struct ink_outfile ink_outfile;

/* `stream` belongs to the outfile: ink_outfile_close closes it. */
INK_API ink_status ink_outfile_open(const char *path, ink_outfile **out, FILE **stream,
                                    ink_error *error);
/* keep false: what was written is thrown away. The outfile is freed whatever happens. */
INK_API ink_status ink_outfile_close(ink_outfile *file, bool keep, ink_error *error);

/* Removes the files without a final name that this process has open, of outputs too, where the file
 * system knows no unnamed files. For a handler of a signal that ends the process: async-signal-safe. */
INK_API void ink_outfile_remove_unfinished(void);

#ifdef __cplusplus
}
#endif
#endif
