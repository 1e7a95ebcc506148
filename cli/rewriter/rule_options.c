/* SPDX-License-Identifier: MIT */
/* Checks the rewriter's rules and hands them to the library. */
#include "rule_options.h"

bool rule_options_check(const cli_command *command, const rule_settings *rules) {
  if (!cli_check_regex(command, "kernel", rules->kernel) ||
      !cli_check_regex(command, "exclude", rules->exclude) ||
      !cli_check_regex(command, "calls", rules->calls && *rules->calls ? rules->calls : NULL))
    return false;
  if (rules->depth > 1000 || rules->limit > 8000 || rules->parse_seconds > 86400) {
    cli_usage_error(command, "--depth is at most 1000, --limit 8000, --parse-seconds 86400");
    return false;
  }
  if (rules->kernels_only && (rules->calls || rules->loops || rules->waits || rules->lines)) {
    cli_usage_error(command, "--kernels-only goes with none of --calls, --loops, --waits, --lines");
    return false;
  }
  if (rules->lines && !rules->kernel) {
    cli_usage_error(command, "--lines needs --kernel, which chooses one kernel");
    return false;
  }
  if (rules->lines && (rules->calls || rules->loops || rules->waits)) {
    cli_usage_error(command, "--lines goes with none of --calls, --loops, --waits");
    return false;
  }
  return true;
}

void rule_options_apply(const rule_settings *rules, ink_instrument_options *options) {
  options->kernels = rules->kernel;
  options->exclude = rules->exclude;
  options->calls = rules->calls && !*rules->calls;
  options->calls_like = rules->calls && *rules->calls ? rules->calls : NULL;
  options->loops = rules->loops;
  options->waits = rules->waits;
  options->rows = rules->rows;
  options->lines = rules->lines;
  options->kernels_only = rules->kernels_only;
  options->depth = (unsigned)rules->depth;
  options->limit = (unsigned)rules->limit;
  static const ink_hold holds[] = {HOLD_CHOICES(CHOICE_CONSTANT)};
  options->hold = holds[rules->hold];
  options->root = rules->root;
  options->parse_seconds = (double)rules->parse_seconds;
}
