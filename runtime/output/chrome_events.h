/* SPDX-License-Identifier: MIT */
/* Events of Chrome's JSON: lanes, complete events, and one track of a capture as such, in any
 * process. */
#ifndef INK_CHROME_EVENTS_H
#define INK_CHROME_EVENTS_H

#include "crossings.h"
#include "id_map.h"
#include "selection.h"
#include "text_write.h"
#include "track_events.h"
#include "track_lanes.h"

typedef struct chrome_open {
  uint32_t depth;
  int64_t end_ns;
} chrome_open;

typedef struct chrome_events {
  ink_file *file;
  const ink_selection *selection;
  int64_t base_ns; /* ts counts from here */
  bool some;       /* an event was written: the next needs a comma */
  bool merged; /* into another tool's file: nested begin and end events, ts exactly as they are */
  const char *pid; /* of the next events, as it stands in JSON */
  uint32_t next_tid, next_sort;
  track_lanes lanes, launches; /* the caller's to fill; freed with the rest */
  uint32_t lanes_sort;         /* where they begin in the order of a process's threads */
  char *const *prefixes;       /* [groups]: in front of the names of lanes; NULL: none */
  id_map asyncs;               /* lane and number: a tid */
  track_lane *lane;            /* of the current track, as the next three */
  uint32_t tid;
  char label[300];
  track_body body;
  ink_track_events events; /* the current track's */
  ink_crossings crossings; /* the current launch's */
  uint32_t arrows;         /* of them, so far */
  chrome_open *stack;
  size_t stack_count, stack_room;
} chrome_events;

void chrome_comma(chrome_events *w);
/* {"ph":"M","name":...,"pid":..,"tid":..,"args":{"KEY": and the value is to follow */
void chrome_metadata(chrome_events *w, const char *name, uint32_t tid, const char *key);
/* A lane (thread) of the current process, after those that it has; returns its tid. */
uint32_t chrome_new_lane(chrome_events *w, const char *name);

/* The head of an event, up to and with "args":{ ; chrome_end_event closes it. */
void chrome_begin_event(chrome_events *w, const char *phase, const char *category, const char *name,
                        uint32_t tid, int64_t begin_ns, int64_t end_ns);
void chrome_end_event(chrome_events *w);
void chrome_argument(chrome_events *w, const char *name, uint64_t value, bool first);

/* The end of the innermost slice of a lane that began with "B". */
void chrome_end_slice(chrome_events *w, uint32_t tid, int64_t ns);

/* One end of an arrow: "s" on the slice that it leaves, "f" on the one that it reaches; right
 * behind its begin, so that rounded times leave it inside. */
void chrome_flow(chrome_events *w, const char *phase, const char *tid, int64_t ns, uint64_t id);

/* The lane of a launch, named when it is first asked for, in the current process. */
uint32_t chrome_launch_lane(chrome_events *w, uint32_t launch);
/* Begins a track on its lane; all that w->events and w->body hold by chrome_track_end is written. */
ink_status chrome_track_begin(chrome_events *w, const ink_decoded_track *track);
/* The launch's ranges across threads, on lanes below it, with arrows between its tracks. */
ink_status chrome_launch_end(chrome_events *w, uint32_t launch);
ink_status chrome_track_end(chrome_events *w);
/* The next capture has lanes of its own. */
void chrome_lanes_end(chrome_events *w);
void chrome_events_free(chrome_events *w);

#endif
