/* SPDX-License-Identifier: MIT */
/* Private: which file a process's capture goes to. */
#ifndef INKMARK_CAPTURE_PATH_H
#define INKMARK_CAPTURE_PATH_H

#include "inkmark/status.h"

#include <stdbool.h>

/* Whose capture it is. */
typedef struct ink_i_names {
  int64_t pid;
  const char *host, *rank;
} ink_i_names;

/* The template with %p (pid), %h (host), %r (rank) and %% filled in; neither host nor rank can name a
 * folder. The caller's to free; NULL after *error. */
char *ink_i_capture_name(const char *template_, const ink_i_names *names, ink_error *error);

/* The same, where processes of one recording would write one file: one that was written since
 * `began_ns` (CLOCK_REALTIME; 0: none is looked at) is another process's, and a forked child's is its
 * own. The first has the name itself, the others their process id behind it. */
char *ink_i_capture_path(const char *template_, const ink_i_names *names, bool forked,
                         int64_t began_ns, ink_error *error);
/* PATH.PID, or PATH.PID.N where there is one already. */
char *ink_i_capture_own_path(const char *path, const ink_i_names *names, int64_t began_ns,
                             ink_error *error);

#endif
