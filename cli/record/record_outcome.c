/* SPDX-License-Identifier: MIT */
/* Says what a recorded program left behind, or why it left nothing. */
#include "record.h"

#include "grid.h"
#include "message.h"

#include "inkmark/activity.h"
#include "inkmark/decode.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { FILES_TOLD = 8, KERNELS_BYTES = 8192 };

/* The template as a glob pattern: every %x may be anything, all else is literal. */
static char *pattern_of(const char *template) {
  char *pattern = malloc(strlen(template) * 2 + 1), *to = pattern;
  for (; pattern && *template; template ++) {
    if (*template == '%' && template[1] == '%') {
      *to++ = *template ++;
    } else if (*template == '%' && template[1]) {
      *to++ = '*';
      template ++;
    } else {
      if (strchr("*?[\\", *template))
        *to++ = '\\';
      *to++ = *template;
    }
  }
  if (pattern)
    *to = 0;
  return pattern;
}

/* Written after `begin`, as far as that is known: file systems stamp with the kernel's coarse clock, which is a tick (4 ms)
 * behind. `behind_s`: how far it may be. */
static bool is_new(const char *path, const struct timespec *begin, double behind_s, bool *is_file) {
  struct stat status;
  *is_file = !stat(path, &status) && S_ISREG(status.st_mode);
  if (!*is_file)
    return false;
  double age = difftime(status.st_mtim.tv_sec, begin->tv_sec) +
               (double)(status.st_mtim.tv_nsec - begin->tv_nsec) / 1e9;
  return age > -behind_s;
}

/* Relative to the current folder where it lies below it: shorter to read and to type. */
static const char *short_path(const char *path) {
  static char here[4096];
  size_t n;
  if (!here[0] && !realpath(".", here))
    return path;
  n = strlen(here);
  return !strncmp(path, here, n) && path[n] == '/' ? path + n + 1 : path;
}

/* ", 8 kernels, 2 copies" of a capture with activity, else "". */
static void describe_activity(const ink_capture *capture, char *text, size_t bytes) {
  const ink_activity *const *all;
  uint64_t kernels = 0, copies = 0;
  const size_t n = ink_capture_activities(capture, &all, NULL);
  text[0] = 0;
  for (size_t i = 0; i < n; i++) {
    kernels += all[i]->kind == INK_ACTIVITY_KERNEL;
    copies += all[i]->kind == INK_ACTIVITY_COPY || all[i]->kind == INK_ACTIVITY_SET;
  }
  if (n)
    snprintf(text, bytes, "; activity: %s kernel%s, %s cop%s and sets", number_whole(kernels).text,
             number_plural(kernels), number_whole(copies).text, copies == 1 ? "y" : "ies");
}

/* Of open tracks those that are kept, as a report has them. */
static uint64_t marks_of_open(const ink_capture *capture) {
  ink_clock_map *map = NULL;
  ink_open_track *open = NULL;
  size_t n = 0;
  uint64_t marks = 0;
  if (ink_capture_get_facts(capture)->open_tracks && !ink_clock_map_make(capture, &map, NULL) &&
      !ink_open_tracks(capture, map, &open, &n, NULL))
    for (size_t i = 0; i < n; i++)
      marks += open[i].marks;
  ink_open_tracks_free(open);
  ink_clock_map_free(map);
  return marks;
}

/* What was said of the captures so far. */
typedef struct telling {
  size_t files;
  uint64_t tracks; /* and activities of captures without tracks */
  bool explained;  /* why there are no tracks */
} telling;

/* True: another `inkmark record` has written the capture. It is told of where that has the very name that was asked for,
 * for certain since this one began. Of a name with a rank or a process in it there are others by right (mpirun inkmark
 * record -o run.%r.ink). */
static bool is_foreign(const record_plan *plan, const char *path, const ink_capture *capture) {
  bool is_file;
  const char *recording = ink_capture_fact(capture, "recording");
  char own[32];
  snprintf(own, sizeof own, "%llu",
           (unsigned long long)plan->begin.tv_sec * 1000000000u +
               (unsigned long long)plan->begin.tv_nsec);
  if (!recording || !strcmp(recording, own))
    return false;
  if (!strcmp(plan->output, path) && is_new(path, &plan->begin, 0, &is_file))
    message_say("'%s' was written by another recording that ran meanwhile", short_path(path));
  return true;
}

/* One line on a capture, which is added to `sum` where it is of this recording. */
static void tell(const record_plan *plan, const char *path, telling *sum) {
  ink_capture *capture;
  ink_error error = {0};
  const ink_kernel *kernels;
  if (ink_capture_open(path, &capture, &error)) {
    message_say("wrote '%s', which cannot be read: %s", short_path(path), error.message);
    sum->files++;
    return;
  }
  if (is_foreign(plan, path, capture)) {
    ink_capture_free(capture);
    return;
  }
  uint64_t tracks = ink_capture_track_count(capture), marks = marks_of_open(capture), missed = 0, lost = 0;
  const uint64_t open = ink_capture_get_facts(capture)->open_tracks;
  const uint64_t full = ink_capture_get_facts(capture)->full_tracks;
  size_t n = ink_capture_kernels(capture, &kernels);
  for (size_t i = 0; i < n; i++) {
    marks += kernels[i].marks_executed;
    missed += kernels[i].missed;
    lost += kernels[i].tracks_lost;
  }
  char notes[320] = "", activity[192];
  int at = 0;
  if (open)
    at += snprintf(notes, sizeof notes, ", %s track%s had not ended", number_whole(open).text,
                   number_plural(open));
  if (full)
    at += snprintf(notes + at, sizeof notes - (size_t)at,
                   ", %s with more marks than their ring holds ('inkmark report' says how many)",
                   number_whole(full).text);
  if (missed)
    at += snprintf(notes + at, sizeof notes - (size_t)at, ", %s thread%s missed",
                   number_whole(missed).text, number_plural(missed));
  if (lost)
    at += snprintf(notes + at, sizeof notes - (size_t)at, ", %s track%s lost%s", number_whole(lost).text, number_plural(lost),
             ink_capture_get_facts(capture)->complete && !ink_capture_fact(capture, "write_failure")
                 ? " (--tracks N holds more)"
                 : "");
  const char *ended_by = ink_capture_fact(capture, "ended_by");
  if (ended_by)
    snprintf(notes + at, sizeof notes - (size_t)at, ", ended by %.40s", ended_by);
  describe_activity(capture, activity, sizeof activity);
  message_say("wrote '%s': %s track%s, %s mark%s%s%s", short_path(path), number_whole(tracks).text,
              number_plural(tracks), number_whole(marks).text, number_plural(marks), notes,
              activity);
  const ink_activity *const *all;
  const size_t activities = ink_capture_activities(capture, &all, NULL);
  sum->files++;
  sum->tracks += tracks ? tracks : activities;
  sum->explained |= missed || lost || ink_capture_fact(capture, "write_failure");
  ink_capture_free(capture);
}

enum { NAMES_MAX = 256 };

/* Splits lines "TABLE::NAME, TABLE::NAME" into the names. */
static size_t split_names(char *kernels, const char **names) {
  char *rest = NULL;
  size_t n = 0;
  for (char *word = strtok_r(kernels, ",\n ", &rest); word && n < NAMES_MAX; word = strtok_r(NULL, ",\n ", &rest)) {
    char *name = strstr(word, "::"); /* one of a table in a namespace has more of them */
    for (char *next; name && (next = strstr(name + 2, "::"));)
      name = next;
    names[n++] = name ? name + 2 : word;
  }
  return n;
}

/* Where kernels ran, and --kernels left out each of them, says which there are. Without another filter: of what that lets
 * nothing through of it is not known that it ran. */
static bool tell_passed(const record_plan *plan, const char *what, char *kernels) {
  const record_settings *s = plan->settings;
  const char *names[NAMES_MAX], *regex = s->kernels;
  const size_t n = regex && !s->blocks && !s->warps ? split_names(kernels, names) : 0;
  char list[600];
  if (!n)
    return false;
  cli_list_near(regex, names, n, list, sizeof list);
  message_say("%s: '--kernels %s' matches none of the kernels that ran: %s", what, regex, list);
  return true;
}

/* What a filter let nothing through of; false: there is none. */
static bool tell_filter(const record_plan *plan, const char *what) {
  const record_settings *s = plan->settings;
  if (!s->kernels && !s->blocks && !s->warps)
    return false;
  message_say("%s: no kernel with PROF_KERNEL that ran passed the filter%s%s%s%s%s%s; record without the "
              "filter, and 'inkmark info' lists the kernels that run, with their blocks and threads",
              what, s->kernels ? " --kernels " : "", s->kernels ? s->kernels : "",
              s->blocks ? " --blocks " : "", s->blocks ? s->blocks : "",
              s->warps ? " --warps " : "", s->warps ? s->warps : "");
  return true;
}

/* A window in which nothing was recorded; false: none was asked for. */
static bool tell_window(const record_plan *plan, const char *what) {
  const record_settings *s = plan->settings;
  const struct {
    const char *option, *value;
  } asked[] = {{"--launches", s->launches}, {"--range", s->range}, {"--schedule", s->schedule},
               {"--on-start", s->on_start == ON_START_OFF ? "off" : NULL}, {"--delay", s->delay},
               {"--duration", s->duration}};
  char window[300] = "";
  size_t at = 0;
  for (size_t i = 0; i < sizeof asked / sizeof *asked && at < sizeof window; i++)
    if (asked[i].value)
      at += (size_t)snprintf(window + at, sizeof window - at, "%s%s %s", at ? " " : "", asked[i].option, asked[i].value);
  if (at)
    message_say("%s: no kernel with PROF_KERNEL ran in the window (%s)%s", what, window,
                s->kernels || s->blocks || s->warps ? " and passed the filter" : "");
  return at;
}

static void why_nothing_written(const record_plan *plan, int code, char *kernels) {
  const elf_probe *probe = &plan->probe;
  const char *program = plan->program;
  if (record_why_unreached(plan) || record_why_cut(plan))
    return;
  if (plan->ended_by)
    message_say("nothing was recorded: '%s' was ended by signal %d (%s) before a kernel with PROF_KERNEL had ended",
                program, plan->ended_by, strsignal(plan->ended_by));
  else if (code)
    message_say("nothing was recorded: '%s' ended with exit code %d", program, code);
  else if (tell_passed(plan, "nothing was recorded", kernels) ||
           (!probe->marks && record_why_modules(plan, "nothing was recorded")))
    return;
  else if (!probe->elf)
    message_say("nothing was recorded: '%s' is a script, and no program that it ran has marks and wrote a "
                "capture; a program that it ran without the environment (env -i, sudo) or in a container is "
                "not recorded",
                program);
  else if (!probe->marks && probe->device_code)
    message_say("nothing was recorded: '%s' has kernels but no marks (it includes no "
                "inkmark/mark.cuh, or was built with INKMARK_DISABLE)",
                program);
  else if (!probe->marks)
    message_say("nothing was recorded: '%s' has no marks, and no library that it loaded has any; a "
                "program that it ran without the environment (env -i, sudo) or in a container is "
                "not recorded",
                program);
  else if (!tell_window(plan, "nothing was recorded") && !tell_filter(plan, "nothing was recorded"))
    message_say("nothing was recorded: '%s' has marks, but no kernel with PROF_KERNEL ran, or no "
                "CUDA device was usable",
                program);
}

static void why_no_tracks(const record_plan *plan, int code, char *kernels) {
  if (code > 128)
    message_say(
        "no track was recorded: when '%s' ended, no kernel with PROF_KERNEL had ended or had run for two "
        "drains ('--drain-ms')",
        plan->program);
  else if (!tell_passed(plan, "no track was recorded", kernels) && !tell_window(plan, "no track was recorded") &&
           !tell_filter(plan, "no track was recorded") && !record_why_modules(plan, "no track was recorded"))
    message_say("no track was recorded: no kernel with PROF_KERNEL ran");
}

/* What a recorded process says besides its end, in lines "PID WORD TEXT"; false: something else. */
static bool tell_remark(const char *line, char *kernels) {
  long pid;
  int text = 0;
  if (sscanf(line, "%ld activity %n", &pid, &text) == 1 && text)
    message_say("the activity of process %ld was not recorded: %s", pid, line + text);
  else if ((text = 0, sscanf(line, "%ld stalls %n", &pid, &text)) == 1 && text)
    message_say("why warps waited was not sampled in process %ld: %s", pid, line + text);
  else if ((text = 0, sscanf(line, "%ld remark %n", &pid, &text)) == 1 && text)
    message_say("process %ld: %s", pid, line + text);
  else if ((text = 0, sscanf(line, "%ld modules %n", &pid, &text)) == 1 && text)
    return true; /* said where nothing was recorded */
  else if ((text = 0, sscanf(line, "%ld kernels %n", &pid, &text)) == 1 && text)
    snprintf(kernels + strlen(kernels), KERNELS_BYTES - strlen(kernels), "%s\n", line + text);
  else
    return false;
  return true;
}

/* The same of the same process: each module that comes is one more attempt to arm. */
static bool is_told(const record_plan *plan, size_t at) {
  enum { LOOKED_BACK = 64 };
  for (size_t i = at > LOOKED_BACK ? at - LOOKED_BACK : 0; i < at; i++)
    if (!strcmp(plan->lines[i], plan->lines[at]))
      return true;
  return false;
}

/* Says what the writer told, but what was written, which the files tell; how many failures. */
static size_t tell_lines(const record_plan *plan, char *kernels, size_t *running) {
  size_t told = 0;
  for (size_t i = 0; i < plan->line_count; i++) {
    const char *line = plan->lines[i];
    long pid;
    int text = 0;
    if (is_told(plan, i) || tell_remark(line, kernels))
      continue;
    if (sscanf(line, "%ld runs %n", &pid, &text) == 1 && text && ++*running <= FILES_TOLD)
      message_say("process %ld goes on; its recording is written%s%s%s", pid,
                  line[text] ? " to '" : "", short_path(line + text), line[text] ? "'" : "");
    text = 0;
    if (sscanf(line, "%ld failed %n", &pid, &text) == 1 && text && ++told <= FILES_TOLD)
      message_say("process %ld was not recorded as asked: %s%s", pid, line + text,
                  !plan->settings->flight && strstr(line + text, "cannot read its counters")
                      ? "; 'inkmark record --flight' keeps what was recorded before a fault"
                      : "");
  }
  return told;
}

/* Captures by the template; where it makes one name only, also those with a process's id behind it.
 */
static int glob_captures(const record_plan *plan, const char *pattern, glob_t *found) {
  char *more = NULL;
  int code = glob(pattern, 0, NULL, found);
  if (strchr(plan->output, '%') || asprintf(&more, "%s.[0-9]*", pattern) < 0)
    return code;
  const int others = glob(more, code ? 0 : GLOB_APPEND, NULL, found);
  free(more);
  return code && others;
}

static bool is_among(const glob_t *found, const char *path) {
  for (size_t i = 0; i < found->gl_pathc; i++)
    if (!strcmp(found->gl_pathv[i], path))
      return true;
  return false;
}

/* What was written beside the names of the template, or to no file; how many captures. */
static size_t tell_others(const record_plan *plan, const glob_t *found, telling *sum) {
  size_t others = 0;
  for (size_t i = 0; i < plan->line_count; i++) {
    const char *line = plan->lines[i];
    long pid;
    int text = 0;
    struct stat status;
    if (sscanf(line, "%ld wrote %n", &pid, &text) != 1 || !text)
      continue;
    if (stat(line + text, &status) || S_ISREG(status.st_mode)) {
      if (is_among(found, line + text))
        continue;
      if (++others <= FILES_TOLD)
        tell(plan, line + text, sum);
    } else {
      if (S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3)) /* null(4) */
        message_say("nothing was kept: '-o %s' throws the capture away", line + text);
      else
        message_say("the recording of process %ld went to '%s', which is no file: it cannot be read again",
                    pid, short_path(line + text));
      sum->files++;
      sum->explained = true;
    }
  }
  return others;
}

void record_outcome(const record_plan *plan, int code) {
  char kernels[KERNELS_BYTES] = ""; /* that ran, and that --kernels left out: lines "TABLE::NAME, TABLE::NAME" */
  size_t running = 0, failures = tell_lines(plan, kernels, &running);
  glob_t found = {0};
  char *pattern = pattern_of(plan->output);
  size_t files = 0;
  telling sum = {0};
  bool stale = false; /* a file of that very name is there, of an earlier run */
  if (pattern && !glob_captures(plan, pattern, &found)) {
    for (size_t i = 0; i < found.gl_pathc; i++) {
      bool is_file;
      if (!is_new(found.gl_pathv[i], &plan->begin, 0.02, &is_file)) {
        stale |= is_file && !strcmp(plan->output, found.gl_pathv[i]);
        continue;
      }
      if (++files <= FILES_TOLD)
        tell(plan, found.gl_pathv[i], &sum);
    }
  }
  files += tell_others(plan, &found, &sum);
  if (files > FILES_TOLD)
    message_say("and %zu more capture%s", files - FILES_TOLD, number_plural((uint64_t)(files - FILES_TOLD)));
  if (sum.files > 1 && !strchr(plan->output, '%'))
    message_say("several processes recorded: '-o %s.%%p' names all captures alike",
                short_path(plan->output));
  if (!sum.files && !failures && !running)
    why_nothing_written(plan, code, kernels);
  else if (sum.files && !sum.tracks && files <= FILES_TOLD && !failures && !sum.explained)
    why_no_tracks(plan, code, kernels);
  if (stale)
    message_say("'%s' is of an earlier run; nothing was written to it", short_path(plan->output));
  globfree(&found);
  free(pattern);
}
