/* SPDX-License-Identifier: MIT */
/* What the readers fill: kernels as they come, names kept once. */
#ifndef INK_FOREIGN_PRIVATE_H
#define INK_FOREIGN_PRIVATE_H

#include "inkmark/merge.h"
#include "id_map.h"
#include "trace_event.h"
#include "merge/read/text_table.h"

typedef struct foreign_place { /* where the kernels of a device or stream stand */
  int32_t device;
  int64_t stream;
  trace_id pid, tid;    /* in JSON */
  uint64_t track, root; /* of packets: the first track that has them, the outermost above it; 0: none */
} foreign_place;

typedef struct foreign_packets { /* of a Perfetto trace or an XSpace: what more packets or planes in it must know */
  uint64_t count, lost;          /* lost: they refer to what is not in the trace */
  unsigned clock;                /* the trace's own */
  int64_t plane_id;              /* the highest of its planes */
  id_map track_highs, sequences; /* upper halves of the ids of its tracks, ids of its sequences */
} foreign_packets;

enum { FOREIGN_CATEGORIES = 8 };

struct ink_foreign {
  ink_foreign_facts facts;
  ink_foreign_kernel *kernels;
  size_t kernel_count, kernel_room;
  text_table types; /* ink_foreign_type, as bytes */
  text_table name_table;
  char **names; /* of that table */
  size_t name_count;
  foreign_place *places; /* JSON and packets: one for each device and stream */
  foreign_packets packets;
  size_t place_count, place_room, last_place;
  uint64_t events_end; /* JSON: at which byte, unpacked, the bracket stands that closes the events */
  json_edits edits;    /* JSON: what makes JSON of it */
  char categories[FOREIGN_CATEGORIES][40]; /* JSON: some of those seen before any kernel was */
  size_t category_count;
  uint64_t packed_bytes;       /* of the file */
};

struct trace_event;
/* Told of what passes by while a trace of JSON is read. */
typedef struct foreign_listener {
  void *user;
  /* meta_name and meta_labels: "name" and "labels" of the arguments, "" where there are none. */
  ink_status (*event)(void *user, const struct trace_event *event, const char *meta_name, const char *meta_labels);
  ink_status (*key)(void *user, const char *key); /* of the outermost object */
} foreign_listener;

typedef struct foreign_reading {
  ink_status (*progress)(void *user, uint64_t done, uint64_t total); /* NULL: none */
  void *user;
  const foreign_listener *listener; /* NULL: none */
} foreign_reading;

/* ink_foreign_open with what happens on the way. */
ink_status foreign_open(const char *path, const foreign_reading *how, ink_foreign **out,
                        ink_error *error);

/* Interns `length` bytes. */
ink_status ink_foreign_intern(ink_foreign *foreign, const char *text, size_t length, uint32_t *out);
/* The kernel's own type is not read. */
ink_status ink_foreign_add(ink_foreign *foreign, const ink_foreign_type *type,
                           const ink_foreign_kernel *kernel);
/* The same for a Perfetto trace. */
ink_status foreign_place_track(ink_foreign *foreign, const ink_foreign_type *type, uint64_t track, uint64_t root);
bool foreign_is_kernel(const char *categories);
/* "grid:" or "block:" of XLA's kernel_details. */
void foreign_xla_dimension(const char *details, const char *key, uint32_t out[3]);
/* For the message of a trace that has no kernels. */
void foreign_note_category(ink_foreign *foreign, const char *category);
/* Are the times of all kernels plausible Unix time? */
bool foreign_are_dates(const ink_foreign *foreign);
/* Remembers where kernels of this device and stream stand. */
ink_status ink_foreign_place(ink_foreign *foreign, const ink_foreign_type *type,
                             const trace_id *pid, const trace_id *tid);
/* NULL: not from JSON. */
const foreign_place *ink_foreign_find_place(const ink_foreign *foreign,
                                            const ink_foreign_kernel *kernel);

ink_status ink_perfetto_read(ink_foreign *foreign, const char *path, const foreign_reading *how, ink_error *error);
ink_status ink_xplane_read(ink_foreign *foreign, const char *path, const foreign_reading *how, ink_error *error);
ink_status ink_nsight_read(ink_foreign *foreign, const char *path, ink_error *error);

#endif
