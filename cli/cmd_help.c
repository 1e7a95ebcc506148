/* SPDX-License-Identifier: MIT */
/* `inkmark help` and `inkmark version`. Help also prints the man pages and completion scripts that
 * the build installs; those two options are for packagers and not listed. */
#include "commands.h"
#include "message.h"

#include <string.h>

/* --man and --completion are taken by hand, so that no table lists them. */
static const cli_option no_options[] = {{0}};

static int run_help(int argc, char **argv) {
  cli_common common = {0};
  size_t operands;
  if (argc >= 2 && !strcmp(argv[1], "--man")) {
    const cli_command *command = argc > 2 ? cli_command_find(argv[2]) : NULL;
    if (argc > 2 && !command)
      return cli_usage_error(&cmd_help, "no command '%s'", argv[2]);
    cli_print_man(command, stdout);
    return message_flush_stdout() ? CLI_OK : CLI_FAILED;
  }
  if (argc >= 2 && !strcmp(argv[1], "--completion")) {
    if (argc != 3 || !cli_print_completion(argv[2], stdout))
      return cli_usage_error(&cmd_help, "--completion needs bash, zsh or fish");
    return message_flush_stdout() ? CLI_OK : CLI_FAILED;
  }
  enum cli_parsed parsed = cli_parse(&cmd_help, argc, argv, &common, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (!operands) {
    cli_print_overview(stdout);
  } else {
    const cli_command *command = cli_command_find(argv[0]);
    if (!command)
      return cli_usage_error(&cmd_help, "no command '%s'", argv[0]);
    cli_print_help(command, stdout);
  }
  return message_flush_stdout() ? CLI_OK : CLI_FAILED;
}

const cli_command cmd_help = {
    .name = "help",
    .summary = "print what the commands do",
    .operands = "[COMMAND]",
    .options = no_options,
    .operands_max = 1,
    .operand_kind = "command",
    .run = run_help,
};

static int run_version(int argc, char **argv) {
  cli_common common = {0};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_version, argc, argv, &common, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  printf("inkmark %s\n", INKMARK_VERSION);
  return message_flush_stdout() ? CLI_OK : CLI_FAILED;
}

const cli_command cmd_version = {
    .name = "version",
    .summary = "print the version",
    .operands = "",
    .options = no_options,
    .operand_kind = "none",
    .run = run_version,
};
