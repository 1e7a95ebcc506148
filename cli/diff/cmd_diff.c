/* SPDX-License-Identifier: MIT */
/* `inkmark diff`: what of two captures, or of two sets of them, became slower or faster beyond noise. */
#include "diff.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"

#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {'k', "kernel", CLI_TEXT, "REGEX", offsetof(diff_settings, kernel),
     "compare only kernels whose name matches the POSIX extended regular expression"},
    {0, "fail-over", CLI_TEXT, "PERCENT", offsetof(diff_settings, fail_over_text),
     "exit with 3 only if something is more than PERCENT slower; 0 (the default) is anything beyond noise"},
    {0, "level", CLI_TEXT, "PERCENT", offsetof(diff_settings, level_text),
     "how often equal captures may show any difference at all; default 1"},
    {0, "force", CLI_FLAG, NULL, offsetof(diff_settings, force),
     "also compare captures that were not made alike: other devices, clock rates, costs of a mark"},
    {'a', "all", CLI_FLAG, NULL, offsetof(diff_settings, all), "also print the sections that are the same"},
    {0, "raw", CLI_FLAG, NULL, offsetof(diff_settings, raw), "leave the marks' own cost in the times"},
    {'f', "format", CLI_CHOICE, CHOICE_WORDS(DIFF_FORMATS), offsetof(diff_settings, format),
     "text (the default), for programs, for a pull request, or a page"},
    {'o', "output", CLI_TEXT, "FILE", offsetof(diff_settings, output),
     "where to write; - (the default) is standard output"},
    {0},
};

/* "5%" or "5": 0.05. False: it is none. */
static bool read_percent(const char *text, double *out) {
  char *end = NULL;
  if (!text)
    return true;
  const double value = strtod(text, &end);
  if (end == text || (strcmp(end, "%") && *end) || !(value >= 0 && value <= 1e6))
    return false;
  *out = value / 100;
  return true;
}

static int compare(diff_result *result, char **argv, size_t n) {
  static bool (*const printers[])(const diff_result *, FILE *) = {diff_text, diff_json, diff_markdown, diff_html};
  const diff_settings *settings = result->settings;
  outfile file;
  if (!diff_make(result) || !outfile_open_for(&file, settings->output, argv, n))
    return CLI_FAILED;
  const bool fine = printers[settings->format](result, file.stream);
  if (!outfile_close(&file, fine) || !fine)
    return CLI_FAILED;
  if (settings->fail_over_text && !result->tested) {
    message_say("'--fail-over %s' cannot be judged: nothing could be tested", settings->fail_over_text);
    return CLI_FAILED;
  }
  return result->failed ? CLI_CHECK_FAILED : CLI_OK;
}

static int run(int argc, char **argv) {
  diff_settings settings = {.level = 0.01};
  size_t operands;
  int split = 1;
  while (split < argc && strcmp(argv[split], "--"))
    split++;
  const enum cli_parsed parsed = cli_parse(&cmd_diff, split, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (!cli_check_regex(&cmd_diff, "kernel", settings.kernel))
    return CLI_USAGE;
  if (!read_percent(settings.fail_over_text, &settings.fail_over))
    return cli_usage_error(&cmd_diff, "'--fail-over' takes a percentage, not '%s'", settings.fail_over_text);
  if (!read_percent(settings.level_text, &settings.level) || settings.level <= 0 || settings.level > 0.5)
    return cli_usage_error(&cmd_diff, "'--level' takes a percentage up to 50, not '%s'", settings.level_text);
  diff_result result = {.settings = &settings, .base_paths = (const char *const *)argv};
  if (split < argc) {
    result.base.runs = operands;
    result.now_paths = (const char *const *)argv + split + 1;
    result.now.runs = (size_t)(argc - split - 1);
  } else if (operands == 2) {
    result.base.runs = result.now.runs = 1;
    result.now_paths = result.base_paths + 1;
  } else {
    return cli_usage_error(&cmd_diff, "needs two captures; between several captures a side, write '--'");
  }
  if (!result.base.runs || !result.now.runs)
    return cli_usage_error(&cmd_diff, "needs captures before and after '--'");
  for (size_t i = 0; i < result.now.runs; i++)
    if (!outfile_is_none_of(settings.output, (char *const *)&result.now_paths[i], 1))
      return CLI_FAILED;
  const int code = compare(&result, argv, operands);
  diff_free(&result);
  return code;
}

const cli_command cmd_diff = {
    .name = "diff",
    .summary = "compare captures: what became slower or faster, beyond noise",
    .operands = "BASE... [--] NEW...",
    .about =
        "diff compares the cycles of a track, by launch, of each section of each kernel, template instance and "
        "device. It matches them by name. If one section went and one with a name near to it came, diff takes "
        "the section for renamed, and says that this is a guess. Differences are tested by permutation, and "
        "corrected for how many were tested. The interval is of the ratio of the geometric means. With 6 "
        "captures a side or more, each capture is one sample: its median launch. With fewer, each launch is a "
        "sample. If samples are too few to tell anything at the level, diff says so. Exit code 3: something is "
        "slower, by more than --fail-over. Exit code 1: --fail-over was given and nothing could be tested.",
    .examples = "inkmark diff base.ink new.ink\twhat changed\n"
                "inkmark diff --fail-over 5% --format markdown base.ink new.ink\tfor a pull request; 3 if slower by 5 %\n"
                "inkmark diff base*.ink -- new*.ink\tseveral runs a side",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .operand_kind = "capture",
    .run = run,
};
