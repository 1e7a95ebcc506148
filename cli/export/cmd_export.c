/* SPDX-License-Identifier: MIT */
/* `inkmark export`: hands a capture to one of the library's outputs. */
#include "commands.h"
#include "export_compare.h"
#include "export_filter.h"
#include "export_with.h"
#include "grid.h"
#include "load.h"
#include "message.h"
#include "outfile.h"

#include "inkmark/output.h"

#include <stdlib.h>
#include <string.h>

typedef struct export_settings {
  cli_common common;
  int format; /* index into ink_outputs(), -1: by the ending of the name */
  const char *output, *kernel, *with, *tracks;
  uint64_t launch;
  int marking; /* enum ink_output_marking */
  bool align, quiet, force;
  export_filter_texts filter;
} export_settings;

/* Filled by cmd_export_prepare: the library's list of outputs is the only one. */
static char format_words[128], about[1024];

#define MARKING_CHOICES(X) X("usual", INK_MARKING_USUAL) X("in", INK_MARKING_IN) X("out", INK_MARKING_OUT)
CHOICE_CHECK(MARKING_CHOICES)

static const cli_option options[] = {
    {'o', "output", CLI_TEXT, "FILE", offsetof(export_settings, output),
     "where to write; - is standard output. The file appears under its name when it is whole"},
    {'f', "format", CLI_CHOICE, format_words, offsetof(export_settings, format),
     "what to write; without --format, the ending of the output's name decides"},
    {'k', "kernel", CLI_TEXT, "REGEX", offsetof(export_settings, kernel),
     "export only kernels whose name matches the POSIX extended regular expression"},
    {0, "launch", CLI_COUNT, "N", offsetof(export_settings, launch),
     "export only launch N, counted from 0 as 'inkmark info' lists them"},
    {0, "time", CLI_TEXT, "FROM-TO", offsetof(export_settings, filter.time),
     "in a trace or csv, keep only what overlaps this time, counted from the begin of the first track: "
     "10ms-12ms"},
    {0, "blocks", CLI_TEXT, "A-B", offsetof(export_settings, filter.blocks),
     "in a trace or csv, keep only these blocks, by their linear index"},
    {0, "iterations", CLI_TEXT, "A-B", offsetof(export_settings, filter.iterations),
     "in a trace or csv, keep only what is in these rows (PROF_ITER)"},
    {0, "shorter-than", CLI_TEXT, "TIME=drop", offsetof(export_settings, filter.shorter_than),
     "in a trace, leave out slices that are shorter: 1us=drop"},
    {'m', "marking", CLI_CHOICE, CHOICE_WORDS(MARKING_CHOICES), offsetof(export_settings, marking),
     "what to do with the marks' own cost. in: leave it in the times, as they were stamped. out: take it out "
     "of them, as 'inkmark report' does; a trace keeps its times and gets both as arguments. usual (the "
     "default): out in the tables of json and html, in everywhere else"},
    {'w', "with", CLI_TEXT, "TRACE", offsetof(export_settings, with),
     "merge with the trace that another profiler recorded of the same run: PyTorch's or XLA's JSON, also in "
     "gzip, zstd or a zip, an Nsight Systems SQLite export, a Perfetto trace or an .xplane.pb. The output is "
     "JSON, a zip, a Perfetto trace or an .xplane.pb, by its name. If TRACE is a folder of JAX, TensorFlow or "
     "PyTorch for TensorBoard, its newest trace is taken; without -o the merged trace goes to a place from "
     "which TensorBoard shows it"},
    {'t', "tracks", CLI_TEXT, "all|representative|slowest:N|sm", offsetof(export_settings, tracks),
     "in a merged trace, choose which blocks or warps of each launch are shown. The default is all if there "
     "are 2000 at most, else the shortest, the median and the longest of each launch; sm shows only counters "
     "of each SM"},
    {'a', "align", CLI_FLAG, NULL, offsetof(export_settings, align),
     "take out the offset between the capture's clock and the other trace's, as the joined kernels show it. If "
     "the other trace does not tell Unix time, this is always done"},
    {0, "force", CLI_FLAG, NULL, offsetof(export_settings, force),
     "for a page of two captures: also compare captures that were not made alike: other devices, clock rates, costs of "
     "a mark"},
    {'q', "quiet", CLI_FLAG, NULL, offsetof(export_settings, quiet),
     "print only errors: no progress, and nothing about what was joined, converted and written"},
    {0},
};

void cmd_export_prepare(void) {
  const ink_output *outputs;
  size_t n = ink_outputs(&outputs), words = 0, lines = 0;
  for (size_t i = 0; i < n; i++) {
    words += (size_t)snprintf(format_words + words, sizeof format_words - words, "%s%s",
                              i ? "|" : "", outputs[i].name);
    if (words >= sizeof format_words)
      words = sizeof format_words - 1;
    lines += (size_t)snprintf(about + lines, sizeof about - lines, "%s%s (%s): %s", i ? "\n\n" : "",
                              outputs[i].name, outputs[i].endings, outputs[i].summary);
    if (lines >= sizeof about)
      lines = sizeof about - 1;
  }
}

/* The output that the options ask for, or NULL after a usage error. */
static const ink_output *choose(const export_settings *settings) {
  const ink_output *outputs;
  ink_outputs(&outputs);
  if (!settings->output) {
    cli_usage_error(&cmd_export, "needs '-o FILE'");
    return NULL;
  }
  if (settings->format >= 0)
    return &outputs[settings->format];
  const ink_output *output = ink_output_by_path(settings->output);
  if (!output)
    cli_usage_error(&cmd_export, "the name '%s' does not say the format: use '--format %s'",
                    settings->output, format_words);
  return output;
}

/* Before a file that takes long and that few viewers open: what it will be about, by the bytes of a slice (docs/outputs.md). */
static void say_large(const export_settings *settings, const ink_output *output, const loaded_capture *loaded) {
  static const struct {
    const char *name;
    double bytes, packed;
  } formats[] = {{"perfetto", 30, 5.5}, {"chrome", 131, 13}, {"csv", 130, 13}};
  const size_t length = strlen(settings->output);
  const bool packed = length > 3 && !strcmp(settings->output + length - 3, ".gz");
  const uint64_t n = ink_capture_track_count(loaded->capture);
  double words = 0, bytes = 0;
  if (settings->quiet || settings->kernel || settings->launch != UINT64_MAX || export_filter_given(&settings->filter))
    return;
  for (uint64_t i = 0; i < n; i++) {
    ink_stored_track track;
    ink_capture_track(loaded->capture, i, &track);
    words += (double)(track.ring_words + track.aux_words);
  }
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (!strcmp(output->name, formats[i].name))
      bytes = words * (packed ? formats[i].packed : formats[i].bytes);
  if (bytes > 2e9)
    message_say("'%s' will be about %s; --launch, --kernel, --time, --blocks, --iterations and --shorter-than leave things out%s",
                settings->output, number_bytes((uint64_t)bytes).text, packed ? "" : ", and a name with .gz behind it is packed");
}

static int write_one(const export_settings *settings, const ink_output *output, const char *path, const char *comparison) {
  ink_output_filter filter = {0};
  loaded_capture loaded;
  int code = CLI_FAILED;
  if (export_filter_parse(&cmd_export, &settings->filter, &filter))
    return CLI_USAGE;
  if (!load_capture(path, &loaded))
    return code;
  if (load_check_choice(&loaded, settings->kernel, settings->launch)) {
    ink_error error = {0};
    ink_output_options choice = {
        .size = sizeof choice,
        .kernel_regex = settings->kernel,
        .launch = settings->launch == UINT64_MAX ? UINT32_MAX : (uint32_t)settings->launch,
        .progress = settings->quiet ? NULL : message_progress,
        .user = (void *)"writing",
        .marking = (enum ink_output_marking)settings->marking,
        .filter = export_filter_given(&settings->filter) ? &filter : NULL,
        .comparison = comparison,
    };
    say_large(settings, output, &loaded);
    error.status = output->write(loaded.capture, loaded.map, &choice, settings->output, &error);
    message_progress_end();
    code = error.status ? message_failure(&error) : CLI_OK;
    if (!code && !settings->quiet)
      export_say_written(settings->output,
                         strcmp(output->name, "npy")
                             ? NULL
                             : " as .cycles.npy, .ns.npy, .counts.npy and .axes.json",
                         &loaded, 1,
                         !settings->kernel && settings->launch == UINT64_MAX && !choice.filter);
  }
  unload_capture(&loaded);
  return code;
}

/* Whether the output is a page, by --format or by its name. */
static bool is_page(const export_settings *settings) {
  const ink_output *outputs, *by_name = settings->output ? ink_output_by_path(settings->output) : NULL;
  ink_outputs(&outputs);
  const ink_output *output = settings->format >= 0 ? &outputs[settings->format] : by_name;
  return output && !strcmp(output->name, "html");
}

/* A page of the second capture that compares it with the first. */
static int write_comparison(const export_settings *settings, char **argv, size_t n) {
  if (n != 2)
    return cli_usage_error(&cmd_export, "a page takes one capture, or two to compare: the base and the new one");
  if (settings->launch != UINT64_MAX || settings->tracks || settings->align || export_filter_given(&settings->filter))
    return cli_usage_error(&cmd_export, "'%s' does not go with a page of two captures",
                           settings->launch != UINT64_MAX ? "--launch"
                           : settings->tracks             ? "--tracks"
                           : settings->align              ? "--align"
                           : settings->filter.time        ? "--time"
                           : settings->filter.blocks      ? "--blocks"
                           : settings->filter.iterations  ? "--iterations"
                                                          : "--shorter-than");
  if (!cli_check_regex(&cmd_export, "kernel", settings->kernel))
    return CLI_USAGE;
  const export_comparison choice = {.base = argv[0], .now = argv[1], .kernel = settings->kernel,
                                    .force = settings->force, .raw = settings->marking == INK_MARKING_IN};
  char *comparison = export_compare(&choice);
  const int code = comparison ? write_one(settings, ink_output_by_name("html"), argv[1], comparison) : CLI_FAILED;
  free(comparison);
  return code;
}

static int run(int argc, char **argv) {
  export_settings settings = {.format = -1, .launch = UINT64_MAX};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_export, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  char *with = (char *)settings.with;
  if (!outfile_is_none_of(settings.output, argv, operands) ||
      !outfile_is_none_of(settings.output, &with, with != NULL))
    return CLI_FAILED;
  if (!settings.with && operands > 1 && is_page(&settings))
    return write_comparison(&settings, argv, operands);
  if (settings.force)
    return cli_usage_error(&cmd_export, "'--force' is for a page of two captures");
  if (settings.with || operands > 1) {
    if (settings.marking || export_filter_given(&settings.filter))
      return cli_usage_error(&cmd_export, "'%s' takes one capture and no '--with'",
                             settings.marking             ? "--marking"
                             : settings.filter.time       ? "--time"
                             : settings.filter.blocks     ? "--blocks"
                             : settings.filter.iterations ? "--iterations"
                                                          : "--shorter-than");
    const export_merge merge = {.captures = argv,
                                .count = operands,
                                .with = settings.with,
                                .output = settings.output,
                                .kernel = settings.kernel,
                                .tracks = settings.tracks,
                                .launch = settings.launch,
                                .align = settings.align,
                                .quiet = settings.quiet,
                                .format_given = settings.format >= 0};
    return export_merged(&merge);
  }
  if (settings.tracks || settings.align)
    return cli_usage_error(&cmd_export, "'%s' needs '--with TRACE' or several captures",
                           settings.tracks ? "--tracks" : "--align");
  const ink_output *output = choose(&settings);
  if (!output || !cli_check_regex(&cmd_export, "kernel", settings.kernel))
    return CLI_USAGE;
  return write_one(&settings, output, argv[0], NULL);
}

const cli_command cmd_export = {
    .name = "export",
    .summary = "write a capture as a trace, a table or arrays for other programs",
    .operands = "FILE...",
    .about = about,
    .examples =
        "inkmark export solver.ink -o solver.pftrace\topen it at https://ui.perfetto.dev\n"
        "inkmark export solver.ink -o - --format csv\tone line a record, to standard output\n"
        "inkmark export solver.ink --with torch.json.gz -o merged.pftrace\tinside PyTorch's "
        "kernels\n"
        "inkmark export rank*.ink --with torch.json.gz -o merged.json.gz\tseveral captures in one "
        "trace\n"
        "inkmark export rank*.ink -o all.pftrace\tseveral processes on one timeline\n"
        "inkmark export base.ink new.ink -o new.html\ta page of new.ink, compared with base.ink",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .operand_kind = "capture",
    .run = run,
};
