/* SPDX-License-Identifier: MIT */
/* `inkmark instrument`: puts marks into CUDA sources. */
#include "commands.h"
#include "find_cuda.h"
#include "instrument_files.h"
#include "instrument_list.h"
#include "message.h"
#include "nvcc_args.h"
#include "rule_file.h"
#include "rule_options.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct instrument_settings {
  cli_common common;
  const char *output, *folder, *build;
  bool list, diff, strip, header_less;
  int format; /* 0 text, 1 json */
  rule_settings rules;
  bool asks_kernels; /* --kernel stands in this command line, with one file */
  written_files done; /* below --out-dir */
} instrument_settings;

static const cli_option options[] = {
    {'o', "output", CLI_TEXT, "FILE", offsetof(instrument_settings, output),
     "the marked file; - is standard output"},
    {0, "out-dir", CLI_TEXT, "DIR", offsetof(instrument_settings, folder),
     "write the marked files, and the project's headers that they include, below DIR as they lie "
     "below the root"},
    {'p', "build", CLI_TEXT, "DIR", offsetof(instrument_settings, build),
     "take the flags from compile_commands.json in DIR"},
    {0, "list", CLI_FLAG, NULL, offsetof(instrument_settings, list),
     "print what could be marked, where, and why not; nothing is written"},
    {0, "diff", CLI_FLAG, NULL, offsetof(instrument_settings, diff),
     "print a unified diff; nothing is written"},
    {0, "strip", CLI_FLAG, NULL, offsetof(instrument_settings, strip),
     "give back the original bytes of a marked file"},
    {0, "format", CLI_CHOICE, CHOICE_WORDS(FORMAT_CHOICES), offsetof(instrument_settings, format),
     "the format of --list"},
    {0, "header-less", CLI_FLAG, NULL, offsetof(instrument_settings, header_less),
     "parse without the toolkit's headers, as if there were no toolkit"},
    RULE_OPTIONS(instrument_settings),
    {0},
};

static int print_diff(const char *source, const ink_marked_file *file) {
  ink_error error = {0};
  char *text, name[PATH_MAX + 16];
  snprintf(name, sizeof name, "%s (marked)", source);
  if (ink_instrument_diff(file->text, file->bytes, source, name, &text, &error))
    return message_failure(&error);
  fputs(text, stdout);
  free(text);
  return CLI_OK;
}

static int deliver_file(const instrument_settings *settings, const ink_instrumented *result) {
  const ink_marked_file *files;
  ink_instrumented_files(result, &files);
  if (!instrument_write_text(settings->output, files[0].text, files[0].bytes))
    return CLI_FAILED;
  if (strcmp(settings->output, "-"))
    instrument_say_done(settings->output, result);
  return CLI_OK;
}

/* --kernel of this command line chose none of the only file's kernels: most likely it is misspelt. */
static bool chose_none(const instrument_settings *settings, const char *source,
                       const ink_instrumented *result) {
  const ink_place *places;
  const size_t n = ink_instrumented_places(result, &places);
  const char **names = calloc(n + 1, sizeof *names);
  char list[1024];
  size_t count = 0;
  bool chosen = false;
  regex_t regex;
  if (!names || !settings->asks_kernels ||
      regcomp(&regex, settings->rules.kernel, REG_EXTENDED | REG_NOSUB)) {
    free(names);
    return false;
  }
  for (size_t i = 0; i < n && !chosen; i++) {
    if (places[i].kind != INK_PLACE_KERNEL)
      continue;
    names[count++] = places[i].name;
    chosen = !regexec(&regex, places[i].name, 0, NULL, 0);
  }
  regfree(&regex);
  const bool none = count && !chosen;
  if (none) {
    count = cli_list_near(settings->rules.kernel, names, count, list, sizeof list);
    message_say("no kernel of '%s' matches '%s'; there %s %s", source, settings->rules.kernel,
                count == 1 ? "is" : "are", list);
  }
  free(names);
  return none;
}

static int deliver(instrument_settings *settings, const char *source,
                   const ink_instrumented *result, json_writer *json) {
  const ink_marked_file *files;
  ink_instrumented_files(result, &files);
  const bool lost = !instrument_say_parse_errors(result, source);
  if (ink_instrumented_was_marked(result))
    message_say("'%s' is marked already and was not marked again", source);
  const unsigned errors = instrument_say(result, source, !settings->list && settings->format == FORMAT_TEXT);
  int code = CLI_OK;
  if (settings->list && settings->format == FORMAT_JSON)
    instrument_list_json(result, source, json);
  else if (settings->list)
    instrument_list_text(result, source, stdout);
  else if (errors || lost || chose_none(settings, source, result))
    return CLI_FAILED; /* nothing is written that a directive asked for and did not get */
  else if (settings->diff)
    code = print_diff(source, &files[0]);
  else if (settings->folder)
    code = instrument_write_folder(settings->folder, settings->rules.root, result, &settings->done)
               ? CLI_OK
               : CLI_FAILED;
  else
    code = deliver_file(settings, result);
  return errors || lost ? CLI_FAILED : code;
}

static int instrument_one(instrument_settings *settings, const char *source,
                          const char *const *flags, size_t flag_count, json_writer *json) {
  ink_error error = {0};
  ink_instrumented *result = NULL;
  const char **found = NULL;
  if (!instrument_readable(source) || !instrument_spares(source, settings->output))
    return CLI_FAILED;
  char *device = find_device_headers();
  char *cuda = settings->header_less ? NULL : find_toolkit(NULL);
  ink_instrument_options run = {.size = sizeof run,
                                .source = source,
                                .flags = flags,
                                .flag_count = flag_count,
                                .device_include = device,
                                .cuda = cuda,
                                .headers = settings->folder != NULL};
  rule_options_apply(&settings->rules, &run);
  int code = CLI_FAILED;
  if (settings->build &&
      ink_compile_flags(settings->build, source, &found, &run.flag_count, &error)) {
    message_failure(&error);
  } else {
    if (found)
      run.flags = found;
    if (ink_instrument_run(&run, &result, &error))
      message_failure(&error);
    else
      code = deliver(settings, source, result, json);
  }
  ink_instrumented_free(result);
  free(found);
  free(device);
  free(cuda);
  return code;
}

static int strip_one(const instrument_settings *settings, const char *source) {
  ink_error error = {0};
  char *text = NULL, *original = NULL;
  size_t bytes = 0, got, original_bytes, room = 0;
  struct stat status;
  if (!stat(source, &status) && S_ISDIR(status.st_mode)) {
    message_say("cannot read '%s': is a directory", source);
    return CLI_FAILED;
  }
  FILE *file = fopen(source, "rb");
  if (!file) {
    message_say("cannot read '%s': %s", source, message_errno(errno));
    return CLI_FAILED;
  }
  do {
    if (room - bytes < 65536) {
      char *grown = realloc(text, room = 2 * room + 65536);
      if (!grown)
        break;
      text = grown;
    }
    got = fread(text + bytes, 1, room - bytes, file);
    bytes += got;
  } while (got);
  const bool whole = text && !ferror(file);
  fclose(file);
  int code = CLI_FAILED;
  if (!whole)
    message_say("cannot read '%s'", source);
  else if (ink_instrument_strip(text, bytes, &original, &original_bytes, &error))
    message_say("cannot strip '%s': %s", source, error.message);
  else
    code = instrument_write_text(settings->output, original, original_bytes) ? CLI_OK : CLI_FAILED;
  free(text);
  free(original);
  return code;
}

static int check(const instrument_settings *settings, size_t sources) {
  const int ways = settings->list + settings->diff + settings->strip;
  if (ways > 1)
    return cli_usage_error(&cmd_instrument, "--list, --diff and --strip exclude each other");
  if (settings->output && settings->folder)
    return cli_usage_error(&cmd_instrument, "--output and --out-dir exclude each other");
  if (sources > 1 && !settings->folder && !settings->list && !settings->diff)
    return cli_usage_error(&cmd_instrument, "several files need --out-dir, --list or --diff");
  if (!ways && !settings->output && !settings->folder)
    return cli_usage_error(&cmd_instrument, "needs --output or --out-dir, --list, --diff or "
                                            "--strip");
  return rule_options_check(&cmd_instrument, &settings->rules) ? CLI_OK : CLI_USAGE;
}

static int run_with(int argc, char **argv, instrument_settings settings) {
  size_t operands = 0;
  int split = 1;
  while (split < argc && strcmp(argv[split], "--"))
    split++;
  const char *of_file = settings.rules.kernel;
  enum cli_parsed parsed = cli_parse(&cmd_instrument, split, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  settings.asks_kernels =
      settings.rules.kernel && settings.rules.kernel != of_file && operands == 1;
  int code = check(&settings, operands);
  if (code)
    return code;
  nvcc_args compiler = {0}; /* options files are opened */
  if (split < argc && !nvcc_args_read(argc - split - 1, argv + split + 1, &compiler))
    return CLI_FAILED;
  const char *const *flags = (const char *const *)compiler.words.items;
  json_writer json = {.to = stdout};
  const bool as_json = settings.list && settings.format == 1;
  if (as_json) {
    json_open(&json, NULL, '{');
    json_unsigned(&json, "schema_version", INK_CLI_SCHEMA_VERSION);
    json_open(&json, "files", '[');
  }
  for (size_t i = 0; i < operands; i++) {
    int one = settings.strip
                  ? strip_one(&settings, argv[i])
                  : instrument_one(&settings, argv[i], flags, compiler.words.count, &json);
    code = one ? one : code;
  }
  if (as_json) {
    json_close(&json, ']');
    json_close(&json, '}');
  }
  written_files_free(&settings.done);
  nvcc_args_free(&compiler);
  return message_flush_stdout() ? code : CLI_FAILED;
}

static int run(int argc, char **argv) {
  instrument_settings settings = {0};
  rule_file file;
  const int code = rule_file_load(argc, argv, &settings.rules, &file)
                       ? run_with(argc, argv, settings)
                       : CLI_FAILED;
  rule_file_free(&file);
  return code;
}

const cli_command cmd_instrument = {
    .name = "instrument",
    .summary = "put marks into CUDA sources",
    .operands = "FILE... [-- COMPILER FLAGS]",
    .about =
        "instrument opens a track in every kernel. Without further options it marks calls of device functions "
        "one level deep (not those of tiny helpers), barriers and waits, outermost loops, and what is inside "
        "of loops as sums. --calls, --loops and --waits choose what to mark instead. It inserts text and "
        "changes nothing else: what a kernel computes stays the same, and line numbers in messages stay those "
        "of the file.\n\nComments in the source steer it too: // prof: mark NAME, begin NAME, end NAME, "
        "iteration EXPRESSION, loop NAME, off. Rules may also stand in a file inkmark.conf beside the build. "
        "It has lines like calls = true, kernel = 'solve.*', depth = 2, with the names of the options below. "
        "Options on the command line come before it.",
    .examples = "inkmark instrument kernel.cu -o marked.cu -- -std=c++17 -Iinclude\tmark one file\n"
                "inkmark instrument --list kernel.cu\twhat could be marked, and why not\n"
                "inkmark instrument --strip marked.cu -o kernel.cu\tthe original, byte for byte",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .operand_kind = "source",
    .run = run,
};
