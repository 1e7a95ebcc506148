/* SPDX-License-Identifier: MIT */
/* Another profiler's events as Perfetto packets, in two passes over its file. In the first, every
 * slice is noted with its time only. Then slices of one track that overlap without one enclosing
 * the other are spread over lanes, and arrows find their slices. In the second pass the events are
 * written in the order of the file with all that they carry.
 *
 * Perfetto sorts by time and keeps the order of the file where times are equal; it knows begins and
 * ends, and an end is that of the innermost slice. So all ends of slices that have a length come
 * first in the file, and of slices that begin together the inner one waits for the outer. */
#ifndef INK_CONVERT_H
#define INK_CONVERT_H

#include "flow_set.h"
#include "output/perfetto_packets.h"
#include "slice_log.h"
#include "merge/read/text_table.h"

typedef struct conv_process {
  int64_t pid; /* -1: not a number that a process can have */
  uint64_t uuid;
  char *name, *labels; /* NULL: none */
  bool gpu;            /* kernels run there: its tracks are streams, not threads */
} conv_process;

typedef struct conv_track {
  uint32_t process, parent; /* parent: a track; UINT32_MAX: the process */
  int64_t tid;              /* 0: no thread */
  char *name;
  bool gpu, counter;
  uint64_t uuid;
  uint64_t *lane_uuids; /* [lane_count - 1]: those beside the track itself */
  uint32_t lane_count;
  slice_runs slices;
} conv_track;

/* What is known of a slice between the passes: its lane, and whether another waits for it or it
 * waits for another. */
enum { CONV_LEADS = 1 << 14, CONV_WAITS = 1 << 15, CONV_LANE = CONV_LEADS - 1 };

typedef struct conv_point { /* the end of an arrow */
  int64_t ns;
  uint64_t id;
  uint32_t slice;               /* UINT32_MAX while not known */
  uint32_t track : 30;          /* CONV_TRACKS_MAX at most */
  bool starts : 1, outward : 1; /* outward: its other end is not among these events */
} conv_point;

enum { CONV_TRACKS_MAX = (1 << 30) - 1 };

typedef struct conv_wait {
  uint32_t outer, inner;
  char *bytes;
  size_t size;
  uint64_t uuid; /* of the inner one's lane */
  int64_t ns;
  bool ends; /* has no length: its end follows it */
} conv_wait;

enum { CONV_RECENT_BYTES = 24 };

typedef struct conv_recent { /* a track that was looked up, by pid and tid */
  char pid[CONV_RECENT_BYTES], tid[CONV_RECENT_BYTES];
  size_t pid_length, tid_length;
  uint32_t track;
  bool used;
  char part;
} conv_recent;

typedef struct convert {
  perfetto *out;
  int64_t base_ns; /* what is added to noted times */
  conv_process *processes;
  conv_track *tracks;
  size_t process_count, process_room, track_count, track_room;
  text_table process_keys, track_keys;
  slice_log slices;
  uint16_t *placed; /* [slice_count] */
  size_t slice_count, next_slice;
  uint64_t noted_sum, written_sum; /* of all slices: the file did not change between the passes */
  conv_recent recent[64];
  struct conv_track_field { /* as it stands in events: EVENT_TRACK */
    uint64_t uuid;
    char bytes[16];
    unsigned char size; /* 0: not used yet */
  } track_fields[64];
  conv_point *points;
  size_t point_count, point_room, next_point;
  conv_wait *waits; /* by outer */
  uint32_t *waits_by_inner;
  size_t wait_count, wait_room;
  flow_set flow_ids; /* of the arrows whose ends the events name themselves */
  text_table names, categories, arg_names;
  text_buffer packet; /* of an event up to its arguments, from packet_from on */
  size_t packet_from;
  uint64_t lanes_added, flows, flows_alone, slices_on_lanes;
} convert;

void convert_free(convert *c);

/* What noted_sum and written_sum add up; times without the base. */
static inline uint64_t convert_sum(uint64_t sum, uint32_t track, int64_t begin_ns, int64_t end_ns) {
  sum = (sum ^ track ^ (uint64_t)begin_ns) * 0x9e3779b97f4a7c15ull;
  return (sum ^ (uint64_t)end_ns) * 0x100000001b3ull;
}

/* ---- first pass -------------------------------------------------------------------------------
 */

/* pid -1: none. The process or track that has this key, made if need be. */
ink_status convert_process(convert *c, const char *key, size_t length, int64_t pid, uint32_t *out);
/* `part` sets several tracks of one key apart: '\0' is the main one. Its parent is the main one's
 * process, or for other parts the main track; 'a' stands alone. */
ink_status convert_track(convert *c, uint32_t process, const char *key, size_t length, char part,
                         int64_t tid, uint32_t *out);
ink_status convert_counter(convert *c, uint32_t process, const char *name, uint32_t *out);
ink_status convert_name(char **name, const char *text); /* replaces an owned text */
ink_status convert_note_slice(convert *c, uint32_t track, int64_t begin_ns, int64_t end_ns);
/* The end of an arrow at a moment on a track. Times are noted without the base. */
ink_status convert_note_flow(convert *c, uint32_t track, int64_t ns, uint64_t id, bool starts);
/* An arrow to something that is written elsewhere; the moment is with the base. */
ink_status convert_note_outward(convert *c, uint32_t track, int64_t ns, uint64_t id);

/* ---- between ----------------------------------------------------------------------------------
 */

void convert_describe(convert *c);      /* writes processes and tracks */
ink_status convert_arrange(convert *c); /* convert_lanes.c: writes lanes and the ends of slices */
void convert_end(convert *c, uint64_t uuid, int64_t ns); /* of a slice */
void convert_start(convert *c);                          /* of the packets' sequence */
ink_status convert_new_lane(convert *c, uint32_t track);
uint64_t convert_uuid(const convert *c, uint32_t track, uint32_t lane);
/* A track that only the second pass met. */
void convert_describe_late(convert *c, uint32_t track);

/* ---- second pass ------------------------------------------------------------------------------
 */

/* Interned number of a name; new ones are written at once. */
enum conv_names { CONV_NAME, CONV_CATEGORY, CONV_ARG };
ink_status convert_intern(convert *c, enum conv_names what, const char *text, size_t length,
                          uint64_t *iid);

typedef struct conv_event {
  unsigned type;      /* TYPE_BEGIN ... */
  int64_t ns, end_ns; /* the end: of a slice */
  uint32_t track;
  uint64_t name, category; /* iids; 0: none */
  const text_buffer *args; /* whole EVENT_ARG fields; NULL: none */
  double value;            /* of a counter */
  uint64_t flow;           /* an arrow that starts or ends at this slice; 0: none */
  bool flow_starts;
} conv_event;

/* The next slice in the order in which they were noted; ends too where it has no length. */
ink_status convert_slice(convert *c, const conv_event *event);
ink_status convert_other(convert *c, const conv_event *event);

#endif
