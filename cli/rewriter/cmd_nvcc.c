/* SPDX-License-Identifier: MIT */
/* `inkmark nvcc`: nvcc with the rewriter in front. It passes calls that it does not understand to nvcc as they are.
 * If a file does not compile with marks, it compiles the file without them, and says so. */
#include "commands.h"
#include "find_cuda.h"
#include "hash.h"
#include "instrument_list.h"
#include "message.h"
#include "nvcc_args.h"
#include "nvcc_guard.h"
#include "nvcc_overlay.h"
#include "nvcc_run.h"
#include "nvcc_split.h"
#include "rule_file.h"
#include "rule_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct front_settings {
  cli_common common;
  rule_settings rules;
} front_settings;

static const cli_option rules_table[] = {RULE_OPTIONS(front_settings), {0}};

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

static const char *compiler_of(const front_call *front) {
  return front->compiler.items[front->compiler.count - 1];
}

/* Marks by hand, or of inkmark instrument, need our headers: nvcc gets their folder, and else what
 * it got. */
static bool add_our_headers(front_call *front) {
  if (!front->device || !front->includes)
    return true;
  front->includes = false;
  return word_add(&front->original, "-isystem") && word_add(&front->original, front->device);
}

static int run_original(front_call *front) {
  if (!add_our_headers(front))
    return CLI_FAILED;
  execvp(front->original.items[0], front->original.items);
  message_say("cannot run '%s': %s", front->original.items[0], message_errno(errno));
  return errno == ENOENT ? 127 : 126;
}

/* The marked call. */

/* Without marks of ours there may still be a table, of the names that the user's marks have. */
static bool is_changed(const ink_marked_file *source, size_t marks) {
  struct stat status;
  return marks || stat(source->path, &status) || (size_t)status.st_size != source->bytes;
}

static bool load(int file, char **text, size_t *bytes) {
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

static bool includes_marks(const char *source) {
  char *text = NULL;
  size_t bytes;
  FILE *file = fopen(source, "r");
  const bool includes = file && load(fileno(file), &text, &bytes) && ink_includes_marks(text, bytes);
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

static void say_summaries(const front_call *front) {
  for (size_t i = 0; i < front->said.count && !getenv("INKMARK_QUIET"); i++)
    message_say("%s", front->said.items[i]);
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
  hash = guard_hash_call(hash, compiler_of(front), &(word_list){front->original.items + front->compiler.count,
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

/* ---- the compile of the marked copies ---- */

/* nvcc's temporary files lie in the folder of this call, which is removed at the end. */
static int run_words(const front_call *front, const word_list *words, int capture) {
  char temporary[PATH_MAX];
  const bool own =
      front->folder &&
      snprintf(temporary, sizeof temporary, "%s/.nvcc", front->folder) < (int)sizeof temporary &&
      !mkdir(temporary, 0700);
  const int code = nvcc_run(words->items[0], words->items, capture, own ? temporary : NULL);
  if (own)
    rmdir(temporary);
  return code;
}

/* The output can be made and measured at once: if it is, the call has -Xptxas -v, also where it is not, as the object names
 * ptxas's options. */
static bool is_measured(const front_call *front) {
  return front->settings.rules.guard == GUARD_FIX && front->args.source_count == 1 && front->compiler.count == 1 &&
         nvcc_can_be_measured(&front->args);
}

/* `*text`: what nvcc said, with the user's paths, malloc'ed; or NULL. `measured`: gets what ptxas counted; or NULL. */
static int run_marked(const front_call *front, const word_list *words, char **text, counts *measured) {
  size_t bytes = 0;
  const int file = memfd_create("inkmark-nvcc", MFD_CLOEXEC);
  int code = run_words(front, words, file);
  *text = NULL;
  if (load(file, text, &bytes)) {
    overlay_hide(front->folder, *text, &bytes);
    (*text)[bytes] = 0;
    if (measured && !counts_read_words(measured, *text))
      code = -1;
    if (is_measured(front) && !nvcc_says_counts(&front->args))
      counts_drop_words(*text);
  }
  if (file >= 0)
    close(file);
  return code;
}

static bool guards(const front_call *front) {
  return front->settings.rules.guard == GUARD_FIX && front->args.source_count == 1;
}

/* Marks one source; its place in the marked words is `word`, kept where nothing is marked. */
static bool mark_source(front_call *front, const char *source, char **word) {
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
    say_left(front, source, includes_marks(source), error.message);
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
static bool add_words(front_call *front) {
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
  if (is_measured(front) && !nvcc_says_counts(args))
    fine = fine && word_add(&front->marked, "-Xptxas") && word_add(&front->marked, "-v");
  return fine && word_add(&front->marked, "-isystem") && word_add(&front->marked, front->device);
}

/* "'a.cu' (and 2 more)" */
static char *name_sources(const nvcc_args *args) {
  char more[48] = "", *text;
  if (args->source_count > 1)
    snprintf(more, sizeof more, " (and %zu more)", args->source_count - 1);
  return asprintf(&text, "'%s'%s", args->words.items[args->sources[0]], more) < 0 ? NULL : text;
}

/* ---- the guard: a source's kernels with and without marks ---- */

/* Marks the source anew, with fewer marks where the verdicts say so. */
static bool mark_again(front_call *front, const char *source) {
  char **word = &front->args.words.items[front->args.sources[0]];
  overlay_remove(front->folder);
  word_free(&front->said);
  word_free(&front->marked);
  free(*word);
  front->marks = 0;
  front->again = true;
  *word = strdup(source);
  return !mkdir(front->folder, 0700) && *word && mark_source(front, source, word) &&
         (!front->marks || add_words(front));
}

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
    code = run_marked(front, &call, &front->compiled, out);
  if (!code && !counts_read_ptx(out, folder))
    code = -1;
  overlay_remove(folder);
  word_free(&call);
  return code;
}

/* Processor seconds of all that has ended below this process. */
static double seconds_used(void) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static double seconds_that_are_long(void) {
  const char *text = getenv("INKMARK_GUARD_SECONDS");
  return text && *text ? atof(text) : 4;
}

/* Compiles the device code plain, then marked, with fewer and fewer marks until none harm; at most four times.
 * What ptxas refuses with marks loses those of the kernel that it names. */
static bool guard_search(front_call *front, const char *source) {
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
  int code = fine ? guard_measure(compiler_of(front), &plain_words, folder, &plain) : -1;
  const bool whole = is_measured(front) && seconds_used() - before >= seconds_that_are_long();
  for (int round = 0; !code && fine && front->marks && round < ROUNDS && !*nvcc_caught(); round++) {
    const word_list words = {front->marked.items + named, front->marked.count - named, 0};
    counts marked = {0};
    code = whole ? measure_whole(front, folder, &marked) : guard_measure(compiler_of(front), &words, folder, &marked);
    bool settled = false;
    const bool more = code > 0 ? guard_refuse(&marked, &front->verdicts)
                               : !code && guard_raise(&plain, &marked, round + 1 == ROUNDS, &front->verdicts, &settled);
    code = more ? 0 : code;
    counts_free(&marked);
    if (!more)
      break;
    if (!fix)
      break;
    free(front->compiled); /* that was with too many marks */
    front->compiled = NULL;
    fine = mark_again(front, source);
    if (settled)
      break;
  }
  if (code || !fine) {
    free(front->compiled);
    front->compiled = NULL;
  }
  counts_free(&plain);
  word_free(&plain_words);
  return fine && !code;
}

static bool guard(front_call *front) {
  if (front->settings.rules.guard == GUARD_OFF || front->args.source_count != 1 || !front->marks || front->refused)
    return true;
  const uint64_t hash = hash_on(front->hash, &front->settings.rules.guard, sizeof front->settings.rules.guard);
  char *source = strdup(front->named_source);
  bool fine = source != NULL;
  if (fine && guard_recall(hash, &front->verdicts)) {
    if (front->verdicts.count && front->settings.rules.guard == GUARD_FIX)
      fine = mark_again(front, source);
  } else if (fine && guard_search(front, source) && !*nvcc_caught()) {
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

static bool prepare(front_call *front) {
  word_list key = {0};
  char here[PATH_MAX], *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  if (!to)
    return false;
  fprintf(to, "%s", getcwd(here, sizeof here) ? here : "");
  for (size_t i = 0; i < front->args.words.count; i++)
    fprintf(to, " %s", front->args.words.items[i]);
  fclose(to);
  front->folder = overlay_make(text);
  free(text);
  front->named = name_sources(&front->args);
  front->named_source = strdup(front->args.words.items[front->args.sources[0]]);
  if (!front->folder || !front->named || !front->named_source)
    return false;
  front->split = front->args.source_count > 1 && front->settings.rules.guard != GUARD_OFF && nvcc_can_split(&front->args);
  if (front->split)
    return true;
  word_list *sources = &key; /* the sources as nvcc will get them */
  bool fine = true;
  for (size_t i = 0; i < front->args.source_count && fine; i++)
    fine = word_add(sources, front->args.words.items[front->args.sources[i]]) &&
           mark_source(front, front->args.words.items[front->args.sources[i]], &sources->items[i]);
  const bool split = front->differs && nvcc_can_split(&front->args); /* each anew: see run_front */
  for (size_t i = 0; i < front->args.source_count && fine && !split; i++) {
    char **word = &front->args.words.items[front->args.sources[i]];
    char *marked = strdup(sources->items[i]);
    fine = marked != NULL;
    if (fine) {
      free(*word);
      *word = marked;
    }
  }
  word_free(sources);
  fine = fine && (split || !front->marks || add_words(front)) && guard(front);
  ink_parse_end(front->parse);
  front->parse = NULL;
  return fine;
}

static void name_the_users_files(const front_call *front, const char *path) {
  char *text = NULL;
  size_t bytes, before;
  FILE *file = fopen(path, "r+");
  if (!file)
    return;
  if (load(fileno(file), &text, &bytes)) {
    before = bytes;
    overlay_hide(front->folder, text, &bytes);
    if (bytes != before && (fseek(file, 0, SEEK_SET) || fwrite(text, 1, bytes, file) != bytes ||
                            fflush(file) || ftruncate(fileno(file), (off_t)bytes)))
      message_say("cannot write '%s': %s", path, message_errno(errno));
  }
  free(text);
  fclose(file);
}

/* Where -MD puts what -MF does not name: beside the output or, without one, in this folder. */
static void fix_dependencies(const front_call *front) {
  char path[PATH_MAX];
  if (!front->args.makes_dependencies)
    return;
  if (front->args.dependencies) {
    name_the_users_files(front, front->args.dependencies);
    return;
  }
  if (front->args.output) {
    snprintf(path, sizeof path, "%s.d", front->args.output);
    name_the_users_files(front, path);
    const char *dot = strrchr(front->args.output, '.');
    snprintf(path, sizeof path, "%.*s.d",
             (int)(dot ? dot - front->args.output : (long)strlen(front->args.output)),
             front->args.output);
    name_the_users_files(front, path);
  }
  for (size_t i = 0; i < front->args.source_count; i++) {
    const char *source = front->args.words.items[front->args.sources[i]];
    const char *base = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
    snprintf(path, sizeof path, "%.*s.d", (int)strcspn(base, "."), base);
    name_the_users_files(front, path);
  }
}

/* The first line that names an error, as the user's files have it. */
static char *find_error(const char *text, size_t bytes) {
  for (const char *line = text, *end = text + bytes; line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    const size_t length = (size_t)((next ? next : end) - line);
    const bool command = length > 1 && line[0] == '#' && line[1] == '$'; /* that -v shows */
    if (!command && (memmem(line, length, "error", 5) || memmem(line, length, "fatal", 5)))
      return strndup(line, length);
    line += length + 1;
  }
  return NULL;
}

static int compile_marked(front_call *front) {
  char *text = front->compiled;
  const int code = text ? 0 : run_marked(front, &front->marked, &text, NULL);
  front->compiled = NULL;
  if (text && (!code || front->strict))
    fputs(text, stderr);
  else if (text)
    front->first_error = find_error(text, strlen(text));
  if (!code)
    fix_dependencies(front);
  free(text);
  return code;
}

static int run_front(front_call *front) {
  if (!prepare(front)) {
    if (!*nvcc_caught())
      message_say("nothing is marked in this call");
    front->marks = 0;
    front->refused = true;
  }
  int code = -1;
  if (*nvcc_caught() || (front->refused && front->strict))
    return CLI_FAILED;
  if (front->split || (front->marks && front->differs && nvcc_can_split(&front->args)))
    code = nvcc_split(&front->args, &front->compiler, front->folder);
  else if (front->marks)
    code = compile_marked(front);
  if (front->split)
    return code;
  if (!code && !(front->differs && nvcc_can_split(&front->args))) /* those of a split call speak themselves */
    say_summaries(front);
  if (!code || (front->marks && front->strict) || *nvcc_caught())
    return code;
  const bool was_marked = code > 0, by_hand = front->includes;
  if (!add_our_headers(front))
    return CLI_FAILED;
  code = run_words(front, &front->original, -1);
  if (!was_marked && !code)
    say_summaries(front);
  if (was_marked && !code)
    message_say("%s does not compile with %s%s%s; INKMARK_STRICT=1 shows %s", front->named,
                by_hand ? "added marks and was compiled with those by hand alone"
                        : "marks and was compiled without them",
                front->first_error ? ": " : "", front->first_error ? front->first_error : "",
                front->first_error ? "all" : "why");
  return code;
}

/* What is asked. */

/* The rules of INKMARK_RULES, which is read like a command line. */
static int read_rules(front_settings *settings) {
  const char *text = getenv("INKMARK_RULES");
  static word_list words; /* the settings point into them as long as the process lives */
  size_t operands;
  const char *guard_word = getenv("INKMARK_GUARD");
  int code = CLI_OK;
  bool fine = word_add(&words, "nvcc");
  if (guard_word && *guard_word) /* before the rules, which may say something else */
    fine = fine && word_add(&words, "--guard") && word_add(&words, guard_word);
  char *copy = strdup(text ? text : ""), *rest = NULL;
  for (char *word = copy ? strtok_r(copy, " \t", &rest) : NULL; word && fine;
       word = strtok_r(NULL, " \t", &rest))
    fine = word_add(&words, word);
  static cli_command command;
  command = cmd_nvcc;
  command.options = rules_table;
  command.operands_max = 0;
  static rule_file file; /* the same */
  if (!fine || !rule_file_load((int)words.count, words.items, &settings->rules, &file))
    code = CLI_FAILED;
  else if (cli_parse(&command, (int)words.count, words.items, settings, &operands) != CLI_GO ||
           !rule_options_check(&command, &settings->rules))
    code = CLI_USAGE;
  free(copy);
  return code;
}

static bool read_call(front_call *front, int argc, char **argv) {
  const int named = nvcc_count_compiler(argc, argv);
  bool fine = named || (word_add(&front->compiler, "nvcc") && word_add(&front->original, "nvcc"));
  for (int i = 1; i < argc && fine; i++)
    fine =
        (i > named || word_add(&front->compiler, argv[i])) && word_add(&front->original, argv[i]);
  if (!fine)
    message_say("out of memory");
  return fine;
}

/* Calls that only look at the sources: -E, -M. */
static bool sources_include_marks(const front_call *front) {
  bool includes = false;
  for (size_t i = 0; i < front->args.source_count && !includes; i++)
    includes = includes_marks(front->args.words.items[front->args.sources[i]]);
  return includes;
}

static void free_call(front_call *front) {
  nvcc_args_free(&front->args);
  word_free(&front->marked);
  word_free(&front->said);
  guard_free(&front->verdicts);
  free(front->named_source);
  free(front->first_error);
  free(front->compiled);
  word_free(&front->compiler);
  word_free(&front->original);
  free(front->device);
  free(front->cuda);
  free(front->cache);
  free(front->folder);
  free(front->named);
}

static int run(int argc, char **argv) {
  front_call front = {.strict = getenv("INKMARK_STRICT") != NULL};
  int code = read_rules(&front.settings);
  if (code || !read_call(&front, argc, argv))
    return code ? code : CLI_FAILED;
  const int named = nvcc_count_compiler(argc, argv);
  const bool read = nvcc_args_read(argc - 1 - named, argv + 1 + named, &front.args);
  if (read && front.args.reads_input && front.args.compiles)
    message_say("standard input is compiled without marks: inkmark nvcc marks files");
  if (!read || !front.args.source_count)
    return run_original(&front);
  for (size_t i = 0; i < front.args.words.count; i += 1 + nvcc_takes_value(front.args.words.items[i])) /* not that of -Xptxas */
    front.verbose |= !strcmp(front.args.words.items[i], "-v") || !strcmp(front.args.words.items[i], "--verbose");
  front.device = find_device_headers();
  if (!front.args.compiles) {
    front.includes = sources_include_marks(&front);
    return run_original(&front);
  }
  front.cuda = find_toolkit(compiler_of(&front));
  if (!front.device) {
    message_say("inkmark's device headers were not found (INKMARK_INCLUDE): nothing is marked");
    return run_original(&front);
  }
  front.cache = guard_cache();
  nvcc_catch_signals();
  code = run_front(&front);
  if (front.folder && !getenv("INKMARK_KEEP"))
    overlay_remove(front.folder);
  nvcc_die_if_caught();
  free_call(&front);
  return code;
}

const cli_command cmd_nvcc = {
    .name = "nvcc",
    .summary = "nvcc with the rewriter in front",
    .operands = "[NVCC] [NVCC'S ARGUMENTS]",
    .about =
        "inkmark nvcc takes nvcc's command line. It marks the CUDA sources in the command line, and the "
        "project's headers that they include, in copies in a temporary folder, and has nvcc compile the "
        "copies. It writes to nothing of the user's. Calls that make no code (-E, -M, -dlink, --version, ...) "
        "and calls that it does not understand go to nvcc untouched.\n\nThe rules come from the variable "
        "INKMARK_RULES, as options of inkmark instrument: INKMARK_RULES='--calls --waits', or from the nearest "
        "inkmark.conf (see inkmark instrument). If a file does not compile with marks, it is compiled without "
        "them, and inkmark says so; with INKMARK_STRICT=1 it is an error. One line on stderr says of each "
        "source what was marked and left. nvcc's -v brings the remarks too; INKMARK_QUIET=1 leaves the line "
        "out. INKMARK_KEEP=1 leaves the marked copies where they are.\n\nA guard compiles the device code of a "
        "source with and without marks when they are new. A kernel loses marks if with them it would spill, "
        "take stack or more than 64 registers, or grow more than three times, or if ptxas would warn of it or "
        "refuse it. INKMARK_RULES='--guard report' only says so, and '--guard off' does not look "
        "(INKMARK_GUARD sets another default). The results, and the parse of the toolkit's headers, are kept "
        "in ~/.cache/inkmark (XDG_CACHE_HOME, INKMARK_CACHE).\n\nA launcher may stand before nvcc: inkmark nvcc ccache nvcc ...",
    .examples =
        "inkmark nvcc -O3 -arch=sm_90 -c solver.cu -o solver.o\tcompile with marks\n"
        "cmake -DCMAKE_CUDA_COMPILER_LAUNCHER='inkmark;nvcc' ..\tan unchanged CMake project",
    .operands_min = 0,
    .operands_max = SIZE_MAX,
    .program_follows = true,
    .operand_kind = "none",
    .run = run,
};
