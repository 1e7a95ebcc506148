/* SPDX-License-Identifier: MIT */
/* `inkmark cost`: what the marks of a program cost it, by running it with them and without. */
#include "cost.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"

static const cli_option options[] = {
    {'b', "baseline", CLI_TEXT, "PROGRAM", offsetof(cost_settings, baseline),
     "also run the same program built without marks (INKMARK_DISABLE), with the same arguments"},
    {'n', "runs", CLI_COUNT, "N", offsetof(cost_settings, runs), "run each N times; default 5"},
    {'k', "kernel", CLI_TEXT, "REGEX", offsetof(cost_settings, kernels),
     "print only kernels whose readable name matches the POSIX extended regular expression"},
    {'d', "device", CLI_CHOICE, CHOICE_WORDS(DEVICE_CHOICES), offsetof(cost_settings, device),
     "use a real GPU, or the simulated device, as for 'inkmark record'"},
    {'f', "format", CLI_CHOICE, CHOICE_WORDS(FORMAT_CHOICES), offsetof(cost_settings, format),
     "text (the default), or every single run for programs"},
    {'o', "output", CLI_TEXT, "FILE", offsetof(cost_settings, output),
     "where to write; - (the default) is standard output"},
    {0},
};

static int run(int argc, char **argv) {
  cost_settings settings = {.runs = 5};
  cost_result result;
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_cost, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (settings.runs < 1 || settings.runs > COST_RUNS_MAX)
    return cli_usage_error(&cmd_cost, "--runs must be 1 to %d", COST_RUNS_MAX);
  if (!cli_check_regex(&cmd_cost, "kernel", settings.kernels))
    return CLI_USAGE;
  argv[operands] = NULL; /* argv held the command's name too: there is room */
  int code = cost_measure(&settings, argv, &result);
  outfile file;
  if (!code && !outfile_open(&file, settings.output))
    code = CLI_FAILED;
  else if (!code) {
    bool fine = true;
    if (settings.format == FORMAT_JSON)
      cost_json(&result, file.stream);
    else
      fine = cost_text(&result, file.stream);
    code = outfile_close(&file, fine) && fine ? CLI_OK : CLI_FAILED;
  }
  cost_release(&result);
  return code;
}

const cli_command cmd_cost = {
    .name = "cost",
    .summary = "measure what the marks cost a program",
    .operands = "[--] PROGRAM [ARGUMENTS]",
    .about =
        "cost runs the program several times, in turn: with its marks off (compiled in, but not recording), "
        "with them on, and, with --baseline, a build without marks. For each kernel it prints the time of the "
        "kernel's launches, and by how many percent one exceeds the other, run by run. It also prints "
        "registers, local and shared memory, and occupancy with and without marks: of the launches and, "
        "through cuobjdump, of the machine code for every GPU in the files. Times of kernels are CUPTI's. If "
        "there is no CUPTI, only the wall-clock time of the whole process is known. What the program prints is "
        "thrown away.",
    .examples = "inkmark cost -- ./solver -n 64\tmarks on against off\n"
                "inkmark cost --baseline ./solver_plain --runs 9 -- ./solver -n 64\t"
                "and against a build without marks",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .program_follows = true,
    .operand_kind = "program",
    .run = run,
};
