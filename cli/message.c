/* SPDX-License-Identifier: MIT */
/* Messages and progress on stderr. */
#include "message.h"

#include "text_out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool progress_shown;
static uint64_t progress_last_ms, progress_start_ms;

void message_say(const char *format, ...) {
  va_list arguments;
  message_progress_end();
  fflush(stdout); /* so that the two streams read in order on one terminal */
  fputs("inkmark: ", stderr);
  va_start(arguments, format);
  text_vprint(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

const char *message_errno(int code) {
  static char text[128];
  snprintf(text, sizeof text, "%s", strerror(code));
  if (text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z'))
    text[0] = (char)(text[0] - 'A' + 'a');
  return text;
}

int message_failure(const ink_error *error) {
  message_say("%s", error->message[0] ? error->message : ink_status_words(error->status));
  return CLI_FAILED;
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Whether it is time to draw: four times a second, and not in the first `quiet_ms`. */
static bool progress_due(uint64_t quiet_ms, uint64_t *elapsed_ms) {
  uint64_t ms = now_ms();
  if (!progress_start_ms)
    progress_start_ms = ms;
  *elapsed_ms = ms - progress_start_ms;
  if (*elapsed_ms < quiet_ms || ms - progress_last_ms < 250)
    return false;
  progress_last_ms = ms;
  progress_shown = true;
  return true;
}

ink_status message_progress(void *user, uint64_t done, uint64_t total) {
  const char *label = user;
  uint64_t elapsed_ms;
  if (!isatty(STDERR_FILENO) || !total || !progress_due(250, &elapsed_ms))
    return INK_OK;
  text_print(stderr, "\r%s %3.0f %%\x1b[K", label ? label : "working",
          100.0 * (double)done / (double)total);
  return INK_OK;
}

ink_status message_progress_reading(void *user, uint64_t done, uint64_t total) {
  static const char full[] = "########################", empty[] = "........................";
  const int width = sizeof full - 1;
  const message_reading *reading = user;
  uint64_t elapsed_ms;
  if (!isatty(STDERR_FILENO) || !total || !progress_due(500, &elapsed_ms))
    return INK_OK;
  double share = done < total ? (double)done / (double)total : 1;
  double megabytes = (double)reading->bytes * 1e-6;
  int drawn = (int)(share * width);
  text_print(stderr, "\r%s [%.*s%.*s] %3.0f %% of %.0f MB, %.0f MB/s\x1b[K", reading->label, drawn,
          full, width - drawn, empty, 100 * share, megabytes,
          megabytes * share * 1000 / (double)(elapsed_ms ? elapsed_ms : 1));
  return INK_OK;
}

void message_progress_end(void) {
  if (!progress_shown)
    return;
  progress_shown = false;
  fputs("\r\x1b[K", stderr);
}

bool message_flush_stdout(void) {
  if (!ferror(stdout) && !fflush(stdout))
    return true;
  message_say("cannot write standard output: %s", message_errno(errno));
  return false;
}
