/* SPDX-License-Identifier: MIT */
/* The commands, each in its own cmd_*.c. */
#ifndef INKMARK_CLI_COMMANDS_H
#define INKMARK_CLI_COMMANDS_H

#include "options.h"

extern const cli_command cmd_record, cmd_top, cmd_report, cmd_diff, cmd_export, cmd_open, cmd_info, cmd_verify,
    cmd_cost, cmd_time, cmd_selftest, cmd_recover, cmd_help, cmd_version;

#if defined(INKMARK_HAS_REWRITER) /* libclang was there */
extern const cli_command cmd_instrument, cmd_nvcc;
#endif

/* Fills the list of formats from the library; before cmd_export is used. */
void cmd_export_prepare(void);

#endif
