/* SPDX-License-Identifier: MIT */
/* Files of commands, by the one writer of the library, and what must not be written over. */
#include "outfile.h"

#include "message.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

bool outfile_open(outfile *file, const char *path) {
  ink_error error = {0};
  *file = (outfile){.stream = stdout};
  if (!path || !strcmp(path, "-") || !ink_outfile_open(path, &file->file, &file->stream, &error))
    return true;
  message_failure(&error);
  return false;
}

bool outfile_are_one(const char *left, const char *right) {
  struct stat a, b;
  return !stat(left, &a) && !stat(right, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool outfile_is_none_of(const char *path, char *const *inputs, size_t n) {
  if (!path || !strcmp(path, "-"))
    return true;
  for (size_t i = 0; i < n; i++)
    if (outfile_are_one(inputs[i], path)) {
      message_say("cannot write '%s': it is the input", path);
      return false;
    }
  return true;
}

bool outfile_open_for(outfile *file, const char *path, char *const *inputs, size_t n) {
  return outfile_is_none_of(path, inputs, n) && outfile_open(file, path);
}

bool outfile_close(outfile *file, bool keep) {
  ink_error error = {0};
  if (!file->file)
    return message_flush_stdout();
  const bool whole = !ink_outfile_close(file->file, keep, &error);
  file->file = NULL;
  if (!whole)
    message_failure(&error);
  return whole;
}

/* ---- signals ---- */

static void on_signal(int number) {
  ink_outfile_remove_unfinished();
  signal(number, SIG_DFL);
  raise(number);
}

void outfile_clean_on_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGXCPU};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction now;
    if (!sigaction(signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
      sigaction(signals[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
  }
}
