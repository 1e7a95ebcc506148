/* SPDX-License-Identifier: MIT */
/* What goes to the person at the terminal: messages and progress. */
#ifndef INKMARK_CLI_MESSAGE_H
#define INKMARK_CLI_MESSAGE_H

#include "inkmark/status.h"

#include <stdbool.h>
#include <stdio.h>

/* The exit codes of every command. */
enum cli_exit { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_CHECK_FAILED = 3 };

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
