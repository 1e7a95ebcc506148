/* SPDX-License-Identifier: MIT */
/* Where the command's text for people goes out: whatever a %s stands for may come from outside and is
 * written so that it can neither steer a terminal nor end a line (INK_TEXT_SHOWN). */
#ifndef INKMARK_CLI_TEXT_OUT_H
#define INKMARK_CLI_TEXT_OUT_H

#include <stdarg.h>
#include <stdio.h>

/* As printf, for d i u x o c f g e s p with flags, width and precision. The format's own characters and
 * the styles of style_code go out as they are. Widths count characters. */
__attribute__((format(printf, 2, 3))) void text_print(FILE *to, const char *format, ...);
__attribute__((format(printf, 2, 0))) void text_vprint(FILE *to, const char *format,
                                                       va_list arguments);
/* The same as a new string; NULL: out of memory. */
__attribute__((format(printf, 1, 0))) char *text_vformat(const char *format, va_list arguments);

/* Columns that a UTF-8 text takes on a terminal (one a code point; no wide characters here). */
size_t text_width(const char *text);

#endif
