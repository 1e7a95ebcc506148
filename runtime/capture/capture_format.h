/* SPDX-License-Identifier: MIT */
/* How a capture file is laid out; docs/format.md says the same in words. Private to the writer and
 * the reader. Everything is little-endian and every structure starts at a multiple of 8 bytes. */
#ifndef INKMARK_CAPTURE_FORMAT_H
#define INKMARK_CAPTURE_FORMAT_H

#include "inkmark/capture.h"

#define INK_FILE_MAGIC "\x89INK\r\n\x1a\n"
#define INK_FILE_ENDIAN 0x01020304u
#define INK_FILE_MAJOR 2u
#define INK_FILE_MINOR 0u
#define INK_CHUNK_SYNC 0xc5a1b7e9u

typedef struct ink_file_header {
  char magic[8];
  uint32_t endian;
  uint16_t major, minor;  /* a reader of the same major skips what it does not know */
  uint32_t header_bytes;  /* where the first chunk starts */
  uint32_t reserved[2];
  uint32_t crc;           /* CRC-32 of the bytes before it */
} ink_file_header;
INK_STATIC_ASSERT(sizeof(ink_file_header) == 32, "ink_file_header is part of the file format");

enum ink_chunk_type {
  INK_CHUNK_FACT = 1,
  INK_CHUNK_TABLE = 2,
  INK_CHUNK_DEVICE = 3,
  INK_CHUNK_HOST_CLOCK = 4,
  INK_CHUNK_COUNTS = 5,
  INK_CHUNK_TRACKS_1 = 6, /* of files of major version 1: without the last 16 bytes of each header */
  INK_CHUNK_END = 7,
  INK_CHUNK_CLOCK_EDGES = 8,
  INK_CHUNK_MARK_COSTS = 9,
  INK_CHUNK_ACTIVITY = 10,
  INK_CHUNK_ACTIVITY_NAME = 11,
  INK_CHUNK_ENDED = 12,
  INK_CHUNK_PARTS = 13,
  INK_CHUNK_TRACKS = 14,
  INK_CHUNK_INSTANCE = 15,
  INK_CHUNK_HOST = 16,
  INK_CHUNK_HOST_NAME = 17,
  INK_CHUNK_SOURCE = 18,
  INK_CHUNK_CODE = 19,
  INK_CHUNK_STALLS = 20
};

/* The payload follows, padded with zeros to a multiple of 8 bytes. The header has a checksum of its
 * own, so that a damaged payload does not hide where the next chunk starts. */
typedef struct ink_chunk_header {
  uint32_t sync;
  uint32_t type;
  uint64_t bytes;         /* of the payload, without padding */
  uint64_t sequence;      /* 0, 1, 2, ... in this file */
  uint32_t payload_crc;   /* CRC-32 of the payload with its padding */
  uint32_t header_crc;    /* CRC-32 of the header bytes before it */
} ink_chunk_header;
INK_STATIC_ASSERT(sizeof(ink_chunk_header) == 32, "ink_chunk_header is part of the file format");

/* FACT: key NUL value NUL. */

typedef struct ink_file_table { /* TABLE: then name NUL, file NUL, sections NUL */
  uint64_t hash48;
  uint32_t line, reserved;
} ink_file_table;
INK_STATIC_ASSERT(sizeof(ink_file_table) == 16, "ink_file_table is part of the file format");

typedef struct ink_file_source { /* SOURCE: then file NUL, text NUL */
  uint64_t bytes;         /* of the text */
  char sha256[64];        /* of the text, in hexadecimal */
} ink_file_source;
INK_STATIC_ASSERT(sizeof(ink_file_source) == 72, "ink_file_source is part of the file format");

typedef struct ink_file_code { /* CODE: then `bytes` bytes of it */
  uint64_t id;
  uint64_t whole_bytes;   /* of the module's code */
  uint64_t at, bytes;     /* this part */
} ink_file_code;
INK_STATIC_ASSERT(sizeof(ink_file_code) == 32, "ink_file_code is part of the file format");

typedef struct ink_file_stalls { /* STALLS: then `count` items, then texts, each with its NUL */
  uint32_t item_bytes, period_log2;
  uint64_t samples, dropped, elsewhere, left_out;
  uint32_t full, reserved;
  uint64_t count;
} ink_file_stalls;
INK_STATIC_ASSERT(sizeof(ink_file_stalls) == 56, "ink_file_stalls is part of the file format");

typedef struct ink_file_stall {
  uint64_t code, offset, samples;
  uint32_t function, reason; /* where their texts begin among the texts */
} ink_file_stall;
INK_STATIC_ASSERT(sizeof(ink_file_stall) == 32, "ink_file_stall is part of the file format");

typedef struct ink_file_device { /* DEVICE: then name NUL */
  int32_t index;
  uint32_t simulated, sm_count, capability, clock_khz;
  uint32_t track_count, records_per_track, aux_records_per_track;
  uint32_t flags, runtime_version, driver_version, reserved;
} ink_file_device;
INK_STATIC_ASSERT(sizeof(ink_file_device) == 48, "ink_file_device is part of the file format");

/* HOST_CLOCK: one or more ink_host_clock, 40 bytes each. */
INK_STATIC_ASSERT(sizeof(ink_host_clock) == 40, "ink_host_clock is part of the file format");

typedef struct ink_file_counts { /* COUNTS: then `count` of ink_file_count */
  int32_t device;
  uint32_t count;
  uint64_t claims, unknown;
} ink_file_counts;
INK_STATIC_ASSERT(sizeof(ink_file_counts) == 24, "ink_file_counts is part of the file format");

typedef struct ink_file_count {
  uint32_t slot, reserved;
  uint64_t key, missed, tracks, marks, words;
} ink_file_count;
INK_STATIC_ASSERT(sizeof(ink_file_count) == 48, "ink_file_count is part of the file format");

typedef struct ink_file_tracks { /* TRACKS: then `count` of ink_file_track with their words */
  int32_t device;
  uint32_t flags;         /* enum ink_buffer_flags under which they were recorded */
  uint64_t count;
} ink_file_tracks;
INK_STATIC_ASSERT(sizeof(ink_file_tracks) == 16, "ink_file_tracks is part of the file format");

typedef struct ink_file_track { /* then the ring's words, then the aux ring's, oldest first */
  uint64_t ring_words, aux_words; /* kept */
  ink_track header;
} ink_file_track;
INK_STATIC_ASSERT(sizeof(ink_file_track) == 192, "ink_file_track is part of the file format");
enum { INK_FILE_TRACK_1 = 176 }; /* bytes of it in TRACKS_1 */

typedef struct ink_file_instance { /* INSTANCE: then name NUL */
  int32_t device;
  uint32_t reserved;
  uint64_t address;
} ink_file_instance;
INK_STATIC_ASSERT(sizeof(ink_file_instance) == 16, "ink_file_instance is part of the file format");

typedef struct ink_file_ended { /* ENDED: then `count` tickets, u64 */
  int32_t device;
  uint32_t count;
} ink_file_ended;
INK_STATIC_ASSERT(sizeof(ink_file_ended) == 8, "ink_file_ended is part of the file format");

typedef struct ink_file_parts { /* PARTS: then `count` of ink_file_part with their words */
  int32_t device;
  uint32_t flags;         /* enum ink_buffer_flags */
  uint64_t count;
} ink_file_parts;
INK_STATIC_ASSERT(sizeof(ink_file_parts) == 16, "ink_file_parts is part of the file format");

typedef struct ink_file_part { /* words of one ring of an open track, oldest first; then these */
  uint64_t words;
  uint64_t ticket, open_clock0; /* the track's */
  uint64_t first;         /* index of the first word, counted from the opening; see flags */
  uint32_t ring;          /* 0 of the body, 1 of called functions */
  uint32_t flags;         /* enum ink_part_flags */
} ink_file_part;
INK_STATIC_ASSERT(sizeof(ink_file_part) == 40, "ink_file_part is part of the file format");

typedef struct ink_file_clock_edges { /* CLOCK_EDGES: then `count` of ink_file_sm_edges, then note NUL */
  int32_t device;
  uint32_t when;          /* enum ink_edges_when */
  int64_t realtime_ns;
  uint32_t count, reserved;
} ink_file_clock_edges;
INK_STATIC_ASSERT(sizeof(ink_file_clock_edges) == 24, "ink_file_clock_edges is part of the format");

typedef struct ink_file_sm_edges { /* then `count` of ink_file_edge */
  uint32_t sm, count;
  uint64_t cycles, global_ns; /* of the first: what the others are counted from */
} ink_file_sm_edges;
INK_STATIC_ASSERT(sizeof(ink_file_sm_edges) == 24, "ink_file_sm_edges is part of the file format");

typedef struct ink_file_edge {
  uint32_t cycles, width_cycles; /* cycles0 from the first one's, cycles1 from cycles0 */
  uint32_t ns, jump_ns;
} ink_file_edge;
INK_STATIC_ASSERT(sizeof(ink_file_edge) == 16, "ink_file_edge is part of the file format");

typedef struct ink_file_mark_costs { /* MARK_COSTS: then `count` of ink_mark_cost, then note NUL */
  int32_t device;
  uint32_t count;
} ink_file_mark_costs;
INK_STATIC_ASSERT(sizeof(ink_file_mark_costs) == 8 && sizeof(ink_mark_cost) == 32,
                  "ink_file_mark_costs and ink_mark_cost are part of the file format");

typedef struct ink_file_end { /* END */
  uint64_t chunks;        /* how many stand before it */
} ink_file_end;

/* ACTIVITY: what, then `count` items of item_bytes each. A later minor version may append to the
 * items; what is longer than known is read as far as it is known. */
typedef struct ink_file_activity {
  uint32_t part;          /* enum ink_activity_part */
  uint32_t item_bytes;
  uint64_t count;
} ink_file_activity;
INK_STATIC_ASSERT(sizeof(ink_file_activity) == 16, "ink_file_activity is part of the file format");

enum ink_activity_part {
  INK_ACTIVITY_PART_ITEMS = 1,    /* ink_activity */
  INK_ACTIVITY_PART_READINGS = 2, /* ink_activity_reading */
  INK_ACTIVITY_PART_DEVICES = 3,  /* ink_activity_device */
  INK_ACTIVITY_PART_OWN = 4       /* uint32_t: correlations of inkmark's own work */
};

/* ACTIVITY_NAME: the id in a u64, then name NUL. */

typedef struct ink_file_host { /* HOST: then `count` items, which later versions may make longer */
  uint32_t item_bytes, reserved;
  uint64_t count;
  uint64_t lost;            /* until here, in all of the recording */
  int64_t monotonic_ns, realtime_ns; /* one reading of both clocks */
} ink_file_host;
INK_STATIC_ASSERT(sizeof(ink_file_host) == 40, "ink_file_host is part of the file format");

/* HOST_NAME: the id in a u64, then text NUL. */

/* One chunk whose payload is `head` and then `body`; for the writers of single chunk types. */
ink_status ink_i_writer_chunk(ink_writer *writer, uint32_t type, const void *head,
                              size_t head_bytes, const void *body, size_t body_bytes,
                              ink_error *error);

static inline uint64_t ink_pad8(uint64_t bytes) { return (bytes + 7) & ~(uint64_t)7; }

#endif
