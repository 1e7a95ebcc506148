/* SPDX-License-Identifier: MIT */
/* Checks the options of `inkmark record` before anything runs. */
#include "record.h"

#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "FIRST:END:STEP", of which any may be left out, up to the end or a comma; moves behind it. */
static bool stride_is_fine(const char **text, unsigned long long most) {
  unsigned long long parts[3] = {0, most + 1, 1};
  size_t i = 0;
  for (;; (*text)++, i++) {
    char *end;
    errno = 0;
    if (**text >= '0' && **text <= '9') {
      parts[i] = strtoull(*text, &end, 10);
      *text = end;
    }
    if (errno || **text != ':' || i == 2)
      break;
  }
  return i > 0 && !errno && parts[2] && parts[2] <= most + 1 && parts[0] < parts[1] && parts[1] <= most + 1;
}

/* "0,7,100-120": numbers up to `most`, ranges in rising order; with `strides` "::16" too. */
static bool list_is_fine(const char *text, unsigned long long most, bool strides) {
  for (;;) {
    char *end;
    unsigned long long first, last;
    if (strides && text[strspn(text, "0123456789")] == ':') {
      if (!stride_is_fine(&text, most) || (*text && *text != ','))
        return false;
      if (!*text++)
        return true;
      continue;
    }
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
  const bool strides = !strcmp(option, "blocks");
  if (!text || (strides && (!strcmp(text, "auto") || !strcmp(text, "all"))) || list_is_fine(text, most, strides))
    return true;
  cli_usage_error(command,
                  "'%s' is not a list like 0,7,100-120%s of numbers up to %llu (option '--%s')", text,
                  strides ? ", ::16, all or auto" : "", most, option);
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
  if (template && !strcmp(template, "-")) {
    cli_usage_error(command, "a capture cannot go to standard output, which is the program's; './-' is a file "
                             "named '-' (option '--output')");
    return false;
  }
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

/* "wait=1,warmup=1,active=3,repeat=2": each at most once would be too strict, active must be there. */
static bool schedule_is_fine(const char *text) {
  static const char *const names[] = {"wait=", "warmup=", "active=", "repeat="};
  bool active = false;
  for (;;) {
    size_t i = 0;
    char *end;
    while (i < 4 && strncmp(text, names[i], strlen(names[i])) != 0)
      i++;
    if (i == 4)
      return false;
    text += strlen(names[i]);
    if (*text < '0' || *text > '9')
      return false;
    const unsigned long long number = strtoull(text, &end, 10);
    if (number > UINT32_MAX / 4 || (*end && *end != ','))
      return false;
    active = i == 2 ? number > 0 : active;
    if (!*end)
      return active;
    text = end + 1;
  }
}

/* CLI_OK or CLI_USAGE. */
static int check_time(const cli_command *command, const char *option, const char *text, uint64_t *ms) {
  if (text && !(*ms = parse_time_ms(text)))
    return cli_usage_error(command, "'%s' is not a time like 10s or 500ms, up to a day (option '--%s')", text, option);
  return CLI_OK;
}

static int check_windows(const cli_command *command, record_settings *settings) {
  if (!check_list(command, "launches", settings->launches, (1ull << 40) - 1) ||
      check_time(command, "delay", settings->delay, &settings->delay_ms) ||
      check_time(command, "duration", settings->duration, &settings->duration_ms))
    return CLI_USAGE;
  if (settings->schedule && !schedule_is_fine(settings->schedule))
    return cli_usage_error(command,
                           "'%s' is not like wait=1,warmup=1,active=3,repeat=2, with active at least 1 (option "
                           "'--schedule')",
                           settings->schedule);
  return CLI_OK;
}

static int check_modes(const cli_command *command, record_settings *settings) {
  if (check_time(command, "hang", settings->hang, &settings->hang_ms))
    return CLI_USAGE;
  if (settings->keep != KEEP_LAST && (settings->flight || settings->hang || settings->live))
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
  if (settings->warps && settings->granularity != GRANULARITY_WARP)
    return cli_usage_error(command, "'--warps' needs '--granularity warp'");
  if (!round_up(command, "records-per-track", &settings->records, 4, 1u << 24) ||
      !round_up(command, "tracks", &settings->tracks, 1, 1u << 24))
    return CLI_USAGE;
  if (check_modes(command, settings) || check_windows(command, settings))
    return CLI_USAGE;
  if (settings->drain_ms == RECORD_UNSET)
    settings->drain_ms = 0;
  else if (settings->drain_ms < 1 || settings->drain_ms > 3600000)
    return cli_usage_error(command, "'--drain-ms' is not between 1 and 3600000");
  return CLI_OK;
}
