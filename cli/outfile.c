/* SPDX-License-Identifier: MIT */
/* Writes beside the target and renames at the end, so that a failure leaves what was there. */
#include "outfile.h"

#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool outfile_open(outfile *file, const char *path) {
  *file = (outfile){.stream = stdout};
  if (!path || !strcmp(path, "-"))
    return true;
  file->path = path;
  struct stat status;
  bool exists = !stat(path, &status);
  if (exists && S_ISDIR(status.st_mode)) {
    message_say("cannot write '%s': is a directory", path);
    return false;
  }
  if (exists && !S_ISREG(status.st_mode)) {
    file->stream = fopen(path, "w");
  } else {
    if (asprintf(&file->beside, "%s.XXXXXX", path) < 0) {
      file->beside = NULL;
      message_say("out of memory");
      return false;
    }
    int descriptor = mkstemp(file->beside);
    mode_t mask = umask(0);
    umask(mask);
    if (descriptor >= 0 && fchmod(descriptor, 0666 & ~mask)) {
      close(descriptor);
      unlink(file->beside);
      descriptor = -1;
    }
    file->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  }
  if (file->stream)
    return true;
  message_say("cannot write '%s': %s", path, message_errno(errno));
  free(file->beside);
  file->beside = NULL;
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
      message_say("cannot write '%s': it is what is read", path);
      return false;
    }
  return true;
}

bool outfile_open_for(outfile *file, const char *path, char *const *inputs, size_t n) {
  return outfile_is_none_of(path, inputs, n) && outfile_open(file, path);
}

bool outfile_close(outfile *file, bool keep) {
  if (!file->path)
    return message_flush_stdout();
  bool whole = !ferror(file->stream);
  whole = !fclose(file->stream) && whole;
  if (whole && keep && file->beside)
    whole = !rename(file->beside, file->path);
  if (!whole)
    message_say("cannot write '%s': %s", file->path, message_errno(errno));
  if (file->beside && (!whole || !keep))
    unlink(file->beside);
  free(file->beside);
  file->beside = NULL;
  return whole;
}
