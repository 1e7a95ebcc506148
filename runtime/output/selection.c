/* SPDX-License-Identifier: MIT */
/* Chooses launches by kernel and number, finds their extent, and runs the decoder over them. */
#include "selection.h"

#include "capture/capture_match.h"
#include "clock/clock_map.h"
#include "options_take.h"

#include <stdlib.h>
#include <string.h>

static ink_status choose_kernels(ink_selection *s, ink_error *error) {
  const char *pattern = s->options.kernel_regex;
  const ink_status status = ink_match_kernels(s->capture, pattern, &s->kernel_chosen, error);
  size_t chosen = 0;
  for (size_t i = 0; i < s->kernel_count && !status; i++)
    chosen += s->kernel_chosen[i];
  if (!status && pattern && !chosen && s->kernel_count)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "no kernel matches '%.200s'", pattern);
  return status;
}

bool ink_selection_has(const ink_selection *s, size_t launch) {
  return (s->options.launch == UINT32_MAX || s->options.launch == launch) && s->launch_chosen[launch];
}

static bool has_kernel(const ink_selection *s, uint32_t kernel) {
  return kernel >= s->kernel_count || s->kernel_chosen[kernel];
}

static bool want_kernel(void *user, uint32_t kernel) {
  return has_kernel(user, kernel);
}

/* Adds the name of one more kernel to a launch's. */
static bool add_name(ink_selection *s, uint32_t launch, uint32_t kernel) {
  const char *more = ink_selection_kernel_name(s, kernel), *before = ink_selection_kernel(s, launch);
  const size_t room = strlen(before) + strlen(more) + 4;
  char *name = malloc(room);
  if (!name)
    return false;
  snprintf(name, room, "%s + %s", before, more);
  free(s->launch_names[launch]);
  s->launch_names[launch] = name;
  return true;
}

/* A launch may have tracks of several kernels: one PROF_KERNEL a role. */
static ink_status choose_launches(ink_selection *s, ink_error *error) {
  s->launch_chosen = calloc(s->launch_count + 1, sizeof *s->launch_chosen);
  s->launch_names = calloc(s->launch_count + 1, sizeof *s->launch_names);
  uint32_t *last = malloc((s->kernel_count + 1) * sizeof *last);
  bool fine = s->launch_chosen && s->launch_names && last;
  for (size_t i = 0; fine && i < s->kernel_count; i++)
    last[i] = UINT32_MAX;
  const uint64_t tracks = ink_capture_track_count(s->capture);
  for (uint64_t i = 0; fine && i < tracks; i++) {
    ink_stored_track track;
    ink_capture_track(s->capture, i, &track);
    if (track.launch >= s->launch_count || track.kernel >= s->kernel_count || last[track.kernel] == track.launch)
      continue;
    last[track.kernel] = track.launch;
    s->launch_chosen[track.launch] |= s->kernel_chosen[track.kernel];
    if (track.kernel != s->launches[track.launch].kernel)
      fine = add_name(s, track.launch, track.kernel);
  }
  free(last);
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

static void widen(ink_launch_span *span, int64_t begin, int64_t end) {
  if (!span->track_count || begin < span->begin_ns)
    span->begin_ns = begin;
  if (!span->track_count || end > span->end_ns)
    span->end_ns = end;
}

static int64_t ns_after(int64_t ns, uint64_t more) {
  int64_t after;
  return more > INT64_MAX || __builtin_add_overflow(ns, (int64_t)more, &after) ? INT64_MAX : after;
}

/* The body, as the decoder takes it: by the line of the whole track, which the clock map's single times need not
 * lie on where the SM's rate changed. */
static bool extent(const ink_selection *s, const ink_stored_track *track, int64_t *begin_ns, int64_t *end_ns) {
  const ink_track *h = &track->header;
  if (track->launch >= s->launch_count || !ink_selection_has(s, track->launch) || !has_kernel(s, track->kernel))
    return false;
  ink_line line = ink_clock_map_track_line(s->map, track->device, h);
  const int64_t open = ink_line_ns(&line, h->open_clock1);
  int64_t close = open;
  if (h->state == INK_TRACK_CLOSED && h->close_clock0 >= h->open_clock1)
    close = ink_line_ns(&line, h->close_clock0);
  else if (h->state == INK_TRACK_CLOSED)
    close = ink_clock_map_ns(s->map, track->device, h->sm_close, h->close_clock0);
  else if (h->close_global_ns > h->open_global_ns) /* when it was last seen */
    close = ns_after(open, h->close_global_ns - h->open_global_ns);
  *begin_ns = open;
  *end_ns = close > open ? close : open;
  return true;
}

bool ink_selection_track(const ink_selection *s, const ink_stored_track *track, int64_t *begin_ns, int64_t *end_ns) {
  return extent(s, track, begin_ns, end_ns) && ink_filter_has_track(s, &track->header, *begin_ns, *end_ns);
}

/* What a filter's times are counted from, and what it may choose from. */
static void find_zero(ink_selection *s) {
  const uint64_t tracks = ink_capture_track_count(s->capture);
  bool some = false;
  for (uint64_t i = 0; i < tracks; i++) {
    ink_stored_track track;
    int64_t begin, end;
    ink_capture_track(s->capture, i, &track);
    if (!extent(s, &track, &begin, &end))
      continue;
    const uint64_t block = ink_block_linear(&track.header);
    s->zero_ns = !some || begin < s->zero_ns ? begin : s->zero_ns;
    s->unfiltered_end_ns = !some || end > s->unfiltered_end_ns ? end : s->unfiltered_end_ns;
    s->unfiltered_block = block > s->unfiltered_block ? block : s->unfiltered_block;
    some = s->unfiltered_some = true;
  }
}

static ink_status find_spans(ink_selection *s, ink_error *error) {
  s->spans = calloc(s->launch_count + 1, sizeof *s->spans);
  if (!s->spans)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  const ink_status status = ink_capture_graph_places(s->capture, &s->graph_places, error);
  if (status)
    return status;
  if (s->options.filter)
    find_zero(s);
  uint64_t tracks = ink_capture_track_count(s->capture);
  for (uint64_t i = 0; i < tracks; i++) {
    ink_stored_track track;
    ink_capture_track(s->capture, i, &track);
    int64_t open, close;
    if (!ink_selection_track(s, &track, &open, &close))
      continue;
    ink_launch_span *span = &s->spans[track.launch];
    widen(span, open, close);
    if (!span->track_count)
      span->first_track = i;
    span->track_count++;
    s->chosen_tracks++;
  }
  ink_launch_span whole = {0};
  for (size_t i = 0; i < s->launch_count; i++) {
    if (!s->spans[i].track_count)
      continue;
    widen(&whole, s->spans[i].begin_ns, s->spans[i].end_ns);
    whole.track_count++;
  }
  s->begin_ns = whole.begin_ns;
  s->end_ns = whole.end_ns;
  s->chosen_launches = (size_t)whole.track_count;
  return ink_filter_check(s, false, error);
}

ink_status ink_selection_make(ink_selection *s, const ink_capture *capture,
                              const ink_clock_map *map, const ink_output_options *options,
                              ink_error *error) {
  *s = (ink_selection){
      .capture = capture, .map = map, .options = {.launch = UINT32_MAX}, .passes = 1};
  const ink_status taken = INK_I_OPTIONS_TAKE(&s->options, ink_output_options, user, options, error);
  if (taken != INK_OK)
    return taken;
  s->without_marking = s->options.marking == INK_MARKING_OUT;
  s->kernel_count = ink_capture_kernels(capture, &s->kernels);
  s->launch_count = ink_capture_launches(capture, &s->launches);
  s->device_count = ink_capture_devices(capture, &s->devices);
  s->section_count = ink_capture_sections(capture, &s->sections);
  if (s->options.launch != UINT32_MAX && s->options.launch >= s->launch_count)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "no launch %u: the capture has %zu",
                         s->options.launch, s->launch_count);
  ink_status status = choose_kernels(s, error);
  if (status == INK_OK)
    status = choose_launches(s, error);
  if (status == INK_OK)
    status = find_spans(s, error);
  return status;
}

void ink_selection_free(ink_selection *s) {
  for (size_t i = 0; s->launch_names && i < s->launch_count; i++)
    free(s->launch_names[i]);
  free(s->launch_names);
  free(s->launch_chosen);
  free(s->kernel_chosen);
  free(s->spans);
  free(s->graph_places);
  *s = (ink_selection){0};
}

static ink_status tell_progress(void *user, uint64_t done, uint64_t total) {
  const ink_selection *s = user;
  return s->options.progress(s->options.user, s->passes_done * total + done, s->passes * total);
}

static bool want_launch(void *user, uint32_t launch) {
  const ink_selection *s = user;
  return ink_selection_has(s, launch) && (!s->options.filter || s->spans[launch].track_count);
}

ink_status ink_selection_decode(ink_selection *s, const ink_sink *sink, ink_error *error) {
  ink_sink ours = ink_filter_before(s, sink);
  ours.user = s;
  ours.progress = s->options.progress ? tell_progress : NULL;
  ours.want_launch = want_launch;
  ours.want_kernel = want_kernel;
  ours.want_marking = s->without_marking;
  ink_status status = ink_decode(s->capture, s->map, UINT32_MAX, &ours, error);
  s->passes_done++;
  return status == INK_OK ? ink_filter_check(s, true, error) : status;
}

ink_status ink_selection_table(const ink_selection *s, enum ink_group_by by, ink_table **out,
                               ink_error *error) {
  const ink_table_options options = {.size = sizeof options,
                                     .by = by,
                                     .kernel_regex = s->options.kernel_regex,
                                     .launch = s->options.launch,
                                     .progress = s->options.progress,
                                     .user = s->options.user,
                                     .without_marking = s->without_marking,
                                     .findings = by == INK_BY_SECTION};
  return ink_table_make(s->capture, s->map, &options, out, error);
}

const ink_device_info *ink_selection_device(const ink_selection *s, int32_t device) {
  for (size_t i = 0; i < s->device_count; i++)
    if (s->devices[i].index == device)
      return &s->devices[i];
  return NULL;
}

const ink_clock_quality *ink_selection_quality(const ink_selection *s, int32_t device) {
  const ink_clock_quality *quality;
  size_t count = ink_clock_map_quality(s->map, &quality);
  for (size_t i = 0; i < count; i++)
    if (quality[i].device == device)
      return &quality[i];
  return NULL;
}

const char *ink_selection_marking(const ink_selection *s) {
  const ink_mark_costs *costs;
  const size_t n = ink_capture_mark_costs(s->capture, &costs);
  for (size_t i = 0; i < n; i++)
    if (costs[i].count && s->without_marking)
      return "out";
  return "in";
}

bool ink_selection_simulated(const ink_selection *s, int32_t device) {
  const ink_device_info *info = ink_selection_device(s, device);
  return info && info->simulated;
}

const char *ink_selection_section(const ink_selection *s, ink_section_index section) {
  return section < s->section_count ? s->sections[section].name : "(unmarked)";
}

const char *ink_selection_kernel_name(const ink_selection *s, uint32_t kernel) {
  return kernel < s->kernel_count && s->kernels[kernel].name ? s->kernels[kernel].name : "?";
}

const char *ink_selection_kernel(const ink_selection *s, size_t launch) {
  return s->launch_names && s->launch_names[launch] ? s->launch_names[launch]
                                                    : ink_selection_kernel_name(s, s->launches[launch].kernel);
}

uint64_t ink_block_linear(const ink_track *h) {
  return ((uint64_t)h->block_index[2] * h->grid_dim[1] + h->block_index[1]) * h->grid_dim[0] +
         h->block_index[0];
}
