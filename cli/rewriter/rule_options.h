/* SPDX-License-Identifier: MIT */
/* The rewriter's rules as options, shared by `inkmark instrument` and `inkmark nvcc`. */
#ifndef INKMARK_CLI_RULE_OPTIONS_H
#define INKMARK_CLI_RULE_OPTIONS_H

#include "options.h"

#include "inkmark/instrument.h"

typedef struct rule_settings {
  const char *kernel, *exclude, *calls, *root, *file;
  bool loops, waits, rows, lines, kernels_only;
  int guard; /* enum guard_kind of nvcc_guard.h */
  int hold; /* 0 auto, 1 none, 2 strict */
  uint64_t depth, limit, parse_seconds;
} rule_settings;

/* The lines of an option table; `type` is the command's settings, which has a rule_settings `rules`.
 */
#define RULE_OPTIONS(type)                                                                         \
  {'k', "kernel", CLI_TEXT, "REGEX", offsetof(type, rules.kernel),                                 \
   "only kernels whose name matches the POSIX extended regular expression"},                       \
      {0, "exclude", CLI_TEXT, "REGEX", offsetof(type, rules.exclude),                             \
       "leave these kernels and functions alone"},                                                 \
      {0, "calls", CLI_MAYBE, "REGEX", offsetof(type, rules.calls),                                \
       "a range around every call of a device function of the project, or around the calls of "    \
       "those that match"},                                                                        \
      {0, "loops", CLI_FLAG, NULL, offsetof(type, rules.loops),                                    \
       "every loop: outermost ones as ranges with their passes summed, those inside as sums"},     \
      {0, "waits", CLI_FLAG, NULL, offsetof(type, rules.waits),                                    \
       "a range around every barrier and wait"},                                                   \
      {0, "rows", CLI_FLAG, NULL, offsetof(type, rules.rows),                                      \
       "a row for each pass of an outermost loop (default: of loops known to run at most 128 "     \
       "times; the passes of others are summed)"},                                                 \
      {0, "lines", CLI_FLAG, NULL, offsetof(type, rules.lines),                                    \
       "line by line: a mark behind every statement of the one kernel that --kernel chooses"},     \
      {0, "kernels-only", CLI_FLAG, NULL, offsetof(type, rules.kernels_only),                      \
       "open a track in every kernel and choose nothing else"},                                    \
      {0, "depth", CLI_COUNT, "N", offsetof(type, rules.depth),                                    \
       "how many calls deep from a kernel functions are marked; 1: kernels alone (default: what a "    \
       "kernel that is one call does is marked in place of that call)"},                               \
      {0, "limit", CLI_COUNT, "N", offsetof(type, rules.limit),                                    \
       "most marks in one function (default 256)"},                                                \
      {0, "hold", CLI_CHOICE, "auto|none|strict", offsetof(type, rules.hold),                             \
       "the values that marks hold in place: found (the default), none, or found and tied to the "    \
       "clock read where the assembler moves what is only held, at 2 instructions a mark or more"},  \
      {0, "guard", CLI_CHOICE, "fix|report|off", offsetof(type, rules.guard),                          \
       "inkmark nvcc: where marks make a kernel spill, exceed registers or grow too much, take them out "  \
       "(the default), say it, or do not look"},                                                   \
      {0, "rules", CLI_TEXT, "FILE", offsetof(type, rules.file),                                   \
       "take rules from this file (default: the nearest inkmark.toml, from here up)"},             \
      {0, "root", CLI_TEXT, "DIR", offsetof(type, rules.root),                                     \
       "the project: headers outside it are left alone; default: the version control root"},       \
  {                                                                                                \
    0, "parse-seconds", CLI_COUNT, "N", offsetof(type, rules.parse_seconds),                       \
        "processor time the full parse may take; then the header-less one is used (default 60)"         \
  }

/* False after a usage error. */
bool rule_options_check(const cli_command *command, const rule_settings *rules);
/* Fills the rules into the options of a run. */
void rule_options_apply(const rule_settings *rules, ink_instrument_options *options);

#endif
