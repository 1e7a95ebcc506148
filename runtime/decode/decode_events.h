/* SPDX-License-Identifier: MIT */
/* The decoder's inner border. decode_ring.c cuts a ring into records, decode_levels.c turns the
 * records of both rings into events, and consumers take the events in batches: decode.c turns them
 * into the calls of the public ink_sink, table.c adds them up. */
#ifndef INKMARK_DECODE_EVENTS_H
#define INKMARK_DECODE_EVENTS_H

#include "clock/clock_map.h"
#include "capture/mark_cost.h"

/* ---- a ring cut into records --------------------------------------------------------------- */

#define INK_RING_WRAPS 0x80u

typedef struct ink_ring {
  const uint64_t *words;
  size_t count;
  uint64_t open_clock, close_clock; /* full 64 bits; every stamp lies between them */
  uint8_t *payload;      /* [count]: of a record that starts here, the words before its head, and
                          * INK_RING_WRAPS when the next one's clock has higher upper 16 bits */
  size_t first;          /* where the oldest whole record starts; == count: none */
  uint64_t first_upper;  /* the upper 16 bits of its clock, in place */
  uint64_t records;      /* whole ones */
  const char *bad;       /* why the words before `first` cannot be read, or NULL */
  bool lost_front;       /* words older than `first` were overwritten or cannot be read */
  bool lost_back;        /* keep-first: words newer than the last were not stored */
  bool ranges;           /* there may be BEGIN or END among the records */
  bool steady;           /* the clock's upper bits are the same in all records */
} ink_ring;

typedef struct ink_record {
  /* As it is stored; for VALUE, SUM and CLOCKS of an instant the escape word, for other escapes the wrapped head. */
  uint64_t head;
  uint64_t clock64;
  uint64_t hash48;       /* of the table that `section` belongs to; 0: the kernel's own */
  const uint64_t *payload;
  size_t word;           /* where it starts */
  uint32_t section;      /* id in its table */
  uint8_t kind, escape;  /* kind is that of `head`; escape the code of an escape but for TABLE, else 0 */
} ink_record;

/* Cuts `ring` from its newest word backwards; words, count, clocks, payload and lost_* are set by
 * the caller, payload is all zero. */
void ink_ring_cut(ink_ring *ring);
/* The record that starts at `at` (first <= at < count), whose upper bits are *upper (first_upper for
 * the first); returns where the next one starts, and sets *upper to the next one's. */
size_t ink_ring_long_record(const ink_ring *ring, size_t at, uint64_t *upper, ink_record *out);
static inline size_t ink_ring_record(const ink_ring *ring, size_t at, uint64_t *upper,
                                     ink_record *out) {
  if (ring->payload[at])
    return ink_ring_long_record(ring, at, upper, out);
  const uint64_t plain = ring->words[at] ^ *upper;
  const uint32_t tag = (uint32_t)(plain >> INK_TAG_SHIFT);
  *out = (ink_record){.head = ring->words[at], .clock64 = *upper | (plain & INK_CLOCK_MASK),
                      .payload = ring->words + at, .word = at, .section = tag & INK_SECTION_MASK,
                      .kind = (uint8_t)(tag >> INK_SECTION_BITS)};
  return at + 1;
}
/* Ranges whose BEGIN was overwritten: every END that no kept BEGIN answers is one of them. `depth` are those that
 * were begun and are open, both go on from what they were. */
void ink_ring_open_ranges(const ink_ring *ring, size_t *depth, size_t *missing);

/* Where a run has got to. */
typedef struct ink_run_scan {
  size_t next;
  uint64_t last, unmarked, iters;
  int64_t row;
  uint64_t inner;           /* the tag of a MARK of the range around it, which is nested; 0: none */
  const uint32_t *open_of;  /* of the kernel's sections, where there are more ranges around it; or NULL */
} ink_run_scan;

/* Goes on from `scan` over MARKs of the kernel's `sections` and, with `rows`, ITERs, while their stamps rise
 * up to `limit`, to word `most`. */
void ink_ring_scan(const ink_ring *ring, size_t most, uint64_t sections, uint64_t limit, bool rows,
                   ink_run_scan *scan);

/* ---- events -------------------------------------------------------------------------------- */

enum ink_event_type {
  INK_EVENT_SLICE,
  INK_EVENT_POINT,
  INK_EVENT_ASYNC,
  INK_EVENT_GAP,    /* [begin, end] at the body's base level that no section claims */
  INK_EVENT_RECORD, /* only for those who want records */
  INK_EVENT_INSIDE, /* for those who want it: slices of `section` lay directly in one of `parent`; of an
                     * unknown section: called ones took the cycles `value` of one of `parent` */
  /* MARKs of the kernel's own table, and ITERs, one right after another at one level of the body.
   * A MARK word makes the slice from the stamp before it (of the first: `begin`) to its own; where
   * payload[i] is 1, word i is the row from here on, word i + 1 the head of an ITER, and, at the base
   * level (`gaps`), the time since the stamp before it is a GAP. Stamps rise and share the upper 16
   * bits of `end`; a MARK's section is `section` - 1 + the id in its tag. */
  INK_EVENT_RUN
};

typedef struct ink_event {
  uint8_t type, kind, escape, called, cut;
  uint8_t nested;          /* SLICE: a range of its own section is open around it */
  uint32_t section;        /* index into the capture's sections */
  uint32_t depth;
  uint32_t parent;         /* SLICE, RUN, INSIDE: the section of the slice right around it, or one of
                            * the two below */
  int64_t row;
  uint64_t begin, end;     /* cycles; a point has only `end` */
  /* What of SLICE, GAP, and of a RUN up to its first stamp, is the marks' own cost. Of a SUM: what was
   * taken out of the stretch around its passes. */
  ink_cost cost;
  union {
    uint64_t value;        /* key, number, a range's number (`escape`), the unclaimed cycles of a GAP */
    const uint64_t *words; /* SUM: count, total, min, max. RUN: the heads */
    uint64_t head;         /* RECORD */
  } u;
  /* RUN: */
  const uint8_t *payload;  /* [count]; NULL where there is no ITER */
  const ink_costs *costs;  /* of the rest of it; NULL: nothing is taken off */
  uint32_t count;          /* words */
  bool gaps;
} ink_event;

#define INK_PARENT_BODY UINT32_MAX          /* the kernel's body */
#define INK_PARENT_UNKNOWN (UINT32_MAX - 1) /* overwritten; or of a called function's slice, which an
                                             * INSIDE event tells when the body's next stamp comes */

/* The stamps of a RUN, one after another:
 *   ink_run_stamps at = ink_run_begin(run, run->payload, run->costs);
 *   while (ink_run_next(&at)) ...
 * `payload` and `costs` are those of the run; a caller that knows them to be NULL says so with a literal, and pays for neither. */
typedef struct ink_run_stamps {
  const uint64_t *words;
  const uint8_t *payload;
  uint64_t upper;
  uint32_t next, count, base;
  ink_cost of_mark, of_iter, following; /* following: of the next stretch */
  /* what ink_run_next gives: */
  bool iter;               /* of an ITER; else of a MARK */
  uint32_t section;        /* of a MARK: index into the capture's sections */
  int64_t row;             /* of an ITER: the row from here on */
  uint64_t clock;          /* cycles; the stretch that it ends begins at the stamp before, the first one at run->begin */
  ink_cost cost;           /* what of that stretch is the marks' own cost */
} ink_run_stamps;

static inline ink_run_stamps ink_run_begin(const ink_event *run, const uint8_t *payload, const ink_costs *costs) {
  const ink_cost none = {0, 0};
  return (ink_run_stamps){.words = run->u.words, .payload = payload, .upper = run->end & ~INK_CLOCK_MASK,
                          .count = run->count, .base = run->section - 1, .row = run->row,
                          .of_mark = costs ? costs->of[0][INK_KIND_MARK] : none,
                          .of_iter = costs ? costs->of[0][INK_KIND_ITER] : none,
                          .following = costs ? run->cost : none};
}

/* False: there is none left. */
static inline __attribute__((always_inline)) bool ink_run_next(ink_run_stamps *at) {
  if (at->next >= at->count)
    return false;
  at->cost = at->following;
  at->iter = at->payload && at->payload[at->next];
  if (at->iter) {
    at->row = (int64_t)at->words[at->next++];
    at->following = at->of_iter;
  } else {
    at->following = at->of_mark;
  }
  const uint64_t plain = at->words[at->next++] ^ at->upper;
  at->clock = at->upper | (plain & INK_CLOCK_MASK);
  at->section = at->base + (uint32_t)(plain >> INK_TAG_SHIFT);
  return true;
}

typedef struct ink_event_sink {
  void *user;
  bool want_records;       /* RECORD events, and no RUN */
  bool want_inside;        /* INSIDE events */
  bool only_open;          /* closed tracks are passed over */
  bool want_costs;         /* the marks' own cost, where the capture has a measure of it */
  bool (*want_launch)(void *user, uint32_t launch); /* NULL: every launch */
  bool (*want_kernel)(void *user, uint32_t kernel); /* NULL: tracks of every kernel */
  ink_status (*launch)(void *user, uint32_t launch, const ink_launch *info);
  ink_status (*track_begin)(void *user, const ink_decoded_track *track, const ink_line *line);
  ink_status (*events)(void *user, const ink_event *events, size_t n);
  ink_status (*crossing)(void *user, const ink_crossing *crossing);
  ink_status (*problem)(void *user, const ink_problem *problem);
  ink_status (*track_end)(void *user, const ink_decoded_track *track);
  ink_status (*progress)(void *user, uint64_t done, uint64_t total);
} ink_event_sink;

ink_status ink_decode_events(const ink_capture *capture, const ink_clock_map *map, uint32_t launch,
                             const ink_event_sink *sink, ink_error *error);

#define INK_CUT_END_LOST 4 /* of close_levels alone: told as INK_CUT_NEVER_ENDED, and no mistake */

/* ---- what decode.c and decode_levels.c share ------------------------------------------------ */

enum { INK_EVENT_BATCH = 256 };

/* A range that is open, or the base of a stack. */
typedef struct ink_level {
  uint64_t stamp, begin;   /* limits from below where they are not known */
  ink_cost stamp_cost, begin_cost; /* what had been paid then */
  int64_t row;
  uint32_t section;        /* of the range */
  bool stamp_known, begin_known, named;
  uint8_t escape;          /* of PROF_BEGIN_WITH: what `value` is; else 0 */
  uint64_t value;
} ink_level;

typedef struct ink_levels {
  ink_level *items;        /* [0] is the base */
  size_t count, capacity;
} ink_levels;

typedef struct ink_open_async {
  uint64_t key, begin;
  uint32_t section, next;  /* next in its queue, INK_ID_NONE at the end */
  bool called, done;
} ink_open_async;

typedef struct ink_async_queue { /* of one section and key: first begun, first ended */
  uint64_t key;
  uint32_t section, head, tail, next; /* next queue with the same hash */
} ink_async_queue;

/* The pieces of one ring of the track, all looked at (decode_pieces.c). */
typedef struct ink_pieces {
  const ink_piece *items;  /* [count], 1 at least */
  ink_piece only;
  size_t count, capacity, at; /* at: the one that rings[] has */
  uint64_t *clocks;        /* [count]: none of its stamps is later */
  bool *torn;              /* [count]: words in front of it were lost, or cannot be read */
  uint64_t kept, whole, records; /* words; those of whole records; these */
  const char *bad;         /* why some cannot be read, or NULL */
  size_t bad_at;
  bool has_gap, ranges;
  size_t gap;              /* the last piece that is torn, and the stamp of its oldest record */
  uint64_t gap_clock;
} ink_pieces;

/* A track of rows, turned into words (decode_rows.c). */
typedef struct ink_decoded_rows {
  uint32_t rows;             /* INK_ROWS; 0: the track is one of records */
  bool impossible;           /* they have no shape that can be */
  uint64_t *words;           /* of the pieces below */
  ink_piece *pieces;
  uint64_t kept_words, end;  /* of the rows that are kept; where the last piece ends, from the opening */
  uint64_t too_long, too_long_cycles; /* rows, and the longest */
  uint64_t again, again_in;  /* marks passed again in their row; rows with such */
} ink_decoded_rows;

/* One end of a range across threads, until its launch is through. */
typedef struct ink_shared_mark {
  uint64_t group, key;       /* of its scope: the block, the cluster, 0 */
  uint64_t cycles, track;
  int64_t ns, row;
  double bound_ns;           /* of `ns`; against others of its SM 0 */
  size_t word;
  uint32_t section, sm;
  uint8_t scope, called;
  bool begins, matched;
} ink_shared_mark;

/* One run of the decoder; scratch memory is kept from track to track. */
typedef struct ink_decoder {
  const ink_capture *capture;
  const ink_event_sink *sink;
  ink_error *error;
  ink_decoded_track track;
  ink_stored_track stored;
  bool open;               /* it was when it was last seen */
  ink_pieces pieces[2];    /* body, called */
  ink_decoded_rows rows;   /* what the body's were made of */
  ink_ring rings[2];       /* the piece of each that the decoder is at */
  uint64_t last[2];        /* the newest stamp of each */
  bool lost[2];            /* words of it were lost so far */
  uint64_t limit;          /* no stamp can be later */
  ink_levels levels[2];
  uint32_t *open_of;       /* [sections]: named ranges of it that are open, in both rings */
  uint32_t *open_in[2];    /* [sections + 1]: the same in one ring; the last: of an unknown section */
  /* Sections that called functions marked at their base level since the body's last stamp; what is too
   * many is not told of. */
  uint32_t waiting[16], waiting_count;
  uint64_t waiting_cycles; /* of all of these, without the marks' cost */
  uint32_t *told_of;       /* [sections]: the parent that INSIDE told last, for kernel `told_kernel` */
  uint32_t told_kernel;
  uint64_t body_changes;   /* BEGIN, END and ITER of the body */
  uint64_t called_row_at;  /* body_changes when the called base's row was set */
  bool body_unknown;       /* the body's level and row are not known here */
  uint64_t row_at;         /* the body's last ITER, or the opening; UINT64_MAX: not known */
  uint64_t called_claimed; /* cycles of called slices since the body's last base stamp */
  ink_cost called_cost;    /* of these */
  /* Every record takes the track's own time from its stamp to the next one, whichever ring that is in:
   * up to its cost it is paid here, and a stretch of time has cost what was paid in it. */
  bool costed;
  ink_costs costs;         /* of costs_device */
  int32_t costs_device;
  ink_cost cost, passed;   /* paid so far; the cost of the newest record, to be paid next */
  uint64_t passed_at;
  ink_cost whole_from, whole_to; /* paid when the whole part of the track began and ended */
  bool whole_began;
  uint32_t base_section, section_count; /* of the kernel's table; 0 sections: no table */
  uint64_t other_hash;     /* the table of the last TABLE escape */
  uint32_t other_base, other_count;
  bool told_unknown_table;
  INK_I_LIST(ink_open_async) asyncs;
  INK_I_LIST(ink_async_queue) queues;
  INK_I_LIST(ink_shared_mark) shared; /* of the launch */
  bool shared_lost;        /* a track of the launch lost words, or is not there */
  const ink_clock_map *map;
  ink_line line;           /* of the track */
  id_map queue_map;
  uint8_t *payload;
  size_t payload_room, payload_called; /* where the called ring's begins */
  ink_event events[INK_EVENT_BATCH];
  size_t event_count;
} ink_decoder;

ink_status ink_decoder_flush(ink_decoder *decoder);
/* An event is made where it stays, and given last, when nothing can come before it any more: to copy one
 * right after its fields were stored one by one takes a processor longer than to make it. */
static inline ink_event *ink_decoder_next(ink_decoder *decoder) {
  return &decoder->events[decoder->event_count];
}
static inline ink_status ink_decoder_give(ink_decoder *decoder) {
  return ++decoder->event_count < INK_EVENT_BATCH ? INK_OK : ink_decoder_flush(decoder);
}
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
ink_status ink_decoder_problem(ink_decoder *decoder, enum ink_problem_kind kind, uint32_t section,
                               int called, size_t word, const char *format, ...);
const char *ink_decoder_section_name(const ink_decoder *decoder, uint32_t section);
/* decode_pieces.c. The rings' pieces are looked at, and the first is loaded. */
ink_status ink_pieces_set(ink_decoder *decoder, int called);
size_t ink_pieces_longest(const ink_stored_track *stored, int called);
void ink_pieces_load(ink_decoder *decoder, int called, size_t k);
/* Of ranges that were open before the piece that is loaded, those that end in it or in what goes on from it. */
size_t ink_pieces_open_at_front(ink_decoder *decoder, int called);
void ink_pieces_free(ink_pieces *pieces);
/* decode_rows.c, before its pieces are set: what the body's words of a track of rows are as records. What is wrong
 * with its rows, once the track is told of. */
ink_status ink_rows_set(ink_decoder *decoder);
ink_status ink_rows_check(ink_decoder *decoder);
void ink_rows_free(ink_decoder *decoder);
/* decode_inside.c: a called slice waits for the body's next stamp, which tells what it lay in. */
void ink_decoder_wait(ink_decoder *decoder, uint32_t section, uint64_t cycles);
ink_status ink_decoder_tell(ink_decoder *decoder, uint32_t parent);
static inline ink_status ink_decoder_settle(ink_decoder *decoder, uint32_t parent) {
  return decoder->waiting_count ? ink_decoder_tell(decoder, parent) : INK_OK;
}
/* Before a track of `kernel`: what is told is told for each kernel. */
void ink_decoder_forget_told(ink_decoder *decoder, uint32_t kernel);
/* decode_costs.c: nothing is paid where the sink does not want it, or the capture has no costs. */
void ink_costs_open(ink_decoder *decoder);
ink_cost ink_cost_of_record(const ink_decoder *decoder, int called, const ink_record *record);
/* Time comes to `now`, where a record that costs `next` stands; returns what the one before paid. */
uint64_t ink_cost_pay(ink_decoder *decoder, uint64_t now, ink_cost next);
/* The same of a clock triple, whose cost begins at its first clock read, and of the passes of a SUM that
 * is recorded `now`: where all of them lie in the body's open stretch, for no mark moved its stamp since
 * its row began. */
void ink_cost_pay_clocks(ink_decoder *decoder, const ink_record *record, uint64_t now);
ink_cost ink_cost_pay_passes(ink_decoder *decoder, const ink_record *record, uint64_t now);
/* What was paid since `then`; of the body's base level from its last stamp to `now`, without what
 * called slices claim; in a run from its second record on, whose ITERs' gaps are returned. */
static inline ink_cost ink_cost_since(const ink_decoder *decoder, ink_cost then) {
  return (ink_cost){decoder->cost.cycles - then.cycles,
                    decoder->cost.bound_millicycles - then.bound_millicycles};
}
ink_cost ink_cost_of_gap(const ink_decoder *decoder, const ink_level *base, uint64_t now,
                         ink_cost claimed);
uint64_t ink_cost_pay_run(ink_decoder *decoder, const ink_event *run);
/* Both rings of the track, from its opening to its closing. */
ink_status ink_decode_levels(ink_decoder *decoder);
/* One ASYNC_BEGIN or ASYNC_END; what is still open at the end of the track, or (`lost`) where words of it were lost. */
ink_status ink_decode_async(ink_decoder *decoder, int called, const ink_record *record,
                            uint32_t section, int64_t row, uint64_t cycles);
/* decode_shared.c: one end of a range across threads; what there is of them when the launch is through. */
ink_status ink_decode_shared_key(ink_decoder *decoder, int called, const ink_record *record, uint32_t section,
                                 int64_t row, uint64_t cycles);
ink_status ink_decode_shared_rest(ink_decoder *decoder, uint32_t launch);
ink_status ink_decode_async_rest(ink_decoder *decoder, uint64_t close, bool lost);

#endif
