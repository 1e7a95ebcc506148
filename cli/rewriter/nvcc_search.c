/* SPDX-License-Identifier: MIT */
/* The guard: a source's kernels with and without marks, and what goes where marks harm. */
#include "nvcc_front.h"

#include "hash.h"
#include "message.h"
#include "nvcc_overlay.h"
#include "nvcc_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Measures by the very call that makes the output: if nothing harms, it is made. Worth it where the device code takes long. */
static int measure_whole(front_call *front, const char *folder, counts *out) {
  word_list call = {0};
  const char *const own[] = {"--keep", "--keep-dir", folder};
  bool fine = true;
  int code = -1;
  free(front->compiled);
  front->compiled = NULL;
  for (size_t i = 0; i < front->marked.count && fine; i++)
    fine = word_add(&call, front->marked.items[i]);
  for (size_t i = 0; i < sizeof own / sizeof *own && fine; i++)
    fine = word_add(&call, own[i]);
  overlay_remove(folder);
  if (fine && !mkdir(folder, 0700))
    code = front_run_marked(front, &call, &front->compiled, out);
  front_fix_dependencies(front);
  if (!code && !counts_read_ptx(out, folder))
    code = -1;
  overlay_remove(folder);
  word_free(&call);
  return code;
}

/* What is not a file of its own, such as /dev/null or a link, is never taken away. */
static bool may_take_away(const char *path) {
  struct stat status;
  return lstat(path, &status) ? errno == ENOENT : S_ISREG(status.st_mode);
}

/* Processor seconds of all that has ended below this process. */
static double seconds_used(void) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static double seconds_that_are_long(void) {
  const double usual = 1.5; /* a host part takes 1 to 1.5 s as a rule, and is made again where marks go */
  const char *text = getenv("INKMARK_GUARD_SECONDS");
  char *end;
  if (!text || !*text)
    return usual;
  const double seconds = strtod(text, &end);
  if (!*end && seconds >= 0)
    return seconds;
  message_say("INKMARK_GUARD_SECONDS is '%s', which is no number of seconds: %g is taken", text, usual);
  return usual;
}

/* What is compiled was with too many marks: nobody shall find it, whatever ends this process now. */
static void take_away(front_call *front, bool made) {
  free(front->compiled);
  front->compiled = NULL;
  if (made)
    unlink(front->args.output);
}

/* The output is made, and measured once more: no kernel was compiled with all the others in the last steps. What it shows to be
 * worse has no marks then. *measured: it was. False: there is no marked text. */
static bool confirm(front_call *front, const char *source, const char *folder, const counts *plain, bool *measured) {
  counts marked = {0};
  bool settled;
  const int code = measure_whole(front, folder, &marked);
  const bool more = code > 0 ? guard_refuse(&marked, &front->verdicts)
                             : !code && guard_raise(plain, &marked, GUARD_NO_MORE, &front->verdicts, &settled);
  guard_skip_none(&front->verdicts);
  if (code || more)
    take_away(front, !code);
  counts_free(&marked);
  *measured = !code;
  return !more || front_mark_again(front, source);
}

/* Compiles the device code plain, then marked, with fewer and fewer marks until none harm; at most four times. The output is one
 * more compile, and a second one if its measure shows harm. Behind the first marked step only the kernels that had too many marks
 * are compiled, if the output can be measured at the end.
 * What ptxas refuses with marks loses those of the kernel that it names. *found: the verdicts are those of all steps. False: there is no
 * marked text. */
static bool guard_search(front_call *front, const char *source, bool *found) {
  enum { ROUNDS = 3 };
  const size_t named = front->compiler.count;
  word_list plain_words = {0};
  const bool fix = front->settings.rules.guard == GUARD_FIX;
  counts plain = {0};
  char folder[PATH_MAX];
  bool fine = snprintf(folder, sizeof folder, "%s/.guard", front->folder) < (int)sizeof folder;
  for (size_t i = named; i < front->original.count && fine; i++)
    fine = word_add(&plain_words, front->original.items[i]);
  fine = fine && word_add(&plain_words, "-isystem") && word_add(&plain_words, front->device); /* for marks by hand */
  const double before = seconds_used();
  int code = fine ? guard_measure(front_compiler(front), &plain_words, folder, &plain) : -1;
  const bool confirms = fix && front_is_measured(front) && may_take_away(front->args.output);
  bool whole = confirms && seconds_used() - before >= seconds_that_are_long(), alone = false, unsure = false;
  for (int round = 0; !code && fine && front->marks && round < ROUNDS && !*nvcc_caught(); round++) {
    const bool last = round + 1 == ROUNDS;
    const guard_step step = !last ? GUARD_STEP : confirms ? GUARD_LAST : GUARD_NO_MORE;
    const word_list words = {front->marked.items + named, front->marked.count - named, 0};
    counts marked = {0};
    code = whole ? measure_whole(front, folder, &marked) : guard_measure(front_compiler(front), &words, folder, &marked);
    bool settled = false;
    const bool more = code > 0 ? guard_refuse(&marked, &front->verdicts)
                               : !code && guard_raise(&plain, &marked, step, &front->verdicts, &settled);
    if (!more || !fix) {
      counts_free(&marked);
      break;
    }
    take_away(front, whole);
    unsure |= alone || (last && !settled);
    /* where the output itself was measured, a step alone is a compile more */
    alone = confirms && !code && !last && !settled && (!whole || guard_raised_few(&plain, &marked, &front->verdicts));
    whole = whole && !alone;
    if (!alone)
      guard_skip_none(&front->verdicts);
    else
      fine = guard_skip(&marked, &front->verdicts);
    counts_free(&marked);
    code = 0;
    fine = fine && front_mark_again(front, source);
    if (settled)
      break;
  }
  guard_skip_none(&front->verdicts);
  if (fine && alone) { /* also where that step failed: a text that skips kernels is never the output's */
    fine = front_mark_again(front, source);
    code = 0;
  }
  bool measured = true;
  if (code || !fine)
    take_away(front, false);
  else if ((alone || unsure) && front->marks && !*nvcc_caught())
    fine = confirm(front, source, folder, &plain, &measured);
  counts_free(&plain);
  word_free(&plain_words);
  *found = fine && !code && measured;
  return fine;
}

bool front_guard(front_call *front) {
  if (front->settings.rules.guard == GUARD_OFF || front->args.source_count != 1 || !front->marks || front->refused)
    return true;
  const uint64_t hash = hash_on(front->hash, &front->settings.rules.guard, sizeof front->settings.rules.guard);
  char *source = strdup(front->named_source);
  bool fine = source != NULL, found = false;
  if (fine && guard_recall(hash, &front->verdicts)) {
    if (front->verdicts.count && front->settings.rules.guard == GUARD_FIX)
      fine = front_mark_again(front, source);
  } else {
    fine = fine && guard_search(front, source, &found);
    if (found && !*nvcc_caught())
      guard_remember(hash, &front->verdicts);
  }
  char *text = guard_text(&front->verdicts, front->settings.rules.guard == GUARD_FIX), *whole = NULL;
  if (text && front->said.count && asprintf(&whole, "%s%s", front->said.items[0], text) >= 0) {
    free(front->said.items[0]);
    front->said.items[0] = whole;
  }
  free(text);
  free(source);
  return fine;
}
