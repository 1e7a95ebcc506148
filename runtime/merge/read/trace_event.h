/* SPDX-License-Identifier: MIT */
/* One event of a JSON trace: the members that every reader of it needs. */
#ifndef INK_TRACE_EVENT_H
#define INK_TRACE_EVENT_H

#include "json_scan.h"
#include "merge/read/text_table.h"

enum { TRACE_ID_MAX = 256 };

typedef struct trace_id { /* pid or tid: its text, and its number where it is one */
  char text[TRACE_ID_MAX];
  size_t length;
  int64_t number;
  bool is_number;
  bool is_string; /* it stands in quotes, as a number may too */
} trace_id;

typedef struct trace_event {
  char phase;
  bool has_name, has_category, has_ts, has_dur, bad_time;
  int64_t ts_ns, dur_ns; /* in the file's own time */
  trace_id pid, tid;
  char id[TRACE_ID_MAX];
  text_buffer name, category; /* with a NUL behind them; the buffers are used again */
  unsigned members;
} trace_event;

enum trace_key {
  TRACE_OTHER,
  TRACE_PHASE,
  TRACE_CATEGORY,
  TRACE_NAME,
  TRACE_PID,
  TRACE_TID,
  TRACE_TS,
  TRACE_DUR,
  TRACE_ID,
  TRACE_ARGS,
  TRACE_DRAWING /* bp, s: which slice an arrow meets, how wide an instant is drawn; not data */
};

void trace_event_clear(trace_event *event);
void trace_event_free(trace_event *event);
enum trace_key trace_event_key(const json_scan *scan);
/* The value of that key, whose first token was read, into the event. Not for TRACE_ARGS. *taken is
 * false where the key cannot have such a value. */
ink_status trace_event_member(trace_event *event, enum trace_key key, enum json_token token,
                              const json_scan *scan, bool *taken);

/* Microseconds as text to ns, exact to the ns. False: no number, or beyond +-146 years. */
bool ink_us_to_ns(const char *text, int64_t *out);
/* The whole text is an integer. */
bool trace_integer(const char *text, int64_t *out);
/* The scan's text, cut to the room. */
void trace_text(const json_scan *scan, char *to, size_t size);

#endif
