/* SPDX-License-Identifier: MIT */
/* Which kernels get fewer marks, and how many levels fewer: the verdicts of the guard, in the order in which marks go. */
#include "nvcc_guard.h"

#include "text_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool guard_raise_to(guard_verdicts *verdicts, const char *name, ink_guard_level level, const char *why) {
  for (size_t i = 0; i < verdicts->count; i++)
    if (!strcmp(verdicts->items[i].kernel, name)) {
      if (verdicts->items[i].level < level)
        verdicts->items[i].level = level;
      return true;
    }
  ink_guarded *items = realloc(verdicts->items, (verdicts->count + 1) * sizeof *items);
  verdicts->items = items ? items : verdicts->items;
  char **reasons = realloc(verdicts->reasons, (verdicts->count + 1) * sizeof *reasons);
  verdicts->reasons = reasons ? reasons : verdicts->reasons;
  char *kernel = strdup(name), *reason = strdup(why);
  if (!items || !reasons || !kernel || !reason) {
    free(kernel);
    free(reason);
    return false;
  }
  verdicts->items[verdicts->count] = (ink_guarded){kernel, level};
  verdicts->reasons[verdicts->count++] = reason;
  return true;
}

static ink_guard_level level_of(const guard_verdicts *verdicts, const char *name) {
  for (size_t i = 0; i < verdicts->count; i++)
    if (!strcmp(verdicts->items[i].kernel, name))
      return verdicts->items[i].level;
  return INK_GUARD_ALL;
}

/* A kernel that spills without marks has no register for one: it skips what needs some. So three levels at most are
 * measured, and what comes behind them is none. */
static ink_guard_level next_level(ink_guard_level level, const kernel_counts *plain) {
  const bool full = plain && plain->spilled;
  if (level == INK_GUARD_ALL)
    return full ? INK_GUARD_APART : INK_GUARD_OUTSIDE;
  return level == INK_GUARD_APART && !full ? INK_GUARD_NONE : level + 1;
}

bool guard_raise(const counts *plain, const counts *marked, bool last, guard_verdicts *verdicts, bool *settled) {
  guard_verdicts before = {0}; /* several instances raise their kernel once */
  bool more = false, fine = true;
  *settled = true;
  for (size_t i = 0; i < verdicts->count && fine; i++)
    fine = guard_raise_to(&before, verdicts->items[i].kernel, verdicts->items[i].level, "");
  for (size_t i = 0; i < marked->count && fine; i++) {
    char why[160], *name = counts_kernel_name(marked->items[i].entry);
    const ink_guard_level level = name ? level_of(&before, name) : INK_GUARD_NONE;
    const kernel_counts *one = &marked->items[i];
    if (level < INK_GUARD_NONE && (counts_judge(plain, marked, one, why, sizeof why) ||
                                   (level < INK_GUARD_APART && counts_crowds(plain, marked, one, why, sizeof why)))) {
      const kernel_counts *was = counts_find(plain, one->entry, one->target);
      const ink_guard_level next = last ? INK_GUARD_NONE : next_level(level, was);
      more |= fine = guard_raise_to(verdicts, name, next, why);
      *settled &= next == INK_GUARD_NONE;
    }
    free(name);
  }
  guard_free(&before);
  return more && fine;
}

bool guard_refuse(const counts *marked, guard_verdicts *verdicts) {
  char why[400], *name = marked->failed ? counts_kernel_name(marked->failed) : NULL;
  snprintf(why, sizeof why, "ptxas says: %s", marked->words ? marked->words : "");
  const bool more = name && level_of(verdicts, name) < INK_GUARD_NONE &&
                    guard_raise_to(verdicts, name, INK_GUARD_NONE, why);
  free(name);
  return more;
}

void guard_free(guard_verdicts *verdicts) {
  for (size_t i = 0; i < verdicts->count; i++) {
    free((char *)verdicts->items[i].kernel);
    free(verdicts->reasons[i]);
  }
  free(verdicts->items);
  free(verdicts->reasons);
  *verdicts = (guard_verdicts){0};
}

char *guard_text(const guard_verdicts *verdicts, bool fixed) {
  static const char *const levels[] = {"", " has no marks in loops but waits",
                                       " has no marks in loops, and those outside take no registers", " keeps its track alone", " has no marks"};
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  if (!to)
    return NULL;
  for (size_t i = 0; i < verdicts->count; i++) {
    const ink_guarded *one = &verdicts->items[i];
    fputs(i ? ", " : "; guard: ", to);
    text_print(to, "'%s'%s: %s", one->kernel, fixed ? levels[one->level] : "", verdicts->reasons[i]);
  }
  return fclose(to) ? free(text), NULL : text;
}
