/* SPDX-License-Identifier: MIT */
/* The first pass of a conversion of JSON: what one event gives. The reader of kernels makes it in
 * passing, so that the file is read twice and not three times. */
#ifndef INK_CONVERT_NOTES_H
#define INK_CONVERT_NOTES_H

#include "convert_other.h"
#include "merge/read/foreign_private.h"
#include "merge/read/trace_event.h"

typedef struct convert_notes {
  convert c;
  convert_report report;
  bool base_known; /* c.base_ns is right; else times are checked at the end, by the extremes */
  int64_t lowest_ns, highest_ns;
} convert_notes;

/* NULL: out of memory. */
convert_notes *convert_notes_new(void);
void convert_notes_free(convert_notes *notes);
/* What makes the notes while a trace is read. */
foreign_listener convert_notes_listener(convert_notes *notes);
/* Whether all that was noted can be with this base, which is then set. */
bool convert_notes_fit(convert_notes *notes, int64_t base_ns);

/* Whether an event has a time, with the base; the same rule in both passes. */
bool convert_time_fits(const trace_event *event, int64_t base_ns);
uint64_t convert_flow_id(const trace_event *event);
/* The track of an event, found again quickly. `part` as in convert_track. */
ink_status convert_event_track(convert *c, const trace_event *event, char part, uint32_t *out);
/* Kinds of events that carry nothing of their own: "{}", as XLA ends its list. */
bool convert_is_nothing(const trace_event *event);

#endif
