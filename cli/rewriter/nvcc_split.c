/* SPDX-License-Identifier: MIT */
/* Splits a call of nvcc by its CUDA sources. Needed where two of them mark a file that both read in
 * different ways: nvcc looks headers up in one list of folders for all. */
#include "nvcc_split.h"

#include "commands.h"
#include "nvcc_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool nvcc_can_split(const nvcc_args *args) {
  return !args->links || (!args->names_language && !args->makes_dependencies);
}

static char *object_name(const char *folder, size_t source) {
  char *path;
  return asprintf(&path, "%s/%zu.o", folder, source) < 0 ? NULL : path;
}

/* The words that compile one source alone; other files go with the first, unless they are linked.
 */
static bool words_of(const nvcc_args *args, const word_list *compiler, size_t source,
                     const char *object, word_list *out) {
  bool fine = word_add(out, "inkmark") && word_add(out, "nvcc");
  for (size_t i = 0; i < compiler->count && fine; i++)
    fine = word_add(out, compiler->items[i]);
  for (size_t i = 0; i < args->words.count && fine; i++) {
    const char role = args->roles[i];
    if ((role == 's' && i != args->sources[source]) || (role == 'f' && (args->links || source)) ||
        (role == 'o' && args->links))
      continue;
    fine = word_add(out, args->words.items[i]);
  }
  if (args->links)
    fine = fine && word_add(out, "-c") && word_add(out, "-o") && word_add(out, object);
  return fine;
}

static bool link_words(const nvcc_args *args, const word_list *compiler, const char *folder,
                       word_list *out) {
  bool fine = true;
  for (size_t i = 0; i < compiler->count && fine; i++)
    fine = word_add(out, compiler->items[i]);
  for (size_t i = 0, source = 0; i < args->words.count && fine; i++) {
    if (args->roles[i] != 's') {
      fine = word_add(out, args->words.items[i]);
      continue;
    }
    char *object = object_name(folder, source++);
    fine = object && word_add(out, object);
    free(object);
  }
  return fine;
}

int nvcc_split(const nvcc_args *args, const word_list *compiler, const char *folder) {
  word_list words = {0};
  int code = 0;
  for (size_t i = 0; i < args->source_count && !code; i++) {
    char *object = object_name(folder, i);
    code = object && words_of(args, compiler, i, object, &words)
               ? nvcc_run("/proc/self/exe", words.items, -1, NULL)
               : CLI_FAILED;
    free(object);
    word_free(&words);
  }
  if (!code && args->links)
    code = link_words(args, compiler, folder, &words)
               ? nvcc_run(words.items[0], words.items, -1, NULL)
               : CLI_FAILED;
  word_free(&words);
  return code;
}
