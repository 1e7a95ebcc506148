/* SPDX-License-Identifier: MIT */
/* The one decoder: turns the records of each track into events that every output shares.
 *
 * A track's events come in the order of their times, and slices nest. Cycles are clock64 of the track's SM, unwrapped
 * to 64 bits. ns are Unix nanoseconds (CLOCK_REALTIME) through the clock map. If the capture has no host clock, ns
 * are raw globaltimer ns. ink_clock_quality says which.
 *
 * LEVELS. A level is the range that the marks stand in: the kernel's body, or an open BEGIN. MARK, BEGIN, END, ITER
 * and the opening move their level's last stamp. MARK(S) makes the slice [last stamp, now] of S at its level. END(S)
 * makes the slice [its BEGIN, now] of S, and the outer level's last stamp becomes now. Time between an outer stamp
 * and a BEGIN belongs to no section: it is "(unmarked)". Marks of called functions (the aux ring) are placed by their
 * clocks inside the body's slices. Their base level has a last stamp of its own: the later of the body's last stamp
 * and theirs. They do not move the body's stamps. INSTANT, VALUE and async marks move no stamp. A slice of a called
 * function is one deeper than the body's level around it, so it never has the depth of a body's slice around it. If a
 * called function leaves a range open across a mark of the body, the range would cross the body's slices. That is a
 * problem, and the slice is cut to begin at that mark.
 * ROWS. ITER(i) sets the row of its level until that level ends or the next ITER. A range starts in the row of the
 * level around it, and leaving the range restores that row. A slice's row is the row in force when the slice ends.
 * Before any ITER a level has no row (INK_ROW_NONE). If the ring was overwritten, the row is INK_ROW_UNKNOWN until
 * the next ITER. Marks of called functions are in the row of the body's level. An ITER at their own base level holds
 * until the body's next BEGIN, END or ITER.
 * ASYNC. An end belongs to the range of its section and key that began first and has not ended, in both rings of the
 * track. If the range has a scope (PROF_ASYNC_BEGIN_BLOCK), its end may be in another track. These ranges come after
 * the tracks of their launch, as crossings.
 *
 * Experimental: it may change with any version.
 *
 * Threads: any number of threads; the capture and the map are only read. A sink is called by the thread that called
 * ink_decode.
 * Lifetime: the arguments of a sink's callback are valid during the call. Sections belong to the capture, and the
 * quality of clocks belongs to the map.
 *
 * @code{.c}
 * #include <inkmark/decode.h>
 * #include <stdio.h>
 *
 * static ink_status count_slice(void *user, const ink_slice *slice) {
 *   if (slice->cut == 0) // both ends are there
 *     ++*(unsigned long *)user;
 *   return INK_OK;
 * }
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_clock_map *map;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error) || ink_clock_map_make(capture, &map, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   unsigned long slices = 0;
 *   const ink_sink sink = {.user = &slices, .slice = count_slice};
 *   if (!ink_decode(capture, map, UINT32_MAX, &sink, &error)) // UINT32_MAX: all launches
 *     printf("%lu whole slices\n", slices);
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_DECODE_H
#define INKMARK_DECODE_H

#include "inkmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INK_ROW_NONE INT64_MIN
#define INK_ROW_UNKNOWN (INT64_MIN + 1)

/* A section in the list of all sections of a capture (ink_capture_sections). */
typedef uint32_t ink_section_index;
#define INK_SECTION_UNKNOWN UINT32_MAX

typedef struct ink_section {
  const ink_section_table *table;
  const char *name;
  uint32_t id;                /* in its table */
} ink_section;

/* All sections of all tables: table by table, in the order of their ids.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_sections(const ink_capture *capture, const ink_section **out);

enum ink_cut {
  INK_CUT_BEGIN = 1,          /* the begin was overwritten: it is a lower limit */
  INK_CUT_NEVER_ENDED = 2,    /* there is no end; that given is the track's, or where later words were lost */
  INK_CUT_OPEN = 3            /* the track was open when it was last seen, and this with it: up to that moment */
};

/* Where a track stood that was open when it was last seen. */
typedef struct ink_place {
  bool known;                 /* false: nothing is known of its marks */
  bool newest;                /* it had executed no other mark then; false: it may have gone on */
  bool ranges;                /* it stood in a range: `inside`, the innermost, or INK_SECTION_UNKNOWN */
  ink_section_index inside;
  ink_section_index after;    /* of the last MARK or END; INK_SECTION_UNKNOWN: there was none, or it is not known */
  int64_t row;                /* that of `inside` or of the body; INK_ROW_NONE, INK_ROW_UNKNOWN */
  uint64_t begin_cycles;      /* when `inside` began; its end is the track's close_cycles */
} ink_place;

typedef struct ink_decoded_track {
  uint64_t index;             /* of ink_capture_track */
  const ink_stored_track *stored;
  /* Where the body begins and ends, and so the level's first stamp and the last moment: the second
   * clock read of the opening triple, the first of the closing one. Of an open track close is when it was
   * last seen, or its last mark where that is not known. */
  uint64_t open_cycles, close_cycles;
  int64_t open_ns, close_ns;            /* clock map */
  uint64_t marks_executed, marks_kept, marks_dropped; /* executed == kept + dropped; of an open track at least */
  uint64_t rows_executed;     /* of marks_executed, those that stand for a row (PROF_KERNEL_ROWS), not for a mark */
  uint64_t partial_before_cycles; /* time before this is not whole (a ring was overwritten); 0: whole */
  uint32_t problems;          /* how many ink_problem events this track raised */
  uint64_t partial_after_cycles; /* keep first, or open: time after this is not whole; UINT64_MAX: whole */
  uint64_t unmarked_cycles;   /* of the whole part, what no section claims; final in track_end */
  /* Where the marks' own cost is looked for (ink_table_options.without_marking), else 0: how much of the
   * track's time, of its whole part, of its unmarked time it is. */
  uint64_t marking_cycles, whole_marking_cycles, unmarked_marking_cycles;
  uint64_t marking_bound_millicycles; /* by how much the first may be wrong */
  ink_place place;            /* of an open track, in track_end */
} ink_decoded_track;

typedef struct ink_slice {
  ink_section_index section;
  uint32_t depth;             /* 0: directly in the kernel's body; nested ranges add 1 */
  uint8_t kind;               /* INK_KIND_MARK, or INK_KIND_BEGIN for BEGIN..END */
  uint8_t called;             /* 1: marked in a called function (aux ring) */
  uint8_t cut;                /* enum ink_cut; 0: both ends are there */
  uint8_t nested;             /* 1: a range of the same section is open around it (recursion) */
  int64_t row;
  uint64_t begin_cycles, end_cycles;
  int64_t begin_ns, end_ns;
  /* Where the sink wants it: how much of the slice is the marks' own cost, what is left in it being
   * what tables made without_marking have. Else 0. */
  uint64_t marking_cycles;
  int64_t marking_ns;
  /* Of PROF_BEGIN_WITH: which of the three the number is (INK_ESCAPE_VALUE_); else 0. */
  uint8_t escape, reserved[7];
  union {
    int64_t i64;
    uint64_t u64;
    double f64;
  } value;
} ink_slice;

typedef struct ink_point {    /* INSTANT, VALUE, ITER, async ends */
  ink_section_index section;  /* INK_SECTION_UNKNOWN for ITER */
  uint8_t kind;               /* enum ink_kind; VALUE has kind ESCAPE and `escape` set */
  uint8_t escape;             /* enum ink_escape for VALUE_*, SUM */
  uint8_t called;
  uint8_t reserved[5];
  int64_t row;
  uint64_t cycles;
  int64_t ns;
  union {
    int64_t i64;              /* ITER's row, VALUE_I64 */
    uint64_t u64;             /* VALUE_U64, async key */
    double f64;
    struct {
      uint64_t count, total_cycles, min_cycles, max_cycles;
      uint64_t pass_marking_cycles; /* where the sink wants it: what of each pass is the marks' cost */
    } sum;
  } value;
} ink_point;

typedef struct ink_async {    /* a matched ASYNC_BEGIN .. ASYNC_END of one track, section and key */
  ink_section_index section;
  uint8_t called, cut;        /* cut as in ink_slice */
  uint8_t reserved[2];
  uint64_t key;
  int64_t row;
  uint64_t begin_cycles, end_cycles;
  int64_t begin_ns, end_ns;
} ink_async;

/* PROF_ASYNC_BEGIN_BLOCK, _CLUSTER, _GRID: who may end what was begun. */
enum ink_scope { INK_SCOPE_BLOCK = 1, INK_SCOPE_CLUSTER = 2, INK_SCOPE_GRID = 3 };

/* A range that one thread began and the same or another one ended: of one launch, and of one block or cluster where
 * its scope says so. An end belongs to the first begun range of its section and key that has not ended. */
typedef struct ink_crossing {
  uint32_t launch;
  ink_section_index section;
  uint8_t scope;              /* enum ink_scope */
  uint8_t cut;                /* INK_CUT_BEGIN: there is no begin; INK_CUT_NEVER_ENDED: no end. Those fields are 0. */
  uint8_t exact;              /* both ends are on one SM: ns are of the same clock, `cycles` holds */
  uint8_t backwards;          /* it ended before it began, by less than the bound */
  uint32_t reserved;
  uint64_t key;
  uint64_t from_track, to_track; /* of ink_capture_track */
  int64_t from_row, to_row;
  uint64_t begin_cycles, end_cycles; /* each of its own SM */
  int64_t begin_ns, end_ns;
  uint64_t cycles;            /* of an exact one */
  double bound_ns;            /* end_ns - begin_ns is good to this; INFINITY: not known */
} ink_crossing;

/* What can be wrong with a track. */
enum ink_problem_kind {
  INK_PROBLEM_NEVER_ENDED,    /* a range */
  INK_PROBLEM_NEVER_BEGUN,    /* an END without its BEGIN */
  INK_PROBLEM_WRONG_END,      /* it names another section than the BEGIN */
  INK_PROBLEM_STILL_OPEN,     /* a range at the END of one around it */
  INK_PROBLEM_ACROSS,         /* a called function's range is open across the body's marks */
  INK_PROBLEM_ASYNC_NEVER_ENDED,
  INK_PROBLEM_ASYNC_NEVER_BEGUN,
  INK_PROBLEM_NO_TABLE,       /* the capture does not hold the section table */
  INK_PROBLEM_NO_SECTION,     /* the table has no such section */
  INK_PROBLEM_CLOCK,          /* stamps that go back, or lie outside of the track */
  INK_PROBLEM_COUNTS,         /* words that do not agree with the track's counts, or are no records */
  INK_PROBLEM_MOVED,          /* the block went to another SM */
  INK_PROBLEM_SHARED_NEVER_ENDED, /* a range across threads */
  INK_PROBLEM_SHARED_NEVER_BEGUN,
  INK_PROBLEM_BACKWARDS,      /* a range across SMs that ended before it began, by less than the clocks are known */
  INK_PROBLEM_OUT_OF_RANGE,   /* PROF_MARK_ID with an index that its table does not have */
  INK_PROBLEM_LONG_ROW,       /* rows that last longer than a clock of 32 bits can say */
  INK_PROBLEM_PASSED_AGAIN    /* marks of sections that their row had already: INKMARK_ROWS_CHECK */
};
/* What someone who wrote the marks can do about it, in a sentence.
 * Returns: a text in static storage; never NULL. */
INK_API const char *ink_problem_advice(enum ink_problem_kind kind);

/* What is wrong with a track, exactly; decoding goes on with the rest. */
typedef struct ink_problem {
  uint64_t track, word;       /* word index in the ring, oldest kept = 0 */
  uint8_t called;
  uint8_t kind;               /* enum ink_problem_kind */
  ink_section_index section;  /* that the text names; INK_SECTION_UNKNOWN: none */
  uint64_t times;             /* 1; of ink_table_problems: so often, and this was the first */
  char text[160];             /* "END of 'Gradient' closes 'Search'", "clock goes back by 12 cycles" */
} ink_problem;

/* Every callback is optional. Returning anything but INK_OK stops the decoder with that status.
 * Order within a track: track_begin, then slices (each when it ENDS, so inner before outer), points
 * and asyncs by time of their end, problems as found, then track_end (with the final counts). */
typedef struct ink_sink {
  void *user;
  ink_status (*launch)(void *user, uint32_t launch, const ink_launch *info);
  ink_status (*track_begin)(void *user, const ink_decoded_track *track);
  /* Every record in time order, before what it causes. `head` is as stored, its tag is
   * (head ^ cycles) >> INK_TAG_SHIFT; of an escape around a MARK, a range or an async end it is the wrapped record's, of VALUE, SUM
   * and CLOCKS the escape word. An ITER's row is its own. */
  ink_status (*record)(void *user, uint64_t head, uint64_t cycles, ink_section_index section,
                       int64_t row, uint8_t called);
  ink_status (*slice)(void *user, const ink_slice *slice);
  ink_status (*point)(void *user, const ink_point *point);
  ink_status (*async)(void *user, const ink_async *async);
  /* Behind the last track of a launch: its ranges across threads, and what is wrong with them. */
  ink_status (*crossing)(void *user, const ink_crossing *crossing);
  ink_status (*problem)(void *user, const ink_problem *problem);
  ink_status (*track_end)(void *user, const ink_decoded_track *track);
  /* Called now and then with tracks done of all; may be used for progress. */
  ink_status (*progress)(void *user, uint64_t done, uint64_t total);
  /* false: the tracks of this launch are passed over. */
  bool (*want_launch)(void *user, uint32_t launch);
  bool (*want_kernel)(void *user, uint32_t kernel); /* false: so are the tracks of this kernel */
  /* Slices, sums and tracks tell what of their time is the marks' own cost, where the capture has a
   * measure of it. */
  bool want_marking;
} ink_sink;

/* ---- clock map ----------------------------------------------------------------------------- */

typedef struct ink_clock_map ink_clock_map;

typedef struct ink_clock_quality { /* of one device */
  int32_t device;
  uint32_t simulated;
  bool has_host;               /* false: ns are raw globaltimer, not Unix time */
  uint32_t timer_step_ns;      /* smallest step of globaltimer seen; 0: too few readings */
  double slope_min_hz, slope_max_hz; /* over the SMs */
  double residual_max_ns;      /* how far the worst reading contradicts its SM's line; 0: none does */
  double residual_spread_ns;   /* standard deviation of the readings' middles about the lines; a timer that
                                * steps evenly gives its step / sqrt(12) */
  int64_t host_offset_ns;      /* REALTIME - globaltimer */
  int64_t host_bound_ns;       /* half the smallest round trip */
  double host_drift_ppm;       /* between the first and the last pair; NAN with one pair */
  int64_t bound_ns;            /* stated bound on any single ns value of this device; INT64_MAX:
                                * too few readings to state one, or (slope_max_hz 0) for a slope */
  uint32_t sms_seen, sms_guessed; /* guessed: too few pairs for a slope of its own, the others' used */
  uint32_t sms_changed;        /* SMs whose rate changed: more than one line */
  uint32_t readings, outliers; /* of both clocks; outliers fit neither their neighbours nor another line */
  uint32_t slack_ns;           /* by which readings contradicted a timer of even steps; 0: not at all */
  double slope_bound_ppm;      /* the least known of the SMs' own slopes */
  double sm_bound_ns;          /* bound_ns without the host's part: what an ns of one SM compared with
                                * one of another is good to; INFINITY where bound_ns is not known */
  uint32_t sms_refused, refused_sm; /* SMs whose timer ran backwards, so that no bound can be stated;
                                * the first of them */
  uint64_t went_back_ns;       /* by this much: a timer restarted while the capture was made */
  uint32_t calibrations;       /* how often edges of globaltimer were caught */
  uint32_t sms_calibrated;     /* of the SMs seen, those with edges */
  double edge_bound_ns;        /* what the worst SM's line is good to where its edges were caught; 0: none */
  uint64_t skew_cycles;        /* the largest clock64 of the SMs less the smallest, at the same moment */
  bool has_monotonic;          /* CLOCK_MONOTONIC: */
  int64_t monotonic_offset_ns; /* MONOTONIC - REALTIME */
  int64_t monotonic_bound_ns;
  int64_t realtime_set_ns;     /* CLOCK_REALTIME was set forward by this much while the capture was made;
                                * times are what it showed at the start. 0: it was not */
} ink_clock_quality;

typedef struct ink_sm_quality { /* of one SM with readings */
  uint32_t sm;
  bool recorded;               /* it has tracks; else only edges */
  bool guessed;
  uint32_t pieces, readings, edges, outliers;
  double hz, hz_bound_ppm;     /* of the longest piece */
  double bound_ns;             /* as sm_bound_ns; INFINITY: not known */
  double residual_max_ns, residual_spread_ns;
  uint64_t skew_cycles;        /* its clock64 less the smallest of the SMs', at the same moment */
} ink_sm_quality;


/* Fits the clocks of a capture. The map borrows nothing of it. The caller frees *out with ink_clock_map_free.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (a NULL), INK_ERROR_MEMORY. */
INK_API ink_status ink_clock_map_make(const ink_capture *capture, ink_clock_map **out,
                                      ink_error *error);
/* Frees a map. NULL is fine. */
INK_API void ink_clock_map_free(ink_clock_map *map);
/* A stamp of an SM as Unix ns, or as ns of globaltimer if the capture has no host clock.
 * Returns: the ns. */
INK_API int64_t ink_clock_map_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                                 uint64_t cycles);
/* Cycles of that SM as a duration (no offset).
 * Returns: ns. */
INK_API double ink_clock_map_duration_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                                         uint64_t cycles);
/* How far the truth may be from that ns, without the host's part (host_bound_ns and half a timer step): for
 * comparing SMs of one device.
 * Returns: the bound in ns; INFINITY: not known. */
INK_API double ink_clock_map_bound_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                                      uint64_t cycles);
/* How far the truth may be from the ns of the time between two stamps of one SM.
 * Returns: the bound in ns; INFINITY: not known. */
INK_API double ink_clock_map_duration_bound_ns(const ink_clock_map *map, int32_t device, uint32_t sm,
                                               uint64_t from_cycles, uint64_t to_cycles);
/* What is known of the clocks of each device.
 * Returns: how many devices there are; *out is their array, the map's. */
INK_API size_t ink_clock_map_quality(const ink_clock_map *map, const ink_clock_quality **out);
/* The SMs of a device that have readings, in rising order.
 * Returns: how many there are; *out is their array, the map's. */
INK_API size_t ink_clock_map_sms(const ink_clock_map *map, int32_t device,
                                 const ink_sm_quality **out);
/* CLOCK_MONOTONIC at a CLOCK_REALTIME of the map's ns.
 * Returns: the ns; INT64_MIN if has_monotonic is false. */
INK_API int64_t ink_clock_map_monotonic_ns(const ink_clock_map *map, int32_t device,
                                           int64_t realtime_ns);
/* The clock rate of an SM, as it was measured.
 * Returns: Hz; 1e9 if nothing is known of the SM. */
INK_API double ink_clock_map_sm_hz(const ink_clock_map *map, int32_t device, uint32_t sm);

/* ---- decoding ------------------------------------------------------------------------------ */

/* Runs every track (or those of one launch, if launch is not UINT32_MAX) through the sink.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT (a NULL), INK_ERROR_MEMORY, INK_ERROR_STOPPED (the sink's progress asked for it), and
 * what the sink's functions return. */
INK_API ink_status ink_decode(const ink_capture *capture, const ink_clock_map *map,
                              uint32_t launch, const ink_sink *sink, ink_error *error);

/* ---- tracks that never closed -------------------------------------------------------------- */

typedef struct ink_open_track {
  uint64_t track;             /* of ink_capture_track */
  uint32_t launch;
  bool cut;                   /* its grid ended all the same: by `exit` in assembly, or a trap */
  bool seen_known;            /* when it was last seen open; false: seen_ns is that of its last mark */
  int64_t seen_ns;            /* clock map */
  double inside_ns;           /* from the begin of place.inside to then; 0 where it stood in none */
  uint64_t marks;             /* of it that are kept */
  ink_place place;
} ink_open_track;

/* All tracks that were open when they were last seen, in the order of tracks. The caller frees the list with
 * ink_open_tracks_free; of none it is NULL.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (a NULL), INK_ERROR_MEMORY. */
INK_API ink_status ink_open_tracks(const ink_capture *capture, const ink_clock_map *map,
                                   ink_open_track **out, size_t *count, ink_error *error);
/* Frees the list. NULL is fine. */
INK_API void ink_open_tracks_free(ink_open_track *tracks);

#ifdef __cplusplus
}
#endif
#endif
