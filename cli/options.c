/* SPDX-License-Identifier: MIT */
/* Parses a command line by a command's table. Options may stand before, between and after the
 * operands; `--` ends them. */
#include "options.h"

#include "message.h"
#include "style.h"
#include "text_out.h"

#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_common_options[] = {
    {0, "color", CLI_CHOICE, CHOICE_WORDS(COLOR_CHOICES), offsetof(cli_common, color),
     "print colour and bars: auto (the default) prints them on a terminal unless NO_COLOR is set"},
    {'h', "help", CLI_FLAG, NULL, offsetof(cli_common, help), "print this help and leave"},
    {0},
};

int cli_usage_error(const cli_command *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("inkmark", stderr);
  if (command)
    fprintf(stderr, " %s", command->name);
  fputs(": ", stderr);
  text_vprint(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  fprintf(stderr, "try 'inkmark %s%s--help'\n", command ? command->name : "", command ? " " : "");
  return CLI_USAGE;
}

/* Two neighbours that changed places are one slip, as a letter too many, too few or another. */
size_t cli_edit_distance(const char *a, const char *b) {
  size_t rows[3][64];
  const size_t n = strlen(b), m = strlen(a);
  if (m > 60 || n > 60)
    return SIZE_MAX;
  for (size_t j = 0; j <= n; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= m; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (above[j] + 1 < best)
        best = above[j] + 1;
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[m % 3][n];
}

const char *cli_nearest(const char *word, const char *const *words, size_t n) {
  const char *nearest = NULL;
  size_t least = strlen(word) > 4 ? 3 : 2; /* two slips in a long word, one in a short one */
  for (size_t i = 0; i < n; i++) {
    size_t distance = cli_edit_distance(word, words[i]);
    if (distance < least) {
      least = distance;
      nearest = words[i];
    }
  }
  return nearest;
}

static const cli_option *find_in(const cli_option *table, const char *name, size_t length,
                                 char letter) {
  for (; table && table->name; table++)
    if (letter ? table->letter == letter
               : strlen(table->name) == length && !strncmp(table->name, name, length))
      return table;
  return NULL;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length,
                                     char letter) {
  const cli_option *option = find_in(command->options, name, length, letter);
  return option ? option : find_in(cli_common_options, name, length, letter);
}

/* Why an option that users look for is not there, up to the end of the line; NULL: nothing is said of it. */
static const char *why_refused(const cli_command *command, const char *name, size_t length) {
  for (const char *line = command->refused; line && *line; line = strchr(line, '\n') + 1)
    if (!strncmp(line, name, length) && line[length] == '\t')
      return line + length + 1;
  return NULL;
}

static int unknown_option(const cli_command *command, const char *name, size_t length) {
  const char *why = why_refused(command, name, length);
  if (why)
    return cli_usage_error(command, "no option '--%.*s': %.*s", (int)length, name,
                           (int)strcspn(why, "\n"), why);
  const char *names[64];
  size_t n = 0;
  char word[64];
  for (const cli_option *o = command->options; o && o->name && n < 60; o++)
    names[n++] = o->name;
  for (const cli_option *o = cli_common_options; o->name; o++)
    names[n++] = o->name;
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  const char *nearest = cli_nearest(word, names, n);
  if (nearest)
    return cli_usage_error(command, "unknown option '--%s', did you mean '--%s'?", word, nearest);
  return cli_usage_error(command, "unknown option '--%.*s'", (int)length, name);
}

static int word_index(const char *words, const char *word) {
  size_t length = strlen(word);
  for (int index = 0;; index++) {
    const char *bar = strchr(words, '|');
    size_t n = bar ? (size_t)(bar - words) : strlen(words);
    if (n == length && !strncmp(words, word, n))
      return index;
    if (!bar)
      return -1;
    words = bar + 1;
  }
}

/* Puts `value` where the option says; returns false after a usage error. */
static bool store(const cli_command *command, const cli_option *option, const char *value,
                  void *settings) {
  char *place = (char *)settings + option->at;
  switch (option->kind) {
  case CLI_FLAG:
    *(bool *)place = true;
    return true;
  case CLI_MAYBE:
    memcpy(place, &value, sizeof value);
    return true;
  case CLI_TEXT:
    if (!*value) {
      cli_usage_error(command, "option '--%s' needs a value that is not empty", option->name);
      return false;
    }
    memcpy(place, &value, sizeof value);
    return true;
  case CLI_CHOICE: {
    int index = word_index(option->value, value);
    if (index < 0) {
      cli_usage_error(command, "'%s' is none of %s (option '--%s')", value, option->value,
                      option->name);
      return false;
    }
    *(int *)place = index;
    return true;
  }
  case CLI_COUNT: {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end) {
      cli_usage_error(command, "'%s' is not a whole number (option '--%s')", value, option->name);
      return false;
    }
    if (errno || number >= UINT64_MAX) { /* UINT64_MAX stands for an option that was not given */
      cli_usage_error(command, "'%s' is too large (option '--%s')", value, option->name);
      return false;
    }
    *(uint64_t *)place = number;
    return true;
  }
  }
  return false;
}

typedef struct cli_scan {
  const cli_command *command;
  char **argv;
  int argc, at;
  void *settings;
} cli_scan;

/* The value of `option`, from `attached` or the next argument; NULL after a usage error. */
static const char *take_value(cli_scan *scan, const cli_option *option, const char *attached) {
  if (option->kind == CLI_FLAG) {
    if (!attached)
      return "";
    cli_usage_error(scan->command, "option '--%s' takes no value", option->name);
    return NULL;
  }
  if (attached || option->kind == CLI_MAYBE)
    return attached ? attached : "";
  if (scan->at + 1 < scan->argc)
    return scan->argv[++scan->at];
  cli_usage_error(scan->command, "option '--%s' needs a value (%s)", option->name, option->value);
  return NULL;
}

static bool take_long(cli_scan *scan, const char *name) {
  const char *equals = strchr(name, '=');
  size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const cli_option *option = find_option(scan->command, name, length, 0);
  if (!option) {
    unknown_option(scan->command, name, length);
    return false;
  }
  const char *value = take_value(scan, option, equals ? equals + 1 : NULL);
  return value && store(scan->command, option, value, scan->settings);
}

static bool take_short(cli_scan *scan, const char *letters) {
  for (; *letters; letters++) {
    const cli_option *option = find_option(scan->command, NULL, 0, *letters);
    if (!option) {
      cli_usage_error(scan->command, "unknown option '-%c'", *letters);
      return false;
    }
    bool flag = option->kind == CLI_FLAG;
    const char *value = take_value(scan, option, !flag && letters[1] ? letters + 1 : NULL);
    if (!value || !store(scan->command, option, value, scan->settings))
      return false;
    if (!flag)
      break;
  }
  return true;
}

static enum cli_parsed check_operands(const cli_command *command, size_t n) {
  if (n < command->operands_min) {
    cli_usage_error(command, "needs %s", command->operands);
    return CLI_LEAVE_USAGE;
  }
  if (n > command->operands_max) {
    if (command->operands_max)
      cli_usage_error(command, "takes %s, not %zu operands", command->operands, n);
    else
      cli_usage_error(command, "takes no operands");
    return CLI_LEAVE_USAGE;
  }
  return CLI_GO;
}

enum cli_parsed cli_parse(const cli_command *command, int argc, char **argv, void *settings,
                          size_t *operands) {
  cli_scan scan = {.command = command, .argv = argv, .argc = argc, .settings = settings};
  size_t n = 0;
  for (scan.at = 1; scan.at < argc; scan.at++) {
    char *argument = argv[scan.at];
    bool ends_options = !strcmp(argument, "--");
    if (argument[0] != '-' || !argument[1] || ends_options) {
      if (!ends_options && !command->program_follows) {
        argv[n++] = argument;
        continue;
      }
      for (scan.at += ends_options; scan.at < argc; scan.at++)
        argv[n++] = argv[scan.at];
      break;
    }
    bool fine =
        argument[1] == '-' ? take_long(&scan, argument + 2) : take_short(&scan, argument + 1);
    if (!fine)
      return CLI_LEAVE_USAGE;
  }
  const cli_common *common = settings;
  if (common->help) {
    cli_print_help(command, stdout);
    return CLI_LEAVE_OK;
  }
  style_set_color(common->color);
  *operands = n;
  return check_operands(command, n);
}

int cli_leave(enum cli_parsed parsed) {
  if (parsed == CLI_LEAVE_USAGE)
    return CLI_USAGE;
  return message_flush_stdout() ? CLI_OK : CLI_FAILED;
}

bool cli_check_regex(const cli_command *command, const char *option, const char *text) {
  regex_t regex;
  char why[128];
  if (!text)
    return true;
  int code = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
  if (!code) {
    regfree(&regex);
    return true;
  }
  regerror(code, &regex, why, sizeof why);
  cli_usage_error(command, "'%s' is not a regular expression: %s (option '--%s')", text, why,
                  option);
  return false;
}
