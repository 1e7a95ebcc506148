/* SPDX-License-Identifier: MIT */
/* The command tables as --help text and as man pages. */
#include "options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_WIDTH = 96 };

/* Wraps `text` at HELP_WIDTH; the first line starts at column `at`, the others at `indent`. An
 * empty line in the text stays one. */
static void wrap(FILE *to, const char *text, int at, int indent) {
  int column = at;
  while (*text) {
    if (text[0] == '\n' && text[1] == '\n') {
      fprintf(to, "\n\n%*s", indent, "");
      column = indent;
      text += 2;
      continue;
    }
    if (isspace((unsigned char)*text)) {
      text++;
      continue;
    }
    int length = (int)strcspn(text, " \n");
    if (column > indent && column + 1 + length > HELP_WIDTH) {
      fprintf(to, "\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      fputc(' ', to);
      column++;
    }
    fprintf(to, "%.*s", length, text);
    column += length;
    text += length;
  }
  fputc('\n', to);
}

/* "-k, --kernel REGEX" into `out`; returns its length. */
static int option_label(const cli_option *option, char *out, size_t room) {
  char letter[8] = "    ";
  if (option->letter)
    snprintf(letter, sizeof letter, "-%c, ", option->letter);
  const bool maybe = option->kind == CLI_MAYBE;
  return snprintf(out, room, "%s--%s%s%s%s", letter, option->name,
                  maybe           ? "[="
                  : option->value ? " "
                                  : "",
                  option->value ? option->value : "", maybe ? "]" : "");
}

static void help_options(const cli_option *options, FILE *to) {
  for (; options && options->name; options++) {
    char label[128];
    int length = option_label(options, label, sizeof label);
    fprintf(to, "  %s", label);
    if (length > 28)
      fprintf(to, "\n%*s", 32, "");
    else
      fprintf(to, "%*s", 30 - length, "");
    wrap(to, options->help, 32, 32);
  }
}

/* Calls `each` with the two halves of every line of `examples`. */
static void for_examples(const char *examples, FILE *to,
                         void (*each)(FILE *to, int n, const char *command, const char *what)) {
  while (examples && *examples) {
    int line = (int)strcspn(examples, "\n"), command = (int)strcspn(examples, "\t\n");
    char what[160];
    snprintf(what, sizeof what, "%.*s", command < line ? line - command - 1 : 0,
             examples + command + 1);
    each(to, command, examples, what);
    examples += line + (examples[line] == '\n');
  }
}

static void help_example(FILE *to, int n, const char *command, const char *what) {
  fprintf(to, "  %.*s", n, command);
  fprintf(to, what[0] ? "\n      %s\n" : "%s\n", what);
}

void cli_print_help(const cli_command *command, FILE *to) {
  fprintf(to, "usage: inkmark %s [options]%s%s\n\n", command->name, *command->operands ? " " : "",
          command->operands);
  wrap(to, command->summary, 0, 0);
  if (command->about) {
    fputc('\n', to);
    wrap(to, command->about, 0, 0);
  }
  fputs("\noptions:\n", to);
  help_options(command->options, to);
  help_options(cli_common_options, to);
  if (command->examples) {
    fputs("\nexamples:\n", to);
    for_examples(command->examples, to, help_example);
  }
}

void cli_print_overview(FILE *to) {
  fputs("usage: inkmark COMMAND [options] FILE...\n\n"
        "named sections inside CUDA kernels: record them, see where the time went\n\ncommands:\n",
        to);
  for (size_t i = 0; i < cli_command_count; i++)
    fprintf(to, "  %-10s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
  if (cli_left_out)
    fprintf(to, "\n'instrument' and 'nvcc' are left out of this inkmark,\n%s\n", cli_left_out);
  fputs("\n'inkmark COMMAND --help' tells more\n", to);
}

/* ---- man pages */

static void roff(FILE *to, const char *text, size_t n) {
  for (size_t i = 0; i < n && text[i]; i++) {
    if (text[i] == '-')
      fputs("\\-", to);
    else if (text[i] == '\\')
      fputs("\\e", to);
    else if ((text[i] == '.' || text[i] == '\'') && (i == 0 || text[i - 1] == '\n'))
      fprintf(to, "\\&%c", text[i]);
    else
      fputc(text[i], to);
  }
}

static void roff_text(FILE *to, const char *text) {
  for (const char *gap; (gap = strstr(text, "\n\n")); text = gap + 2) {
    roff(to, text, (size_t)(gap - text));
    fputs("\n.PP\n", to);
  }
  roff(to, text, strlen(text));
  fputc('\n', to);
}

static void man_options(const cli_option *options, FILE *to) {
  for (; options && options->name; options++) {
    fputs(".TP\n", to);
    if (options->letter)
      fprintf(to, "\\fB\\-%c\\fR, ", options->letter);
    fputs("\\fB\\-\\-", to);
    roff(to, options->name, strlen(options->name));
    fputs("\\fR", to);
    if (options->value) {
      const bool maybe = options->kind == CLI_MAYBE;
      fputs(options->kind == CLI_CHOICE ? " " : maybe ? "[=\\fI" : " \\fI", to);
      roff(to, options->value, strlen(options->value));
      fputs(options->kind == CLI_CHOICE ? "" : maybe ? "\\fR]" : "\\fR", to);
    }
    fputc('\n', to);
    roff_text(to, options->help);
  }
}

static void man_example(FILE *to, int n, const char *command, const char *what) {
  fputs(".TP\n\\fB", to);
  roff(to, command, (size_t)n);
  fputs("\\fR\n", to);
  roff_text(to, what);
}

static void man_head(const char *name, const char *summary, FILE *to) {
  fputs(".\\\" SPDX-License-" "Identifier: MIT\n.\\\" made by 'inkmark help --man'\n.TH INKMARK", to);
  if (name) {
    fputs("\\-", to);
    for (const char *at = name; *at; at++)
      fputc(toupper((unsigned char)*at), to);
  }
  fprintf(to, " 1 \"\" \"inkmark %s\" \"inkmark manual\"\n.SH NAME\ninkmark", INKMARK_VERSION);
  if (name) {
    fputs("\\-", to);
    roff(to, name, strlen(name));
  }
  fputs(" \\- ", to);
  roff_text(to, summary);
}

static void man_exit_status(FILE *to) {
  fputs(".SH EXIT STATUS\n"
        ".TP\n0\nsuccess\n"
        ".TP\n1\nfailure of data or system\n"
        ".TP\n2\nusage error\n"
        ".TP\n3\na check that was asked for did not hold\n",
        to);
}

static void man_overview(FILE *to) {
  man_head(NULL, "named sections inside CUDA kernels: record them, see where the time went", to);
  fputs(".SH SYNOPSIS\n\\fBinkmark\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] \\fIFILE\\fR...\n"
        ".SH COMMANDS\n",
        to);
  for (size_t i = 0; i < cli_command_count; i++) {
    fputs(".TP\n\\fBinkmark\\-", to);
    roff(to, cli_commands[i]->name, strlen(cli_commands[i]->name));
    fputs("\\fR(1)\n", to);
    roff_text(to, cli_commands[i]->summary);
  }
  man_exit_status(to);
}

void cli_print_man(const cli_command *command, FILE *to) {
  if (!command) {
    man_overview(to);
    return;
  }
  man_head(command->name, command->summary, to);
  fprintf(to, ".SH SYNOPSIS\n\\fBinkmark %s\\fR [\\fIoptions\\fR] ", command->name);
  roff_text(to, command->operands);
  fputs(".SH DESCRIPTION\n", to);
  roff_text(to, command->about ? command->about : command->summary);
  fputs(".SH OPTIONS\n", to);
  man_options(command->options, to);
  man_options(cli_common_options, to);
  if (command->examples) {
    fputs(".SH EXAMPLES\n", to);
    for_examples(command->examples, to, man_example);
  }
  if (command->program_follows)
    fputs(
        ".SH EXIT STATUS\nThat of the program, or 128 and the number of the signal that ended it; "
        "126 when it cannot be executed, 127 when it is not found; 1 or 2 when it was not "
        "started.\n",
        to);
  else
    man_exit_status(to);
  fputs(".SH SEE ALSO\n.BR inkmark (1)\n", to);
}
