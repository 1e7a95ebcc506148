/* SPDX-License-Identifier: MIT */
/* The inside of an opened capture, shared by the files that fill it: capture_read.c (chunks),
 * capture_tables.c (names), capture_index.c (tracks, launches, kernels). */
#ifndef INKMARK_CAPTURE_PRIVATE_H
#define INKMARK_CAPTURE_PRIVATE_H

#include "capture_format.h"
#include "id_map.h"
#include "inkmark/activity.h"
#include "inkmark/host_ranges.h"
#include "inkmark/sources.h"
#include "inkmark/stalls.h"
#include "list_room.h"

/* One stored track. Everything else about it is read from the file. */
typedef struct track_ref {
  uint64_t offset;   /* of its ink_file_track */
  int32_t device;
  uint32_t flags;    /* enum ink_buffer_flags */
  uint32_t kernel;   /* index into the kernels; while the chunks are read, into the slots */
  uint32_t launch;   /* while the chunks are read: which arming of its device it belongs to */
  uint32_t instance; /* index into the instances */
  bool brief;        /* of TRACKS_1 */
  bool alike;        /* another track of its block has its role */
} track_ref;

/* Words of one ring of a track that was open, in a TRACKS or PARTS chunk. */
typedef struct part_ref {
  uint64_t offset, count;        /* of its words in the file */
  uint64_t ticket, open_clock0, first;
  int32_t device;
  uint32_t order;                /* in the file */
  uint8_t ring;
  bool lost;                     /* INK_PART_LOST */
  bool closed;                   /* what the closed entry has of it */
} part_ref;

/* A track that came in more than one piece, or as parts alone. */
typedef struct joined_track {
  uint64_t track;
  ink_piece *pieces[2];          /* among the blocks */
  uint64_t piece_count[2], executed[2];
} joined_track;

/* The name of a function that opened tracks. */
typedef struct instance_name {
  const char *text;  /* in the file */
  uint64_t hash;
} instance_name;

typedef struct fact {
  const char *key, *value; /* in the file */
} fact;

/* A kernel slot of a device's buffer with its newest counters. A slot that was given another key,
 * or whose counters began again, is another slot_count from there on. */
typedef struct slot_count {
  int32_t device;
  uint32_t kernel;     /* index into the kernels; INK_ID_NONE: nothing happened in it */
  ink_file_count count;
  bool over;           /* of a buffer that another one took the place of */
} slot_count;

typedef struct device_totals {
  int32_t device;
  bool over;
  uint64_t claims, unknown;
} device_totals;

/* A list that grows; `items` is freed with the capture. */
#define INK_I_LIST(type)                                                                           \
  struct {                                                                                         \
    type *items;                                                                                   \
    size_t count, capacity;                                                                        \
  }

/* What the ACTIVITY chunks hold (activity_load.c). The items themselves stay in the file. */
typedef struct capture_activity {
  INK_I_LIST(const ink_activity *) items; /* by begin, once indexed */
  INK_I_LIST(const char *) names;         /* [id - 1]; NULL: no such name */
  INK_I_LIST(ink_activity_reading) readings;
  INK_I_LIST(ink_activity_device) devices;
  INK_I_LIST(uint32_t) own;               /* correlations */
  uint32_t *launches;                     /* [launches]: by device, grid id; NULL: no activity */
  uint64_t own_items;                     /* taken out of the items by that */
} capture_activity;

/* What the HOST chunks hold (host_load.c), and what is made of it. */
typedef struct capture_host {
  INK_I_LIST(const ink_host_event *) events; /* by time, once indexed; they stay in the file */
  INK_I_LIST(const char *) names;            /* [id - 1]; NULL: no such name */
  INK_I_LIST(ink_host_range) ranges;         /* by begin */
  INK_I_LIST(ink_host_launch) launches;      /* by begin */
  uint32_t *calls;                           /* [launches of the capture]: index into the launches above; NULL: none */
  id_map threads;                            /* id: of the name */
  ink_host_facts facts;
  int64_t offset_ns, heard_ns;               /* CLOCK_MONOTONIC to Unix time; the newest moment of it that is known */
  bool has_offset;
} capture_host;

/* The code of a module, of which so many bytes have come. */
typedef struct code_parts {
  uint64_t id, bytes, have, room;
  unsigned char *data;
} code_parts;

/* What the CODE and STALLS chunks hold (stall_chunks.c). */
typedef struct capture_stalls {
  INK_I_LIST(code_parts) parts;
  INK_I_LIST(ink_code) codes; /* the whole ones */
  INK_I_LIST(ink_stall) items; /* each instruction and reason once, once indexed */
  ink_stall_facts facts;
} capture_stalls;

/* A name that is longer is no name, and outputs repeat names in every row: its chunk counts as damaged. */
#define INK_NAME_BYTES_MAX ((size_t)1 << 16)

struct ink_capture {
  const unsigned char *bytes; /* 8-aligned */
  uint64_t size;
  void *mapping;              /* munmap this, or NULL */
  void *owned;                /* free this, or NULL */
  int fd;                     /* the file while its chunks are read; -1: none */
  uint64_t touched_bytes;     /* by ink_capture_track, since pages were given back; atomic */
  ink_capture_facts facts;
  INK_I_LIST(fact) fact_list;
  INK_I_LIST(ink_device_info) devices;
  INK_I_LIST(ink_section_table) tables;
  INK_I_LIST(ink_source) sources;
  INK_I_LIST(uint32_t) table_bases; /* index of each table's first section in `sections` */
  INK_I_LIST(ink_section) sections;
  INK_I_LIST(ink_kernel) kernels;
  INK_I_LIST(ink_launch) launches;
  INK_I_LIST(ink_host_clock) host_clocks;
  INK_I_LIST(ink_mark_costs) mark_costs;
  INK_I_LIST(ink_clock_edges) clock_edges; /* their SMs and edges are among the blocks */
  INK_I_LIST(slot_count) slots;
  id_map slot_map;            /* device and slot: index into the slots */
  id_map table_map;           /* hash48: index into the tables */
  INK_I_LIST(device_totals) totals;
  INK_I_LIST(track_ref) tracks;
  INK_I_LIST(instance_name) instances;
  uint32_t armings;           /* how often a device was armed again */
  id_map instance_map;        /* device and address: index into the instances, as of the chunk that is read */
  id_map ended;               /* device and ticket: the tracks stored until then are not open any more */
  INK_I_LIST(part_ref) parts; /* by track, ring and first word, once joined */
  INK_I_LIST(joined_track) joined; /* by track */
  capture_activity activity;
  capture_host host;
  capture_stalls stalls;
  bool keep_good;             /* note where good chunks stand: to copy them */
  INK_I_LIST(uint64_t) good;  /* byte offsets of their headers */
  INK_I_LIST(void *) blocks;  /* further allocations to free */
};

/* As ink_capture_open, with `good` filled. */
ink_status ink_i_capture_open_chunks(const char *path, ink_capture **out, ink_error *error);

/* One more item fits; false: out of memory. */
#define INK_I_ROOM(list)                                                                           \
  ink_list_room((void **)&(list).items, &(list).capacity, (list).count, sizeof *(list).items)

/* The parts of opening. Each takes one checked chunk's payload; a payload whose inside contradicts
 * itself gives INK_ERROR_DAMAGED, and the reader counts the chunk as damaged and goes on. */
ink_status ink_read_table(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                          ink_error *error);
ink_status ink_read_source(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error);
ink_status ink_read_counts(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                           ink_error *error);
ink_status ink_read_mark_costs(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                               ink_error *error);
ink_status ink_read_clock_edges(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                                ink_error *error);
ink_status ink_read_tracks(ink_capture *capture, const unsigned char *payload, uint64_t bytes, bool brief,
                           ink_error *error);
/* The device was armed again: its counters began anew, whatever they come to. */
void ink_end_counts(ink_capture *capture, int32_t device);
ink_status ink_read_instance(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                             ink_error *error);
/* A name for an address that no chunk names, so that its tracks are not taken for another function's; INK_ID_NONE: there
 * is no address, or no memory. */
uint32_t ink_instance_made_up(ink_capture *capture, int32_t device, uint64_t address);
/* Which instance a track that is read now has; INK_ID_NONE: none, or it is not known yet. */
uint32_t ink_instance_of(const ink_capture *capture, int32_t device, uint64_t address);
/* Once all kernels are there: gives those with one key names of their own. */
ink_status ink_name_instances(ink_capture *capture, ink_error *error);
ink_status ink_read_ended(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                          ink_error *error);
ink_status ink_read_parts(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                          ink_error *error);
ink_status ink_i_add_part(ink_capture *capture, const part_ref *part, ink_error *error);
ink_status ink_read_activity(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                             ink_error *error);
ink_status ink_read_activity_name(ink_capture *capture, const unsigned char *payload,
                                  uint64_t bytes, ink_error *error);
void ink_activity_free(ink_capture *capture);
ink_status ink_read_host(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error);
ink_status ink_read_host_name(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error);
void ink_host_free(ink_capture *capture);
ink_status ink_read_code(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error);
ink_status ink_read_stalls(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error);
void ink_stalls_free(ink_capture *capture);
/* After the last chunk, in this order. */
void ink_drop_ended(ink_capture *capture);
ink_status ink_index_sections(ink_capture *capture, ink_error *error);
ink_status ink_index_kernels(ink_capture *capture, ink_error *error);
ink_status ink_index_launches(ink_capture *capture, ink_error *error);
ink_status ink_join_parts(ink_capture *capture, ink_error *error);
ink_status ink_count_kernels(ink_capture *capture, ink_error *error);
ink_status ink_index_activity(ink_capture *capture, ink_error *error);
ink_status ink_index_host(ink_capture *capture, ink_error *error);
ink_status ink_index_stalls(ink_capture *capture, ink_error *error);
/* Joins launches with the calls that made them; false: out of memory. */
bool ink_join_host(ink_capture *capture);

static inline uint64_t ink_slot_key(int32_t device, uint32_t slot) {
  return (uint64_t)(uint32_t)device << 32 | slot;
}

/* The index in `sections` of a table's first section; the table is one of the capture's. */
uint32_t ink_table_base(const ink_capture *capture, const ink_section_table *table);

/* Gives the pages of a mapped file back to the system, so that a file of many gigabytes does not fill
 * the memory; they are read again when touched again. */
void ink_capture_release_pages(const ink_capture *capture);

/* A walk over the file's tracks: gives the pages back now and then. Touching a header alone brings in
 * its surroundings too, up to a large page of them. */
#define INK_WALK_BYTES (UINT64_C(32) << 20)

typedef struct ink_walk {
  uint64_t touched_bytes;
} ink_walk;

static inline void ink_walk_on(ink_walk *walk, const ink_capture *capture, uint64_t words) {
  walk->touched_bytes += sizeof(ink_file_track) + words * 8;
  if (walk->touched_bytes > INK_WALK_BYTES) {
    ink_capture_release_pages(capture);
    walk->touched_bytes = 0;
  }
}

/* Of a brief one, neither role nor instance may be looked at: see ink_track_role. */
static inline const ink_file_track *ink_track_at(const ink_capture *capture, uint64_t index) {
  return (const ink_file_track *)(const void *)(capture->bytes +
                                                capture->tracks.items[index].offset);
}

static inline size_t ink_track_head(const track_ref *ref) {
  return ref->brief ? INK_FILE_TRACK_1 : sizeof(ink_file_track);
}
static inline uint64_t ink_track_role(const ink_capture *capture, uint64_t index) {
  return capture->tracks.items[index].brief ? 0 : ink_track_at(capture, index)->header.role;
}
/* The section that a role's key names; INK_SECTION_UNKNOWN: none. */
uint32_t ink_role_section(const ink_capture *capture, uint64_t role);

/* capture_parts.c: NULL for a track that is one entry. Words kept of one ring, in all its pieces. */
const joined_track *ink_i_joined(const ink_capture *capture, uint64_t index);
uint64_t ink_i_kept_words(const ink_capture *capture, uint64_t index, int ring);

static inline void ink_walk_track(ink_walk *walk, const ink_capture *capture, uint64_t index) {
  const ink_file_track *track = ink_track_at(capture, index);
  ink_walk_on(walk, capture, track->ring_words + track->aux_words);
}

/* Blocks of a grid in one line; wraps where a damaged header claims more than 2^64. */
static inline uint64_t ink_linear_block(const ink_track *track) {
  return track->block_index[0] +
         (uint64_t)track->grid_dim[0] *
             (track->block_index[1] + (uint64_t)track->grid_dim[1] * track->block_index[2]);
}

/* Marks that a track executed: valid when it is closed. A damaged header may claim more extra words
 * than words. */
static inline uint64_t ink_track_marks(const ink_track *track) {
  if (track->state != INK_TRACK_CLOSED)
    return 0;
  uint64_t marks = track->words > track->extra ? track->words - track->extra : 0;
  return marks + (track->aux_words > track->aux_extra ? track->aux_words - track->aux_extra : 0);
}

#endif
