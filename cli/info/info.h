/* SPDX-License-Identifier: MIT */
/* The printers of `inkmark info`. */
#ifndef INKMARK_CLI_INFO_H
#define INKMARK_CLI_INFO_H

#include "load.h"
#include "options.h"

#include "inkmark/activity.h"
#include "inkmark/stalls.h"

#define INFO_FORMATS(X) X("text", INFO_TEXT) X("json", INFO_JSON) X("csv", INFO_CSV)
enum info_format { INFO_FORMATS(CHOICE_CONSTANT) };

typedef struct info_settings {
  cli_common common;
  bool all;
  int format; /* enum info_format */
  const char *output;
} info_settings;

/* One file as text; false after a message. `index` is its place on the command line. */
bool info_text(const info_settings *settings, const loaded_capture *loaded, size_t index, FILE *to);

/* How good a device's clocks are; of every SM with --all. False after a message. */
bool info_clock(const info_settings *settings, const loaded_capture *loaded,
                const ink_clock_quality *quality, FILE *to);
/* "at the start", of enum ink_edges_when. */
const char *info_edges_when(uint32_t when);

/* What marks cost on each device; false after a message. */
bool info_cost_text(const loaded_capture *loaded, FILE *to);
/* "MARK", of enum ink_mark_cost_of. */
const char *info_cost_name(uint32_t what);

/* Of all stored code of modules. */
uint64_t info_code_bytes(const ink_code *codes, size_t n);

/* What CUPTI saw; nothing where it was not asked for. */
typedef struct info_activity {
  uint64_t kernels, with_tracks, copies, sets, calls, own;
} info_activity;
info_activity info_count_activity(const loaded_capture *loaded);
void info_activity_text(const loaded_capture *loaded, FILE *to);

/* All files as JSON or CSV, by settings->format: begin, each file, end. */
void info_facts_begin(const info_settings *settings, FILE *to);
void info_facts(const info_settings *settings, const loaded_capture *loaded, FILE *to);
void info_facts_end(const info_settings *settings, FILE *to);

#endif
