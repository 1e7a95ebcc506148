/* SPDX-License-Identifier: MIT */
/* The command tables as completion scripts for bash, zsh and fish. */
#include "options.h"

#include <string.h>

typedef void option_fn(const cli_command *command, const cli_option *option, FILE *to);

static void for_options(const cli_command *command, FILE *to, option_fn *each) {
  for (const cli_option *o = command->options; o && o->name; o++)
    each(command, o, to);
  for (const cli_option *o = cli_common_options; o->name; o++)
    each(command, o, to);
}

static bool takes_path(const cli_option *option) {
  return option->kind == CLI_TEXT && option->value && !strcmp(option->value, "FILE");
}

/* "text|json|csv" with `between` for each bar. */
static void words(const char *bars, const char *between, FILE *to) {
  for (; *bars; bars++) {
    if (*bars == '|')
      fputs(between, to);
    else
      fputc(*bars, to);
  }
}

/* ---- bash */

static void bash_name(const cli_command *command, const cli_option *option, FILE *to) {
  (void)command;
  fprintf(to, " --%s", option->name);
  if (option->letter)
    fprintf(to, " -%c", option->letter);
}

static void bash_value(const cli_command *command, const cli_option *option, FILE *to) {
  if (option->kind == CLI_FLAG || option->kind == CLI_MAYBE)
    return;
  fprintf(to, "    %s:--%s", command->name, option->name);
  if (option->letter)
    fprintf(to, "|%s:-%c", command->name, option->letter);
  fputs(") ", to);
  if (option->kind == CLI_CHOICE) {
    fputs("COMPREPLY=($(compgen -W '", to);
    words(option->value, " ", to);
    fputs("' -- \"$word\")) ;;\n", to);
  } else {
    fputs(takes_path(option) ? "COMPREPLY=($(compgen -f -- \"$word\")) ;;\n" : "COMPREPLY=() ;;\n",
          to);
  }
}

static void bash_operand(const cli_command *command, FILE *to) {
  const char *kind = command->operand_kind;
  fprintf(to, "    %s) ", command->name);
  if (!strcmp(kind, "capture"))
    fputs("COMPREPLY=($(compgen -f -X '!*.ink' -- \"$word\") $(compgen -d -S / -- \"$word\")) ;;\n",
          to);
  else if (!strcmp(kind, "trace"))
    fputs("COMPREPLY=($(compgen -f -- \"$word\")) ;;\n", to);
  else if (!strcmp(kind, "program"))
    fputs("COMPREPLY=($(compgen -c -- \"$word\") $(compgen -f -- \"$word\")) ;;\n", to);
  else if (!strcmp(kind, "command"))
    fputs("COMPREPLY=($(compgen -W \"$commands\" -- \"$word\")) ;;\n", to);
  else
    fputs("COMPREPLY=() ;;\n", to);
}

static void bash(FILE *to) {
  fputs("# SPDX-License-" "Identifier: MIT\n"
        "# bash completion of inkmark; made by 'inkmark help --completion bash'\n"
        "_inkmark() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
        "  local command=${COMP_WORDS[1]} commands='",
        to);
  for (size_t i = 0; i < cli_command_count; i++)
    fprintf(to, "%s%s", i ? " " : "", cli_commands[i]->name);
  fputs("'\n"
        "  if ((COMP_CWORD == 1)); then\n"
        "    COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
        "    return\n"
        "  fi\n"
        "  case $command:$before in\n",
        to);
  for (size_t i = 0; i < cli_command_count; i++)
    for_options(cli_commands[i], to, bash_value);
  fputs("    *) _inkmark_rest ;;\n"
        "  esac\n"
        "}\n"
        "_inkmark_rest() {\n"
        "  local options\n"
        "  case $command in\n",
        to);
  for (size_t i = 0; i < cli_command_count; i++) {
    fprintf(to, "    %s) options='", cli_commands[i]->name);
    for_options(cli_commands[i], to, bash_name);
    fputs("' ;;\n", to);
  }
  fputs("  esac\n"
        "  if [[ $word == -* ]]; then\n"
        "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "    return\n"
        "  fi\n"
        "  case $command in\n",
        to);
  for (size_t i = 0; i < cli_command_count; i++)
    bash_operand(cli_commands[i], to);
  fputs("  esac\n"
        "}\n"
        "complete -o filenames -F _inkmark inkmark\n",
        to);
}

/* ---- zsh */

/* Text inside single quotes and brackets of an _arguments specification. */
static void zsh_text(const char *text, FILE *to) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", to);
    else if (strchr("[]:\\", *text))
      fprintf(to, "\\%c", *text);
    else
      fputc(*text == '\n' ? ' ' : *text, to);
  }
}

static void zsh_spec(const char *dashes, const char *name, const cli_option *option, FILE *to) {
  fprintf(to, " \\\n        '%s%s[", dashes, name);
  zsh_text(option->help, to);
  fputc(']', to);
  if (option->kind != CLI_FLAG && option->kind != CLI_MAYBE) {
    fputc(':', to);
    zsh_text(option->kind == CLI_CHOICE ? option->name : option->value, to);
    if (option->kind == CLI_CHOICE) {
      fputs(":(", to);
      words(option->value, " ", to);
      fputc(')', to);
    } else {
      fputs(takes_path(option) ? ":_files" : ": ", to);
    }
  }
  fputc('\'', to);
}

static void zsh_option(const cli_command *command, const cli_option *option, FILE *to) {
  (void)command;
  char letter[2] = {option->letter, 0};
  if (option->letter)
    zsh_spec("-", letter, option, to);
  zsh_spec("--", option->name, option, to);
}

static void zsh(FILE *to) {
  fputs("#compdef inkmark\n"
        "# SPDX-License-" "Identifier: MIT\n"
        "# zsh completion of inkmark; made by 'inkmark help --completion zsh'\n"
        "_inkmark() {\n"
        "  local -a commands=(",
        to);
  for (size_t i = 0; i < cli_command_count; i++) {
    fprintf(to, "\n    '%s:", cli_commands[i]->name);
    zsh_text(cli_commands[i]->summary, to);
    fputc('\'', to);
  }
  fputs("\n  )\n"
        "  if ((CURRENT == 2)); then\n"
        "    _describe command commands\n"
        "    return\n"
        "  fi\n"
        "  local command=$words[2]\n"
        "  words=(\"${(@)words[2,-1]}\")\n"
        "  ((CURRENT--))\n"
        "  case $command in\n",
        to);
  for (size_t i = 0; i < cli_command_count; i++) {
    const char *kind = cli_commands[i]->operand_kind;
    fprintf(to, "    %s)\n      _arguments", cli_commands[i]->name);
    for_options(cli_commands[i], to, zsh_option);
    if (!strcmp(kind, "capture"))
      fputs(" \\\n        '*:capture:_files -g \"*.ink(-.)\"'", to);
    else if (!strcmp(kind, "trace"))
      fputs(" \\\n        '1:trace:_files'", to);
    else if (!strcmp(kind, "program"))
      fputs(" \\\n        '(-)1:program:_command_names -e' '*::arguments:_normal'", to);
    else if (!strcmp(kind, "command"))
      fputs(" \\\n        '1:command:_describe command commands'", to);
    fputs("\n      ;;\n", to);
  }
  fputs("  esac\n"
        "}\n"
        "_inkmark \"$@\"\n",
        to);
}

/* ---- fish */

static void fish_text(const char *text, FILE *to) {
  fputc('\'', to);
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\')
      fputc('\\', to);
    fputc(*text == '\n' ? ' ' : *text, to);
  }
  fputc('\'', to);
}

static void fish_option(const cli_command *command, const cli_option *option, FILE *to) {
  fprintf(to, "complete -c inkmark -n '__fish_seen_subcommand_from %s' -l %s", command->name,
          option->name);
  if (option->letter)
    fprintf(to, " -s %c", option->letter);
  if (option->kind == CLI_CHOICE) {
    fputs(" -x -a '", to);
    words(option->value, " ", to);
    fputc('\'', to);
  } else if (option->kind != CLI_FLAG && option->kind != CLI_MAYBE) {
    fputs(takes_path(option) ? " -r -F" : " -x", to);
  }
  fputs(" -d ", to);
  fish_text(option->help, to);
  fputc('\n', to);
}

static void fish_operand(const cli_command *command, FILE *to) {
  const char *kind = command->operand_kind, *what = NULL;
  if (!strcmp(kind, "capture"))
    what = "(__fish_complete_suffix .ink)";
  else if (!strcmp(kind, "trace"))
    what = "(__fish_complete_path)";
  else if (!strcmp(kind, "program"))
    what = "(__fish_complete_subcommand)";
  if (what)
    fprintf(to, "complete -c inkmark -n '__fish_seen_subcommand_from %s' -k -a '%s'\n",
            command->name, what);
}

static void fish(FILE *to) {
  fputs("# SPDX-License-" "Identifier: MIT\n"
        "# fish completion of inkmark; made by 'inkmark help --completion fish'\n"
        "complete -c inkmark -f\n",
        to);
  for (size_t i = 0; i < cli_command_count; i++) {
    fprintf(to, "complete -c inkmark -n __fish_use_subcommand -a %s -d ", cli_commands[i]->name);
    fish_text(cli_commands[i]->summary, to);
    fputc('\n', to);
  }
  for (size_t i = 0; i < cli_command_count; i++) {
    for_options(cli_commands[i], to, fish_option);
    fish_operand(cli_commands[i], to);
  }
}

bool cli_print_completion(const char *shell, FILE *to) {
  static const struct {
    const char *name;
    void (*print)(FILE *to);
  } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
    if (!strcmp(shells[i].name, shell)) {
      shells[i].print(to);
      return true;
    }
  return false;
}
