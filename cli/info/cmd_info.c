/* SPDX-License-Identifier: MIT */
/* `inkmark info`: what a capture holds and how good its clocks are. */
#include "info.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"

static const cli_option options[] = {
    {'a', "all", CLI_FLAG, NULL, offsetof(info_settings, all), "print every launch, however many, and the "
                                                               "clock of every SM"},
    {'f', "format", CLI_CHOICE, CHOICE_WORDS(INFO_FORMATS), offsetof(info_settings, format),
     "text (the default), or the same facts for programs"},
    {'o', "output", CLI_TEXT, "FILE", offsetof(info_settings, output),
     "where to write; - (the default) is standard output"},
    {0},
};

static int run(int argc, char **argv) {
  info_settings settings = {0};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_info, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  outfile file;
  if (!outfile_open_for(&file, settings.output, argv, operands))
    return CLI_FAILED;
  bool fine = true;
  if (settings.format != INFO_TEXT)
    info_facts_begin(&settings, file.stream);
  for (size_t i = 0; i < operands; i++) {
    loaded_capture loaded;
    if (!load_capture(argv[i], &loaded)) {
      fine = false;
      continue;
    }
    if (settings.format == INFO_TEXT)
      fine = info_text(&settings, &loaded, i, file.stream) && fine;
    else
      info_facts(&settings, &loaded, file.stream);
    unload_capture(&loaded);
  }
  if (settings.format != INFO_TEXT)
    info_facts_end(&settings, file.stream);
  fine = outfile_close(&file, fine) && fine;
  return fine ? CLI_OK : CLI_FAILED;
}

const cli_command cmd_info = {
    .name = "info",
    .summary = "print what a capture holds: devices, kernels, sections, drops, clock quality",
    .operands = "FILE...",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .operand_kind = "capture",
    .run = run,
};
