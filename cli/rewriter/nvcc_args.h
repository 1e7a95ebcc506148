/* SPDX-License-Identifier: MIT */
/* An nvcc command line, read as far as the rewriter in front of it needs. */
#ifndef INKMARK_CLI_NVCC_ARGS_H
#define INKMARK_CLI_NVCC_ARGS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct word_list {
  char **items; /* each malloc'ed; items[count] is NULL */
  size_t count, room;
} word_list;

bool word_add(word_list *list, const char *word); /* copies */
void word_free(word_list *list);

typedef struct nvcc_args {
  word_list words;  /* options files expanded, without the compiler */
  size_t *sources;  /* [source_count] indices of the CUDA sources in `words` */
  size_t source_count;
  char *roles; /* [words.count]: 's' a CUDA source, 'f' another file, 'o' -o and its value, '-' an option */
  bool compiles;    /* an object, PTX, a cubin or a program comes out */
  bool links;       /* a program or library: no option ends the work before */
  bool reads_input; /* CUDA source from standard input: `-x cu -` */
  bool names_language; /* -x: it would hold for objects, too */
  bool makes_dependencies;
  const char *output, *dependencies; /* -o, -MF; NULL: none; point into `words` */
} nvcc_args;

/* False after a message: out of memory, an options file that cannot be read. */
bool nvcc_args_read(int argc, char **argv, nvcc_args *out);
/* The words before nvcc's arguments: "nvcc", "/usr/bin/nvcc", "ccache nvcc", or none for nvcc
 * itself. */
int nvcc_count_compiler(int argc, char **argv);

/* Whether an array of words has the word. */
bool nvcc_is_one_of(const char *word, const char *const *list, size_t n);
#define NVCC_IS_ONE_OF(word, list) nvcc_is_one_of(word, list, sizeof(list) / sizeof *(list))

/* The option's value is the next word. */
bool nvcc_takes_value(const char *option);
void nvcc_args_free(nvcc_args *args);

/* When words[at] names a folder of headers, where the folder's path begins in it (or in the next word:
 * *next). NULL: it does not. */
const char *nvcc_include_folder(const nvcc_args *args, size_t at, bool *next);

/* The call shows ptxas's counts: -Xptxas -v, --resource-usage. */
bool nvcc_says_counts(const nvcc_args *args);
/* Machine code comes out, and no other file is kept or timed: the call can be measured as it makes its output. */
bool nvcc_can_be_measured(const nvcc_args *args);

#endif
