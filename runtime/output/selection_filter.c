/* SPDX-License-Identifier: MIT */
/* Lets through what a filter asks for: tracks by block and time, slices by time, iteration and length. Where a sink
 * takes records, a record decides for what follows from it. */
#include "selection.h"

static bool in_time(const ink_selection *s, int64_t begin_ns, int64_t end_ns) {
  const ink_output_filter *f = s->options.filter;
  return !f->time || (ink_ns_between(s->zero_ns, end_ns) >= f->from_ns && ink_ns_between(s->zero_ns, begin_ns) <= f->to_ns);
}

static bool in_rows(const ink_selection *s, int64_t row) {
  const ink_output_filter *f = s->options.filter;
  return !f->iterations || (row >= f->first_iteration && row <= f->last_iteration);
}

bool ink_filter_has_track(const ink_selection *s, const ink_track *h, int64_t open_ns, int64_t close_ns) {
  const ink_output_filter *f = s->options.filter;
  const uint64_t block = ink_block_linear(h);
  return !f || ((!f->blocks || (block >= f->first_block && block <= f->last_block)) && in_time(s, open_ns, close_ns));
}

static bool some_left_out(const ink_selection *s) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(s->capture, &launches);
  for (size_t i = 0; i < n; i++)
    if (launches[i].track_count < ink_launch_blocks(&launches[i]))
      return true;
  return false;
}

ink_status ink_filter_check(const ink_selection *s, bool decoded, ink_error *error) {
  const ink_output_filter *f = s->options.filter;
  if (f && !s->unfiltered_some)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "nothing passes the filter: the capture has no track");
  if (f && !s->chosen_tracks)
    return ink_error_set(error, INK_ERROR_NOT_FOUND,
                         "nothing passes the filter: blocks are 0 to %llu%s, times 0 to %lld ns from the begin",
                         (unsigned long long)s->unfiltered_block, some_left_out(s) ? " (not all were recorded)" : "", (long long)ink_ns_between(s->zero_ns, s->unfiltered_end_ns));
  if (decoded && f && f->iterations && !s->some_passed)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "nothing passes the filter: no record is of an iteration from %lld to %lld%s",
                         (long long)f->first_iteration, (long long)f->last_iteration, f->blocks || f->time ? " there" : "");
  return INK_OK;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  ink_selection *s = user;
  s->passed_over = !ink_filter_has_track(s, &track->stored->header, track->open_ns, track->close_ns);
  s->record_passes = true;
  s->device = track->stored->device;
  s->sm = track->stored->header.sm_open;
  return s->passed_over || !s->sink.track_begin ? INK_OK : s->sink.track_begin(user, track);
}

static ink_status on_record(void *user, uint64_t head, uint64_t cycles, ink_section_index section, int64_t row,
                            uint8_t called) {
  ink_selection *s = user;
  const int64_t ns = ink_clock_map_ns(s->map, s->device, s->sm, cycles);
  s->record_passes = !s->passed_over && in_time(s, ns, ns) && in_rows(s, row);
  s->some_passed |= s->record_passes;
  return s->record_passes ? s->sink.record(user, head, cycles, section, row, called) : INK_OK;
}

static bool passes(const ink_selection *s, int64_t begin_ns, int64_t end_ns, int64_t row) {
  if (s->passed_over)
    return false;
  return s->sink.record ? s->record_passes : in_time(s, begin_ns, end_ns) && in_rows(s, row);
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  ink_selection *s = user;
  if (!passes(s, slice->begin_ns, slice->end_ns, slice->row) ||
      (uint64_t)ink_ns_between(slice->begin_ns, slice->end_ns) < s->options.filter->shorter_ns)
    return INK_OK;
  s->some_passed = true;
  return s->sink.slice(user, slice);
}

static ink_status on_point(void *user, const ink_point *point) {
  ink_selection *s = user;
  const int64_t row = point->kind == INK_KIND_ITER ? point->value.i64 : point->row;
  if (!passes(s, point->ns, point->ns, row))
    return INK_OK;
  s->some_passed = true;
  return s->sink.point(user, point);
}

static ink_status on_async(void *user, const ink_async *async) {
  ink_selection *s = user;
  if (!passes(s, async->begin_ns, async->end_ns, async->row))
    return INK_OK;
  s->some_passed = true;
  return s->sink.async(user, async);
}

static ink_status on_problem(void *user, const ink_problem *problem) {
  ink_selection *s = user;
  return s->passed_over ? INK_OK : s->sink.problem(user, problem);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  ink_selection *s = user;
  return s->passed_over || !s->sink.track_end ? INK_OK : s->sink.track_end(user, track);
}

ink_sink ink_filter_before(ink_selection *s, const ink_sink *sink) {
  ink_sink ours = *sink;
  if (!s->options.filter)
    return ours;
  s->sink = *sink;
  ours.track_begin = on_track_begin;
  ours.record = sink->record ? on_record : NULL;
  ours.slice = sink->slice ? on_slice : NULL;
  ours.point = sink->point ? on_point : NULL;
  ours.async = sink->async ? on_async : NULL;
  ours.problem = sink->problem ? on_problem : NULL;
  ours.track_end = on_track_end;
  return ours;
}
