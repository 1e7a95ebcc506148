/* SPDX-License-Identifier: MIT */
/* Preloaded: a file system that knows no unnamed files (ODD_DISK=named), and a signal, by its number in
 * ODD_SIGNAL, at the moment at which a written file would get its name. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int open(const char *path, int flags, ...) {
  static int (*real)(const char *, int, ...);
  if (!real)
    real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  if ((flags & O_TMPFILE) == O_TMPFILE && getenv("ODD_DISK")) {
    errno = EOPNOTSUPP;
    return -1;
  }
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return real(path, flags, mode);
}

/* Where a file is to replace none. */
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  static int (*real)(int, const char *, int, const char *, unsigned);
  const char *number = getenv("ODD_SIGNAL");
  if (!real)
    real = (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2");
  if (number)
    raise(atoi(number));
  if (getenv("ODD_DISK")) {
    errno = EINVAL;
    return -1;
  }
  return real(from_folder, from, to_folder, to, flags);
}

int rename(const char *from, const char *to) {
  static int (*real)(const char *, const char *);
  const char *number = getenv("ODD_SIGNAL");
  if (!real)
    real = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  if (number)
    raise(atoi(number));
  return real(from, to);
}
