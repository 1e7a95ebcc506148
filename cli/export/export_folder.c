/* SPDX-License-Identifier: MIT */
/* The traces of a folder that TensorBoard reads: JAX's and TensorFlow's profiles, plugins/profile/RUN/HOST.xplane.pb (or
 * .trace.json.gz where there is none), and PyTorch's WORKER.pt.trace.json. Merged ones go where it looks for them: into
 * a run beside that run, RUN_inkmark, or beside the worker as WORKER.inkmark. What was merged before is passed over. */
#include "export_folder.h"

#include "message.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 8 };

typedef enum trace_rank { NO_TRACE, XLA_JSON, OTHER_TRACE } trace_rank; /* the better one of a run is higher */

static bool ends_with(const char *text, const char *ending) {
  const size_t n = strlen(text), m = strlen(ending);
  return n > m && !strcmp(text + n - m, ending);
}

/* Is it in plugins/profile/RUN? Where RUN ends as ours do, *ours. */
static bool in_a_run(const FTSENT *file, bool *ours) {
  const FTSENT *run = file->fts_parent, *profile = run ? run->fts_parent : NULL;
  *ours = run && ends_with(run->fts_name, "_inkmark");
  return profile && !strcmp(profile->fts_name, "profile");
}

static trace_rank rank_of(const FTSENT *file) {
  bool ours = false;
  if (ends_with(file->fts_name, ".pt.trace.json") || ends_with(file->fts_name, ".pt.trace.json.gz"))
    return strstr(file->fts_name, ".inkmark.pt.trace.json") ? NO_TRACE : OTHER_TRACE;
  const bool run = in_a_run(file, &ours);
  if (ours || strstr(file->fts_name, ".merged."))
    return NO_TRACE;
  if (ends_with(file->fts_name, ".xplane.pb"))
    return OTHER_TRACE;
  return run && ends_with(file->fts_name, ".trace.json.gz") ? XLA_JSON : NO_TRACE;
}

typedef struct newest {
  char *path;
  struct timespec at;
  trace_rank rank;
} newest;

/* Of one run the protobuf, which says more than the JSON that is made of it later. */
static bool is_newer(const newest *best, const FTSENT *file, trace_rank rank) {
  const struct timespec *a = &file->fts_statp->st_mtim, *b = &best->at;
  if (!best->path)
    return true;
  const char *slash = strrchr(best->path, '/'), *name = strrchr(file->fts_path, '/');
  const bool same_folder = slash && name && slash - best->path == name - file->fts_path &&
                           !strncmp(best->path, file->fts_path, (size_t)(slash - best->path));
  if (same_folder && rank != best->rank)
    return rank > best->rank;
  if (a->tv_sec != b->tv_sec)
    return a->tv_sec > b->tv_sec;
  return a->tv_nsec != b->tv_nsec ? a->tv_nsec > b->tv_nsec : strcmp(file->fts_path, best->path) > 0;
}

static bool find_newest(const char *folder, newest *best) {
  char *const paths[] = {(char *)folder, NULL};
  FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  bool good = walk != NULL;
  for (FTSENT *file; good && (file = fts_read(walk));) {
    if (file->fts_info == FTS_D && file->fts_level >= DEEPEST)
      fts_set(walk, file, FTS_SKIP);
    const trace_rank rank = file->fts_info == FTS_F ? rank_of(file) : NO_TRACE;
    if (rank == NO_TRACE || !is_newer(best, file, rank))
      continue;
    free(best->path);
    best->path = strdup(file->fts_path);
    best->at = file->fts_statp->st_mtim;
    best->rank = rank;
    good = best->path != NULL;
  }
  if (walk)
    fts_close(walk);
  return good;
}

/* "DIR/w.pt.trace.json.gz" -> "DIR/w.inkmark.pt.trace.json.gz" */
static char *beside_worker(const char *trace) {
  char *path;
  const char *ending = strstr(strrchr(trace, '/') ? strrchr(trace, '/') : trace, ".pt.trace.json");
  return asprintf(&path, "%.*s.inkmark%s", (int)(ending - trace), trace, ending) < 0 ? NULL : path;
}

/* "RUN/host.xplane.pb" -> "RUN_inkmark/host.xplane.pb", and the folder is made. */
static bool beside_run(export_folder *f) {
  const char *slash = strrchr(f->trace, '/');
  char *folder = NULL;
  if (!slash || asprintf(&folder, "%.*s_inkmark", (int)(slash - f->trace), f->trace) < 0) {
    message_say("out of memory");
    return false;
  }
  if (!mkdir(folder, 0777)) {
    f->made = folder;
  } else if (errno != EEXIST) {
    message_say("cannot make '%s': %s", folder, strerror(errno));
    free(folder);
    return false;
  }
  const bool good = asprintf(&f->output, "%s%s", folder, slash) >= 0;
  if (!f->made)
    free(folder);
  return good;
}

bool export_folder_open(export_folder *f, const char *with, bool wants_output) {
  struct stat st;
  newest best = {0};
  *f = (export_folder){0};
  if (!with || stat(with, &st) || !S_ISDIR(st.st_mode))
    return true;
  if (!find_newest(with, &best)) {
    message_say("cannot read '%s': %s", with, strerror(errno));
    free(best.path);
    return false;
  }
  f->trace = best.path;
  if (!f->trace) {
    message_say("'%s' holds no trace of JAX's, TensorFlow's or PyTorch's (plugins/profile/RUN/HOST.xplane.pb, "
                "WORKER.pt.trace.json)",
                with);
    return false;
  }
  if (!wants_output)
    return true;
  const char *slash = strrchr(f->trace, '/');
  if (!strstr(slash ? slash : f->trace, ".pt.trace.json"))
    return beside_run(f);
  f->output = beside_worker(f->trace);
  if (!f->output)
    message_say("out of memory");
  return f->output != NULL;
}

void export_folder_close(export_folder *f) {
  if (f->made)
    rmdir(f->made); /* not where the trace is in it */
  free(f->trace);
  free(f->output);
  free(f->made);
  *f = (export_folder){0};
}
