/* SPDX-License-Identifier: MIT */
/* Runs one kind: its program as built with and without marks, whose bits must be the same, and then
 * recorded in every way that the kind asks for, each recording held against model and log. */
#include "truth_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

typedef struct places {
  const char *inkmark, *programs, *work, *simulator;
  const truth_kind *kind;
} places;

static const char *current_kind = "?", *current_run = "";
static unsigned long checks, failures;

void truth_count(void) {
  checks++;
}

void truth_fail(const char *format, ...) {
  if (++failures > 20)
    return;
  fprintf(stderr, "%s, %s: ", current_kind, current_run);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

static void path_of(const places *p, char out[PATH_BYTES], const char *name) {
  snprintf(out, PATH_BYTES, "%s/%s.%s", p->work, p->kind->name, name);
}

/* ---- programs ------------------------------------------------------------------------------ */

static void set_pair(const char *pair) {
  char name[256];
  const size_t length = strcspn(pair, "=");
  snprintf(name, sizeof name, "%.*s", (int)length, pair);
  setenv(name, pair + length + (pair[length] == '='), 1);
}

/* Runs argv with its output in `out`; true when it exits with 0, else says why not. */
static bool run_program(char *const *argv, const char *const *environment, const char *out) {
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    char complaints[PATH_BYTES];
    snprintf(complaints, sizeof complaints, "%s.err", out);
    const int errors = open(complaints, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || errors < 0 || dup2(file, 1) < 0 || dup2(errors, 2) < 0)
      _exit(125);
    for (size_t i = 0; environment[i]; i++)
      set_pair(environment[i]);
    execv(argv[0], argv);
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  truth_count();
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return true;
  truth_fail("'%s' ended with status %#x, see '%s' and '%s.err'", argv[0], (unsigned)status, out,
             out);
  return false;
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "re");
  char *text = calloc(1, 1 << 20);
  if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
    truth_fail("nothing to read in '%s'", path);
    free(text);
    text = NULL;
  }
  if (file)
    fclose(file);
  return text;
}

/* The program built as `variant`, run without recording; its output, which holds the results' bits.
 */
static char *run_plain(const places *p, const char *variant) {
  char program[PATH_BYTES], out[PATH_BYTES], library[PATH_BYTES], name[64];
  snprintf(program, sizeof program, "%s/%s%s", p->programs, p->kind->name, variant);
  snprintf(name, sizeof name, "plain%s.out", variant);
  path_of(p, out, name);
  snprintf(library, sizeof library, "LD_LIBRARY_PATH=%s", p->simulator);
  char *const argv[] = {program, NULL};
  const char *const environment[] = {library, NULL};
  return run_program(argv, environment, out) ? read_text(out) : NULL;
}

static void compare_text(const char *a, const char *b, const char *what) {
  truth_count();
  if (a && b && strcmp(a, b) != 0)
    truth_fail("%s", what);
}

/* Marks change no bits. Returns what the marked program prints. */
static char *check_bits(const places *p) {
  current_run = "bits";
  char *marked = run_plain(p, ""), *off = run_plain(p, "_off");
  char *exact = run_plain(p, "_exact"), *exact_off = run_plain(p, "_exact_off");
  compare_text(exact, exact_off, "with -fmad=false, marks change the results' bits");
  if (!p->kind->holds)
    compare_text(marked, off, "marks without values change the results' bits");
  free(off);
  free(exact);
  free(exact_off);
  return marked;
}

/* ---- recordings ---------------------------------------------------------------------------- */

/* An option and its value, unless it has none. */
static size_t add(char **argv, size_t n, const char *option, const char *value) {
  if (!value)
    return n;
  argv[n++] = (char *)(uintptr_t)option;
  argv[n++] = (char *)(uintptr_t)value;
  return n;
}

/* inkmark record's arguments for a run, the program last. */
static void arguments_of(const places *p, const truth_run *run, const char *capture,
                         const char *program, char **argv) {
  static char records[16], tracks[16];
  snprintf(records, sizeof records, "%u", (unsigned)truth_records(run));
  snprintf(tracks, sizeof tracks, "%u", (unsigned)truth_tracks(run));
  size_t n = add(argv, 0, p->inkmark, "record");
  n = add(argv, n, "--device", "sim");
  /* at the end only: what is kept then does not depend on real time */
  n = add(argv, n, "--drain-ms", "3600000");
  n = add(argv, n, "-o", capture);
  n = add(argv, n, "--records-per-track", records);
  n = add(argv, n, "--tracks", tracks);
  n = add(argv, n, "--granularity", run->per_warp ? "warp" : NULL);
  n = add(argv, n, "--keep", run->keep_first ? "first" : NULL);
  n = add(argv, n, "--kernels", run->kernels);
  n = add(argv, n, "--blocks", run->blocks ? run->blocks : "all"); /* what is lost is counted, too */
  n = add(argv, n, "--warps", run->warps);
  n = add(argv, n, "--", program);
  argv[n] = NULL;
}

/* A kernel of the session's own: it reads clocks too, but opens no track of the program. */
static bool is_own(const truth_log *log, uint64_t grid) {
  for (size_t i = 0; i < log->grid_count; i++)
    if (log->grids[i].grid == grid)
      return strstr(log->grids[i].function, "clock_kernel") ||
             strstr(log->grids[i].function, "mark_cost_kernel");
  return false;
}

/* The skew at which SM 1's clock passes 2^48 in the middle of the track that it ran longest, from
 * the log of a run with no skew to speak of. */
static uint64_t wrapping_skew(const truth_log *log) {
  uint64_t longest = 0, middle = 0;
  for (size_t i = 0, j; i < log->read_count; i = j) {
    for (j = i + 1; j < log->read_count && log->reads[j].thread == log->reads[i].thread &&
                    log->reads[j].grid == log->reads[i].grid &&
                    memcmp(log->reads[j].block, log->reads[i].block, 12) == 0;)
      j++;
    const uint64_t length = log->reads[j - 1].value - log->reads[i].value;
    if (log->reads[i].sm != 1 || length <= longest || is_own(log, log->reads[i].grid))
      continue;
    longest = length;
    middle = log->reads[i].value + length / 2 - log->sm_start[1];
  }
  return (1ull << 48) - middle;
}

static bool same_time(const truth_log *log) {
  for (size_t i = 0; i < log->grid_count; i++)
    for (size_t j = 0; j < i; j++)
      if (log->grids[i].device == log->grids[j].device &&
          log->grids[i].begin_ns < log->grids[j].end_ns &&
          log->grids[j].begin_ns < log->grids[i].end_ns)
        return true;
  return false;
}

/* Records the program as `run` says; true when there is something to check. */
static bool record(const places *p, const truth_run *run, const char *skew, const char *capture,
                   const char *log_path, const char *marked) {
  char program[PATH_BYTES], out[PATH_BYTES], log[PATH_BYTES], library[PATH_BYTES],
      output[PATH_BYTES];
  char *argv[32];
  const char *environment[10];
  size_t n = 0;
  snprintf(program, sizeof program, "%s/%s", p->programs, p->kind->name);
  path_of(p, out, "out");
  snprintf(log, sizeof log, "INKMARK_SIM_LOG=%s", log_path);
  environment[n++] = log;
  for (size_t i = 0; i < 4 && run->environment[i]; i++)
    environment[n++] = run->environment[i];
  if (skew)
    environment[n++] = skew;
  if (p->kind->own_session) {
    snprintf(library, sizeof library, "LD_LIBRARY_PATH=%s", p->simulator);
    snprintf(output, sizeof output, "INKMARK_TRUTH_OUTPUT=%s", capture);
    environment[n++] = library;
    environment[n++] = output;
    argv[0] = program;
    argv[1] = NULL;
  } else {
    arguments_of(p, run, capture, program, argv);
  }
  environment[n] = NULL;
  unlink(capture);
  unlink(log_path);
  if (!run_program(argv, environment, out))
    return false;
  char *text = read_text(out);
  compare_text(text, marked, "recording changes the results' bits");
  free(text);
  return true;
}

static void check_run(const places *p, const truth_run *run, const char *marked, bool first) {
  char capture[PATH_BYTES], log_path[PATH_BYTES], skew[64];
  truth_log log;
  current_run = run->name;
  path_of(p, capture, "ink");
  path_of(p, log_path, "log");
  if (run->wraps) {
    if (!record(p, run, "INKMARK_SIM_SKEW_CYCLES=1", capture, log_path, marked) ||
        !truth_log_read(log_path, &log))
      return;
    snprintf(skew, sizeof skew, "INKMARK_SIM_SKEW_CYCLES=%llu",
             (unsigned long long)wrapping_skew(&log));
    truth_log_free(&log);
  }
  if (!record(p, run, run->wraps ? skew : NULL, capture, log_path, marked))
    return;
  if (!truth_log_read(log_path, &log)) {
    truth_fail("the log cannot be read");
    return;
  }
  truth_check(p->kind, run, &log, capture);
  truth_count();
  if (p->kind->overlaps && !same_time(&log))
    truth_fail("no two grids ran at the same time: the kind shows nothing");
  if (first && p->kind->extra && !p->kind->extra(&log))
    truth_fail("the kind's own check failed");
  truth_log_free(&log);
}

int truth_main(int argc, char **argv, const truth_kind *kind) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s INKMARK PROGRAMS WORK SIMULATOR\n", argv[0]);
    return 2;
  }
  const places p = {argv[1], argv[2], argv[3], argv[4], kind};
  current_kind = kind->name;
  mkdir(p.work, 0777);
  char *marked = check_bits(&p);
  for (size_t i = 0; marked && i < kind->run_count; i++) {
    const unsigned long before = checks;
    check_run(&p, &kind->runs[i], marked, i == 0);
    printf("%s, %s: %lu checks\n", kind->name, kind->runs[i].name, checks - before);
  }
  free(marked);
  printf("%s: %lu checks, %lu failed\n", kind->name, checks, failures);
  return failures || !checks;
}
