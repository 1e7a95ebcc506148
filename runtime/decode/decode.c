/* SPDX-License-Identifier: MIT */
/* Runs the tracks of a capture through the decoder: sets each track up and checks its counts. */
#include "decode_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_EVERY_TRACKS = 256 };

/* ---- one track ----------------------------------------------------------------------------- */

static ink_status room_for_payload(ink_decoder *decoder, size_t words) {
  if (words > decoder->payload_room) {
    free(decoder->payload);
    decoder->payload_room = 0;
    decoder->payload = malloc(words);
    if (!decoder->payload)
      return ink_error_set(decoder->error, INK_ERROR_MEMORY, "out of memory for a track of %zu words",
                           words);
    decoder->payload_room = words;
  }
  if (words)
    memset(decoder->payload, 0, words);
  return INK_OK;
}

/* The stamp of the newest record of the last piece; `otherwise` when there is none that is possible. */
static uint64_t newest_stamp(ink_decoder *decoder, int called, uint64_t otherwise) {
  const size_t count = decoder->pieces[called].count;
  const ink_ring *ring = &decoder->rings[called];
  ink_record record = {.clock64 = otherwise};
  ink_pieces_load(decoder, called, count - 1);
  uint64_t upper = ring->first_upper;
  for (size_t next = ring->first; next < ring->count;)
    next = ink_ring_record(ring, next, &upper, &record);
  ink_pieces_load(decoder, called, 0);
  bool possible =
      record.clock64 >= decoder->track.open_cycles && record.clock64 <= decoder->limit;
  return possible ? record.clock64 : otherwise;
}

#define bad_counts(decoder, ...)                                                                   \
  ink_decoder_problem(decoder, INK_PROBLEM_COUNTS, INK_SECTION_UNKNOWN, __VA_ARGS__)

/* kept + dropped == executed, and nothing kept that was never executed. */
static ink_status check_counts(ink_decoder *decoder, int called) {
  const ink_pieces *ring = &decoder->pieces[called];
  const ink_track *header = &decoder->stored.header;
  uint64_t words = called ? header->aux_words : header->words;
  uint64_t extra = called ? header->aux_extra : header->extra;
  if (extra > words)
    return bad_counts(decoder, called, 0,
                               "%" PRIu64 " words executed, of which %" PRIu64 " are payload",
                               words, extra);
  if (ring->kept > words)
    return bad_counts(decoder, called, 0, "%" PRIu64 " words kept, %" PRIu64 " executed",
                               ring->kept, words);
  uint64_t marks = words - extra;
  if (ring->bad)
    return bad_counts(decoder, called, ring->bad_at,
                               "%s; %zu older words cannot be read", ring->bad, ring->bad_at);
  uint64_t lost_words = words - ring->whole;
  if (!lost_words && ring->records != marks)
    return bad_counts(decoder, called, 0,
                               "%" PRIu64 " marks kept and none dropped, %" PRIu64 " executed",
                               ring->records, marks);
  uint64_t lost = marks - ring->records;
  if (!called && decoder->rows.rows)
    return marks < ring->records || lost != lost_words / INK_ROWS_WORDS(decoder->rows.rows)
               ? bad_counts(decoder, called, 0,
                            "%" PRIu64 " rows kept, %" PRIu64 " executed, but %" PRIu64 " words dropped",
                            ring->records, marks, lost_words)
               : INK_OK;
  if (marks < ring->records || lost > lost_words || lost < (lost_words + 5) / INK_RECORD_WORDS_MAX)
    return bad_counts(decoder, called, 0,
                               "%" PRIu64 " marks kept, %" PRIu64 " executed, but %" PRIu64
                               " words dropped", ring->records, marks, lost_words);
  return INK_OK;
}

static ink_status check_header(ink_decoder *decoder, const ink_line *line) {
  const ink_track *header = &decoder->stored.header;
  ink_status status = INK_OK;
  if (header->sm_open != header->sm_close) {
    const unsigned from = header->sm_open, to = header->sm_close;
    status = line->bound_known && line->moved_ns < 1e15
                 ? ink_decoder_problem(decoder, INK_PROBLEM_MOVED, INK_SECTION_UNKNOWN, 0, 0,
                                       "moved from SM %u to SM %u, whose clocks differ: a time inside of "
                                       "it is good to %.0f ns", from, to, ceil(line->moved_ns))
                 : ink_decoder_problem(decoder, INK_PROBLEM_MOVED, INK_SECTION_UNKNOWN, 0, 0,
                                       "moved from SM %u to SM %u, whose clocks cannot be compared",
                                       from, to);
  }
  if (status == INK_OK && header->close_clock0 < header->open_clock1)
    status = ink_decoder_problem(decoder, INK_PROBLEM_CLOCK, INK_SECTION_UNKNOWN, 0, 0,
                                 "closed %" PRIu64 " cycles before it was opened",
                                 header->open_clock1 - header->close_clock0);
  for (int called = 0; called < 2 && status == INK_OK; called++)
    status = check_counts(decoder, called);
  return status;
}

/* An open track goes on to where it was last seen, or to its last record. What came after that is not known. */
static void set_last_seen(ink_decoder *decoder, const ink_line *line, uint64_t last) {
  const ink_track *header = &decoder->stored.header;
  ink_decoded_track *track = &decoder->track;
  const uint64_t seen_ns = header->close_global_ns;
  track->partial_after_cycles = last;
  track->close_cycles = last;
  if (seen_ns > header->open_global_ns && line->ns_per_cycle > 0) {
    const double cycles = (double)(seen_ns - header->open_global_ns) / line->ns_per_cycle;
    const uint64_t most = decoder->limit - track->open_cycles;
    const uint64_t seen = track->open_cycles + (cycles < (double)most ? (uint64_t)cycles : most);
    track->close_cycles = seen > last ? seen : last;
  }
  track->close_ns = ink_line_ns(line, track->close_cycles);
}

static void set_track(ink_decoder *decoder, const ink_clock_map *map, uint64_t index,
                      const ink_line *line) {
  const ink_track *header = &decoder->stored.header;
  ink_decoded_track *track = &decoder->track;
  bool closed = header->state == INK_TRACK_CLOSED;
  *track = (ink_decoded_track){.index = index, .stored = &decoder->stored,
                               .partial_after_cycles = UINT64_MAX};
  track->open_cycles = track->close_cycles = header->open_clock1;
  bool ordered = closed && header->close_clock0 >= header->open_clock1;
  if (ordered)
    track->close_cycles = header->close_clock0;
  /* Without a close to trust, any stamp within 47 bits after the open is possible. */
  uint64_t open = header->open_clock1, most = INK_CLOCK_MASK / 2;
  decoder->limit = ordered ? header->close_clock0
                           : open + (UINT64_MAX - open < most ? UINT64_MAX - open : most);
  track->open_ns = ink_line_ns(line, track->open_cycles);
  track->close_ns = ink_line_ns(line, track->close_cycles);
  if (closed && !ordered && header->sm_close != header->sm_open) /* by the other SM's clock, not before */
    track->close_ns = ink_clock_map_ns(map, decoder->stored.device, header->sm_close,
                                       header->close_clock0);
  uint64_t executed = ink_track_marks(header), last = open, of_rows = 0;
  if (decoder->rows.rows && header->words >= header->extra)
    of_rows = header->words - header->extra;
  track->marks_kept = decoder->pieces[0].records + decoder->pieces[1].records;
  for (int i = 0; i < 2; i++) {
    const ink_pieces *pieces = &decoder->pieces[i];
    if (pieces->has_gap) {
      uint64_t oldest = pieces->gap_clock;
      if (!pieces->whole || oldest < open || oldest > decoder->limit)
        oldest = track->close_cycles;
      if (oldest > track->partial_before_cycles)
        track->partial_before_cycles = oldest;
    }
    if (decoder->rings[i].lost_back || decoder->open) {
      uint64_t newest = newest_stamp(decoder, i, open);
      last = newest > last ? newest : last;
      if (newest < track->partial_after_cycles)
        track->partial_after_cycles = newest;
    }
    const uint64_t words = i ? header->aux_words : header->words;
    const uint32_t longest = !i && decoder->rows.rows ? INK_ROWS_WORDS(decoder->rows.rows) : INK_RECORD_WORDS_MAX;
    const uint64_t before = executed;
    if (decoder->open) /* at least */
      executed += pieces->records + (words > pieces->whole ? (words - pieces->whole + longest - 1) / longest : 0);
    of_rows += !i && decoder->rows.rows ? executed - before : 0;
  }
  if (decoder->open)
    set_last_seen(decoder, line, last);
  track->marks_executed = executed;
  track->rows_executed = of_rows;
  track->marks_dropped = executed > track->marks_kept ? executed - track->marks_kept : 0;
}

static void set_sections(ink_decoder *decoder, const track_ref *ref) {
  const ink_section_table *table = decoder->capture->kernels.items[ref->kernel].table;
  decoder->base_section = table ? ink_table_base(decoder->capture, table) : 0;
  decoder->section_count = table ? table->section_count : 0;
  decoder->told_unknown_table = false;
  ink_decoder_forget_told(decoder, ref->kernel);
}

static ink_status decode_track(ink_decoder *decoder, const ink_clock_map *map, uint64_t index) {
  const ink_event_sink *sink = decoder->sink;
  ink_capture_track(decoder->capture, index, &decoder->stored);
  ink_stored_track *stored = &decoder->stored;
  decoder->open = stored->header.state != INK_TRACK_CLOSED;
  ink_status status = ink_rows_set(decoder);
  decoder->payload_called = ink_pieces_longest(stored, 0);
  if (status == INK_OK)
    status = room_for_payload(decoder, decoder->payload_called + ink_pieces_longest(stored, 1));
  for (int called = 0; called < 2 && status == INK_OK; called++)
    status = ink_pieces_set(decoder, called);
  if (status != INK_OK)
    return status;
  ink_line line = ink_clock_map_track_line(map, stored->device, &stored->header);
  decoder->map = map;
  decoder->line = line;
  set_track(decoder, map, index, &line);
  set_sections(decoder, &decoder->capture->tracks.items[index]);
  if (sink->track_begin)
    status = sink->track_begin(sink->user, &decoder->track, &line);
  if (status == INK_OK && !decoder->open)
    status = check_header(decoder, &line);
  if (status == INK_OK)
    status = ink_rows_check(decoder);
  if (status == INK_OK)
    status = ink_decode_levels(decoder);
  if (status == INK_OK)
    status = ink_decoder_flush(decoder);
  decoder->shared_lost |= decoder->open || decoder->track.marks_dropped;
  if (status == INK_OK && sink->track_end)
    status = sink->track_end(sink->user, &decoder->track);
  return status;
}

/* ---- all tracks ---------------------------------------------------------------------------- */

static ink_status decode_all(ink_decoder *decoder, const ink_clock_map *map, uint32_t launch) {
  const ink_capture *capture = decoder->capture;
  const ink_event_sink *sink = decoder->sink;
  uint64_t total = capture->tracks.count;
  uint32_t current = UINT32_MAX;
  bool wanted = false;
  ink_status status = INK_OK;
  for (uint64_t i = 0; i < total && status == INK_OK; i++) {
    const track_ref *ref = &capture->tracks.items[i];
    if (sink->progress && i % PROGRESS_EVERY_TRACKS == 0)
      status = sink->progress(sink->user, i, total);
    if (status == INK_OK && ref->launch != current) {
      status = ink_decode_shared_rest(decoder, current);
      current = ref->launch;
      wanted = (launch == UINT32_MAX || launch == current) &&
               (!sink->want_launch || sink->want_launch(sink->user, current));
      if (wanted && sink->launch && status == INK_OK)
        status = sink->launch(sink->user, current, &capture->launches.items[current]);
    }
    if (!wanted || status != INK_OK ||
        (sink->only_open && ink_track_at(capture, i)->header.state == INK_TRACK_CLOSED))
      continue;
    if (sink->want_kernel && !sink->want_kernel(sink->user, ref->kernel)) {
      decoder->shared_lost = true;
      continue;
    }
    status = decode_track(decoder, map, i);
  }
  if (status == INK_OK)
    status = ink_decode_shared_rest(decoder, current);
  if (status == INK_OK && sink->progress)
    status = sink->progress(sink->user, total, total);
  return status;
}

static bool room_for_sections(ink_decoder *decoder) {
  const size_t n = decoder->capture->sections.count + 1;
  decoder->open_of = calloc(n, sizeof *decoder->open_of);
  decoder->open_in[0] = calloc(n, sizeof *decoder->open_in[0]);
  decoder->open_in[1] = calloc(n, sizeof *decoder->open_in[1]);
  decoder->told_of = calloc(n, sizeof *decoder->told_of);
  return decoder->open_of && decoder->open_in[0] && decoder->open_in[1] && decoder->told_of;
}

static void free_decoder(ink_decoder *decoder) {
  for (int i = 0; i < 2; i++) {
    free(decoder->levels[i].items);
    free(decoder->open_in[i]);
    ink_pieces_free(&decoder->pieces[i]);
  }
  ink_rows_free(decoder);
  free(decoder->asyncs.items);
  free(decoder->queues.items);
  free(decoder->shared.items);
  id_map_free(&decoder->queue_map);
  free(decoder->payload);
  free(decoder->open_of);
  free(decoder->told_of);
  free(decoder);
}

ink_status ink_decode_events(const ink_capture *capture, const ink_clock_map *map, uint32_t launch,
                             const ink_event_sink *sink, ink_error *error) {
  if (!capture || !map || !sink)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "nothing to decode");
  if (launch != UINT32_MAX && launch >= capture->launches.count)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "no launch %u, the capture has %zu",
                         (unsigned)launch, capture->launches.count);
  ink_decoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the decoder");
  decoder->capture = capture;
  decoder->sink = sink;
  decoder->costs_device = INT32_MIN;
  decoder->told_kernel = UINT32_MAX;
  if (!room_for_sections(decoder)) {
    free_decoder(decoder);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the decoder");
  }
  ink_error inner = {.offset = UINT64_MAX}; /* a sink's own status must not be overwritten */
  decoder->error = &inner;
  ink_status status = decode_all(decoder, map, launch);
  if (status != INK_OK && inner.message[0] && error)
    *error = inner;
  else if (status == INK_ERROR_STOPPED)
    ink_error_set(error, status, "stopped by the caller");
  free_decoder(decoder);
  return status;
}
