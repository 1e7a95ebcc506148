/* SPDX-License-Identifier: MIT */
/* The samples and the code that `inkmark record --stalls` stored in a capture, as tables of samples. */
#ifndef INKMARK_CLI_STALL_CAPTURE_H
#define INKMARK_CLI_STALL_CAPTURE_H

#include "load.h"
#include "stall_join.h"

#include "inkmark/stalls.h"

/* A function that was sampled. */
typedef struct stall_function {
  const ink_stall *stalls; /* by offset */
  size_t count;
  const ink_code *code;    /* NULL: the capture does not have it */
  char hash[INK_VERIFY_HASH_TEXT]; /* of the function's code; "": not known */
} stall_function;

typedef struct stall_capture {
  loaded_capture loaded;
  stall_function *functions; /* of the tables, in their order */
  ink_stall_facts facts;
  ink_verify **verified;   /* of the capture's own code; NULL: not tried */
  size_t verified_count;
  ink_verify_map *maps;    /* of all of them */
  size_t map_count;
  char *texts;             /* of the instructions of a table that is of another build */
} stall_capture;

bool stall_is_capture(const char *path); /* also where it cannot be opened, which reading it tells */
/* False after a message: it cannot be read, or has no samples. The tables' names are the capture's. */
bool stall_capture_read(const char *path, stall_capture *out, stall_file *tables);
void stall_capture_free(stall_capture *capture);

/* The maps of the capture's own code, which needs -lineinfo; false after a message: there is none. */
bool stall_capture_maps(stall_capture *capture, const ink_verify_options *wanted);
/* The map of the very code that was sampled, by its hash, and the table's rows made by it; NULL: none of these maps is. Then
 * *difference is as of stall_find_map. *fine: false after a message. */
const ink_verify_map *stall_capture_find(stall_capture *capture, stall_table *table, const ink_verify_map *maps, size_t n,
                                         stall_difference *difference, bool *fine);

#endif
