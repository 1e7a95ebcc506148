/* SPDX-License-Identifier: MIT */
/* What the parts of the decoder hand on: events, a block of them at a time, and problems, in their order. */
#include "decode_events.h"

#include <stdarg.h>
#include <stdio.h>

ink_status ink_decoder_flush(ink_decoder *decoder) {
  size_t n = decoder->event_count;
  decoder->event_count = 0;
  if (!n || !decoder->sink->events)
    return INK_OK;
  return decoder->sink->events(decoder->sink->user, decoder->events, n);
}

ink_status ink_decoder_problem(ink_decoder *decoder, enum ink_problem_kind kind, uint32_t section,
                               int called, size_t word, const char *format, ...) {
  decoder->track.problems++;
  if (!decoder->sink->problem)
    return INK_OK;
  ink_status status = ink_decoder_flush(decoder);
  if (status != INK_OK)
    return status;
  ink_problem problem = {.track = decoder->track.index, .word = word, .called = called != 0,
                         .kind = (uint8_t)kind, .section = section, .times = 1};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(problem.text, sizeof problem.text, format, arguments);
  va_end(arguments);
  return decoder->sink->problem(decoder->sink->user, &problem);
}

const char *ink_decoder_section_name(const ink_decoder *decoder, uint32_t section) {
  return section < decoder->capture->sections.count ? decoder->capture->sections.items[section].name
                                                    : "?";
}
