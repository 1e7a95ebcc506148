/* SPDX-License-Identifier: MIT */
/* Private: the inside of the writer process. collect.c has the loop and the requests, collect_member.c
 * one recorded process, collect_memory.c what is shared with it, collect_control.c the launcher. */
#ifndef INK_SHM_COLLECT_PRIVATE_H
#define INK_SHM_COLLECT_PRIVATE_H

#include "capture/capture_path.h"
#include "capture/capture_write.h"
#include "inkmark/collect.h"
#include "list_room.h"
#include "monotonic.h"

#include <sys/types.h>

/* A process that the writer stays for. */
typedef struct ink_i_watch {
  pid_t pid;
  int pidfd; /* -1: this kernel has none, and the pid alone is asked */
} ink_i_watch;

ink_i_watch ink_i_watch_begin(pid_t pid);
bool ink_i_watch_is_gone(const ink_i_watch *watch);
void ink_i_watch_end(ink_i_watch *watch);

/* ---- shared memory ---- */

typedef struct ink_i_shared {
  void *map;
  size_t bytes;
} ink_i_shared;

typedef struct ink_i_memory {
  uint64_t most, used;
} ink_i_memory;

enum { INK_I_AREAS_TIMES = 4 }; /* areas are asked for by name, and have so much more than all rings */

/* As the options ask, or by what the machine has. */
ink_i_memory ink_i_memory_budget(uint64_t asked);
/* How many bytes of data a new ring gets: a power of two; 0: there is no room for `least`. */
uint64_t ink_i_memory_grant(const ink_i_memory *memory, uint64_t wanted, uint64_t least);
/* Makes, sizes, fills and seals memory and maps it; *fd is to be handed over and closed. An errno. */
int ink_i_shared_make(ink_i_memory *memory, uint64_t bytes, ink_i_shared *out, int *fd);
void ink_i_shared_free(ink_i_memory *memory, ink_i_shared *shared);

/* ---- recorded processes ---- */

typedef struct ink_i_area {
  ink_i_shared shared;
  uint32_t kind;
} ink_i_area;

enum { INK_I_AREAS_MAX = 64 }; /* one for each device that a process can have */

typedef struct ink_i_member {
  ink_i_watch watch;
  ink_i_request request;
  ink_i_shared shared;
  ink_i_ring_reader reader;
  ink_i_area areas[INK_I_AREAS_MAX];
  size_t area_count;
  ink_writer *writer;   /* made with the first chunk */
  char *path;
  size_t *sources;      /* which of the collector's texts are of its tables */
  size_t source_count, source_room, source_tries;
  uint64_t source_bytes; /* of these texts */
  bool cannot_open;     /* no file can be made: chunks are thrown away */
  bool unread;          /* a pipe without a reader so far: chunks wait */
  size_t left;          /* of reader.chunk: what the disk had no room for, tried again */
  uint32_t left_type;
  int64_t retry_at_ms;
  uint64_t lost_chunks; /* given up */
  char failure[sizeof((ink_error *)0)->message]; /* of the first write that failed */
  bool ended;           /* the end came through the ring */
  bool had_none;        /* it said that its recording has ended, where there is nothing to end */
  bool replaced;        /* the process runs another program */
  bool at_exec;         /* it was about to, and put nothing into the ring since */
  bool has_status;
  int wait_status;      /* where the launcher told it */
  uint32_t family_seen;
  int64_t gone_at_ms;   /* 0: it is there */
  bool closed;
} ink_i_member;

/* One who has connected and not yet said what for. */
typedef struct ink_i_pending {
  int fd;
  int64_t since_ms;
} ink_i_pending;

enum { INK_I_PENDING_MAX = 64 };

typedef struct ink_i_text {
  char *file, *text;
  size_t bytes;
} ink_i_text;

struct ink_collector {
  char *output, *source_folder;
  bool says_at_once;
  int64_t began_ns;
  int control, listening;
  ink_i_address address;
  char address_text[INK_I_ADDRESS_BYTES];
  ink_i_pending pending[INK_I_PENDING_MAX];
  size_t pending_count;
  ink_i_memory memory, area_memory;
  ink_i_member **members;
  size_t member_count, member_room;
  ink_i_watch *children; /* forked from members, without a ring so far */
  size_t child_count, child_room;
  ink_i_text *texts;     /* sources, for the ends of captures */
  size_t text_count, text_room;
  uint64_t text_bytes;
  char **lines;          /* to be said when the launcher asks */
  size_t line_count, line_room;
};

/* Takes what is in the ring; false: nothing more is there. `last`: the process is gone. */
bool ink_i_member_take(ink_collector *c, ink_i_member *member, bool last);
/* Nothing more will come: writes the end, closes the file, gives the memory back. */
void ink_i_member_close(ink_collector *c, ink_i_member *member);
/* A TABLE chunk has been written: keeps the source of its file, if that is the file that the table is of. */
void ink_i_member_source(ink_collector *c, ink_i_member *member, const char *payload, size_t bytes);
/* Stores what was kept, as far as the disk has room; the last thing before the file is closed. */
void ink_i_member_store_sources(const ink_collector *c, ink_i_member *member);
void ink_i_collector_free_texts(ink_collector *c);
/* A line for the launcher. */
void ink_i_collector_line(ink_collector *c, pid_t pid, const char *word, const char *text);
/* The same from what a process sent: word NUL text NUL. What is none is left out. */
void ink_i_collector_report(ink_collector *c, pid_t pid, const char *report, size_t bytes);

/* Everything that processes left until now is in its file; how they ended is not waited for. */
void ink_i_collector_settle(ink_collector *c);
/* Answers the launcher; closes the socket when it is gone. */
void ink_i_collector_control(ink_collector *c);
/* Says what lines there are; where the launcher does not read, they stay. */
void ink_i_collector_say_lines(ink_collector *c);

#endif
