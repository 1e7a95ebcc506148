/* SPDX-License-Identifier: MIT */
/* The name of a capture: a template filled in, and a name of its own where another process of the
 * recording has that one. */
#include "capture/capture_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What %X stands for, NULL for nothing; `word` is room for it. */
static const char *piece_of(char letter, const ink_i_names *names, char word[32]) {
  if (letter == 'p')
    snprintf(word, 32, "%lld", (long long)names->pid);
  else if (letter == 'h')
    return names->host && *names->host ? names->host : "host";
  else if (letter == 'r')
    return names->rank && *names->rank ? names->rank : "0";
  else if (letter == '%')
    strcpy(word, "%");
  else
    return NULL;
  return word;
}

char *ink_i_capture_name(const char *template_, const ink_i_names *names, ink_error *error) {
  char path[PATH_MAX], word[32];
  size_t n = 0;
  for (const char *at = template_; *at; at++) {
    const char *piece = word;
    word[0] = *at;
    word[1] = 0;
    if (*at == '%' && !(piece = piece_of(*++at, names, word))) {
      ink_error_set(error, INK_ERROR_ARGUMENT, "'%%%.1s' in '%.200s' is none of %%p, %%r, %%h and %%%%", at,
                    template_);
      return NULL;
    }
    const size_t length = strlen(piece);
    if (n + length >= sizeof path) {
      ink_error_set(error, INK_ERROR_ARGUMENT, "the output path is too long");
      return NULL;
    }
    memcpy(path + n, piece, length);
    for (size_t i = n; piece != word && i < n + length; i++)
      path[i] = path[i] == '/' ? '_' : path[i]; /* a rank names a file, never a folder */
    n += length;
  }
  path[n] = 0;
  char *copy = strdup(path);
  if (!copy)
    ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  return copy;
}

static bool is_of_another(const char *path, int64_t began_ns) {
  const int64_t tick_ns = 20000000; /* files are stamped with the kernel's coarse clock */
  struct stat info;
  return began_ns && !stat(path, &info) && S_ISREG(info.st_mode) &&
         (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec + tick_ns > began_ns;
}

char *ink_i_capture_own_path(const char *path, const ink_i_names *names, int64_t began_ns,
                             ink_error *error) {
  char *own = NULL;
  for (unsigned n = 1; n < 10000; n++) {
    char number[16] = "";
    if (n > 1)
      snprintf(number, sizeof number, ".%u", n);
    if (asprintf(&own, "%s.%lld%s", path, (long long)names->pid, number) < 0) {
      ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
      return NULL;
    }
    if (!is_of_another(own, began_ns))
      return own;
    free(own);
  }
  ink_error_set(error, INK_ERROR_IO, "no name is left beside '%s'", path);
  return NULL;
}

char *ink_i_capture_path(const char *template_, const ink_i_names *names, bool forked,
                         int64_t began_ns, ink_error *error) {
  char *path = ink_i_capture_name(template_, names, error);
  if (!path || (!(forked && !strstr(template_, "%p")) && !is_of_another(path, began_ns)))
    return path;
  char *own = ink_i_capture_own_path(path, names, began_ns, error);
  free(path);
  return own;
}
