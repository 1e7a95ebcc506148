/* SPDX-License-Identifier: MIT */
/* The forms that a merged trace can have; merged.c chooses one by the name that it is to get. */
#ifndef INK_MERGED_PRIVATE_H
#define INK_MERGED_PRIVATE_H

#include "merge/read/trace_event.h"
#include "merged_sink.h"

/* What a merged trace is of: the other file, and a sink for each capture, whose placement is made.
 */
typedef struct merged_whole {
  ink_foreign *foreign;
  struct convert_notes *notes; /* of a JSON trace that becomes a Perfetto trace; NULL: none, or none that can be used */
  merged_sink *sinks; /* [count] */
  size_t count;
} merged_whole;

/* Each writes `path`. */
ink_status merged_write_json(merged_whole *whole, const char *path, ink_error *error);
ink_status merged_write_zip(merged_whole *whole, const char *path, ink_error *error);
ink_status merged_write_perfetto(merged_whole *whole, const char *path, ink_error *error);
ink_status merged_write_xplane(merged_whole *whole, const char *path, ink_error *error);
/* merged_write_perfetto where theirs is a Perfetto trace too. */
ink_status merged_append_perfetto(merged_whole *whole, const char *path, ink_error *error);

/* several_captures.c: "rank 3, node7", or the pid where no launcher gave a rank. */
void merged_name_capture(const ink_capture *capture, char *who, size_t size);
/* Refuses one capture that is there twice. */
ink_status merged_check_distinct(const ink_merged_capture *captures, size_t n, ink_error *error);

bool merged_is_perfetto(const char *path); /* by its ending */

/* What JSON has as pid and tid of a kernel: the text, of a string without its quotes. */
void foreign_pid(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *text,
                 size_t size);
void foreign_tid(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *text,
                 size_t size);
/* The same as the value of a member of an event of ours, so that viewers take it for the same id: a string
 * where theirs is one. */
enum { FOREIGN_ID_BYTES = 6 * TRACE_ID_MAX + 3 };
void foreign_pid_json(const ink_foreign *foreign, const ink_foreign_kernel *kernel,
                      char token[FOREIGN_ID_BYTES]);
void foreign_tid_json(const ink_foreign *foreign, const ink_foreign_kernel *kernel,
                      char token[FOREIGN_ID_BYTES]);
/* The keys of its process and track in a conversion. */
void foreign_key(const ink_foreign *foreign, const ink_foreign_kernel *kernel, char *process,
                 size_t process_size, char *track, size_t track_size);
/* The byte of the unpacked file at which the bracket stands that closes its events. */
uint64_t foreign_events_end(const ink_foreign *foreign);
/* What makes JSON of the file where it is none in places; the foreign owns the list. */
json_edits foreign_edits(const ink_foreign *foreign);
/* Of the file as it is; 0: not JSON. */
uint64_t foreign_packed_bytes(const ink_foreign *foreign);

#endif
