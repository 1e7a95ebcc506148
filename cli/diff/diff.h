/* SPDX-License-Identifier: MIT */
/* What the parts of `inkmark diff` share: the samples of each side, what was found, the printers. */
#ifndef INKMARK_CLI_DIFF_H
#define INKMARK_CLI_DIFF_H

#include "load.h"
#include "options.h"

#define DIFF_FORMATS(X) X("text", DIFF_TEXT) X("json", DIFF_JSON) X("markdown", DIFF_MARKDOWN) X("html", DIFF_HTML)
enum diff_format { DIFF_FORMATS(CHOICE_CONSTANT) };

typedef struct diff_settings {
  cli_common common;
  int format;
  bool all, force, raw;
  const char *kernel, *output, *fail_over_text, *level_text;
  double fail_over, level; /* 0.05 for "5%" */
} diff_settings;

/* One section of one part of a kernel: a value for each launch, the cycles of a track. */
typedef struct diff_series {
  char *kernel, *table, *instance, *section; /* section NULL: the whole; table, instance may be NULL */
  int32_t device;
  double *values;
  size_t count;
  bool too_short; /* less than the marks' cost is known to */
  uint32_t least_of, most_of; /* of its launches one block of each so many in a row is recorded; 1: all */
  bool moved;         /* by diff_align: `instance` is the base's, */
  char *own_instance; /* and this its own */
} diff_series;

typedef struct diff_side {
  diff_series *series;
  size_t count;
  size_t *slots, slot_mask; /* a hash table of them: index + 1, 0 empty */
  size_t runs, launches;
} diff_side;

enum diff_verdict {
  DIFF_SAME,    /* no difference that noise would not make as well */
  DIFF_SLOWER,
  DIFF_FASTER,
  DIFF_TOO_FEW, /* samples to tell at the level, whatever they are */
  DIFF_TOO_SHORT,
  DIFF_OTHER_BLOCKS, /* other blocks of its grids were recorded: what differs may be the blocks */
  DIFF_ONLY_BASE,
  DIFF_ONLY_NEW
};

typedef struct diff_row {
  const diff_series *base, *now; /* NULL: the side has none */
  bool guessed;                  /* the names differ: renamed, it seems */
  enum diff_verdict verdict;
  double base_cycles, now_cycles; /* geometric means */
  double ratio, low, high;        /* of these; the interval at the level, NAN: too few samples for one */
  double p, p_corrected;          /* by permutation; by Holm over all rows that were tested */
} diff_row;

typedef struct diff_result {
  const diff_settings *settings;
  const char *const *base_paths, *const *now_paths;
  diff_side base, now;
  diff_row *rows;
  bool by_run; /* a value for each run, its median launch, in the place of one for each launch */
  size_t row_count, pairs, tested;
  size_t left_out; /* rows that were taken away since */
  size_t other_blocks; /* rows with that verdict */
  uint64_t slower, faster;
  bool failed; /* some row is slower by more than is allowed */
  bool forced; /* what cannot be compared was, for --force */
} diff_result;

/* diff_side.c. False after a message. `out` has its number of runs. */
bool diff_side_load(const diff_settings *settings, const char *const *paths, bool by_run, diff_side *out);
void diff_side_index(diff_side *side); /* again, since names changed */
void diff_side_free(diff_side *side);
/* The series of the same kernel, instance, section and device (not table: what the rewriter marks has the file's name
 * in it); NULL: there is none. */
const diff_series *diff_side_find(const diff_side *side, const diff_series *wanted);
bool diff_same_part(const diff_series *a, const diff_series *b);
uint64_t diff_hash_of_part(const diff_series *series);
/* diff_align.c: gives what `now` has of the same kernel the base's name. False: out of memory. */
bool diff_align(const diff_side *base, diff_side *now);
/* Whether the captures can be compared at all; says why not. */
bool diff_comparable(const char *left, const char *right);

/* diff_rows.c: checks that the captures were made alike, loads both sides (paths and `runs` are set), matches their series
 * and tests them. False after a message, or when out of memory. To be freed in any case. */
bool diff_make(diff_result *result);
void diff_free(diff_result *result);

/* diff_stats.c. Values are positive; a 0 is taken for half a cycle. */
double diff_geometric_mean(const double *values, size_t n);
/* How likely a difference of the means of the logarithms is that is as large, where all values are of one
 * distribution: both sides mixed at random, as often as it takes to see a p of `needed`. */
double diff_permutation(const double *a, size_t n, const double *b, size_t m, double needed);
/* The least p that so many values can give. */
double diff_least_p(size_t n, size_t m);
/* The interval of mean b / mean a by bootstrap. */
void diff_interval(const double *a, size_t n, const double *b, size_t m, double level, double *low, double *high);
/* Holm's correction in place, in the order of the array. False: out of memory. */
bool diff_holm(double *p, size_t n);
double diff_median(double *values, size_t n); /* sorts them */

/* diff_print.c, diff_machine.c */
bool diff_text(const diff_result *result, FILE *to);
bool diff_markdown(const diff_result *result, FILE *to);
bool diff_json(const diff_result *result, FILE *to);
bool diff_html(const diff_result *result, FILE *to);
/* What was found, or why nothing could be: lines of text. */
void diff_conclusion(const diff_result *result, FILE *to);
const char *diff_word(enum diff_verdict verdict);
/* What stands behind the kernel's name: its device, where it is not the first, and what its function is now. */
void diff_part_more(const diff_row *row, char *text, size_t bytes);
/* A name of a capture into Markdown or HTML: fit to be shown, and nothing of it is markup. */
void diff_put(const char *text, bool html, FILE *to);
/* What the numbers rest on, a sentence. */
void diff_assumption(const diff_result *result, char *text, size_t bytes);

#endif
