/* SPDX-License-Identifier: MIT */
/* Writes capture files (.ink) chunk by chunk, and reads them. docs/format.md has the bytes. Reading maps the file.
 * Nothing here needs CUDA.
 *
 * Threads: one thread at a time may use a writer. An opened capture does not change: any number of threads may read
 * it.
 * Lifetime: returned arrays, names, facts and tracks belong to the capture and are valid until ink_capture_free. A
 * writer copies its arguments.
 *
 * @code{.c}
 * #include <inkmark/capture.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   const ink_kernel *kernels; // they belong to the capture
 *   const size_t count = ink_capture_kernels(capture, &kernels);
 *   for (size_t i = 0; i < count; i++)
 *     printf("%s: %u tracks\n", kernels[i].name, (unsigned)kernels[i].tracks);
 *   if (!ink_capture_get_facts(capture)->complete)
 *     puts("the recording broke off");
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_CAPTURE_H
#define INKMARK_CAPTURE_H

#include "inkmark/record.h"
#include "inkmark/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a capture holds ------------------------------------------------------------------ */

typedef struct ink_section_table {
  const char *name;           /* "Solver" */
  const char *file;           /* where PROF_SECTIONS stands */
  uint32_t line;
  uint32_t section_count;     /* ids 1 .. section_count */
  uint64_t hash48;
  const char *const *sections; /* [section_count], sections[id - 1] */
} ink_section_table;

typedef struct ink_device_info {
  int32_t index;               /* CUDA's device ordinal in the recorded process */
  uint32_t simulated;          /* 1: the simulated device; every output says so */
  uint32_t sm_count;
  uint32_t capability;         /* major * 10 + minor */
  uint32_t clock_khz;          /* as the runtime reports it; 0: unknown. Never used to convert. */
  uint32_t track_count, records_per_track, aux_records_per_track;
  uint32_t flags;              /* enum ink_buffer_flags */
  uint32_t runtime_version, driver_version;
  const char *name;
} ink_device_info;

/* A pair of host clocks around one globaltimer read: host_before <= read <= host_after. */
typedef struct ink_host_clock {
  int32_t device;
  /* realtime_before was read within this many ns after monotonic_before; 0: within a time unknown. */
  uint32_t monotonic_width_ns;
  uint64_t global_ns;          /* globaltimer */
  int64_t realtime_before_ns, realtime_after_ns; /* CLOCK_REALTIME */
  int64_t monotonic_before_ns;                   /* CLOCK_MONOTONIC */
} ink_host_clock;

/* Edges of globaltimer that a kernel of the session caught on the SMs: between two reads of an SM's
 * clock64, globaltimer left global_ns - jump_ns and reached global_ns. */
typedef struct ink_edge {
  uint64_t cycles0, cycles1;
  uint64_t global_ns;
  uint32_t jump_ns;            /* a step of the timer, or several */
} ink_edge;

typedef struct ink_sm_edges {
  uint32_t sm, count;
  const ink_edge *edges;       /* in the order of time */
} ink_sm_edges;

enum ink_edges_when { INK_EDGES_AT_START = 0, INK_EDGES_AT_END = 1, INK_EDGES_ON_REQUEST = 2 };

typedef struct ink_clock_edges {
  int32_t device;
  uint32_t when;               /* enum ink_edges_when */
  int64_t realtime_ns;         /* CLOCK_REALTIME around then */
  uint32_t sm_count;           /* SMs that have any; 0: none was caught */
  const ink_sm_edges *sms;     /* in rising order */
  const char *note;            /* why not all of it was caught; empty: all was */
} ink_clock_edges;

/* Counters of one kernel slot of one device's buffer, as of the newest snapshot. */
typedef struct ink_kernel_counts {
  int32_t device;
  uint32_t slot;
  uint64_t key;                /* INK_KERNEL_KEY */
  uint64_t missed, tracks, marks, words;
} ink_kernel_counts;

/* What a mark costs, as the session measured it on a device at arming, by marks of one kind back to
 * back in one warp of an idle device: cycles of the SM's clock from one to the next. */
enum ink_mark_cost_of {
  INK_COST_OF_MARK = 1,
  INK_COST_OF_RANGE = 2,       /* a BEGIN or an END */
  INK_COST_OF_INSTANT = 3,
  INK_COST_OF_ITER = 4,
  INK_COST_OF_VALUE = 5,
  INK_COST_OF_ASYNC = 6,       /* a begin or an end */
  INK_COST_OF_SUM = 7,         /* a SUM_BEGIN and its SUM_END */
  INK_COST_OF_CLOCKS = 8,      /* a clock triple, from its second clock read on */
  INK_COST_OF_OPENING = 16,    /* from the opening's clock to that of a mark right after it */
  INK_COST_OF_TRACK = 17,      /* opening and closing, outside of their two clocks */
  INK_COST_OF_SUM_INSIDE = 18, /* from a SUM_BEGIN's clock to its SUM_END's */
  INK_COST_OF_SUM_RECORD = 19  /* the record of a sum, at an ITER or at the kernel's end */
};
enum ink_mark_cost_flags {
  INK_COST_CALLED_FUNCTION = 1, /* in a called function; else in a kernel's body */
  INK_COST_RECORDING = 2        /* by a thread that records; else by one that does not */
};

typedef struct ink_mark_cost {
  uint32_t what;               /* enum ink_mark_cost_of */
  uint32_t flags;              /* enum ink_mark_cost_flags */
  uint32_t samples;
  uint32_t reserved;
  uint64_t millicycles;        /* the median, thousandths of a cycle */
  uint64_t bound_millicycles;  /* four of five samples are within this of it, and what depends on the place */
} ink_mark_cost;

typedef struct ink_mark_costs {
  int32_t device;
  uint32_t count;              /* 0: not measured */
  const ink_mark_cost *costs;
  const char *note;            /* why something was not measured; empty: all was */
} ink_mark_costs;

/* ---- writing ------------------------------------------------------------------------------- */

/* One thread at a time; the session holds a lock around it. A write that fails leaves the file with
 * the chunks that were complete; what was buffered for it is dropped, and later writes are tried
 * anew. */
typedef struct ink_writer ink_writer;

/* Creates `path` and writes the file header. If the file exists and `replace` is false, nothing is written.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (no path), INK_ERROR_IO (it exists or cannot be made; code EWOULDBLOCK: another writer
 * has it open), INK_ERROR_MEMORY. */
INK_API ink_status ink_writer_open(const char *path, bool replace, ink_writer **out,
                                   ink_error *error);
/* Free-form facts: "command", "host", "pid", "started_ns" (REALTIME), "version". Repeated keys: the newest wins.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT (a NULL, or what no capture can hold), INK_ERROR_LIMIT (too large for a chunk),
 * INK_ERROR_MEMORY, INK_ERROR_IO (a chunk that was full could not be written). */
INK_API ink_status ink_writer_fact(ink_writer *writer, const char *key, const char *value,
                                   ink_error *error);
/* A section table. `sections` is the comma-separated text of PROF_SECTIONS.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_table(ink_writer *writer, const char *name, const char *sections,
                                    const char *file, uint32_t line, uint64_t hash48,
                                    ink_error *error);
/* A device. Comes before its clocks, costs, counts and tracks.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_device(ink_writer *writer, const ink_device_info *device,
                                     ink_error *error);
/* A pair of host clocks around one read of globaltimer.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_host_clock(ink_writer *writer, const ink_host_clock *pair,
                                         ink_error *error);
/* What marks cost on a device. A later call for the device replaces it.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_mark_costs(ink_writer *writer, const ink_mark_costs *costs,
                                         ink_error *error);
/* Edges whose clocks lie more than 2^32 - 1 cycles or ns after the SM's first are left out.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_clock_edges(ink_writer *writer, const ink_clock_edges *edges,
                                          ink_error *error);
/* The newest counters of a device's kernel slots, n of them.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_counts(ink_writer *writer, const ink_kernel_counts *counts, size_t n,
                                     uint64_t claims, uint64_t unknown, int32_t device,
                                     ink_error *error);
/* One track: its header and the words of its two rings as downloaded, whole rings in ring order (`ring` has
 * records_per_track words of the device; may be NULL when header->words is 0). The writer stores the valid words
 * only, oldest first. Buffered; ink_writer_flush puts the chunk on disk. Of a track whose state is OPEN the header
 * only is stored, with no words executed: what is known of its words goes through ink_writer_open_track.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_track(ink_writer *writer, int32_t device, const ink_track *header,
                                    const uint64_t *ring, const uint64_t *aux_ring,
                                    ink_error *error);
/* What stands at an address of the device that tracks written from here on name as their instance: the name of the
 * function that opened them, as __PRETTY_FUNCTION__ has it.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_instance(ink_writer *writer, int32_t device, uint64_t address, const char *name,
                                       ink_error *error);
/* Tracks that were stored open and are not open any more: the counts that follow have them among what was closed,
 * whether or not they are stored again, as closed.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_ended(ink_writer *writer, int32_t device, const uint64_t *tickets, size_t n,
                                    ink_error *error);

/* An open track with what is certain of its rings: `count` words of the body's, `aux_count` of that of called
 * functions, oldest first, in one piece, ending with a whole record. header->words and aux_words say how many are
 * known to have been executed, the newest of them being the last one here; header->flags and close_global_ns as
 * record.h says. A later call for the same track replaces it, and so does the closed track; words that only the
 * earlier one had are kept. Buffered like ink_writer_track.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_open_track(ink_writer *writer, int32_t device, const ink_track *header,
                                         const uint64_t *words, uint64_t count, const uint64_t *aux,
                                         uint64_t aux_count, ink_error *error);

/* What one ring of an open track has got since: the same words are handed over once, in their order. */
enum ink_part_flags {
  INK_PART_LOST = 1 /* words right in front of these were lost, and how many is not known: `first` is the
                     * least that it can be, and later parts of the ring count from it */
};
typedef struct ink_part {
  int32_t device;
  uint32_t ring;               /* 0 of the body, 1 of called functions */
  uint32_t flags;              /* enum ink_part_flags */
  uint64_t ticket, open_clock0; /* of its track, whose header ink_writer_open_track had, or will have */
  uint64_t first;              /* index of the first word, counted from the opening. Above where the part
                                * before ended: those between were lost */
  const uint64_t *words;       /* [count], ending with a whole record */
  uint64_t count;
} ink_part;
/* What a ring of an open track has got since the last part of it.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_part(ink_writer *writer, const ink_part *part, ink_error *error);

/* Writes what is buffered as finished, checksummed chunks (write(2); no fsync).
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT (NULL), INK_ERROR_IO. */
INK_API ink_status ink_writer_flush(ink_writer *writer, ink_error *error);
/* Flushes, writes the END chunk, closes. Frees the writer also if it fails.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT (NULL), INK_ERROR_IO (also if the file was deleted meanwhile), and what writing says. */
INK_API ink_status ink_writer_close(ink_writer *writer, ink_error *error);
/* Closes without END and frees: for a process that must not write (a forked child). */
INK_API void ink_writer_abandon(ink_writer *writer);

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct ink_capture ink_capture;

/* Words of one ring that follow one another without a gap. */
typedef struct ink_piece {
  const uint64_t *words;     /* [count], oldest first, ending with a whole record */
  uint64_t count;
  uint64_t lost;             /* words lost in front of it, after the piece before or the opening */
  bool lost_more;            /* at least so many: 0 and true, it is not known whether any were */
} ink_piece;

/* One stored track; pointers borrow from the capture. */
typedef struct ink_stored_track {
  int32_t device;
  uint32_t launch;           /* index into the launches */
  uint32_t kernel;           /* index into the kernels; a launch may have tracks of several */
  uint32_t role;             /* the section that PROF_ROLE named, an index into ink_capture_sections; UINT32_MAX: none */
  const char *role_name;     /* NULL: none */
  bool role_shared;          /* another track of its block has the same role */
  ink_track header;
  const uint64_t *ring;      /* [ring_words] oldest first; unaligned reads are safe */
  uint64_t ring_words;       /* valid words kept */
  const uint64_t *aux;
  uint64_t aux_words;
  uint32_t flags;            /* enum ink_buffer_flags under which it was recorded */
  /* Of a track that was written in pieces, those of the body's ring and of called functions', in the order
   * of their time: `ring` and `aux` are the last of them. 0: there is only that one. */
  const ink_piece *pieces[2];
  uint64_t piece_count[2];
} ink_stored_track;

/* One launch: the tracks of a (device, grid id) and of one arming with the same dimensions, whatever kernels they name.
 * What begins another launch is said in docs/format.md. Ordered by device, then by the earliest open. */
typedef struct ink_launch {
  int32_t device;
  uint32_t kernel;           /* index into the kernels: that of its first track */
  uint64_t grid_id;
  uint32_t grid_dim[3], block_dim[3];
  uint64_t track_count;
  uint64_t first_open_global_ns, last_close_global_ns; /* raw globaltimer */
  uint32_t at_most;          /* 1; more: it may be up to so many, for some thread opened a track so often, each time
                              * after all that had been opened before was closed: PROF_KERNEL in a function that is
                              * called so often, or replays of a graph that have one grid id */
  uint32_t one_of;           /* 1; more: it needed more tracks than the buffer has, and one block of each so many in a row
                              * recorded, all over the grid. Made of its shape; 1 too where other blocks have tracks */
} ink_launch;

/* How many blocks its grid has. Returns their number, recorded or not. */
static inline uint64_t ink_launch_blocks(const ink_launch *launch) {
  return (uint64_t)launch->grid_dim[0] * launch->grid_dim[1] * launch->grid_dim[2];
}

/* One kernel, as (table, section, instance), over all devices: two template instances are two kernels. */
typedef struct ink_kernel {
  uint64_t key;
  const char *name;          /* the section that PROF_KERNEL named, "?" when no table is known; where several functions
                              * opened tracks of it, with the function: "Step (k<float, 4>)" */
  const char *instance;      /* the name of the function that opened its tracks, as __PRETTY_FUNCTION__ has it; NULL:
                              * not known. Of a key with several, what no track is left of has one without */
  const ink_section_table *table; /* NULL when unknown */
  uint64_t launches, tracks, marks_executed; /* of the stored tracks; no marks of open ones */
  uint64_t missed;
  uint64_t tracks_lost, marks_lost; /* closed on the device, overwritten before they were drained */
} ink_kernel;

typedef struct ink_capture_facts {
  uint32_t version;
  bool complete;             /* the END chunk is there, and no write failed while recording */
  uint64_t file_bytes, used_bytes; /* used < file: a tail was cut off or damaged and left out */
  uint64_t damaged_chunks;
  uint64_t open_tracks;      /* that never closed, as far as the capture knows */
  uint64_t unknown_kernels;  /* kernel entries that no table named */
  char note[256];            /* what was left out, in words; empty if nothing */
  uint64_t full_tracks;      /* closed ones with more words than their rings hold */
} ink_capture_facts;

/* Opens a capture. What is cut off or damaged is left out and described in the facts, and is no error. Files below
 * 64 MiB are read; larger ones are mapped, and one that another program truncates meanwhile gives a SIGBUS. Memory:
 * about 100 bytes a track while opening, 32 after.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_IO, INK_ERROR_FORMAT (no capture at all), INK_ERROR_VERSION (of a newer version),
 * INK_ERROR_EMPTY (zero bytes), INK_ERROR_DAMAGED (its very header), INK_ERROR_UNSUPPORTED (of the other byte
 * order), INK_ERROR_MEMORY. */
INK_API ink_status ink_capture_open(const char *path, ink_capture **out, ink_error *error);
/* The same over caller-owned bytes that outlive the capture (copied where they are not 8-aligned).
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: those of ink_capture_open. */
INK_API ink_status ink_capture_open_memory(const void *bytes, size_t size, ink_capture **out,
                                           ink_error *error);
/* Frees a capture, and all that it handed out. NULL is fine. */
INK_API void ink_capture_free(ink_capture *capture);

typedef struct ink_recovered {
  uint64_t chunks, tracks, open_tracks; /* taken over */
  uint64_t lost_bytes;       /* of the file, that are in none of these */
  char missing[256];         /* in words; empty: nothing was */
} ink_recovered;
/* Writes what a damaged or unfinished capture still has to `to`, which must not exist, as a whole capture: its good
 * chunks as they are, and, unless nothing was missing, the fact "recovered", which says what was. Such a capture is
 * not complete. A failure leaves no file.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_DAMAGED (nothing can be read), and those of ink_capture_open and ink_writer_open. */
INK_API ink_status ink_capture_recover(const char *from, const char *to, ink_recovered *out,
                                       ink_error *error);

/* "k<float, 4>" of "void k(T *) [with T = float; int N = 4]", as kernels' names have it. */
INK_API void ink_instance_short_name(const char *instance, char *text, size_t size);
/* The name of a track inside of its launch: "block 5", "block (1,2,0) warp 3", "block 5 Producer". With more than
 * one track of a role in its block: "block 5 Consumer warp 8". */
INK_API void ink_track_label(const ink_stored_track *track, char *text, size_t size);

/* What is known of the file as a whole.
 * Returns: the capture's own facts; never NULL. */
INK_API const ink_capture_facts *ink_capture_get_facts(const ink_capture *capture);
/* A fact by its key, as ink_writer_fact wrote it.
 * Returns: its value; NULL: the capture has none of that key. */
INK_API const char *ink_capture_fact(const ink_capture *capture, const char *key);
/* The devices that were recorded.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_devices(const ink_capture *capture, const ink_device_info **out);
/* The section tables.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_tables(const ink_capture *capture, const ink_section_table **out);
/* The kernels.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_kernels(const ink_capture *capture, const ink_kernel **out);
/* The launches.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_launches(const ink_capture *capture, const ink_launch **out);
/* The pairs of host clocks, in the order of the file.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_host_clocks(const ink_capture *capture, const ink_host_clock **out);
/* One for each device that has any; of a device that was measured again the newest.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_mark_costs(const ink_capture *capture, const ink_mark_costs **out);
/* In the order of the file.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_clock_edges(const ink_capture *capture, const ink_clock_edges **out);
/* Whether any device is the simulated one.
 * Returns: true if one is. */
INK_API bool ink_capture_simulated(const ink_capture *capture);

/* How many tracks are stored. They have a stable order: launch, then linear block index, then thread.
 * Returns: their number. */
INK_API uint64_t ink_capture_track_count(const ink_capture *capture);
/* One stored track; `index` is below ink_capture_track_count. Its pointers borrow from the capture. */
INK_API void ink_capture_track(const ink_capture *capture, uint64_t index, ink_stored_track *out);
/* The section table of a hash.
 * Returns: the table; NULL: the capture has none of that hash. */
INK_API const ink_section_table *ink_capture_table(const ink_capture *capture, uint64_t hash48);

#ifdef __cplusplus
}
#endif
#endif
