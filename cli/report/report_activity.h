/* SPDX-License-Identifier: MIT */
/* `inkmark report --activity`: what the parts share. */
#ifndef INKMARK_CLI_REPORT_ACTIVITY_H
#define INKMARK_CLI_REPORT_ACTIVITY_H

#include "report.h"

#include "inkmark/activity.h"

#define ACTIVITY_NO_LAUNCH UINT32_MAX

typedef struct activity_item {
  const ink_activity *a;
  uint32_t launch; /* ours that has its device and grid id, or ACTIVITY_NO_LAUNCH */
} activity_item;

/* Activities of a kind, device and name: of kernels, with the same block and resources. */
typedef struct activity_group {
  const ink_activity *sample;
  uint64_t count, total_ns, min_ns, median_ns, max_ns, bytes;
} activity_group;

/* How a device was used, from the begin of its first activity to the end of its last. */
typedef struct activity_use {
  int32_t device;
  uint64_t kernels, copies, sets, copied_bytes;
  uint64_t begin_ns, end_ns;
  uint64_t kernel_busy_ns, copy_busy_ns, busy_ns; /* at least one runs; the last: of any kind */
} activity_use;

typedef struct activity_view {
  const report_settings *settings;
  loaded_capture loaded;
  ink_activity_clock clock;
  activity_item *items; /* by begin */
  size_t count;
  activity_group *groups; /* by kind, then total, the longest first */
  size_t group_count;
  activity_use *uses;
  size_t use_count;
  uint64_t outside;              /* launches whose tracks stick out of their kernels, */
  int64_t early_ns, late_ns;     /* by at most this */
  uint64_t own, kernels, joined; /* kernels of it that are launches of ours */
  uint64_t first_ns;             /* CUPTI's clock, of the first item: text counts from there */
} activity_view;

bool activity_view_make(const report_settings *settings, const char *path, activity_view *view);
void activity_view_free(activity_view *view);

/* The device's sizes, or NULL; the launch's tracks, 0 for none. */
const ink_activity_device *activity_device(const activity_view *view, int32_t device);
uint64_t activity_tracks(const activity_view *view, uint32_t launch);
const char *activity_name(const activity_view *view, const ink_activity *a);
const char *activity_kind_word(uint32_t kind);
const char *activity_limit_word(enum ink_occupancy_limit limit);

bool activity_text(const activity_view *view, bool follows, FILE *to);
bool activity_json(const activity_view *view, json_writer *json);
void activity_csv_begin(FILE *to);
bool activity_csv(const activity_view *view, FILE *to);

/* The whole of `inkmark report --activity`; an exit code. */
int report_activity(const report_settings *settings, char **paths, size_t n);

#endif
