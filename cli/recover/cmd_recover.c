/* SPDX-License-Identifier: MIT */
/* `inkmark recover`: a whole capture of what a damaged or unfinished one still has. */
#include "commands.h"
#include "grid.h"
#include "message.h"

#include "inkmark/capture.h"

#include <stdlib.h>
#include <string.h>

typedef struct recover_settings {
  cli_common common;
  const char *output;
} recover_settings;

static const cli_option options[] = {
    {'o', "output", CLI_TEXT, "OUT", offsetof(recover_settings, output),
     "where to write; default: FILE.recovered.ink, without FILE's .ink. A file that exists is left alone"},
    {0},
};

/* "run.ink" -> "run.recovered.ink". NULL: out of memory. */
static char *default_name(const char *path) {
  static const char ending[] = ".ink", new_ending[] = ".recovered.ink";
  size_t n = strlen(path);
  if (n > strlen(ending) && !strcmp(path + n - strlen(ending), ending))
    n -= strlen(ending);
  char *name = malloc(n + sizeof new_ending);
  if (name) {
    memcpy(name, path, n);
    memcpy(name + n, new_ending, sizeof new_ending);
  }
  return name;
}

static int run(int argc, char **argv) {
  recover_settings settings = {0};
  size_t operands;
  const enum cli_parsed parsed = cli_parse(&cmd_recover, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  ink_error error = {0};
  ink_recovered done;
  char *name = settings.output ? NULL : default_name(argv[0]);
  const char *to = settings.output ? settings.output : name;
  if (!to) {
    message_say("out of memory");
    return CLI_FAILED;
  }
  const ink_status status = ink_capture_recover(argv[0], to, &done, &error);
  int result = CLI_OK;
  if (status != INK_OK) {
    result = message_failure(&error);
  } else {
    message_say("wrote '%s': %s track%s", to, number_whole(done.tracks).text, number_plural(done.tracks));
    if (done.open_tracks)
      message_say("%s of them had not ended", number_whole(done.open_tracks).text);
    if (done.missing[0])
      message_say("missing: %s", done.missing);
    else
      message_say("nothing was missing: '%s' is whole", argv[0]);
  }
  free(name);
  return result;
}

const cli_command cmd_recover = {
    .name = "recover",
    .summary = "write a whole capture of what a damaged or unfinished one still has",
    .operands = "FILE",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .operand_kind = "capture",
    .run = run,
};
