/* SPDX-License-Identifier: MIT */
/* Merges captures into one trace, and says on stderr what was joined, converted and left out. */
#include "export_with.h"

#include "commands.h"
#include "export_folder.h"
#include "grid.h"
#include "load.h"
#include "message.h"

#include "inkmark/merged.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void remark(void *user, const char *line) {
  (void)user;
  message_progress_end();
  message_say("%s", line);
}

/* "slowest:8" and the like; false after a usage error. */
static bool read_tracks(const char *text, ink_merged_options *options) {
  static const char *const words[] = {[INK_TRACKS_ALL] = "all",
                                      [INK_TRACKS_REPRESENTATIVE] = "representative",
                                      [INK_TRACKS_SM] = "sm"};
  if (!text)
    return true;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (words[i] && !strcmp(text, words[i])) {
      options->tracks = (enum ink_merged_tracks)i;
      return true;
    }
  }
  char *end = NULL;
  unsigned long long n = strncmp(text, "slowest:", 8) ? 0 : strtoull(text + 8, &end, 10);
  if (!end || *end || text[8] < '0' || text[8] > '9' || n < 1 || n > UINT32_MAX) {
    cli_usage_error(&cmd_export,
                    "'--tracks %s' is not all, representative, slowest:N (N from 1) or sm", text);
    return false;
  }
  options->tracks = INK_TRACKS_SLOWEST;
  options->slowest = (uint32_t)n;
  return true;
}

static bool ends_with(const char *text, const char *ending) {
  size_t n = strlen(text), m = strlen(ending);
  return n > m && !strcmp(text + n - m, ending);
}

/* Without -o: the other trace's name with ".merged" in it, in this folder; JSON stays JSON, and
 * packed, else it is a Perfetto trace. */
static char *default_output(const char *with) {
  const char *slash = strrchr(with, '/'), *name = slash ? slash + 1 : with;
  static const struct {
    const char *theirs, *ours;
  } endings[] = {{".json.gz", ".json.gz"},
                 {".json.zst", ".json.gz"},
                 {".json.zip", ".json.gz"},
                 {".zip", ".json.gz"},
                 {".json", ".json"},
                 {".xplane.pb", ".xplane.pb"},
                 {".pftrace.gz", ".pftrace.gz"},
                 {".perfetto-trace.gz", ".pftrace.gz"}};
  const char *dot = strrchr(name, '.'), *ours = ".pftrace";
  size_t stem = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    if (ends_with(name, endings[i].theirs)) {
      stem = strlen(name) - strlen(endings[i].theirs);
      ours = endings[i].ours;
      break;
    }
  }
  char *path;
  return asprintf(&path, "%.*s.merged%s", (int)stem, name, ours) < 0 ? NULL : path;
}

static ink_status write_captures(const export_merge *merge, const ink_merged_options *options,
                                 loaded_capture *loaded, const char *output, ink_error *error) {
  ink_merged_capture *captures = calloc(merge->count, sizeof *captures);
  if (!captures)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < merge->count; i++)
    captures[i] = (ink_merged_capture){loaded[i].path, loaded[i].capture, loaded[i].map};
  ink_status status =
      merge->with
          ? ink_merged_write_several(captures, merge->count, merge->with, options, output, error)
          : ink_merged_write_captures(captures, merge->count, options, output, error);
  free(captures);
  return status;
}

void export_say_written(const char *path, const char *as, const loaded_capture *loaded, size_t count,
                        bool whole) {
  struct stat file;
  char size[64] = "", what[128] = "";
  uint64_t launches = 0, tracks = 0;
  if (!strcmp(path, "-"))
    return;
  if (!as && !stat(path, &file) && S_ISREG(file.st_mode))
    snprintf(size, sizeof size, " (%s)", number_bytes((uint64_t)file.st_size).text);
  for (size_t i = 0; i < count; i++) {
    const ink_launch *list;
    launches += ink_capture_launches(loaded[i].capture, &list);
    tracks += ink_capture_track_count(loaded[i].capture);
  }
  if (whole)
    snprintf(what, sizeof what, ": %s launch%s, %s track%s", number_whole(launches).text,
             launches == 1 ? "" : "es", number_whole(tracks).text, tracks == 1 ? "" : "s");
  message_say("wrote '%s'%s%s%s", path, as ? as : "", size, what);
}

typedef struct recorded { /* from the first reading of the host's clock to the last */
  const char *path;
  int64_t begin_ns, end_ns;
} recorded;

static int by_begin(const void *left, const void *right) {
  const recorded *a = left, *b = right;
  return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* A glob takes the captures of several runs as easily as those of one. */
static void say_runs_apart(const loaded_capture *loaded, size_t n) {
  const int64_t apart_ns = INT64_C(1000000000);
  recorded *all = calloc(n + 1, sizeof *all);
  size_t count = 0;
  for (size_t i = 0; i < n && all; i++) {
    const ink_host_clock *clocks;
    const size_t readings = ink_capture_host_clocks(loaded[i].capture, &clocks);
    if (readings)
      all[count++] = (recorded){loaded[i].path, clocks[0].realtime_before_ns, clocks[readings - 1].realtime_after_ns};
  }
  if (count)
    qsort(all, count, sizeof *all, by_begin);
  size_t last = 0; /* the one that ended last */
  for (size_t i = 1; i < count; i++) {
    if (all[i].begin_ns - apart_ns > all[last].end_ns)
      message_say("'%s' began %s s after '%s' had ended: if they are different runs, they share a timeline here", all[i].path,
                  number_fraction((double)(all[i].begin_ns - all[last].end_ns) * 1e-9, 1).text, all[last].path);
    last = all[i].end_ns > all[last].end_ns ? i : last;
  }
  free(all);
}

static int write_merged(const export_merge *merge, ink_merged_options *options,
                        loaded_capture *loaded) {
  ink_error error = {0};
  char *made = NULL;
  const char *output = merge->output;
  if (!output) {
    output = made = default_output(merge->with);
    if (!made) {
      message_say("out of memory");
      return CLI_FAILED;
    }
  }
  error.status = write_captures(merge, options, loaded, output, &error);
  message_progress_end();
  int code = error.status ? message_failure(&error) : CLI_OK;
  if (!code && !merge->quiet)
    export_say_written(output, NULL, loaded, merge->count, !merge->kernel && merge->launch == UINT64_MAX);
  free(made);
  return code;
}

static int merge_one(const export_merge *merge) {
  struct stat st;
  message_reading reading = {.label = "merging"};
  if (merge->with && !stat(merge->with, &st) && st.st_size > 0)
    reading.bytes = (uint64_t)st.st_size;
  ink_merged_options options = {.size = sizeof options,
                                .kernel_regex = merge->kernel,
                                .launch = merge->launch == UINT64_MAX ? UINT32_MAX
                                                                      : (uint32_t)merge->launch,
                                .align = merge->align,
                                .progress = merge->quiet  ? NULL
                                            : merge->with ? message_progress_reading
                                                          : message_progress,
                                .user = merge->with ? (void *)&reading : (void *)"merging",
                                .remark = merge->quiet ? NULL : remark,
                                .warning = remark};
  if (!merge->with && !merge->output)
    return cli_usage_error(&cmd_export, "needs '-o FILE'");
  if (merge->count > 1 && merge->launch != UINT64_MAX)
    return cli_usage_error(&cmd_export, "'--launch' is for one capture");
  if (merge->format_given)
    return cli_usage_error(&cmd_export, "'--format' does not go with a merged trace: its name says the format");
  if (!read_tracks(merge->tracks, &options) ||
      !cli_check_regex(&cmd_export, "kernel", merge->kernel))
    return CLI_USAGE;
  int code = CLI_FAILED;
  size_t opened = 0;
  loaded_capture *loaded = calloc(merge->count, sizeof *loaded);
  if (!loaded) {
    message_say("out of memory");
    return code;
  }
  while (opened < merge->count && load_capture(merge->captures[opened], &loaded[opened]))
    opened++;
  if (opened == merge->count && opened > 1 && !merge->with && !merge->quiet) /* joins know the run by themselves */
    say_runs_apart(loaded, opened);
  if (opened == merge->count && load_check_launch(loaded, merge->launch))
    code = write_merged(merge, &options, loaded);
  while (opened)
    unload_capture(&loaded[--opened]);
  free(loaded);
  return code;
}

int export_merged(const export_merge *given) {
  export_merge merge = *given;
  export_folder folder;
  int code = CLI_FAILED;
  if (export_folder_open(&folder, merge.with, !merge.output)) {
    merge.with = folder.trace ? folder.trace : merge.with;
    merge.output = folder.output ? folder.output : merge.output;
    if (folder.trace && !merge.quiet)
      message_say("the newest trace in '%s' is '%s'", given->with, folder.trace);
    code = merge_one(&merge);
  }
  export_folder_close(&folder);
  return code;
}
