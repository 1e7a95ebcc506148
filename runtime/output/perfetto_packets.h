/* SPDX-License-Identifier: MIT */
/* The packets that the Perfetto output is made of; field numbers are those of Perfetto's protos
 * (protos/perfetto/trace/trace_packet.proto and the files it imports), listed for the tests in
 * tests/output/perfetto_subset.proto. */
#ifndef INK_PERFETTO_PACKETS_H
#define INK_PERFETTO_PACKETS_H

#include "output_file.h"
#include "pb_write.h"
#include "selection.h"

enum {             /* TracePacket */
       PACKET = 1, /* of Trace */
       PACKET_CLOCK_SNAPSHOT = 6,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10,
       PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED_DATA = 12,
       PACKET_SEQUENCE_FLAGS = 13,
       PACKET_CLOCK_ID = 58,
       PACKET_DEFAULTS = 59,
       PACKET_TRACK_DESCRIPTOR = 60,
       PACKET_EXTENSION_DESCRIPTOR = 72
};
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_IS_INCREMENTAL = 3 };
enum { BUILTIN_REALTIME = 1, BUILTIN_MONOTONIC = 3, OUR_DELTA_CLOCK = 64 };
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58, EVENT_DEFAULTS_TRACK = 11 };
enum { INTERNED_CATEGORY = 1, INTERNED_EVENT_NAME = 2, INTERNED_ARG_NAME = 3 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { /* TrackDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_THREAD = 4,
       TRACK_PARENT = 5,
       TRACK_COUNTER = 8,
       TRACK_CHILD_ORDERING = 11,
       TRACK_RANK = 12,
       TRACK_DESCRIPTION = 14,
       TRACK_MERGE = 15
};
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, ORDERING_EXPLICIT = 3, MERGE_NONE = 2 };
enum { /* TrackEvent */
       EVENT_CATEGORY = 3,
       EVENT_ARG = 4,
       EVENT_TYPE = 9,
       EVENT_NAME_IID = 10,
       EVENT_TRACK = 11,
       EVENT_CATEGORY_NAME = 22,
       EVENT_NAME = 23,
       EVENT_COUNTER = 30,
       EVENT_COUNTER_DOUBLE = 44,
       EVENT_FLOWS = 47, /* fixed64, as the next */
       EVENT_FLOW_ENDS = 48
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
  ARG_NAME_IID = 1,
  ARG_BOOL = 2,
  ARG_UINT = 3,
  ARG_INT = 4,
  ARG_DOUBLE = 5,
  ARG_STRING = 6,
  ARG_NAME = 10,
  ARG_DICT = 11,
  ARG_ARRAY = 12
};

/* The arguments of sections' slices: extensions of TrackEvent that the file itself describes, which
 * cost half of what a debug annotation costs. Numbers below 2048 have a tag of two bytes. */
enum perfetto_arg {
  ARG_SM = 2036,
  ARG_BLOCK,
  ARG_WARP,
  ARG_BOUND_NS,
  ARG_ITERATION,
  ARG_CYCLES,
  ARG_CUT,
  ARG_CALLED,
  ARG_KEY,
  ARG_ITERATION_UNKNOWN,
  ARG_MARKING_CYCLES,
  ARG_NET_NS,
  ARG_OPEN /* 2048 */
};
/* Interned names end with the incremental state, so every track brings those that it uses: see
 * perfetto_open_track. */
enum perfetto_category { CATEGORY_INSTANT = 1, CATEGORY_SUM, CATEGORY_ASYNC, CATEGORY_BODY, CATEGORY_PATH };

enum { PERFETTO_EVENT_BYTES = 4096, PERFETTO_NAME_BYTES = 400 };

/* A field of text from outside, at most PERFETTO_NAME_BYTES of it, as UTF-8. */
char *perfetto_text(char *p, uint32_t field, const char *name);

/* One packet sequence of one file. Every function leaves errors to the file. */
typedef struct perfetto {
  ink_file *file; /* borrowed */
  unsigned sequence;
  int64_t last_ns; /* what the delta clock stands at */
  uint64_t uuid_base, uuid_next;
  char *packet_fields, *event_fields; /* of the event being written */
} perfetto;

/* The start of a sequence, whose number no other in the file may have, and its clocks. */
void perfetto_start(perfetto *out, ink_file *file, unsigned sequence, const ink_capture *capture,
                    int64_t base_ns);
/* The same in a trace that has clocks: base_ns is when its clock `clock` shows clock_ns. */
void perfetto_start_on(perfetto *out, ink_file *file, unsigned sequence, const ink_capture *capture, int64_t base_ns,
                       unsigned clock, int64_t clock_ns);

uint64_t perfetto_new_uuid(perfetto *out);

typedef struct perfetto_track {
  uint64_t uuid, parent;          /* parent 0: none */
  const char *name, *description; /* description may be NULL */
  int32_t rank;
  int64_t pid; /* -1: neither process nor thread */
  int64_t tid; /* above 0: a thread of that process */
  bool counter;
} perfetto_track;

void perfetto_describe(perfetto *out, const perfetto_track *track);

/* Makes a track that is described the one that events belong to unless they say otherwise. names[i] gets iid i + 1;
 * `categories` is a bit set by the enum above. */
void perfetto_open_track(perfetto *out, uint64_t track, const char *const *names, size_t name_count,
                         uint32_t categories);

/* Events are begun, filled and ended: perfetto_event returns where the event's fields go (at most
 * PERFETTO_EVENT_BYTES), perfetto_event_end takes where they end. track 0: the default. */
static inline char *perfetto_event(perfetto *out, int64_t ns, unsigned type, uint64_t track) {
  char *p = ink_file_room(out->file, PERFETTO_EVENT_BYTES + 64);
  out->packet_fields = p = pb_begin(p, PACKET);
  p = pb_uint(p, PACKET_TIMESTAMP, (uint64_t)ns - (uint64_t)out->last_ns);
  p = pb_uint(p, PACKET_SEQUENCE_ID, out->sequence);
  out->last_ns = ns;
  out->event_fields = p = pb_begin(p, PACKET_TRACK_EVENT);
  p = pb_uint(p, EVENT_TYPE, type);
  return track ? pb_uint(p, EVENT_TRACK, track) : p;
}

static inline void perfetto_event_end(perfetto *out, char *end) {
  ink_file_took(out->file, pb_end(out->packet_fields, pb_end(out->event_fields, end)));
}

/* Arguments of rare events: debug annotations with their names in place. */
char *perfetto_named_uint(char *p, const char *name, uint64_t value);
char *perfetto_named_int(char *p, const char *name, int64_t value);
char *perfetto_named_text(char *p, const char *name, const char *value);
char *perfetto_named_double(char *p, const char *name, double value);

#endif
