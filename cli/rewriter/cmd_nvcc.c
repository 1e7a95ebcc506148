/* SPDX-License-Identifier: MIT */
/* `inkmark nvcc`: nvcc with the rewriter in front. What it does not understand goes to nvcc as it
 * is; a file that does not compile with marks is compiled without them, and that is said. */
#include "commands.h"
#include "find_cuda.h"
#include "instrument_list.h"
#include "message.h"
#include "nvcc_args.h"
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
  word_list marked; /* the words to call instead */
  char *named;      /* the sources as the user wrote them, for messages: the words become copies */
  word_list said;   /* what was done to each source, said when all is compiled */
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
                                .headers = true,
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
  const unsigned errors = instrument_say(result, source, front->verbose);
  bool fine = errors || note_summary(front, result, source);
  if (errors) {
    front->refused = true;
    say_left(front, source, by_hand, "");
  } else if (fine && is_changed(files, marks)) {
    char *path;
    fine = overlay_write(front->folder, result, &front->differs) &&
           asprintf(&path, "%s%s", front->folder, files[0].path) >= 0;
    if (fine) {
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
  return fine && word_add(&front->marked, "-isystem") && word_add(&front->marked, front->device);
}

/* "'a.cu' (and 2 more)" */
static char *name_sources(const nvcc_args *args) {
  char more[48] = "", *text;
  if (args->source_count > 1)
    snprintf(more, sizeof more, " (and %zu more)", args->source_count - 1);
  return asprintf(&text, "'%s'%s", args->words.items[args->sources[0]], more) < 0 ? NULL : text;
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
  if (!front->folder || !front->named)
    return false;
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
  return fine && (split || !front->marks || add_words(front));
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

static int compile_marked(front_call *front) {
  char *text = NULL;
  size_t bytes = 0;
  int file = memfd_create("inkmark-nvcc", MFD_CLOEXEC);
  int code = run_words(front, &front->marked, file);
  if ((!code || front->strict) && load(file, &text, &bytes)) {
    overlay_hide(front->folder, text, &bytes);
    fwrite(text, 1, bytes, stderr);
  }
  if (!code)
    fix_dependencies(front);
  free(text);
  if (file >= 0)
    close(file);
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
  if (front->marks && front->differs && nvcc_can_split(&front->args))
    code = nvcc_split(&front->args, &front->compiler, front->folder);
  else if (front->marks)
    code = compile_marked(front);
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
    message_say("%s does not compile with %s; INKMARK_STRICT=1 shows why", front->named,
                by_hand ? "added marks and was compiled with those by hand alone"
                        : "marks and was compiled without them");
  return code;
}

/* What is asked. */

/* The rules of INKMARK_RULES, which is read like a command line. */
static int read_rules(front_settings *settings) {
  const char *text = getenv("INKMARK_RULES");
  static word_list words; /* the settings point into them as long as the process lives */
  size_t operands;
  int code = CLI_OK;
  bool fine = word_add(&words, "nvcc");
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

static const char *base_name(const char *word) {
  const char *slash = strrchr(word, '/');
  return slash ? slash + 1 : word;
}

static bool is_launcher(const char *word) {
  static const char *const names[] = {"ccache", "sccache", "buildcache", "distcc", "icecc"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(base_name(word), names[i]))
      return true;
  return false;
}

static bool is_compiler(const char *word) {
  const char *base = base_name(word);
  struct stat status;
  return word[0] != '-' && !strrchr(base, '.') &&
         (!strncmp(base, "nvcc", 4) ||
          (!stat(word, &status) && S_ISREG(status.st_mode) && !access(word, X_OK)));
}

/* The words before nvcc's arguments: "nvcc", "/usr/bin/nvcc", "ccache nvcc", or none for nvcc
 * itself. */
static int count_compiler(int argc, char **argv) {
  if (argc > 2 && is_launcher(argv[1]) && is_compiler(argv[2]))
    return 2;
  return argc > 1 && is_compiler(argv[1]);
}

static bool read_call(front_call *front, int argc, char **argv) {
  const int named = count_compiler(argc, argv);
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
  word_free(&front->compiler);
  word_free(&front->original);
  free(front->device);
  free(front->cuda);
  free(front->folder);
  free(front->named);
}

static int run(int argc, char **argv) {
  front_call front = {.strict = getenv("INKMARK_STRICT") != NULL};
  int code = read_rules(&front.settings);
  if (code || !read_call(&front, argc, argv))
    return code ? code : CLI_FAILED;
  const int named = count_compiler(argc, argv);
  if (!nvcc_args_read(argc - 1 - named, argv + 1 + named, &front.args) || !front.args.source_count)
    return run_original(&front);
  for (size_t i = 0; i < front.args.words.count; i++)
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
        "Takes nvcc's command line, marks the CUDA sources in it, and the project's headers that "
        "they include, in copies in a temporary folder, and has nvcc compile these. Nothing of the "
        "user's is written to. What makes no code (-E, -M, -dlink, --version, ...) and whatever "
        "is not understood goes to nvcc untouched.\n\n"
        "The rules come from the variable INKMARK_RULES, as options of inkmark instrument: "
        "INKMARK_RULES='--calls --waits', or from the nearest inkmark.toml (see inkmark "
        "instrument). A file that does not compile with marks is compiled without them and that is "
        "said; with INKMARK_STRICT=1 it is an error. One line on stderr says of each source what was "
        "marked and left, and nvcc's -v brings the remarks too; INKMARK_QUIET=1 leaves the line out. "
        "INKMARK_KEEP=1 leaves the marked copies where "
        "they are.\n\n"
        "A launcher may stand before nvcc: inkmark nvcc ccache nvcc ...",
    .examples =
        "inkmark nvcc -O3 -arch=sm_90 -c solver.cu -o solver.o\tcompile with marks\n"
        "cmake -DCMAKE_CUDA_COMPILER_LAUNCHER='inkmark;nvcc' ..\tan unchanged CMake project",
    .operands_min = 0,
    .operands_max = SIZE_MAX,
    .program_follows = true,
    .operand_kind = "none",
    .run = run,
};
