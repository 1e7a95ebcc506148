/* SPDX-License-Identifier: MIT */
/* What the parts of `inkmark report` share: the settings, one file's table, the printers. */
#ifndef INKMARK_CLI_REPORT_H
#define INKMARK_CLI_REPORT_H

#include "grid.h"
#include "json.h"
#include "load.h"
#include "options.h"

#include "inkmark/tables_json.h"

#define REPORT_FORMATS(X) X("text", REPORT_TEXT) X("json", REPORT_JSON) X("csv", REPORT_CSV)
enum report_format { REPORT_FORMATS(CHOICE_CONSTANT) };
#define REPORT_UNITS(X) X("cycles", REPORT_CYCLES) X("ns", REPORT_NS) X("us", REPORT_US)
enum report_unit { REPORT_UNITS(CHOICE_CONSTANT) };
#define REPORT_SORTS(X) \
  X("usual", SORT_NONE) X("total", SORT_TOTAL) X("self", SORT_SELF) X("max", SORT_MAX) X("imbalance", SORT_IMBALANCE)
enum report_sort { REPORT_SORTS(CHOICE_CONSTANT) };
#define REPORT_CELLS(X) \
  X("total", CELL_TOTAL) X("mean", CELL_MEAN) X("median", CELL_MEDIAN) X("max", CELL_MAX) X("count", CELL_COUNT)
enum report_cell { REPORT_CELLS(CHOICE_CONSTANT) };

typedef struct report_settings {
  cli_common common;
  int by; /* enum ink_group_by */
  int cell, unit, format;
  bool activity, host, path, variance;
  bool all, raw, kept, quiet, head;
  int sort; /* enum report_sort */
  uint64_t top; /* 0: all */
  const char *kernel, *output, *waits, *silence, *check, *code, *stalls;
  uint64_t launch;
} report_settings;

typedef struct report_view {
  const report_settings *settings;
  ink_table_options choice; /* what the table was made with */
  loaded_capture loaded;
  ink_table *table;
  uint32_t (*graph_places)[3]; /* by launch: ink_capture_graph_places */
  const ink_table_row **rows; /* by part, then as the settings say, else by group, then section; "(unmarked)" last */
  size_t row_count;
} report_view;

typedef struct report_sink report_sink;
struct report_sink {
  FILE *to;
  bool (*print)(const report_view *report, report_sink *sink); /* false after a message */
  ink_tables_json *json;
  bool follows; /* a file was printed before */
  bool failed;  /* what --check says does not hold */
};

/* Of one capture: to `json`, or, where that is NULL, text to `to`. False after a message. */
typedef bool report_one(const report_settings *settings, const char *file, json_writer *json, FILE *to);
/* Of each capture in turn, to where the settings say; the command's exit code. */
int report_in_forms(const report_settings *settings, char **paths, size_t n, report_one *one_file);

bool report_prepare(report_view *report); /* fills `rows`, sorted as asked for; false after a message */
void report_release(report_view *report);

bool report_text(const report_view *report, report_sink *sink);
bool report_json(const report_view *report, report_sink *sink);
bool report_csv(const report_view *report, report_sink *sink);
void report_csv_begin(report_sink *sink);

/* The table of the sections [first, last) of a kernel; what is said below it of slices that were cut or lie in
 * each other; and what stands for it where marks were dropped. */
bool report_sections(const report_view *report, size_t first, size_t last, FILE *to);
bool report_kept(const report_view *report, const ink_kernel_total *total, size_t first, size_t last, FILE *to);
void report_cut(const report_view *report, size_t first, size_t last, FILE *to);
void report_nested(const report_view *report, size_t first, size_t last, FILE *to);
bool report_keeps_first(const report_view *report); /* full rings stop, instead of keeping the newest */
/* Sections that no recording thread passed: of this kernel alone, and those that several share. */
void report_unseen(const report_view *report, const ink_kernel_total *total, FILE *to);
void report_unseen_of_several(const report_view *report, FILE *to);
/* Indices of ink_table_kernels, the one with the most time first. The caller frees them; NULL after a message. */
size_t *report_kernel_order(const report_view *report);
/* The first row of the part, or of a later one. */
size_t report_first_row(const report_view *report, size_t part);
/* Whether the instance's short name is no other one's of its kernel. */
/* "kernel Step (Solver) as saxpy<float> on device 1". */
void report_kernel_name(const report_view *report, const ink_kernel_total *total, FILE *to);
/* What stands out, in plain words; without those that are silenced. */
void report_findings(const report_view *report, FILE *to);
/* --check: false where it does not hold; *fine is false after a message where it cannot be told. */
bool report_check(const report_view *report, bool *fine);
/* A usage error where the expression cannot be read; else CLI_OK. */
int report_check_parse(const report_settings *settings);
/* A usage error where --silence names what is no finding; else CLI_OK. */
int report_silence_check(const report_settings *settings);
bool report_short_is_one(const report_view *report, const ink_kernel_total *total);

/* A line below a kernel's table, in the colour of warnings. */
__attribute__((format(printf, 2, 3))) void report_remark(FILE *to, const char *format, ...);
/* That a kernel's launches seem to be of several functions. */
void report_shared(const report_view *report, const ink_kernel_total *total, FILE *to);

/* Tracks without an end and kernels without a table; a kernel's dropped, missed and lost marks; problems. */
void report_unfinished(const report_view *report, FILE *to);
/* What was not to be recorded: report_window.c. */
void report_window(const report_view *report, FILE *to);
void report_left_out(const report_view *report, const ink_kernel_total *total, FILE *to);
void report_problems(const report_view *report, FILE *to);

/* Ranges across threads that tracks of a kernel began; that its launches may be more than they seem. */
bool report_crossings(const report_view *report, const ink_kernel_total *total, FILE *to);
void report_launches(const report_view *report, const ink_kernel_total *total, FILE *to);

/* What the marks cost themselves: whether it is in the times, and of a kernel what was taken out. */
void report_marking_note(const report_view *report, FILE *to);
void report_marking(const report_view *report, const ink_kernel_total *total, size_t first, size_t last, FILE *to); /* of its rows */
/* What is left of a row without the marks' cost is less than what that cost is known to. */
bool report_below_bound(const ink_table_row *row);

/* A row of the table of sections, and how deep it stands in the tree. */
typedef struct report_branch {
  const ink_table_row *row;
  uint32_t level;
} report_branch;

/* The rows [first, last) of one kernel as a tree: a section below the one that it lies in. `out` and the
 * scratch `placed` have room for as many. */
void report_tree(const report_view *report, size_t first, size_t last, report_branch *out,
                 bool *placed);
/* "in Outer, Other" where the slices of a row lie in those of several sections, else empty. */
void report_inside(const report_view *report, const ink_table_row *row, char *text, size_t bytes);

/* The table of one kernel with groups as rows and sections as columns; rows [first, last). */
bool report_matrix(const report_view *report, size_t first, size_t last, FILE *to);

/* "12", "(none)", "(unknown)", "3 (grid 17)", "saxpy<float>" by what the groups are. Good until the next call. */
const char *report_group_name(const report_view *report, int64_t group);
uint64_t report_linear_block(const ink_track *header);
/* "launch 2, block 5, warp 1, iteration 41", as far as these tell places of the part apart; "" where it is not
 * known. Good until the next call. */
const char *report_max_place(const report_view *report, const ink_table_row *row);
/* A duration in the unit of the settings. */
number_text report_time(const report_view *report, uint64_t cycles, double ns);
const char *report_by_name(int by);

/* "~" before a time that is less than the clocks are known to, in a unit of time; else "". */
const char *report_doubt(const report_view *report, const ink_table_row *row);
/* What the "~" stands for, where rows [first, last) have any. */
void report_doubts(const report_view *report, size_t first, size_t last, FILE *to);

#endif
