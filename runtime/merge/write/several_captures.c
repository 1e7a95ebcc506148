/* SPDX-License-Identifier: MIT */
/* Several captures as one Perfetto trace: of ranks, GPUs, nodes. Each has processes of its own, and
 * all are on CLOCK_REALTIME, as well as the host of each knows it. */
#include "merged_activity.h"
#include "merged_host.h"
#include "merged_perfetto.h"
#include "merged_private.h"
#include "options_take.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PIDS_APART = 100000 }; /* from one capture to the next: GPUs are not processes anyway */

void merged_name_capture(const ink_capture *capture, char *who, size_t size) {
  const char *rank = ink_capture_fact(capture, "rank");
  const char *host = ink_capture_fact(capture, "host");
  const char *pid = ink_capture_fact(capture, "pid");
  snprintf(who, size, "%s %.32s, %.64s", rank ? "rank" : "process",
           rank  ? rank
           : pid ? pid
                 : "?",
           host ? host : "?");
}

static bool same_fact(const ink_capture *a, const ink_capture *b, const char *key) {
  const char *left = ink_capture_fact(a, key), *right = ink_capture_fact(b, key);
  return left && right && !strcmp(left, right);
}

/* Two copies of one file, or of one file as it grew: of one session, by what it says of itself;
 * where it does not, by the tracks. */
static bool same_capture(const ink_capture *a, const ink_capture *b) {
  if (a == b)
    return true;
  if (ink_capture_fact(a, "started_ns") || ink_capture_fact(b, "started_ns"))
    return same_fact(a, b, "started_ns") && same_fact(a, b, "pid") && same_fact(a, b, "host");
  uint64_t n = ink_capture_track_count(a);
  if (n != ink_capture_track_count(b))
    return false;
  for (uint64_t i = 0; i < n; i++) {
    ink_stored_track left, right;
    ink_capture_track(a, i, &left);
    ink_capture_track(b, i, &right);
    if (left.device != right.device || memcmp(&left.header, &right.header, sizeof left.header))
      return false;
  }
  return true;
}

ink_status merged_check_distinct(const ink_merged_capture *captures, size_t n, ink_error *error) {
  for (size_t i = 1; i < n; i++)
    for (size_t k = 0; k < i; k++)
      if (same_capture(captures[i].capture, captures[k].capture))
        return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                             "'%.150s' and '%.150s' are the same capture", captures[k].name,
                             captures[i].name);
  return INK_OK;
}

/* "rank 3, node7, GPU 0" */
ink_status merged_name_processes(merged_perfetto *w, size_t index, const char *who) {
  const ink_selection *s = &w->sink.place.selection;
  for (size_t d = 0; d < s->device_count; d++) {
    char name[256];
    snprintf(name, sizeof name, "%s, GPU %d%s", who, s->devices[d].index,
             s->devices[d].simulated ? " (simulated clock)" : "");
    w->process_names[d] = strdup(name);
    if (!w->process_names[d])
      return INK_ERROR_MEMORY;
    w->process_pids[d] = (int64_t)(index + 1) * PIDS_APART + s->devices[d].index;
  }
  return INK_OK;
}

/* Without a host clock a capture's times say nothing about another's. */
static ink_status check_clock(const placement *p, const char *file, ink_error *error) {
  const ink_clock_quality *q;
  size_t n = ink_clock_map_quality(p->selection.map, &q);
  const char *host = ink_capture_fact(p->selection.capture, "host");
  for (size_t i = 0; i < n; i++) {
    if (!q[i].has_host)
      return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                           "cannot put '%s' on a timeline with others: GPU %d has no host clock",
                           file, q[i].device);
    placement_say(p, "'%s': host '%s', GPU %d, its clock is known within %" PRId64 " ns", file,
                  host ? host : "?", q[i].device, q[i].host_bound_ns);
  }
  return INK_OK;
}

static ink_status put_capture(const ink_merged_capture *capture, size_t index,
                              const ink_merged_options *options, ink_file *file, ink_error *error) {
  merged_sink sink = {.error = error};
  char who[128];
  merged_perfetto *w = calloc(1, sizeof *w);
  ink_status status =
      w ? placement_make(&sink.place, capture->capture, capture->map, NULL, NULL, options, error)
        : INK_ERROR_MEMORY;
  if (status == INK_OK)
    status = check_clock(&sink.place, capture->name, error);
  if (status == INK_OK) {
    placement_tell(&sink.place);
    merged_name_capture(capture->capture, who, sizeof who);
    status = merged_perfetto_init(w, &sink, file, (unsigned)index, NULL);
    merged_host_who(&sink.place, who, w->host_who, sizeof w->host_who);
    w->host_place.pids_from = (int64_t)(index + 1) * MERGED_HOST_PIDS_APART;
    if (status == INK_OK)
      status = merged_name_processes(w, index, who);
    if (status == INK_OK)
      status = merged_activity_put(w, who, (int64_t)(index + 1) * MERGED_HOST_PIDS_APART, error);
    if (status == INK_OK)
      status = merged_perfetto_put(w);
    merged_perfetto_free(w, &sink);
  }
  free(w);
  sm_counters_free(&sink.counters);
  placement_free(&sink.place);
  return status;
}

static void tell_hosts(const ink_merged_capture *captures, size_t n,
                       const ink_merged_options *options) {
  const char *first = ink_capture_fact(captures[0].capture, "host");
  for (size_t i = 1; options->remark && i < n; i++) {
    const char *host = ink_capture_fact(captures[i].capture, "host");
    if (first && host && !strcmp(first, host))
      continue;
    options->remark(
        options->remark_user,
        "the captures are of several hosts: how far their clocks are from one another is "
        "not known here (NTP: about a millisecond, PTP: about a microsecond)");
    return;
  }
}

ink_status ink_merged_write_captures(const ink_merged_capture *captures, size_t n,
                                     const ink_merged_options *options, const char *path,
                                     ink_error *error) {
  ink_merged_options chosen = {.launch = UINT32_MAX};
  ink_error own = {0};
  ink_file file = {.fd = -1};
  error = error ? error : &own;
  const ink_status taken = INK_I_OPTIONS_TAKE(&chosen, ink_merged_options, remark_user, options, error);
  if (taken != INK_OK)
    return taken;
  if (!merged_is_perfetto(path))
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "several captures go into a .pftrace, not into '%s'", path);
  ink_status status = merged_check_distinct(captures, n, error);
  if (status == INK_OK)
    status = ink_file_open(&file, path, error);
  for (size_t i = 0; status == INK_OK && i < n; i++) {
    status = put_capture(&captures[i], i, &chosen, &file, error);
    if (status == INK_OK && chosen.progress)
      status = chosen.progress(chosen.user, i + 1, n);
  }
  if (status == INK_OK) {
    tell_hosts(captures, n, &chosen);
    status = ink_file_close(&file, error);
  } else if (status == INK_ERROR_MEMORY) {
    ink_error_set(error, status, "out of memory");
  }
  ink_file_abandon(&file);
  return status;
}
