/* SPDX-License-Identifier: MIT */
/* Checks the options of `inkmark record` before anything runs. */
#include "record.h"

#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "0,7,100-120": numbers up to `most`, ranges in rising order. */
static bool list_is_fine(const char *text, unsigned long long most) {
  for (;;) {
    char *end;
    unsigned long long first, last;
    if (*text < '0' || *text > '9')
      return false;
    errno = 0;
    first = last = strtoull(text, &end, 10);
    if (*end == '-') {
      text = end + 1;
      if (*text < '0' || *text > '9')
        return false;
      last = strtoull(text, &end, 10);
    }
    if (errno || last < first || last > most)
      return false;
    if (!*end)
      return true;
    if (*end != ',')
      return false;
    text = end + 1;
  }
}

static bool check_list(const cli_command *command, const char *option, const char *text,
                       unsigned long long most) {
  if (!text || list_is_fine(text, most))
    return true;
  cli_usage_error(command,
                  "'%s' is not a list like 0,7,100-120 of numbers up to %llu (option '--%s')", text,
                  most, option);
  return false;
}

/* Rounds up to a power of two; false after a usage error. */
static bool round_up(const cli_command *command, const char *option, uint64_t *number,
                     uint64_t least, uint64_t most) {
  uint64_t rounded = least;
  if (*number == RECORD_UNSET) {
    *number = 0;
    return true;
  }
  if (!*number) {
    cli_usage_error(command, "'0' is less than 1 (option '--%s')", option);
    return false;
  }
  if (*number > most) {
    cli_usage_error(command, "%llu is more than %llu (option '--%s')", (unsigned long long)*number,
                    (unsigned long long)most, option);
    return false;
  }
  while (rounded < *number)
    rounded *= 2;
  if (rounded != *number)
    message_say("--%s %llu is rounded up to %llu", option, (unsigned long long)*number,
                (unsigned long long)rounded);
  *number = rounded;
  return true;
}

/* Only what docs and --help name may follow a percent sign. */
static bool check_template(const cli_command *command, const char *template) {
  for (const char *at = template ? strchr(template, '%') : NULL; at; at = strchr(at + 2, '%'))
    if (!at[1] || !strchr("prh%", at[1])) {
      cli_usage_error(command, "'%%%.*s' in '%s' is none of %%p, %%r, %%h and %%%% (option '--output')",
                      at[1] ? 1 : 0, at + 1, template);
      return false;
    }
  return true;
}

/* "10s", "500ms", "2m"; a bare number is of seconds. 0: it is no time, or none that can be waited for. */
static uint64_t parse_time_ms(const char *text) {
  static const struct {
    const char *unit;
    uint64_t ms;
  } units[] = {{"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60000}, {"min", 60000}};
  char *end;
  if (*text < '0' || *text > '9')
    return 0;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (!errno && !strcmp(end, units[i].unit) && number <= 86400000 / units[i].ms)
      return number * units[i].ms;
  return 0;
}

static int check_modes(const cli_command *command, record_settings *settings) {
  if (settings->hang && !(settings->hang_ms = parse_time_ms(settings->hang)))
    return cli_usage_error(command, "'%s' is not a time like 10s or 500ms, up to a day (option '--hang')",
                           settings->hang);
  if (settings->keep && (settings->flight || settings->hang || settings->live))
    return cli_usage_error(command, "'--keep first' does not go with '--%s', which keeps the newest",
                           settings->flight ? "flight" : settings->hang ? "hang" : "live");
  return CLI_OK;
}

int record_check(const cli_command *command, record_settings *settings) {
  if (!cli_check_regex(command, "kernels", settings->kernels) ||
      !check_template(command, settings->output) ||
      !check_list(command, "blocks", settings->blocks, (1u << 27) - 1) ||
      !check_list(command, "warps", settings->warps, 31) ||
      (settings->devices && strcmp(settings->devices, "all") && strcmp(settings->devices, "used") &&
       strcmp(settings->devices, "mine") &&
       !check_list(command, "devices", settings->devices, 63)))
    return CLI_USAGE;
  if (settings->warps && !settings->granularity)
    return cli_usage_error(command, "'--warps' needs '--granularity warp'");
  if (!round_up(command, "records-per-track", &settings->records, 4, 1u << 24) ||
      !round_up(command, "tracks", &settings->tracks, 1, 1u << 24))
    return CLI_USAGE;
  if (check_modes(command, settings))
    return CLI_USAGE;
  if (settings->drain_ms == RECORD_UNSET)
    settings->drain_ms = 0;
  else if (settings->drain_ms < 1 || settings->drain_ms > 3600000)
    return cli_usage_error(command, "'--drain-ms' is not between 1 and 3600000");
  return CLI_OK;
}
