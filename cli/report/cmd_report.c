/* SPDX-License-Identifier: MIT */
/* `inkmark report`: tables of where the time inside kernels went. */
#include "report_activity.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"

#include <string.h>

static const cli_option options[] = {
    {'b', "by", CLI_CHOICE, "section|iteration|block|sm|launch", offsetof(report_settings, by),
     "what the rows are: sections with their statistics (the default), or one row for each "
     "iteration (PROF_ITER), block, SM or launch, with the sections as columns"},
    {'c', "cell", CLI_CHOICE, "total|mean|median|max|count", offsetof(report_settings, cell),
     "what the cells of such a table hold, over all tracks: mean is the default for iterations, "
     "total for the others"},
    {'u', "unit", CLI_CHOICE, "cycles|ns|us", offsetof(report_settings, unit),
     "of text tables: cycles of the SM's own clock (the default), or time through the clock map; "
     "csv and json always have both"},
    {'k', "kernel", CLI_TEXT, "REGEX", offsetof(report_settings, kernel),
     "only kernels whose name matches the POSIX extended regular expression"},
    {0, "launch", CLI_COUNT, "N", offsetof(report_settings, launch),
     "only launch N, counted from 0 as 'inkmark info' lists them"},
    {0, "activity", CLI_FLAG, NULL, offsetof(report_settings, activity),
     "what CUPTI saw instead ('inkmark record --activity'): kernels with their dimensions, "
     "registers and occupancy, copies, calls, how devices were used, and the timeline"},
    {'a', "all", CLI_FLAG, NULL, offsetof(report_settings, all),
     "every row and every column, however many"},
    {0, "raw", CLI_FLAG, NULL, offsetof(report_settings, raw),
     "times as they were stamped: leave the marks' own cost in them"},
    {'f', "format", CLI_CHOICE, "text|json|csv", offsetof(report_settings, format),
     "text (the default), or the same numbers in long form for programs"},
    {'o', "output", CLI_TEXT, "FILE", offsetof(report_settings, output),
     "where to write; - (the default) is standard output"},
    {0},
};

static bool report_file(const report_settings *settings, const char *path, report_sink *sink) {
  report_view report = {.settings = settings};
  ink_error error = {0};
  bool fine = false;
  if (!load_capture(path, &report.loaded))
    return false;
  if (load_check_choice(&report.loaded, settings->kernel, settings->launch)) {
    ink_table_options choice = {
        .size = sizeof choice,
        .by = (enum ink_group_by)settings->by,
        .kernel_regex = settings->kernel,
        .launch = settings->launch == UINT64_MAX ? UINT32_MAX : (uint32_t)settings->launch,
        .progress = message_progress,
        .user = (void *)"reading",
        .without_marking = !settings->raw,
    };
    error.status =
        ink_table_make(report.loaded.capture, report.loaded.map, &choice, &report.table, &error);
    message_progress_end();
    if (error.status)
      message_failure(&error);
    else
      fine = report_prepare(&report) && sink->print(&report, sink);
  }
  report_release(&report);
  return fine;
}

static int run(int argc, char **argv) {
  report_settings settings = {.cell = -1, .launch = UINT64_MAX};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_report, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (!cli_check_regex(&cmd_report, "kernel", settings.kernel))
    return CLI_USAGE;
  if (settings.activity)
    return report_activity(&settings, argv, operands);

  static bool (*const printers[])(const report_view *, report_sink *) = {report_text, report_json,
                                                                         report_csv};
  outfile file;
  if (!outfile_open_for(&file, settings.output, argv, operands))
    return CLI_FAILED;
  report_sink sink = {.to = file.stream, .print = printers[settings.format]};
  bool fine = true;
  if (settings.format == REPORT_JSON)
    report_json_begin(&sink);
  else if (settings.format == REPORT_CSV)
    report_csv_begin(&sink);
  for (size_t i = 0; i < operands; i++)
    fine = report_file(&settings, argv[i], &sink) && fine;
  if (settings.format == REPORT_JSON)
    report_json_end(&sink);
  fine = outfile_close(&file, fine) && fine;
  return fine ? CLI_OK : CLI_FAILED;
}

const cli_command cmd_report = {
    .name = "report",
    .summary = "print where the time inside kernels went",
    .operands = "FILE...",
    .about =
        "Times are of slices: PROF_MARK(S) ends a slice of S that began at the stamp before it. "
        "A row '(unmarked)' is time that no section claims. Share is of the kernel's whole "
        "track time. A section stands below the one that its slices lie in, whose time holds its own; "
        "one that lies in several says which. 'called' is marked in a function that the kernel calls. "
        "Imbalance is the largest total of a track divided by the mean over those that passed the "
        "section: 1.00 is even. PROF_ASYNC, PROF_EVENT and PROF_VALUE are in no table, 'inkmark "
        "export' shows them. Median and p99 are exact up to 32 slices and within 1 % of the true value beyond. What the marks cost themselves, as it "
        "was measured when the program was recorded, is taken out of the times of the sections; "
        "the report says how much that is.",
    .examples = "inkmark report solver.ink\tsections of every kernel\n"
                "inkmark report --by iteration --unit us solver.ink\tone row for each iteration\n"
                "inkmark report --activity solver.ink\tkernels, copies and calls around them\n"
                "inkmark report --by block --format csv solver.ink\tfor a spreadsheet",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .operand_kind = "capture",
    .run = run,
};
