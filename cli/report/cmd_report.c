/* SPDX-License-Identifier: MIT */
/* `inkmark report`: tables of where the time inside kernels went. */
#include "report_activity.h"
#include "report_code.h"
#include "report_host.h"
#include "report_path.h"
#include "report_variance.h"
#include "stall_capture.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"

#include <stdlib.h>

#define GROUPS(X) \
  X("section", INK_BY_SECTION) X("iteration", INK_BY_ITERATION) X("block", INK_BY_BLOCK) X("sm", INK_BY_SM) \
  X("launch", INK_BY_LAUNCH) X("warp", INK_BY_WARP) X("device", INK_BY_DEVICE) X("instance", INK_BY_INSTANCE) \
  X("role", INK_BY_ROLE)
CHOICE_CHECK(GROUPS)

static const cli_option options[] = {
    {'b', "by", CLI_CHOICE, CHOICE_WORDS(GROUPS), offsetof(report_settings, by),
     "choose what the rows are: sections with their statistics (the default), or one row for each iteration "
     "(PROF_ITER), block, SM, launch, warp of a block, device, template instance or role (PROF_ROLE), with the "
     "sections as columns"},
    {'s', "sort", CLI_CHOICE, CHOICE_WORDS(REPORT_SORTS), offsetof(report_settings, sort),
     "in text and csv, print the row with the most first; self is the time without the sections inside"},
    {'n', "top", CLI_COUNT, "N", offsetof(report_settings, top),
     "in text tables, print no more than N rows of each kernel"},
    {0, "head", CLI_FLAG, NULL, offsetof(report_settings, head),
     "in text, print only a line for each kernel"},
    {'q', "quiet", CLI_FLAG, NULL, offsetof(report_settings, quiet),
     "in text, print the tables alone, without the remarks on what they leave out"},
    {0, "kept", CLI_FLAG, NULL, offsetof(report_settings, kept),
     "also print times where marks were dropped. They are of the newest marks of each track, which may be "
     "unlike the others"},
    {'c', "cell", CLI_CHOICE, CHOICE_WORDS(REPORT_CELLS), offsetof(report_settings, cell),
     "choose what the cells of a table with sections as columns hold, over all tracks; default: mean for "
     "iterations, total for the others"},
    {'u', "unit", CLI_CHOICE, CHOICE_WORDS(REPORT_UNITS), offsetof(report_settings, unit),
     "in text tables, print cycles of the SM's own clock (the default), or time through the clock map; csv and "
     "json always have both"},
    {'k', "kernel", CLI_TEXT, "REGEX", offsetof(report_settings, kernel),
     "print only kernels whose name matches the POSIX extended regular expression"},
    {0, "launch", CLI_COUNT, "N", offsetof(report_settings, launch),
     "print only launch N, counted from 0 as 'inkmark info' lists them"},
    {0, "activity", CLI_FLAG, NULL, offsetof(report_settings, activity),
     "print what CUPTI saw instead ('inkmark record --activity'): kernels with their dimensions, registers and "
     "occupancy, copies, calls, how devices were used, and the timeline"},
    {0, "host", CLI_FLAG, NULL, offsetof(report_settings, host),
     "print the host's ranges instead ('inkmark record --nvtx'), by name, with the calls and the kernels that "
     "were launched in them; json and csv have each range"},
    {0, "path", CLI_FLAG, NULL, offsetof(report_settings, path),
     "instead of tables, print the critical path of the longest launch: whose work its end waited for. With "
     "--launch, print that of this launch; with --all, each step. text or json"},
    {0, "variance", CLI_FLAG, NULL, offsetof(report_settings, variance),
     "instead of tables, print how the slices of each section scatter, what the scatter goes with (launch, SM, warp, "
     "iteration, block, a PROF_VALUE of the iteration), and warm-up and drift over the launches. text or json"},
    {0, "code", CLI_TEXT, "PROGRAM", offsetof(report_settings, code),
     "instead of tables, print the machine code of each section by kind, bytes and operations, beside the "
     "cycles that FILE has of the section (without FILE: alone). PROGRAM is built with -lineinfo. text or json"},
    {0, "stalls", CLI_TEXT, "FILE", offsetof(report_settings, stalls),
     "say why warps waited in each section, by the samples in FILE: a capture of 'inkmark record --stalls', which has the "
     "code too; or with --code, of Nsight Compute: a .ncu-rep (read by NVIDIA's Python package ncu-report), or 'ncu "
     "--import REPORT --page source --csv'"},
    {'w', "waits", CLI_TEXT, "REGEX", offsetof(report_settings, waits),
     "say which sections wait, by name, in any case: " INK_WAITS_USUAL " (the default). The finding of who waits for "
     "whom uses it, and --path"},
    {0, "silence", CLI_TEXT, "ID,...", offsetof(report_settings, silence),
     "do not print these findings: tail, wait, late, outlier, first-launch"},
    {0, "check", CLI_TEXT, "EXPR", offsetof(report_settings, check),
     "exit with 3 unless the condition holds for every kernel and section that it names: 'Step/LineSearch p99 "
     "< 20us'. It has total, self, mean, min, p1, median, p99, max with cycles, ns, us or ms; count, "
     "imbalance; share with %"},
    {'a', "all", CLI_FLAG, NULL, offsetof(report_settings, all),
     "print every row and every column, however many"},
    {0, "raw", CLI_FLAG, NULL, offsetof(report_settings, raw),
     "print times as they were stamped: leave the marks' own cost in them"},
    {'f', "format", CLI_CHOICE, CHOICE_WORDS(REPORT_FORMATS), offsetof(report_settings, format),
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
    report.choice = (ink_table_options){
        .size = sizeof report.choice,
        .by = (enum ink_group_by)settings->by,
        .kernel_regex = settings->kernel,
        .launch = settings->launch == UINT64_MAX ? UINT32_MAX : (uint32_t)settings->launch,
        .progress = message_progress,
        .user = (void *)"reading",
        .without_marking = !settings->raw,
        .findings = settings->by == INK_BY_SECTION,
        .waits_regex = settings->waits,
    };
    error.status =
        ink_table_make(report.loaded.capture, report.loaded.map, &report.choice, &report.table, &error);
    message_progress_end();
    if (error.status)
      message_failure(&error);
    else
      fine = report_prepare(&report) && sink->print(&report, sink);
    if (fine && settings->check)
      sink->failed |= !report_check(&report, &fine);
  }
  report_release(&report);
  return fine;
}

static bool json_begin(const report_settings *settings, char **argv, size_t operands, report_sink *sink) {
  ink_error error = {0};
  if (!outfile_is_none_of(settings->output, argv, operands))
    return false;
  error.status = ink_tables_json_open(settings->output ? settings->output : "-", &sink->json, &error);
  if (error.status)
    message_failure(&error);
  return !error.status;
}

bool report_json(const report_view *report, report_sink *sink) {
  ink_error error = {0};
  error.status = ink_tables_json_add(sink->json, report->loaded.path, report->loaded.capture, report->loaded.map,
                                     report->table, &report->choice, &error);
  if (error.status)
    message_failure(&error);
  return !error.status;
}

static bool json_end(report_sink *sink, bool keep) {
  ink_error error = {0};
  error.status = ink_tables_json_close(sink->json, keep, &error);
  if (error.status)
    message_failure(&error);
  return !error.status;
}

static int report_all(const report_settings *settings, char **argv, size_t operands) {
  if (settings->activity)
    return report_activity(settings, argv, operands);
  if (settings->host)
    return report_host(settings, argv, operands);
  if (settings->path)
    return report_path(settings, argv, operands);
  if (settings->variance)
    return report_variance(settings, argv, operands);

  static bool (*const printers[])(const report_view *, report_sink *) = {report_text, report_json,
                                                                         report_csv};
  report_sink sink = {.print = printers[settings->format]};
  outfile file;
  const bool json = settings->format == REPORT_JSON;
  if (json ? !json_begin(settings, argv, operands, &sink)
           : !outfile_open_for(&file, settings->output, argv, operands))
    return CLI_FAILED;
  bool fine = true;
  if (!json)
    sink.to = file.stream;
  if (settings->format == REPORT_CSV)
    report_csv_begin(&sink);
  for (size_t i = 0; i < operands; i++)
    fine = report_file(settings, argv[i], &sink) && fine;
  fine = (json ? json_end(&sink, fine) : outfile_close(&file, fine)) && fine;
  return !fine ? CLI_FAILED : sink.failed ? CLI_CHECK_FAILED : CLI_OK;
}

/* What is printed instead of the tables is one thing, which is no table to be checked. */
static int check_report(const report_settings *settings) {
  const struct {
    const char *option;
    bool given, has_csv;
  } reports[] = {{"activity", settings->activity, true},
                 {"host", settings->host, true},
                 {"path", settings->path, false},
                 {"variance", settings->variance, false},
                 {"code", settings->code, false},
                 {"stalls", settings->stalls && !settings->code, false}};
  const char *first = NULL;
  for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
    if (!reports[i].given)
      continue;
    if (first)
      return cli_usage_error(&cmd_report, "'--%s' and '--%s' are two reports: choose one", first, reports[i].option);
    first = reports[i].option;
    if (settings->check)
      return cli_usage_error(&cmd_report, "'--check' is of the tables, not of '--%s'", first);
    if (settings->format == REPORT_CSV && !reports[i].has_csv)
      return cli_usage_error(&cmd_report, "'--%s' has no csv", first);
  }
  return CLI_OK;
}

static int run(int argc, char **argv) {
  report_settings settings = {.cell = -1, .launch = UINT64_MAX, .top = UINT64_MAX};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_report, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (settings.top == 0)
    return cli_usage_error(&cmd_report, "'--top' must be at least 1 ('--head' prints no rows, '--all' prints every one)");
  if (settings.top == UINT64_MAX)
    settings.top = 0; /* not given */
  if (!cli_check_regex(&cmd_report, "kernel", settings.kernel))
    return CLI_USAGE;
  if (settings.sort == SORT_SELF && settings.by == INK_BY_ITERATION)
    return cli_usage_error(&cmd_report, "'--sort self' is not known by iteration");
  if (!cli_check_regex(&cmd_report, "waits", settings.waits) || report_check_parse(&settings) || report_silence_check(&settings))
    return CLI_USAGE;
  if (check_report(&settings))
    return CLI_USAGE;
  if (settings.stalls && !settings.code && !stall_is_capture(settings.stalls))
    return cli_usage_error(&cmd_report, "'--stalls' of a file that is no capture needs '--code PROGRAM'");
  if (settings.code || settings.stalls)
    return report_code(&settings, argv, operands);
  char *newest = NULL, *one[1];
  if (!operands) {
    if (!(newest = load_newest()))
      return CLI_FAILED;
    one[0] = newest;
    argv = one;
    operands = 1;
  }
  const int code = report_all(&settings, argv, operands);
  free(newest);
  return code;
}

const cli_command cmd_report = {
    .name = "report",
    .summary = "print where the time inside kernels went",
    .operands = "[FILE...]",
    .about =
        "Times are of slices: PROF_MARK(S) ends a slice of S that began at the stamp before it. A row "
        "'(unmarked)' is time that no section claims. Share is a share of the kernel's whole track time. A "
        "section stands below the section that its slices lie in, and the outer section's time includes the "
        "inner one's. If a section's slices lie in several sections, its row says which. 'called' means marked "
        "in a function that the kernel calls. Imbalance is the largest total of a track, divided by the mean "
        "over the tracks of its launch that passed the section, averaged over the launches: 1.00 is even. Self "
        "is the time without that of the sections inside. Devices and template instances are apart. Median and "
        "p99 are exact up to 32 slices, and within 1 % of the true value beyond.\n\nWithout FILE, report takes "
        "the newest capture (*.ink) in this folder. PROF_ASYNC, PROF_EVENT and PROF_VALUE are in no table; "
        "'inkmark export' shows them. The cost of the marks was measured when the program was recorded. The "
        "times of the sections are without it, and the report says how much it is.",
    .examples = "inkmark report solver.ink\tsections of every kernel\n"
                "inkmark report\tof the newest capture here\n"
                "inkmark report --by block --sort total --top 5 solver.ink\tthe five slowest blocks\n"
                "inkmark report --by iteration --unit us solver.ink\tone row for each iteration\n"
                "inkmark report --path solver.ink\twhose work the end of the longest launch waited for\n"
                "inkmark report --variance solver.ink\twhat makes a section fast here and slow there\n"
                "inkmark report --code ./solver solver.ink\twhat each section is made of\n"
                "inkmark report --stalls solver.ink\twhy warps waited there, recorded with --stalls\n"
                "inkmark report --code ./solver --stalls samples.csv solver.ink\tthe same by Nsight Compute\n"
                "inkmark report --activity solver.ink\tkernels, copies and calls around them\n"
                "inkmark report --by block --format csv solver.ink\tfor a spreadsheet",
    .options = options,
    .operands_min = 0,
    .operands_max = SIZE_MAX,
    .operand_kind = "capture",
    .run = run,
};
