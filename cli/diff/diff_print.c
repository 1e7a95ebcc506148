/* SPDX-License-Identifier: MIT */
/* A comparison for people: text, and Markdown for a pull request. */
#include "diff.h"

#include "grid.h"
#include "message.h"
#include "text_out.h"

#include "inkmark/activity.h"
#include "inkmark/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *diff_word(enum diff_verdict verdict) {
  static const char *const words[] = {"same",      "slower",         "faster",  "too few samples",
                                      "too short", "other blocks", "only in base", "only in new"};
  return words[verdict];
}

void diff_assumption(const diff_result *result, char *text, size_t bytes) {
  const bool by_run = result->by_run;
  const size_t runs = result->base.runs + result->now.runs;
  snprintf(text, bytes,
           "%s taken for independent samples%s; level %g %% over %zu comparison%s (permutation test, Holm), intervals "
           "of %g %% by bootstrap for each alone",
           by_run ? "runs are" : "launches are",
           by_run     ? ", each by its median launch"
           : runs > 2 ? ", whichever run they are of"
                      : "; what differs from run to run is not seen in one run a side",
           result->settings->level * 100, result->tested, result->tested == 1 ? "" : "s",
           100 - result->settings->level * 100);
}

static const diff_series *any(const diff_row *row) { return row->base ? row->base : row->now; }

static bool same_part(const diff_row *a, const diff_row *b) {
  const diff_series *x = any(a), *y = any(b);
  return x->device == y->device && !strcmp(x->kernel, y->kernel) &&
         (x->instance && y->instance ? !strcmp(x->instance, y->instance) : x->instance == y->instance);
}

static bool is_shown(const diff_result *result, const diff_row *row) {
  return result->settings->all || row->verdict != DIFF_SAME || !any(row)->section;
}

void diff_part_more(const diff_row *row, char *text, size_t bytes) {
  const diff_series *s = any(row);
  char instance[200];
  int used = 0;
  text[0] = 0;
  if (s->device)
    used = snprintf(text, bytes, " on device %d", s->device);
  if (!row->now || !row->now->moved)
    return;
  ink_activity_short_name(row->now->own_instance ? row->now->own_instance : "", instance, sizeof instance);
  snprintf(text + used, bytes - (size_t)used, ", now %s (guessed)", instance[0] ? instance : "without its function's name");
}

static void part_title(const diff_row *row, FILE *to) {
  const diff_series *s = any(row);
  char instance[200], more[300];
  text_print(to, "kernel %s", s->kernel);
  if (s->table)
    text_print(to, " (%s)", s->table);
  if (s->instance) {
    ink_activity_short_name(s->instance, instance, sizeof instance);
    text_print(to, " as %s", instance);
  }
  diff_part_more(row, more, sizeof more);
  text_print(to, "%s", more);
}

/* "+5.0 %"; of a ratio that is none, nothing. */
static number_text change(double ratio) {
  number_text out = {""};
  if (isfinite(ratio) && ratio > 0)
    snprintf(out.text, sizeof out.text, "%+.1f %%", (ratio - 1) * 100);
  return out;
}

static void name_of(const diff_row *row, char *text, size_t bytes) {
  const diff_series *s = any(row);
  if (row->guessed)
    snprintf(text, bytes, "%s, now %s (guessed)", s->section, row->now->section);
  else
    snprintf(text, bytes, "%s", s->section ? s->section : "(whole track)");
}

static number_text cycles_of(const diff_series *series, double cycles) {
  return series ? number_whole((uint64_t)(cycles + 0.5)) : (number_text){""};
}

static void put_cells(text_grid *grid, const diff_row *row) {
  char name[300];
  const bool both = row->base && row->now;
  name_of(row, name, sizeof name);
  grid_cell(grid, "%s", name);
  grid_cell(grid, "%s", cycles_of(row->base, row->base_cycles).text);
  grid_cell(grid, "%s", cycles_of(row->now, row->now_cycles).text);
  grid_cell(grid, "%s", both ? change(row->ratio).text : "");
  if (both && isfinite(row->low))
    grid_cell(grid, "%s to %s", change(row->low).text, change(row->high).text);
  else
    grid_cell(grid, "%s", "");
  grid_cell(grid, "%s", diff_word(row->verdict));
}

/* How many samples a side would do for the rows that there are. */
static size_t needed_samples(const diff_result *result) {
  size_t n = 2;
  while (diff_least_p(n, n) * (double)result->pairs > result->settings->level)
    n++;
  return n;
}

void diff_conclusion(const diff_result *result, FILE *to) {
  if (!result->pairs)
    fputs(result->other_blocks ? "nothing could be tested" : "nothing could be tested: no section is on both sides", to);
  else if (!result->tested)
    text_print(to, "nothing could be tested: about %zu launches a side are needed", needed_samples(result));
  else if (!result->slower && !result->faster)
    fputs("no difference that noise would not make as well", to);
  else
    text_print(to, "%s slower, %s faster", number_whole(result->slower).text, number_whole(result->faster).text);
  if (result->settings->fail_over > 0)
    text_print(to, "; %s slower by more than %g %%", result->failed ? "some are" : "none is",
               result->settings->fail_over * 100);
  fputc('\n', to);
  if (result->other_blocks)
    text_print(to, "%s row%s not tested: of a grid with more blocks than tracks the sides have other blocks; "
                   "record both with '--blocks all' or more '--tracks', or --force\n",
               number_whole(result->other_blocks).text, result->other_blocks == 1 ? " was" : "s were");
}

static void paths(const char *what, const char *const *list, const diff_side *side, FILE *to) {
  text_print(to, "%s %s", what, list[0]);
  if (side->runs > 1)
    text_print(to, " and %zu more", side->runs - 1);
  text_print(to, ": %s launch%s\n", number_whole(side->launches).text, side->launches == 1 ? "" : "es");
}

bool diff_text(const diff_result *result, FILE *to) {
  char words[400];
  paths("base", result->base_paths, &result->base, to);
  paths("new ", result->now_paths, &result->now, to);
  diff_assumption(result, words, sizeof words);
  text_print(to, "%s\n", words);
  if (result->forced)
    fputs("forced: these captures were not made alike\n", to);
  for (size_t at = 0, end; at < result->row_count; at = end) {
    size_t same = 0;
    text_grid *grid = grid_new();
    static const char *const titles[] = {"base", "new", "change", "interval"};
    if (!grid)
      return false;
    grid_column(grid, GRID_LEFT, "cycles a track");
    for (size_t i = 0; i < 4; i++)
      grid_column(grid, GRID_RIGHT, titles[i]);
    grid_column(grid, GRID_LEFT, "");
    for (end = at; end < result->row_count && same_part(&result->rows[at], &result->rows[end]); end++) {
      if (is_shown(result, &result->rows[end]))
        put_cells(grid, &result->rows[end]);
      else
        same++;
    }
    fputc('\n', to);
    part_title(&result->rows[at], to);
    fputc('\n', to);
    const bool fine = grid_print(grid, to, 2);
    grid_free(grid);
    if (!fine)
      return false;
    if (same)
      text_print(to, "  %zu section%s the same (--all)\n", same, same == 1 ? " is" : "s are");
  }
  fputc('\n', to);
  diff_conclusion(result, to);
  return true;
}

void diff_put(const char *text, bool html, FILE *to) {
  const char *const special = html ? "<>&\"" : "|\\`*_<>[]#&~$";
  const size_t bytes = strlen(text), room = ink_text_put(NULL, 0, INK_TEXT_SHOWN, text, bytes) + 1;
  char *shown = malloc(room);
  if (!shown)
    return;
  ink_text_put(shown, room, INK_TEXT_SHOWN, text, bytes);
  for (const char *at = shown; *at; at++) {
    if (!strchr(special, *at))
      fputc(*at, to);
    else if (html)
      text_print(to, "&#%d;", *at);
    else
      text_print(to, "\\%c", *at);
  }
  free(shown);
}

bool diff_markdown(const diff_result *result, FILE *to) {
  char words[400], name[300];
  fputs("| kernel | section | base | new | change | interval | |\n|---|---|--:|--:|--:|--:|---|\n", to);
  for (size_t i = 0; i < result->row_count; i++) {
    const diff_row *row = &result->rows[i];
    const bool both = row->base && row->now;
    if (!is_shown(result, row))
      continue;
    fputs("| ", to);
    diff_put(any(row)->kernel, false, to);
    diff_part_more(row, name, sizeof name);
    diff_put(name, false, to);
    fputs(" | ", to);
    name_of(row, name, sizeof name);
    diff_put(name, false, to);
    text_print(to, " | %s | %s | %s | ", cycles_of(row->base, row->base_cycles).text,
               cycles_of(row->now, row->now_cycles).text, both ? change(row->ratio).text : "");
    if (both && isfinite(row->low))
      text_print(to, "%s to %s", change(row->low).text, change(row->high).text);
    text_print(to, " | %s%s%s |\n", row->verdict == DIFF_SLOWER ? "**" : "", diff_word(row->verdict),
               row->verdict == DIFF_SLOWER ? "**" : "");
  }
  fputc('\n', to);
  diff_conclusion(result, to);
  diff_assumption(result, words, sizeof words);
  text_print(to, "\nCycles a track, geometric means; %s.%s\n", words,
             result->forced ? " Forced: these captures were not made alike." : "");
  return true;
}
