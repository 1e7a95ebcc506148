/* SPDX-License-Identifier: MIT */
/* A call of `inkmark nvcc`: what it is, how its sources are marked, measured and compiled. */
#ifndef INKMARK_CLI_NVCC_FRONT_H
#define INKMARK_CLI_NVCC_FRONT_H

#include "nvcc_args.h"
#include "nvcc_guard.h"
#include "rule_options.h"

typedef struct front_settings {
  cli_common common;
  rule_settings rules;
} front_settings;

typedef struct front_call {
  word_list compiler; /* nvcc, with a launcher such as ccache before it or without */
  word_list original; /* the call without us */
  nvcc_args args;
  front_settings settings;
  char *device, *cuda, *folder;
  char *cache; /* what is kept for further calls; NULL: nothing */
  word_list marked; /* the words to call instead */
  char *named_source; /* the first source as the user wrote it */
  char *named;      /* the sources as the user wrote them, for messages: the words become copies */
  word_list said;   /* what was done to each source, said when all is compiled */
  guard_verdicts verdicts;
  ink_parse *parse; /* for the guard to mark once more */
  uint64_t hash;    /* of all that the guard's verdicts depend on */
  bool again;       /* marked before: what there is to say was said */
  bool split;       /* source by source, each by a front of its own */
  char *first_error; /* what the compiler said of the marked files */
  char *compiled;    /* what the compiler said as it made the output while the guard measured; NULL: that is still to be made */
  bool verbose;     /* nvcc's -v: remarks too */
  bool strict;      /* INKMARK_STRICT: no second try without marks */
  size_t marks;
  bool includes; /* a source includes our headers already */
  bool refused;  /* something could not be marked */
  bool differs;  /* two sources of the call want other marks in one file */
} front_call;

/* ---- nvcc_mark.c: the marked copies ---- */

const char *front_compiler(const front_call *front);
/* The bytes of an open file, with a byte of room behind them. malloc'ed. */
bool front_load(int file, char **text, size_t *bytes);
bool front_includes_marks(const char *source);
/* The output, which the call names, can be made and measured at once: if it is, the call has -Xptxas -v, also where it is not, as the object names
 * ptxas's options. */
bool front_is_measured(const front_call *front);
/* Marks one source; its place in the marked words is `word`, kept where nothing is marked. */
bool front_mark_source(front_call *front, const char *source, char **word);
/* Makes the words of the marked call. */
bool front_add_words(front_call *front);
/* Marks the source anew, with fewer marks where the verdicts say so. */
bool front_mark_again(front_call *front, const char *source);

/* ---- nvcc_compile.c: the compile of the marked copies ---- */

int front_run_words(const front_call *front, const word_list *words, int capture);
/* `*text`: what nvcc said, with the user's paths, malloc'ed; or NULL. `measured`: gets what ptxas counted; or NULL. */
int front_run_marked(const front_call *front, const word_list *words, char **text, counts *measured);
/* The dependency files name the user's files, not the copies. */
void front_fix_dependencies(const front_call *front);
/* Makes the output, if that is not made, and says what nvcc said; nvcc's code. */
int front_compile_marked(front_call *front);

/* ---- nvcc_search.c: the guard ---- */

/* Finds the kernels that get fewer marks, and marks the source so. May make the output. */
bool front_guard(front_call *front);

#endif
