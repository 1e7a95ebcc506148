/* SPDX-License-Identifier: MIT */
/* `inkmark nvcc`: nvcc with the rewriter in front. It passes calls that it does not understand to nvcc as they are.
 * If a file does not compile with marks, it compiles the file without them, and says so. */
#include "commands.h"
#include "find_cuda.h"
#include "message.h"
#include "nvcc_front.h"
#include "nvcc_overlay.h"
#include "nvcc_run.h"
#include "nvcc_split.h"
#include "rule_file.h"
#include "rule_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option rules_table[] = {RULE_OPTIONS(front_settings), {0}};

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

static void say_summaries(const front_call *front) {
  for (size_t i = 0; i < front->said.count && !getenv("INKMARK_QUIET"); i++)
    message_say("%s", front->said.items[i]);
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
           front_mark_source(front, front->args.words.items[front->args.sources[i]], &sources->items[i]);
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
  fine = fine && (split || !front->marks || front_add_words(front)) && front_guard(front);
  ink_parse_end(front->parse);
  front->parse = NULL;
  return fine;
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
    code = front_compile_marked(front);
  if (front->split)
    return code;
  if (!code && !(front->differs && nvcc_can_split(&front->args))) /* those of a split call speak themselves */
    say_summaries(front);
  if (!code || (front->marks && front->strict) || *nvcc_caught())
    return code;
  const bool was_marked = code > 0, by_hand = front->includes;
  if (!add_our_headers(front))
    return CLI_FAILED;
  code = front_run_words(front, &front->original, -1);
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
    includes = front_includes_marks(front->args.words.items[front->args.sources[i]]);
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
  front.cuda = find_toolkit(front_compiler(&front));
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
        "take stack or grow more than three times, or if ptxas would warn of it or refuse it. If it would take so "
        "many registers that fewer of its warps fit, it gets a bound on them first. INKMARK_RULES='--guard report' only says so, and '--guard off' does not look "
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
