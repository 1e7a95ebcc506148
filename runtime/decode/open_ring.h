/* SPDX-License-Identifier: MIT */
/* Which words of a ring are certainly those of the track that is open on it: the ring has no count yet, may
 * hold words of earlier tracks, and the kernel may store to it while it is copied. What cannot be told is
 * left out and said. No allocation is kept, nothing here knows files or devices. */
#ifndef INKMARK_OPEN_RING_H
#define INKMARK_OPEN_RING_H

#include "inkmark/record.h"
#include "inkmark/status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ink_open_ring {
  const uint64_t *words;    /* [records]: the ring in its own order, as copied while the track was open */
  /* [records]: copied again, begun when the first copy was whole on the host. Words that differ changed
   * meanwhile and count as not known. NULL: the kernel can no longer store (it trapped, or was killed). */
  const uint64_t *again;
  uint32_t records;         /* words of the ring, a power of two */
  uint64_t open_clock;      /* open_clock1 of the track: no stamp of it is earlier */
  uint64_t clock_most;      /* nor later than this; UINT64_MAX: not known. The tighter, the less can be
                             * taken for a record by chance: opening + what globaltimer allows will do */
  /* What the ring may hold of earlier tracks. Wiped with INK_UNWRITTEN before this track opened, or never
   * claimed and wiped at arming: 0. Else the latest close_clock0 of all tracks that had this ring: stamps up to
   * it are not believed. UINT64_MAX, and then nothing can be told: where one of them was not seen, or had a
   * clock whose upper 16 bits were not those of open_clock. */
  uint64_t stale_clock_most;
  bool wiped;               /* what the track has not written is INK_UNWRITTEN; stale_clock_most is 0 */
  bool keep_first;          /* the ring stops when it is full */
  bool called;              /* the ring of called functions: each record there but ITER names its table */
  uint32_t rows;            /* INK_ROWS of a track of rows; 0: of records */
  uint32_t sections;        /* of the kernel's table: a record with a higher section is none. 0: not known */
  /* From the result of the call before for this track and ring; all 0: there was none. */
  uint64_t reached, reached_clock;
  bool reached_exact;
} ink_open_ring;

typedef struct ink_open_words {
  uint64_t first;           /* index of the first word, counted from the opening; see exact */
  uint64_t count;           /* words; the call before did not have them */
  bool exact;               /* `first` is; else it is the least that it can be */
  bool joined;              /* they go on where the call before ended, or begin with the opening */
  bool newest;              /* the ring held nothing newer; false: it cannot be told */
  uint64_t reached, reached_clock; /* for the next call: where the words end, the clock of the last record */
  bool reached_exact;
} ink_open_words;

/* `to` has room for `records` words: gets them oldest first, contiguous, ending with a whole record.
 * INK_ERROR_MEMORY, INK_ERROR_ARGUMENT (records is no power of two). Nothing certain: count 0, INK_OK. */
ink_status ink_i_open_ring_find(const ink_open_ring *ring, uint64_t *to, ink_open_words *out,
                                ink_error *error);

/* The same of a ring of rows (open_rows.c), which the above calls. */
void ink_i_open_rows_find(const ink_open_ring *ring, uint64_t *to, ink_open_words *out);

#ifdef __cplusplus
}
#endif
#endif
