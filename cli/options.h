/* SPDX-License-Identifier: MIT */
/* The tables that describe every command. One table feeds parsing, --help, the man page and the
 * shell completion, so an option is listed in one place only. */
#ifndef INKMARK_CLI_OPTIONS_H
#define INKMARK_CLI_OPTIONS_H

#include "choices.h"
#include "message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cli_option_kind {
  CLI_FLAG,   /* bool */
  CLI_TEXT,   /* const char * */
  CLI_CHOICE, /* int: the index of the word in `value`, which reads "text|json|csv" */
  CLI_COUNT,  /* uint64_t, decimal */
  CLI_MAYBE   /* const char *: a value only behind an equals sign, "" without one */
};

typedef struct cli_option {
  char letter;      /* 0: none */
  const char *name; /* NULL ends a table */
  enum cli_option_kind kind;
  const char *value; /* what stands for the value in help; for CLI_CHOICE the words themselves */
  size_t at;         /* offset in the command's settings */
  const char *help;
} cli_option;

/* The options that every command has; the first member of each command's settings. */
typedef struct cli_common {
  bool help;
  int color; /* enum cli_color */
} cli_common;

typedef struct cli_command {
  const char *name;
  const char *summary;  /* one line */
  const char *operands; /* "FILE..." */
  const char *about;    /* paragraphs, separated by empty lines; NULL: the summary is enough */
  const char *examples; /* lines "command\twhat it does"; NULL: none */
  const cli_option *options;
  const char *refused; /* lines "option\twhy it is not there", for what is often asked for; NULL: none */
  size_t operands_min, operands_max;
  bool program_follows; /* the first operand and all after it are another program's command line */
  const char *operand_kind; /* for the completion: "capture", "program", "command", "none" */
  int (*run)(int argc, char **argv);
} cli_command;

/* All commands, in the order of --help. */
extern const cli_command *const cli_commands[];
extern const size_t cli_command_count;
extern const char *const cli_left_out; /* why `instrument` and `nvcc` are not among them; NULL: they are */
const cli_command *cli_command_find(const char *name); /* or NULL */

extern const cli_option cli_common_options[];

/* What cli_parse says: go on, or leave with this exit code. */
enum cli_parsed { CLI_GO, CLI_LEAVE_OK, CLI_LEAVE_USAGE };

/* Parses argv (argv[0] is the command's name) into `settings`. Operands are moved to the front of
 * argv and counted in *operands. Prints help or one usage line and a hint where these are due. */
enum cli_parsed cli_parse(const cli_command *command, int argc, char **argv, void *settings,
                          size_t *operands);

/* The exit code of a command that cli_parse ended. */
int cli_leave(enum cli_parsed parsed);

/* True when `text` is NULL or a POSIX extended regular expression; else a usage error is printed.
 */
bool cli_check_regex(const cli_command *command, const char *option, const char *text);

/* A usage error that a command finds itself; returns CLI_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int cli_usage_error(const cli_command *command, const char *format, ...);

/* The table in its four shapes. */
void cli_print_overview(FILE *to);
void cli_print_help(const cli_command *command, FILE *to);
void cli_print_man(const cli_command *command, FILE *to); /* NULL: the page of inkmark itself */
bool cli_print_completion(const char *shell, FILE *to);   /* false: no such shell */

/* The nearest of n words to `word`, for "did you mean", or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *words, size_t n);
/* "'Step', 'Relax' and 3 more" of n names (each once), the nearest to a regular expression that was meant
 * as a name first; returns how many there are. */
size_t cli_list_near(const char *regex, const char *const *names, size_t n, char *text,
                     size_t bytes);
/* How many letters two words are apart; SIZE_MAX where one is too long to be asked of. */
size_t cli_edit_distance(const char *a, const char *b);

#endif
