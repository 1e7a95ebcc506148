/* SPDX-License-Identifier: MIT */
/* What goes to the person at the terminal: messages, progress, colour. */
#ifndef INKMARK_CLI_MESSAGE_H
#define INKMARK_CLI_MESSAGE_H

#include "inkmark/status.h"

#include <stdbool.h>
#include <stdio.h>

void message_set_color(int color); /* enum cli_color */

/* Styles for text that goes to `to`; "" when that stream gets no colour. */
enum message_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_WARNING, STYLE_BAR };
const char *message_style(FILE *to, enum message_style style);

/* Whether it is a text that message_style gave, by its address. */
bool message_is_style(const char *text);

/* Bars and other non-ASCII drawing: the locale is UTF-8 and colour is on for stdout. */
bool message_draws(void);
/* Columns of the terminal on stdout (COLUMNS where set), 120 where stdout is none. */
size_t message_columns(void);

/* "inkmark: ..." on stderr, for errors and remarks alike. */
__attribute__((format(printf, 1, 2))) void message_say(const char *format, ...);
/* strerror in our style: lower case. */
const char *message_errno(int code);
/* The library's error, or its status words where the message is empty; returns CLI_FAILED. */
int message_failure(const ink_error *error);

/* Progress on stderr, when that is a terminal, a few times a second: pass it as the library's
 * `progress` callback, with a label as `user`. */
ink_status message_progress(void *user, uint64_t done, uint64_t total);
/* The same where the work is to read a file: a bar, how much of it, and how fast, after half a
 * second. `total` may be several times the file's size, where it is read several times. */
typedef struct message_reading {
  const char *label;
  uint64_t bytes; /* of the file */
} message_reading;
ink_status message_progress_reading(void *reading, uint64_t done, uint64_t total);
void message_progress_end(void);

/* Flushes stdout: false after a message when it cannot be written (a full disk). */
bool message_flush_stdout(void);

#endif
