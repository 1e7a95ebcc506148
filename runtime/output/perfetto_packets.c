/* SPDX-License-Identifier: MIT */
/* Perfetto packets: the sequence's start with clocks and interned names, track descriptors, and
 * events whose time is a delta to the event before.
 *
 * One sequence holds everything, because every further one slows the trace processor down. Event
 * packets leave out SEQ_NEEDS_INCREMENTAL_STATE: it only guards against packets lost from a ring,
 * and would cost four bytes a slice. A delta may be negative where the next track begins: the
 * 64-bit sum wraps, in the trace processor as here.
 *
 * Each track clears the incremental state, because only then may the default track change: trace
 * processors of 2021 forget the interned names when only the defaults change. */
#include "perfetto_packets.h"

#include "fnv.h"

enum { SEQUENCE_CLEARED = 1 };

static const char *const category_names[] = {[CATEGORY_INSTANT] = "instant",
                                             [CATEGORY_SUM] = "sum",
                                             [CATEGORY_ASYNC] = "async",
                                             [CATEGORY_BODY] = "track", [CATEGORY_PATH] = "critical_path"};

/* Names come from the capture; what is longer than anyone would read is cut at a character. */
char *perfetto_text(char *p, uint32_t field, const char *name) {
  size_t length = strnlen(name, PERFETTO_NAME_BYTES);
  if (length == PERFETTO_NAME_BYTES)
    length -= ink_i_text_open_end(name, length);
  return pb_text(p, field, name, length, PERFETTO_NAME_BYTES);
}

/* A packet of our sequence: returns where its other fields go. */
static char *packet(perfetto *out, size_t bytes, char **fields) {
  char *p = ink_file_room(out->file, bytes + 32);
  *fields = p = pb_begin(p, PACKET);
  return pb_uint(p, PACKET_SEQUENCE_ID, out->sequence);
}

static char *clock_pair(char *p, unsigned id, int64_t ns, bool incremental) {
  char *clock = p = pb_begin(p, SNAPSHOT_CLOCK);
  p = pb_uint(p, CLOCK_ID, id);
  p = pb_int(p, CLOCK_TIMESTAMP, ns);
  if (incremental)
    p = pb_uint(p, CLOCK_IS_INCREMENTAL, 1);
  return pb_end(clock, p);
}

static char *interned(char *p, uint32_t what, uint64_t iid, const char *name) {
  char *entry = p = pb_begin(p, what);
  return pb_end(entry, perfetto_text(pb_uint(p, INTERNED_IID, iid), INTERNED_TEXT, name));
}

static char *defaults(char *p, uint64_t track) {
  char *fields = p = pb_begin(p, PACKET_DEFAULTS);
  p = pb_uint(p, DEFAULTS_CLOCK_ID, OUR_DELTA_CLOCK);
  if (track) {
    char *event = p = pb_begin(p, DEFAULTS_TRACK_EVENT);
    p = pb_end(event, pb_uint(p, EVENT_DEFAULTS_TRACK, track));
  }
  return pb_end(fields, p);
}

/* Track ids must differ between files that are put together; they are the capture's process and
 * start folded to 24 bits, and a number. */
static uint64_t uuid_base(const ink_capture *capture) {
  static const char *const keys[] = {"host", "pid", "started_ns"};
  uint64_t h = INK_FNV_BEGIN;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const char *text = ink_capture_fact(capture, keys[k]);
    h = ink_fnv_text(h, text ? text : "?");
  }
  return ((h >> 40 ^ h) & 0xffffff) << 32;
}

/* google/protobuf/descriptor.proto: what the extensions of TrackEvent are called. They stand in a
 * message, as Perfetto's documentation recommends (docs/instrumentation/extensions.md). */
static void describe_arguments(perfetto *out) {
  enum {
    FILE_NAME = 1,
    FILE_PACKAGE = 2,
    FILE_MESSAGE = 4,
    MESSAGE_NAME = 1,
    MESSAGE_EXTENSION = 6
  };
  enum { FIELD_NAME = 1, FIELD_EXTENDEE = 2, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5 };
  enum { OPTIONAL = 1, INT64 = 3, UINT64 = 4, BOOL = 8 };
  static const struct {
    const char *name;
    enum perfetto_arg number;
    int type;
  } args[] = {{"sm", ARG_SM, UINT64},
              {"block", ARG_BLOCK, UINT64},
              {"warp", ARG_WARP, UINT64},
              {"bound_ns", ARG_BOUND_NS, INT64},
              {"iteration", ARG_ITERATION, INT64},
              {"cycles", ARG_CYCLES, UINT64},
              {"cut", ARG_CUT, UINT64},
              {"called", ARG_CALLED, BOOL},
              {"key", ARG_KEY, UINT64},
              {"iteration_unknown", ARG_ITERATION_UNKNOWN, BOOL},
              {"marking_cycles", ARG_MARKING_CYCLES, UINT64},
              {"net_ns", ARG_NET_NS, INT64},
              {"open", ARG_OPEN, BOOL}};
  char *fields, *extensions, *set, *file, *message;
  char *p = packet(out, PERFETTO_EVENT_BYTES, &fields);
  extensions = p = pb_begin(p, PACKET_EXTENSION_DESCRIPTOR);
  set = p = pb_begin(p, 1);
  file = p = pb_begin(p, 1);
  p = pb_string(p, FILE_NAME, "inkmark.proto");
  p = pb_string(p, FILE_PACKAGE, "inkmark");
  message = p = pb_begin(p, FILE_MESSAGE);
  p = pb_string(p, MESSAGE_NAME, "Slice");
  for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
    char *field = p = pb_begin(p, MESSAGE_EXTENSION);
    p = pb_string(p, FIELD_NAME, args[i].name);
    p = pb_string(p, FIELD_EXTENDEE, ".perfetto.protos.TrackEvent");
    p = pb_uint(p, FIELD_NUMBER, args[i].number);
    p = pb_uint(p, FIELD_LABEL, OPTIONAL);
    p = pb_end(field, pb_int(p, FIELD_TYPE, args[i].type));
  }
  p = pb_end(set, pb_end(file, pb_end(message, p)));
  ink_file_took(out->file, pb_end(fields, pb_end(extensions, p)));
}

/* CLOCK_MONOTONIC at `base_ns`, by the host clock pair nearest to it; 0: not known. */
static int64_t monotonic_at(const ink_capture *capture, int64_t base_ns) {
  const ink_host_clock *pairs;
  size_t count = ink_capture_host_clocks(capture, &pairs);
  int64_t best = 0, distance = INT64_MAX;
  for (size_t i = 0; i < count; i++) {
    int64_t away = ink_ns_between(base_ns, pairs[i].realtime_before_ns);
    int64_t apart = away < 0 ? ink_ns_between(away, 0) : away;
    if (apart >= 0 && apart < distance) {
      distance = apart;
      best = ink_ns_between(away, pairs[i].monotonic_before_ns);
    }
  }
  return best > 0 ? best : 0;
}

/* The snapshot of our delta clock begins the sequence; what follows in it is the caller's. */
static char *begin_clocks(perfetto *out, int64_t ns, char **fields, char **snapshot) {
  char *p = packet(out, PERFETTO_EVENT_BYTES, fields);
  p = pb_uint(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
  *snapshot = p = pb_begin(p, PACKET_CLOCK_SNAPSHOT);
  return clock_pair(p, OUR_DELTA_CLOCK, ns, true);
}

static void begin_sequence(perfetto *out, ink_file *file, unsigned sequence, const ink_capture *capture,
                           int64_t base_ns) {
  *out = (perfetto){.file = file, .sequence = sequence, .last_ns = base_ns};
  describe_arguments(out);
  out->uuid_base = uuid_base(capture);
}

void perfetto_start(perfetto *out, ink_file *file, unsigned sequence, const ink_capture *capture,
                    int64_t base_ns) {
  int64_t monotonic_ns = monotonic_at(capture, base_ns);
  char *fields, *snapshot;
  begin_sequence(out, file, sequence, capture, base_ns);
  char *p = begin_clocks(out, base_ns, &fields, &snapshot);
  p = clock_pair(p, BUILTIN_REALTIME, base_ns, false);
  if (monotonic_ns)
    p = clock_pair(p, BUILTIN_MONOTONIC, monotonic_ns, false);
  p = pb_end(snapshot, pb_uint(p, SNAPSHOT_PRIMARY, BUILTIN_REALTIME));
  p = defaults(p, 0);
  ink_file_took(out->file, pb_end(fields, p));
}

void perfetto_start_on(perfetto *out, ink_file *file, unsigned sequence, const ink_capture *capture, int64_t base_ns,
                       unsigned clock, int64_t clock_ns) {
  char *fields, *snapshot;
  begin_sequence(out, file, sequence, capture, base_ns);
  char *p = begin_clocks(out, clock_ns, &fields, &snapshot);
  p = pb_end(snapshot, clock_pair(p, clock, clock_ns, false));
  ink_file_took(out->file, pb_end(fields, defaults(p, 0)));
}

uint64_t perfetto_new_uuid(perfetto *out) {
  return out->uuid_base + ++out->uuid_next;
}

static char *descriptor(char *p, const perfetto_track *track) {
  char *fields = p = pb_begin(p, PACKET_TRACK_DESCRIPTOR);
  p = pb_uint(p, TRACK_UUID, track->uuid);
  if (track->parent)
    p = pb_uint(p, TRACK_PARENT, track->parent);
  if (track->tid > 0) {
    char *thread = p = pb_begin(p, TRACK_THREAD);
    p = pb_int(pb_int(p, THREAD_PID, track->pid), THREAD_TID, track->tid);
    p = pb_end(thread, perfetto_text(p, THREAD_NAME, track->name));
  } else if (track->pid >= 0) {
    char *process = p = pb_begin(p, TRACK_PROCESS);
    p = pb_int(p, PROCESS_PID, track->pid);
    p = pb_end(process, perfetto_text(p, PROCESS_NAME, track->name));
  } else {
    p = perfetto_text(p, TRACK_NAME, track->name);
  }
  if (track->counter)
    p = pb_bytes(p, TRACK_COUNTER, "", 0);
  else
    p = pb_uint(p, TRACK_CHILD_ORDERING, ORDERING_EXPLICIT);
  if (track->parent) {
    p = pb_int(p, TRACK_RANK, track->rank);
    p = pb_uint(p, TRACK_MERGE, MERGE_NONE);
  }
  if (track->description)
    p = perfetto_text(p, TRACK_DESCRIPTION, track->description);
  return pb_end(fields, p);
}

void perfetto_describe(perfetto *out, const perfetto_track *track) {
  char *fields;
  char *p = packet(out, PERFETTO_EVENT_BYTES, &fields);
  ink_file_took(out->file, pb_end(fields, descriptor(p, track)));
}

void perfetto_open_track(perfetto *out, uint64_t track, const char *const *names,
                         size_t name_count, uint32_t categories) {
  char *fields, *data;
  char *p = packet(out, 2 * PERFETTO_EVENT_BYTES, &fields);
  p = pb_uint(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
  p = defaults(p, track);
  data = p = pb_begin(p, PACKET_INTERNED_DATA);
  for (uint32_t i = 1; i < sizeof category_names / sizeof *category_names; i++)
    if (categories & 1u << i)
      p = interned(p, INTERNED_CATEGORY, i, category_names[i]);
  for (size_t i = 0; i < name_count; i++) {
    if (p - fields > PERFETTO_EVENT_BYTES) { /* many names: another packet */
      ink_file_took(out->file, pb_end(fields, pb_end(data, p)));
      p = packet(out, 2 * PERFETTO_EVENT_BYTES, &fields);
      data = p = pb_begin(p, PACKET_INTERNED_DATA);
    }
    p = interned(p, INTERNED_EVENT_NAME, i + 1, names[i]);
  }
  ink_file_took(out->file, pb_end(fields, pb_end(data, p)));
}

char *perfetto_named_uint(char *p, const char *name, uint64_t value) {
  char *arg = p = pb_begin(p, EVENT_ARG);
  return pb_end(arg, pb_uint(pb_string(p, ARG_NAME, name), ARG_UINT, value));
}

char *perfetto_named_int(char *p, const char *name, int64_t value) {
  char *arg = p = pb_begin(p, EVENT_ARG);
  return pb_end(arg, pb_int(pb_string(p, ARG_NAME, name), ARG_INT, value));
}

char *perfetto_named_text(char *p, const char *name, const char *value) {
  char *arg = p = pb_begin(p, EVENT_ARG);
  return pb_end(arg, perfetto_text(pb_string(p, ARG_NAME, name), ARG_STRING, value));
}

char *perfetto_named_double(char *p, const char *name, double value) {
  char *arg = p = pb_begin(p, EVENT_ARG);
  return pb_end(arg, pb_double(pb_string(p, ARG_NAME, name), ARG_DOUBLE, value));
}
