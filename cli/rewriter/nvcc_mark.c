/* SPDX-License-Identifier: MIT */
/* Marks the sources of a call in copies, and makes the words of the call that compiles them. */
#include "nvcc_front.h"

#include "hash.h"
#include "instrument_list.h"
#include "message.h"
#include "nvcc_overlay.h"
#include "nvcc_run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *front_compiler(const front_call *front) {
  return front->compiler.items[front->compiler.count - 1];
}

/* Without marks of ours there may still be a table, of the names that the user's marks have. */
static bool is_changed(const ink_marked_file *source, size_t marks) {
  struct stat status;
  return marks || stat(source->path, &status) || (size_t)status.st_size != source->bytes;
}

bool front_load(int file, char **text, size_t *bytes) {
  struct stat status;
  *bytes = 0;
  if (fstat(file, &status) || lseek(file, 0, SEEK_SET) < 0)
    return false;
  *text = malloc((size_t)status.st_size + 1);
  if (!*text)
    return false;
  ssize_t n;
  while (*bytes < (size_t)status.st_size &&
         (n = read(file, *text + *bytes, (size_t)status.st_size - *bytes)) > 0)
    *bytes += (size_t)n;
  return true;
}

bool front_includes_marks(const char *source) {
  char *text = NULL;
  size_t bytes;
  FILE *file = fopen(source, "r");
  const bool includes = file && front_load(fileno(file), &text, &bytes) && ink_includes_marks(text, bytes);
  if (file)
    fclose(file);
  free(text);
  return includes;
}

/* That a source gets no marks of ours; what marks it holds itself is compiled as ever. */
static void say_left(const front_call *front, const char *source, bool by_hand, const char *why) {
  message_say("'%s' is %s%s%s", source,
              front->strict ? "not compiled"
              : by_hand     ? "compiled with the marks by hand alone"
                            : "compiled without marks",
              *why ? ": " : "", why);
}

static bool note_summary(front_call *front, const ink_instrumented *result, const char *source) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  if (!to)
    return false;
  instrument_summary(result, source, to);
  const bool fine = !fclose(to) && word_add(&front->said, text);
  free(text);
  return fine;
}

/* The marked text stands for the rules and for the rewriter that followed them. */
static uint64_t hash_result(const front_call *front, const ink_instrumented *result) {
  const ink_marked_file *files;
  const size_t n = ink_instrumented_files(result, &files);
  const char *const variables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"};
  struct stat status;
  char path[PATH_MAX];
  uint64_t hash = guard_hash_text(ink_instrumented_text_hash(result), GUARD_STEPS);
  for (size_t i = 0; i < n; i++)
    hash = hash_on(hash, files[i].text, files[i].bytes);
  hash = guard_hash_call(hash, front_compiler(front), &(word_list){front->original.items + front->compiler.count,
                                                                front->original.count - front->compiler.count, 0});
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    hash = guard_hash_text(hash, getenv(variables[i]));
  static const char *const tools[] = {"", "/bin/nvcc", "/bin/ptxas", "/nvvm/bin/cicc"};
  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
    if (front->cuda && snprintf(path, sizeof path, "%s%s", front->cuda, tools[i]) < (int)sizeof path && !stat(path, &status)) {
      hash = hash_on(hash, &status.st_mtim, sizeof status.st_mtim);
      hash = hash_on(hash, &status.st_size, i ? sizeof status.st_size : 0);
    }
  hash = guard_hash_text(hash, front->cuda);
  return guard_hash_headers(hash, front->device);
}

/* With INKMARK_KEEP: what --list says of the marks that the guard left, beside the marked copies. */
static void keep_list(const front_call *front, const ink_instrumented *result, const char *source) {
  char path[PATH_MAX];
  FILE *to = NULL;
  if (getenv("INKMARK_KEEP") && snprintf(path, sizeof path, "%s/list.json", front->folder) < (int)sizeof path)
    to = fopen(path, "w");
  if (!to)
    return;
  json_writer json = {.to = to};
  json_open(&json, NULL, '{');
  json_unsigned(&json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_open(&json, "files", '[');
  instrument_list_json(result, source, &json);
  json_close(&json, ']');
  json_close(&json, '}');
  fclose(to);
}

bool front_is_measured(const front_call *front) {
  return front->settings.rules.guard == GUARD_FIX && front->args.source_count == 1 && front->compiler.count == 1 && front->args.output &&
         nvcc_can_be_measured(&front->args);
}

static bool guards(const front_call *front) {
  return front->settings.rules.guard == GUARD_FIX && front->args.source_count == 1;
}

bool front_mark_source(front_call *front, const char *source, char **word) {
  ink_error error = {0};
  ink_instrumented *result = NULL;
  ink_instrument_options run = {.size = sizeof run,
                                .source = source,
                                .flags = (const char *const *)front->args.words.items,
                                .flag_count = front->args.words.count,
                                .device_include = front->device,
                                .cuda = front->cuda,
                                .cache = front->cache,
                                .parse = guards(front) ? &front->parse : NULL,
                                .headers = true,
                                .guarded = front->verdicts.items,
                                .guarded_count = front->verdicts.count,
                                .stop = nvcc_caught()};
  rule_options_apply(&front->settings.rules, &run);
  const ink_status status = ink_instrument_run(&run, &result, &error);
  if (status == INK_ERROR_STOPPED)
    return false;
  if (status) {
    front->refused = true;
    say_left(front, source, front_includes_marks(source), error.message);
    return true;
  }
  const ink_marked_file *files;
  size_t marks = 0;
  const size_t n = ink_instrumented_files(result, &files);
  for (size_t i = 0; i < n; i++)
    marks += files[i].marks;
  const bool by_hand = ink_instrumented_includes_marks(result);
  front->includes |= by_hand;
  const unsigned errors = front->again ? 0 : instrument_say(result, source, front->verbose);
  front->hash = hash_result(front, result);
  bool fine = errors || note_summary(front, result, source);
  if (errors) {
    front->refused = true;
    say_left(front, source, by_hand, "");
  } else if (fine && is_changed(files, marks)) {
    char *path;
    fine = overlay_write(front->folder, result, &front->differs) &&
           asprintf(&path, "%s%s", front->folder, files[0].path) >= 0;
    if (fine) {
      keep_list(front, result, source);
      free(*word);
      *word = path;
      front->marks += marks ? marks : 1;
    }
  }
  ink_instrumented_free(result);
  return fine;
}

static bool is_folder(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* Each folder of headers is looked for in the overlay first, in its own place in the order. */
bool front_add_words(front_call *front) {
  const nvcc_args *args = &front->args;
  bool fine = true;
  for (size_t i = 0; i < front->compiler.count && fine; i++)
    fine = word_add(&front->marked, front->compiler.items[i]);
  for (size_t i = 0; i < args->words.count && fine; i++) {
    bool next;
    const char *folder = nvcc_include_folder(args, i, &next);
    char real[PATH_MAX], *copy = NULL;
    if (folder && realpath(folder, real) && asprintf(&copy, "%s%s", front->folder, real) >= 0) {
      const bool system = strstr(args->words.items[i], "system") != NULL;
      if (is_folder(copy))
        fine =
            word_add(&front->marked, system ? "-isystem" : "-I") && word_add(&front->marked, copy);
      free(copy);
    }
    fine = fine && word_add(&front->marked, args->words.items[i]);
  }
  if (front_is_measured(front) && !nvcc_says_counts(args))
    fine = fine && word_add(&front->marked, "-Xptxas") && word_add(&front->marked, "-v");
  return fine && word_add(&front->marked, "-isystem") && word_add(&front->marked, front->device);
}

bool front_mark_again(front_call *front, const char *source) {
  char **word = &front->args.words.items[front->args.sources[0]];
  overlay_remove(front->folder);
  word_free(&front->said);
  word_free(&front->marked);
  free(*word);
  front->marks = 0;
  front->again = true;
  *word = strdup(source);
  return !mkdir(front->folder, 0700) && *word && front_mark_source(front, source, word) &&
         (!front->marks || front_add_words(front));
}
