/* SPDX-License-Identifier: MIT */
/* `inkmark time`: a program run over and over, and one table of what its sections took. */
#include "repeat.h"

#include "commands.h"
#include "outfile.h"

static const cli_option options[] = {
    {'n', "repeat", CLI_COUNT, "N", offsetof(repeat_settings, repeat), "run the program N times; default 10"},
    {'w', "warmup", CLI_COUNT, "N", offsetof(repeat_settings, warmup), "run it N times before that, without "
                                                                       "counting; default 1"},
    {'k', "kernels", CLI_TEXT, "REGEX", offsetof(repeat_settings, kernels),
     "record only kernels whose PROF_KERNEL name matches the POSIX extended regular expression"},
    {'g', "granularity", CLI_CHOICE, CHOICE_WORDS(GRANULARITY_CHOICES), offsetof(repeat_settings, granularity),
     "choose who records: the first thread of each block (the default) or of each warp"},
    {'d', "device", CLI_CHOICE, CHOICE_WORDS(DEVICE_CHOICES), offsetof(repeat_settings, device),
     "use a real GPU, or the simulated device, as for 'inkmark record'"},
    {'u', "unit", CLI_CHOICE, CHOICE_WORDS(REPEAT_UNITS), offsetof(repeat_settings, unit),
     "choose the unit of the table; auto (the default) is us, and cycles on the simulated device"},
    {'f', "format", CLI_CHOICE, CHOICE_WORDS(FORMAT_CHOICES), offsetof(repeat_settings, format),
     "text (the default), or every single repeat for programs"},
    {'o', "output", CLI_TEXT, "FILE", offsetof(repeat_settings, output), "where to write; - (the default) is standard output"},
    {0},
};

static int run(int argc, char **argv) {
  repeat_settings settings = {.repeat = 10, .warmup = 1};
  repeat_result result;
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_time, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (settings.repeat < 1 || settings.repeat > REPEAT_MAX || settings.warmup > REPEAT_MAX)
    return cli_usage_error(&cmd_time, settings.warmup > REPEAT_MAX ? "--warmup must be 0 to %d" : "--repeat must be 1 to %d",
                           REPEAT_MAX);
  if (!cli_check_regex(&cmd_time, "kernels", settings.kernels))
    return CLI_USAGE;
  argv[operands] = NULL; /* argv held the command's name too: there is room */
  int code = repeat_measure(&settings, argv, &result);
  outfile file;
  if (!code && !outfile_open(&file, settings.output)) {
    code = CLI_FAILED;
  } else if (!code) {
    bool fine = true;
    if (settings.format == FORMAT_JSON)
      repeat_json(&result, file.stream);
    else
      fine = repeat_text(&result, file.stream);
    code = outfile_close(&file, fine) && fine ? CLI_OK : CLI_FAILED;
  }
  repeat_free(&result);
  return code;
}

const cli_command cmd_time = {
    .name = "time",
    .summary = "run a program over and over, and print one table of what its sections took",
    .operands = "[--] PROGRAM [ARGUMENTS]",
    .about = "time records the program again and again and leaves no file. A row is for a kernel's tracks, or "
             "for a section of it. Each repeat gives the mean time of one track or slice. If the marks' own "
             "cost was measured, it is taken out. The row has the least, the median, the mean and the largest "
             "over the repeats, and the spread: from the first to the third quartile, in percent of the "
             "median. time says if a spread is more than 10 %, and if a clock moved by more than 2 %. What the "
             "program prints is thrown away.",
    .examples = "inkmark time --repeat 100 -- ./solver -n 64\tone table of 100 runs\n"
                "inkmark time -n 20 -f json -o runs.json -- ./solver\tall single values",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .program_follows = true,
    .operand_kind = "program",
    .run = run,
};
