/* SPDX-License-Identifier: MIT */
/* What the parts of `inkmark record` share. */
#ifndef INKMARK_CLI_RECORD_H
#define INKMARK_CLI_RECORD_H

#include "elf_probe.h"
#include "options.h"

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define RECORD_UNSET UINT64_MAX

#define KEEP_CHOICES(X) X("last", KEEP_LAST) X("first", KEEP_FIRST)
enum record_keep { KEEP_CHOICES(CHOICE_CONSTANT) };
#define ON_START_CHOICES(X) X("on", ON_START_ON) X("off", ON_START_OFF)
enum record_on_start { ON_START_CHOICES(CHOICE_CONSTANT) };
#define SOURCES_CHOICES(X) X("on", SOURCES_ON) X("off", SOURCES_OFF)
enum record_sources { SOURCES_CHOICES(CHOICE_CONSTANT) };

typedef struct record_settings {
  cli_common common;
  int granularity; /* enum cli_granularity */
  int keep;        /* enum record_keep */
  int device;      /* enum cli_device */
  bool activity, stalls, flight, live, fit, nvtx;
  const char *blocks, *warps, *kernels, *devices, *output, *hang;
  const char *launches, *schedule, *range, *delay, *duration;
  int on_start; /* enum record_on_start */
  int sources;  /* enum record_sources */
  uint64_t hang_ms, delay_ms, duration_ms; /* of `hang`, `delay`, `duration`; record_check fills them in */
  uint64_t records, tracks, drain_ms; /* RECORD_UNSET when not given; record_check makes
                                         that 0, the library's default */
} record_settings;

typedef struct record_plan {
  const record_settings *settings;
  char *const *argv; /* the program's command line, as given */
  char *program;    /* the file that will be executed */
  char *output;     /* absolute template */
  char *library;    /* absolute path of libinkmark-preload.so */
  char *sim_folder; /* where the simulated libcudart.so.13 is; NULL: a GPU records */
  char *links;      /* a temporary folder of links to paths that the loader cannot take, or NULL */
  bool gpu_here, simulates;
  bool activity; /* asked for, and nobody else has CUDA_INJECTION64_PATH */
  int ended_by; /* the signal that ended the program, or 0 */
  int control; /* to the writer process; -1: none */
  char **lines; /* what it said at the end: "PID wrote PATH" and the like (inkmark/collect.h) */
  size_t line_count;
  elf_probe probe;
  struct timespec begin; /* CLOCK_REALTIME at the start: files older than this are not ours */
} record_plan;

/* Checks the lists and numbers; rounds what must be a power of two and says so. CLI_OK or
 * CLI_USAGE. */
int record_check(const cli_command *command, record_settings *settings);

/* Finds program, library, simulated device and output. CLI_OK, CLI_FAILED, 126 or 127 after a
 * message. */
int record_plan_make(const record_settings *settings, const char *program, record_plan *plan);
void record_plan_free(record_plan *plan);

/* Sets the variables that steer the recorded process, in this process's environment. False after a
 * message. */
bool record_environment(record_plan *plan);

/* Starts the writer process, which recorded processes find by INKMARK_WRITER. False after a message. */
bool record_writer_start(record_plan *plan);
/* Tells it how a child ended, by its wait status. */
void record_writer_end(const record_plan *plan, int64_t child, int wait_status);
/* While the program runs: says what is to be said at once. */
void record_writer_listen(record_plan *plan);
/* Waits until it has written what there is, some seconds at most, and fills in plan->lines. */
void record_writer_ask(record_plan *plan);
void record_writer_free(record_plan *plan);

/* `name` under the folder of this command: as installed, else as in the build tree; NULL: neither. */
char *record_find_beside(const char *installed, const char *built);
bool record_gpu_is_here(void);

/* Once, before the first message: where nobody reads them, or there is no room for them, the program is recorded
 * all the same. It gets the signals as this command found them. */
void record_outlive_messages(void);
/* Runs argv, hands signals on, waits; the exit code as a shell would give it, or minus the exit
 * code after a message when the program could not be started. */
int record_run(record_plan *plan, char **argv);
/* Ends this process by the signal; returns where the signal cannot end it. */
void record_end_as(int signal);

/* Says why nothing can be preloaded into the program, before it runs; false: there is no such reason. */
bool record_why_unloadable(const record_plan *plan, const char *program);
/* Where nothing was written: says why the recording did not reach the program, if that is the reason. */
bool record_why_unreached(const record_plan *plan);
/* The same of a process that ended, with nothing drained, by a way that ends no recording. */
bool record_why_cut(const record_plan *plan);
/* The same of what the program loaded through the CUDA driver; `what` opens the message. */
bool record_why_modules(const record_plan *plan, const char *what);

/* One recording from its plan to its words; the exit code. Where a signal ended the program, so it does this one. */
int record_once(const record_settings *settings, char **argv);
/* With --fit: a first run, which fills in records and tracks. CLI_OK: the second one may go on. */
int record_fit(record_settings *settings, char **argv);

/* Says on stderr what was written, or why nothing was; `code` is the program's exit code. */
void record_outcome(const record_plan *plan, int code);

#endif
