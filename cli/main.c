/* SPDX-License-Identifier: MIT */
/* The command `inkmark`: finds the subcommand and hands over. */
#include "commands.h"
#include "message.h"
#include "outfile.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

const cli_command *const cli_commands[] = {&cmd_record, &cmd_top,    &cmd_report, &cmd_diff, &cmd_export,
                                           &cmd_open,   &cmd_info,   &cmd_verify,
                                           &cmd_cost,   &cmd_time,   &cmd_selftest, &cmd_recover,
#if defined(INKMARK_HAS_REWRITER)
                                           &cmd_instrument, &cmd_nvcc,
#endif
                                           &cmd_help,   &cmd_version};
#if defined(INKMARK_HAS_REWRITER) || defined(INKMARK_REWRITER_BESIDE)
const char *const cli_left_out = NULL;
#else
const char *const cli_left_out = "which was built without libclang 19 or newer; install that (Debian: "
                                 "libclang-19-dev) and build inkmark again";
#endif
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

const cli_command *cli_command_find(const char *name) {
  for (size_t i = 0; i < cli_command_count; i++)
    if (!strcmp(cli_commands[i]->name, name))
      return cli_commands[i];
  return NULL;
}

static bool rewrites(const char *name) { return !strcmp(name, "instrument") || !strcmp(name, "nvcc"); }

#if defined(INKMARK_REWRITER_BESIDE)
/* `inkmark-rewriter` in the command's own folder is the same command with libclang: it has all commands, and lists them.
 * Returns only where it cannot be run. */
static void hand_over(const char *name, char **argv) {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
  path[n > 0 ? n : 0] = 0;
  char *slash = strrchr(path, '/');
  strcpy(slash ? slash + 1 : path, "inkmark-rewriter");
  execv(path, argv);
  if (rewrites(name))
    message_say("cannot run '%s', which has the rewriter: %s", path, message_errno(errno));
}
#endif

static int unknown_command(const char *name) {
  if (cli_left_out && rewrites(name))
    return cli_usage_error(NULL, "'%s' is left out of this inkmark, %s", name, cli_left_out);
  const char *names[24];
  for (size_t i = 0; i < cli_command_count && i < 24; i++)
    names[i] = cli_commands[i]->name;
  const char *nearest = cli_nearest(name, names, cli_command_count);
  if (nearest)
    return cli_usage_error(NULL, "unknown command '%s', did you mean '%s'?", name, nearest);
  return cli_usage_error(NULL, "unknown %s '%s'", name[0] == '-' ? "option" : "command", name);
}

int main(int argc, char **argv) {
  setlocale(LC_CTYPE, ""); /* whether the terminal shows UTF-8; numbers stay as in C */
  cmd_export_prepare();
  outfile_clean_on_signals();
  if (argc < 2) {
    fputs("inkmark: no command given\n", stderr);
    fputs("try 'inkmark --help'\n", stderr);
    return CLI_USAGE;
  }
  const char *name = argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h"))
    name = "help";
  else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
    name = "version";
  const cli_command *command = cli_command_find(name);
#if defined(INKMARK_REWRITER_BESIDE)
  if (!command || command == &cmd_help) {
    hand_over(name, argv);
    if (rewrites(name))
      return CLI_FAILED;
  }
#endif
  return command ? command->run(argc - 1, argv + 1) : unknown_command(name);
}
