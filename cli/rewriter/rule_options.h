/* SPDX-License-Identifier: MIT */
/* The rewriter's rules as options, shared by `inkmark instrument` and `inkmark nvcc`. */
#ifndef INKMARK_CLI_RULE_OPTIONS_H
#define INKMARK_CLI_RULE_OPTIONS_H

#include "options.h"

#include "inkmark/instrument.h"

#define GUARD_CHOICES(X) X("fix", GUARD_FIX) X("report", GUARD_REPORT) X("off", GUARD_OFF)
enum guard_kind { GUARD_CHOICES(CHOICE_CONSTANT) };
#define HOLD_CHOICES(X) X("auto", INK_HOLD_AUTO) X("none", INK_HOLD_NONE) X("strict", INK_HOLD_STRICT)

typedef struct rule_settings {
  const char *kernel, *exclude, *calls, *root, *file;
  bool loops, waits, rows, lines, kernels_only;
  int guard; /* enum guard_kind */
  int hold;  /* an index into HOLD_CHOICES */
  uint64_t depth, limit, parse_seconds;
} rule_settings;

/* The lines of an option table; `type` is the command's settings, which has a rule_settings `rules`.
 */
#define RULE_OPTIONS(type)                                                                                              \
  {'k', "kernel", CLI_TEXT, "REGEX", offsetof(type, rules.kernel),                                                      \
   "mark only kernels whose name matches the POSIX extended regular expression"},                                       \
      {0, "exclude", CLI_TEXT, "REGEX", offsetof(type, rules.exclude),                                                  \
       "leave these kernels and functions alone"},                                                                      \
      {0, "calls", CLI_MAYBE, "REGEX", offsetof(type, rules.calls),                                                     \
       "put a range around every call of a device function of the project, or around the calls of those that "          \
       "match"},                                                                                                        \
      {0, "loops", CLI_FLAG, NULL, offsetof(type, rules.loops),                                                         \
       "mark every loop: outermost ones as ranges with their passes summed, those inside as sums"},                     \
      {0, "waits", CLI_FLAG, NULL, offsetof(type, rules.waits),                                                         \
       "put a range around every barrier and wait"},                                                                    \
      {0, "rows", CLI_FLAG, NULL, offsetof(type, rules.rows),                                                           \
       "give each pass of an outermost loop a row (default: only in loops known to run at most 128 times; the "         \
       "passes of others are summed)"},                                                                                 \
      {0, "lines", CLI_FLAG, NULL, offsetof(type, rules.lines),                                                         \
       "mark line by line: a mark behind every statement of the one kernel that --kernel chooses"},                     \
      {0, "kernels-only", CLI_FLAG, NULL, offsetof(type, rules.kernels_only),                                           \
       "open a track in every kernel and choose nothing else"},                                                         \
      {0, "depth", CLI_COUNT, "N", offsetof(type, rules.depth),                                                         \
       "mark functions up to N calls deep from a kernel; 1: kernels alone (default: if a kernel is one call, "          \
       "what that call does is marked in place of it)"},                                                                \
      {0, "limit", CLI_COUNT, "N", offsetof(type, rules.limit),                                                         \
       "put at most N marks into one function (default 256)"},                                                          \
      {0, "hold", CLI_CHOICE, CHOICE_WORDS(HOLD_CHOICES), offsetof(type, rules.hold),                                   \
       "choose the values that marks hold in place: those that are found (auto, the default), none, or those "          \
       "that are found and tied to the clock read (strict), because the assembler moves some values that are "          \
       "only held; strict costs 2 instructions a mark or more"},                                                        \
      {0, "guard", CLI_CHOICE, CHOICE_WORDS(GUARD_CHOICES), offsetof(type, rules.guard),                                 \
       "for inkmark nvcc: if marks make a kernel spill, exceed registers or grow too much, take them out (fix, "        \
       "the default), say so (report), or do not look (off)"},                                                          \
      {0, "rules", CLI_TEXT, "FILE", offsetof(type, rules.file),                                                        \
       "take rules from this file (default: the nearest inkmark.conf, from here up)"},                                  \
      {0, "root", CLI_TEXT, "DIR", offsetof(type, rules.root),                                                          \
       "the folder of the project: headers outside it are left alone; default: the version control root"},              \
  {                                                                                                                     \
    0, "parse-seconds", CLI_COUNT, "N", offsetof(type, rules.parse_seconds),                                            \
        "give the full parse at most N seconds of processor time; then the header-less parse is used (default "         \
        "180)"                                                                                                          \
  }

/* False after a usage error. */
bool rule_options_check(const cli_command *command, const rule_settings *rules);
/* Fills the rules into the options of a run. */
void rule_options_apply(const rule_settings *rules, ink_instrument_options *options);

#endif
