/* SPDX-License-Identifier: MIT */
/* Which kernels get fewer marks, and how many levels fewer: the verdicts of the guard, in the order in which marks go. */
#include "nvcc_guard.h"

#include "text_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_saved = 12 }; /* registers: if a kernel with all marks takes more beyond its bound, the bound makes it spill as a rule */

bool guard_raise_to(guard_verdicts *verdicts, const char *name, ink_guard_level level, unsigned registers, const char *why) {
  for (size_t i = 0; i < verdicts->count; i++)
    if (!strcmp(verdicts->items[i].kernel, name)) {
      ink_guarded *one = &verdicts->items[i];
      if (one->level < level)
        one->level = level;
      if (registers && (!one->registers || registers < one->registers))
        one->registers = registers;
      one->skipped = false;
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
  verdicts->items[verdicts->count] = (ink_guarded){kernel, level, registers, false};
  verdicts->reasons[verdicts->count++] = reason;
  return true;
}

static ink_guarded verdict_of(const guard_verdicts *verdicts, const char *name) {
  for (size_t i = 0; i < verdicts->count; i++)
    if (!strcmp(verdicts->items[i].kernel, name))
      return verdicts->items[i];
  return (ink_guarded){name, INK_GUARD_ALL, 0, false};
}

/* What nothing is measured behind but, at most, the output. What spills within its bound has its track alone. */
static ink_guard_level last_level(ink_guarded at, guard_step step, const counts *plain, const kernel_counts *marked) {
  if (step == GUARD_NO_MORE || at.level >= INK_GUARD_TRACK || !counts_has_room(plain, marked))
    return INK_GUARD_NONE;
  return at.level < INK_GUARD_APART && !(at.registers && marked->spilled) ? INK_GUARD_APART : INK_GUARD_TRACK;
}

/* What is tried next. If a kernel takes some registers too many and nothing else is wrong, the compiler may do with fewer. A
 * kernel that spills without marks has no register for one: it skips what needs some. So three steps at most are measured,
 * and what comes behind them is none. */
static ink_guard_level next_level(ink_guarded at, const kernel_counts *plain, const kernel_counts *marked, unsigned registers) {
  const bool full = plain && plain->spilled;
  if (at.level == INK_GUARD_ALL && registers && !at.registers && marked->registers <= registers + most_saved)
    return INK_GUARD_ALL;
  if (at.level == INK_GUARD_ALL)
    return full ? INK_GUARD_APART : INK_GUARD_OUTSIDE;
  return at.level == INK_GUARD_APART && !full ? INK_GUARD_NONE : at.level + 1;
}

/* An instance of the kernel takes more than this without marks. */
static bool is_more_plain(const counts *plain, const char *name, unsigned registers) {
  for (size_t i = 0; i < plain->count; i++) {
    char *other = plain->items[i].registers > registers ? counts_kernel_name(plain->items[i].entry) : NULL;
    const bool more = other && !strcmp(other, name);
    free(other);
    if (more)
      return true;
  }
  return false;
}

bool guard_raise(const counts *plain, const counts *marked, guard_step step, guard_verdicts *verdicts, bool *settled) {
  guard_verdicts before = {0}; /* several instances raise their kernel once */
  bool more = false, fine = true;
  *settled = true;
  for (size_t i = 0; i < verdicts->count && fine; i++)
    fine = guard_raise_to(&before, verdicts->items[i].kernel, verdicts->items[i].level, verdicts->items[i].registers, "");
  for (size_t i = 0; i < verdicts->count; i++)
    verdicts->items[i].skipped = true;
  for (size_t i = 0; i < marked->count && fine; i++) {
    char why[160], *name = counts_kernel_name(marked->items[i].entry);
    const ink_guarded at = name ? verdict_of(&before, name) : (ink_guarded){NULL, INK_GUARD_NONE, 0, false};
    const kernel_counts *one = &marked->items[i];
    if (at.level < INK_GUARD_NONE && (counts_judge(plain, marked, one, why, sizeof why) ||
                                      (at.level < INK_GUARD_APART && counts_crowds(plain, marked, one, why, sizeof why)))) {
      const kernel_counts *was = counts_find(plain, one->entry, one->target);
      unsigned most = counts_most_registers(plain, marked, one);
      if (most && is_more_plain(plain, name, most))
        most = 0;
      const ink_guard_level next = step == GUARD_STEP ? next_level(at, was, one, most) : last_level(at, step, plain, one);
      more |= fine = guard_raise_to(verdicts, name, next, most, why);
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
  const bool more = name && verdict_of(verdicts, name).level < INK_GUARD_NONE &&
                    guard_raise_to(verdicts, name, INK_GUARD_NONE, 0, why);
  free(name);
  return more;
}

bool guard_raised_few(const counts *plain, const counts *marked, const guard_verdicts *verdicts) {
  unsigned long all = 0, raised = 0;
  for (size_t i = 0; i < marked->count; i++) {
    const kernel_counts *one = &marked->items[i];
    const bool own = !*one->target && counts_find(plain, one->entry, ""); /* not a kernel of our headers */
    char *name = own ? counts_kernel_name(one->entry) : NULL;
    const ink_guarded at = name ? verdict_of(verdicts, name) : (ink_guarded){NULL, INK_GUARD_ALL, 0, true};
    const unsigned instructions = name ? one->instructions : 0;
    all += instructions;
    raised += !at.skipped && (at.level || at.registers) ? instructions : 0;
    free(name);
  }
  return 2 * raised < all;
}

bool guard_skip(const counts *marked, guard_verdicts *verdicts) {
  bool fine = true;
  for (size_t i = 0, known; i < marked->count && fine; i++) {
    char *name = counts_kernel_name(marked->items[i].entry);
    for (known = 0; name && known < verdicts->count && strcmp(verdicts->items[known].kernel, name); known++)
      ;
    if (name && known == verdicts->count) {
      fine = guard_raise_to(verdicts, name, INK_GUARD_ALL, 0, "");
      if (fine)
        verdicts->items[known].skipped = true;
    }
    free(name);
  }
  return fine;
}

void guard_skip_none(guard_verdicts *verdicts) {
  size_t kept = 0;
  for (size_t i = 0; i < verdicts->count; i++) {
    ink_guarded *one = &verdicts->items[i];
    one->skipped = false;
    if (one->level || one->registers) {
      verdicts->reasons[kept] = verdicts->reasons[i];
      verdicts->items[kept++] = *one;
    } else { /* all of it is as the rules want it */
      free((char *)one->kernel);
      free(verdicts->reasons[i]);
    }
  }
  verdicts->count = kept;
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
  static const char *const levels[] = {" has all marks", " has no marks in loops but waits",
                                       " has no marks in loops, and those outside take no registers", " keeps its track alone", " has no marks"};
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  if (!to)
    return NULL;
  for (size_t i = 0; i < verdicts->count; i++) {
    const ink_guarded *one = &verdicts->items[i];
    fputs(i ? ", " : "; guard: ", to);
    text_print(to, "'%s'%s", one->kernel, fixed ? levels[one->level] : "");
    if (fixed && one->registers && one->level < INK_GUARD_NONE)
      text_print(to, ", and %u registers at most", one->registers);
    text_print(to, ": %s", verdicts->reasons[i]);
  }
  return fclose(to) ? free(text), NULL : text;
}
