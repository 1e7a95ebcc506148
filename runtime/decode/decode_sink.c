/* SPDX-License-Identifier: MIT */
/* The public sink on top of the decoder's events: one call an event, with nanoseconds. */
#include "decode_events.h"

typedef struct adapter {
  const ink_sink *sink;
  const ink_capture *capture;
  ink_line line;
  ink_costs costs; /* of costs_device; all zero where nobody wants them */
  int32_t costs_device;
} adapter;

static bool want_launch(void *user, uint32_t launch) {
  const ink_sink *sink = ((adapter *)user)->sink;
  return sink->want_launch(sink->user, launch);
}

static bool want_kernel(void *user, uint32_t kernel) {
  const ink_sink *sink = ((adapter *)user)->sink;
  return sink->want_kernel(sink->user, kernel);
}

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *info) {
  const ink_sink *sink = ((adapter *)user)->sink;
  return sink->launch ? sink->launch(sink->user, launch, info) : INK_OK;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track, const ink_line *line) {
  adapter *self = user;
  self->line = *line;
  if (self->sink->want_marking && self->costs_device != track->stored->device) {
    self->costs_device = track->stored->device;
    self->costs = ink_costs_of(self->capture, self->costs_device);
  }
  return self->sink->track_begin ? self->sink->track_begin(self->sink->user, track) : INK_OK;
}

static ink_status on_crossing(void *user, const ink_crossing *crossing) {
  const ink_sink *sink = ((adapter *)user)->sink;
  return sink->crossing ? sink->crossing(sink->user, crossing) : INK_OK;
}

static ink_status on_problem(void *user, const ink_problem *problem) {
  const ink_sink *sink = ((adapter *)user)->sink;
  return sink->problem ? sink->problem(sink->user, problem) : INK_OK;
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  const ink_sink *sink = ((adapter *)user)->sink;
  return sink->track_end ? sink->track_end(sink->user, track) : INK_OK;
}

static ink_status on_progress(void *user, uint64_t done, uint64_t total) {
  const ink_sink *sink = ((adapter *)user)->sink;
  return sink->progress ? sink->progress(sink->user, done, total) : INK_OK;
}

/* As a table takes it out: whole cycles, no more than the slice has, at the slice's own rate. */
static void take_marking(const adapter *self, ink_slice *slice, ink_cost cost) {
  const uint64_t cycles = slice->end_cycles - slice->begin_cycles;
  slice->marking_cycles = cost.cycles < cycles ? cost.cycles : cycles;
  slice->marking_ns = 0;
  if (!slice->marking_cycles)
    return;
  const double span = ink_line_span_ns(&self->line, slice->begin_cycles, slice->end_cycles);
  const double ns = span * ((double)slice->marking_cycles / (double)cycles) + 0.5;
  slice->marking_ns = ns > 0 && ns < 9e18 ? (int64_t)ns : 0;
}

static ink_status give_slice(const adapter *self, const ink_event *event) {
  if (!self->sink->slice)
    return INK_OK;
  ink_slice slice = {.section = event->section,
                     .depth = event->depth,
                     .kind = event->kind,
                     .called = event->called,
                     .cut = event->cut,
                     .nested = event->nested,
                     .row = event->row,
                     .begin_cycles = event->begin,
                     .end_cycles = event->end,
                     .begin_ns = ink_line_ns(&self->line, event->begin),
                     .end_ns = ink_line_ns(&self->line, event->end)};
  slice.escape = event->escape;
  slice.value.u64 = event->escape ? event->u.value : 0;
  take_marking(self, &slice, event->cost);
  return self->sink->slice(self->sink->user, &slice);
}

static ink_status give_point(const adapter *self, const ink_event *event) {
  if (!self->sink->point)
    return INK_OK;
  ink_point point = {.section = event->section,
                     .kind = event->kind,
                     .escape = event->escape,
                     .called = event->called,
                     .row = event->row,
                     .cycles = event->end,
                     .ns = ink_line_ns(&self->line, event->end)};
  if (event->escape == INK_ESCAPE_SUM) {
    point.value.sum.count = event->u.words[0];
    point.value.sum.total_cycles = event->u.words[1];
    point.value.sum.min_cycles = event->u.words[2];
    point.value.sum.max_cycles = event->u.words[3];
    point.value.sum.pass_marking_cycles = ink_cost_of_pass(
        &self->costs, event->u.words[0], event->u.words[1], event->u.words[2]);
  } else {
    point.value.u64 = event->u.value;
  }
  return self->sink->point(self->sink->user, &point);
}

static ink_status give_run(const adapter *self, const ink_event *run) {
  ink_slice slice = {.depth = run->depth,
                     .kind = INK_KIND_MARK,
                     .row = run->row,
                     .end_cycles = run->begin,
                     .end_ns = ink_line_ns(&self->line, run->begin)};
  ink_status status = INK_OK;
  ink_run_stamps at = ink_run_begin(run, run->payload, run->costs);
  while (status == INK_OK && ink_run_next(&at)) {
    slice.begin_cycles = slice.end_cycles;
    slice.begin_ns = slice.end_ns;
    slice.end_cycles = at.clock;
    slice.end_ns = ink_line_ns(&self->line, at.clock);
    if (at.iter) {
      slice.row = at.row;
      ink_event point = {.kind = INK_KIND_ITER,
                         .section = INK_SECTION_UNKNOWN,
                         .row = at.row,
                         .end = at.clock,
                         .u.value = (uint64_t)at.row};
      status = give_point(self, &point);
    } else if (self->sink->slice) {
      slice.section = at.section;
      take_marking(self, &slice, at.cost);
      status = self->sink->slice(self->sink->user, &slice);
    }
  }
  return status;
}

static ink_status give_async(const adapter *self, const ink_event *event) {
  if (!self->sink->async)
    return INK_OK;
  ink_async async = {.section = event->section,
                     .called = event->called,
                     .cut = event->cut,
                     .key = event->u.value,
                     .row = event->row,
                     .begin_cycles = event->begin,
                     .end_cycles = event->end,
                     .begin_ns = ink_line_ns(&self->line, event->begin),
                     .end_ns = ink_line_ns(&self->line, event->end)};
  return self->sink->async(self->sink->user, &async);
}

static ink_status on_events(void *user, const ink_event *events, size_t n) {
  const adapter *self = user;
  ink_status status = INK_OK;
  for (size_t i = 0; i < n && status == INK_OK; i++) {
    const ink_event *event = &events[i];
    switch (event->type) {
    case INK_EVENT_SLICE:
      status = give_slice(self, event);
      break;
    case INK_EVENT_RUN:
      status = give_run(self, event);
      break;
    case INK_EVENT_POINT:
      status = give_point(self, event);
      break;
    case INK_EVENT_ASYNC:
      status = give_async(self, event);
      break;
    case INK_EVENT_RECORD:
      status = self->sink->record(self->sink->user, event->u.head, event->end, event->section,
                                  event->row, event->called);
      break;
    default:
      break;
    }
  }
  return status;
}

ink_status ink_decode(const ink_capture *capture, const ink_clock_map *map, uint32_t launch,
                      const ink_sink *sink, ink_error *error) {
  if (!sink)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "nothing to decode into");
  adapter self = {.sink = sink, .capture = capture, .costs_device = INT32_MIN};
  ink_event_sink events = {.user = &self,
                           .want_records = sink->record != NULL,
                           .want_costs = sink->want_marking,
                           .want_launch = sink->want_launch ? want_launch : NULL,
                           .want_kernel = sink->want_kernel ? want_kernel : NULL,
                           .launch = on_launch,
                           .track_begin = on_track_begin,
                           .events = on_events,
                           .crossing = on_crossing,
                           .problem = on_problem,
                           .track_end = on_track_end,
                           .progress = on_progress};
  return ink_decode_events(capture, map, launch, &events, error);
}
