/* SPDX-License-Identifier: MIT */
/* Writes the captures that the golden tests of the command read: every number is made up here, so
 * the same bytes come out each time, and the expected tables can be checked by hand. */
#include "make_activity.h"

#include "inkmark/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 256 };

typedef struct maker {
  ink_writer *writer;
  ink_error error;
  uint64_t ring[RING], aux[RING];
  ink_track track;
  uint64_t clock; /* of the track being made */
  uint64_t hash;
  uint32_t records;
} maker;

static void check(maker *make, ink_status status) {
  if (!status)
    return;
  fprintf(stderr, "make_captures: %s\n", make->error.message);
  exit(1);
}

/* As record.h words it: FNV-1a over NAME ':' SECTIONS, folded to 48 bits. */
static uint64_t hash48(const char *name, const char *sections) {
  uint64_t h = 0xcbf29ce484222325u;
  char text[1024];
  snprintf(text, sizeof text, "%s:%s", name, sections);
  for (const char *at = text; *at; at++)
    h = (h ^ (unsigned char)*at) * 0x100000001b3u;
  return (h >> 48 ^ h) & INK_CLOCK_MASK;
}

static void begin(maker *make, const char *path, const char *command, const char *name,
                  const char *sections) {
  *make = (maker){.hash = hash48(name, sections)};
  check(make, ink_writer_open(path, true, &make->writer, &make->error));
  check(make, ink_writer_fact(make->writer, "command", command, &make->error));
  check(make, ink_writer_fact(make->writer, "host", "testhost", &make->error));
  check(make, ink_writer_fact(make->writer, "pid", "4711", &make->error));
  check(make, ink_writer_fact(make->writer, "started_ns", "1700000000000000000", &make->error));
  check(make, ink_writer_fact(make->writer, "version", "test", &make->error));
  check(make,
        ink_writer_table(make->writer, name, sections, "solver.cu", 12, make->hash, &make->error));
}

static void device(maker *make, bool simulated, uint32_t records, uint32_t flags) {
  make->records = records;
  ink_device_info info = {.index = 0,
                          .simulated = simulated,
                          .sm_count = 4,
                          .capability = 90,
                          .clock_khz = 1000000,
                          .track_count = 64,
                          .records_per_track = records,
                          .aux_records_per_track = records,
                          .flags = INK_BUFFER_ON | flags,
                          .runtime_version = 13000,
                          .driver_version = 13000,
                          .name = simulated ? "Simulated GPU" : "Test GPU"};
  check(make, ink_writer_device(make->writer, &info, &make->error));
  for (uint64_t i = 0; i < 2; i++) {
    ink_host_clock pair = {.global_ns = 5000000 + i * 1000000,
                           .realtime_before_ns = (int64_t)(1700000000005000000 + i * 1000000 - 40),
                           .realtime_after_ns = (int64_t)(1700000000005000000 + i * 1000000 + 40),
                           .monotonic_before_ns = (int64_t)(5000000 + i * 1000000 - 40)};
    check(make, ink_writer_host_clock(make->writer, &pair, &make->error));
  }
}

/* What marks cost; none and a reason where `note` is given. */
static void costs(maker *make, const char *note) {
  static const ink_mark_cost list[] = {
      {INK_COST_OF_MARK, INK_COST_RECORDING, 24, 0, 9250, 500},
      {INK_COST_OF_ITER, INK_COST_RECORDING, 24, 0, 16000, 750},
      {INK_COST_OF_OPENING, INK_COST_RECORDING, 3, 0, 4000, 1000},
      {INK_COST_OF_TRACK, INK_COST_RECORDING, 3, 0, 1200000, 30000},
      {INK_COST_OF_MARK, INK_COST_RECORDING | INK_COST_CALLED_FUNCTION, 24, 0, 51500, 2000},
      {INK_COST_OF_MARK, 0, 24, 0, 8500, 250},
      {INK_COST_OF_MARK, INK_COST_CALLED_FUNCTION, 24, 0, 12000, 1000}};
  const ink_mark_costs all = {.count = note[0] ? 0 : sizeof list / sizeof *list, .costs = list,
                              .note = note};
  check(make, ink_writer_mark_costs(make->writer, &all, &make->error));
}

/* Cycles tick once a ns on every SM; SM i's counter starts at i * 1000003. */
static uint64_t global_ns(uint32_t sm, uint64_t cycles) {
  return 5000000 + cycles - sm * UINT64_C(1000003);
}

static void open_track(maker *make, uint32_t section, uint64_t grid_id, uint32_t blocks,
                       uint32_t block, uint64_t start) {
  uint32_t sm = block % 4;
  make->clock = sm * UINT64_C(1000003) + start;
  make->track = (ink_track){.state = INK_TRACK_CLOSED,
                            .ticket = grid_id * 1000 + block,
                            .grid_id = grid_id,
                            .grid_dim = {blocks, 1, 1},
                            .block_dim = {64, 1, 1},
                            .block_index = {block, 0, 0},
                            .sm_open = sm,
                            .sm_close = sm,
                            .open_clock0 = make->clock,
                            .open_global_ns = global_ns(sm, make->clock),
                            .open_clock1 = make->clock};
  make->track.kernel = section; /* the slot: one for each section that names a kernel */
  for (size_t i = 0; i < RING; i++)
    make->ring[i] = make->aux[i] = INK_UNWRITTEN;
}

static void word(maker *make, uint64_t value) {
  make->ring[make->track.words++ % make->records] = value;
}

static void record(maker *make, enum ink_kind kind, uint32_t section, uint64_t cycles) {
  make->clock += cycles;
  word(make, INK_HEAD(kind, section, make->clock));
}

static void iteration(maker *make, int64_t row, uint64_t cycles) {
  word(make, (uint64_t)row);
  record(make, INK_KIND_ITER, 0, cycles);
  make->track.extra++;
}

static void called_record(maker *make, enum ink_kind kind, uint32_t section, uint64_t cycles) {
  make->clock += cycles;
  make->aux[make->track.aux_words++ % make->records] = INK_HEAD(kind, section, make->clock);
}

static void called(maker *make, uint32_t section, uint64_t cycles) {
  called_record(make, INK_KIND_MARK, section, cycles);
}

static void close_track(maker *make, uint64_t cycles) {
  make->clock += cycles;
  make->track.close_clock0 = make->track.close_clock1 = make->clock;
  make->track.close_global_ns = global_ns(make->track.sm_close, make->clock);
  check(make, ink_writer_track(make->writer, 0, &make->track, make->ring, make->aux, &make->error));
}

static void counts(maker *make, uint32_t section, uint64_t missed, uint64_t tracks, uint64_t marks,
                   uint64_t words) {
  ink_kernel_counts count = {.slot = section,
                             .key = INK_KERNEL_KEY(make->hash, section),
                             .missed = missed,
                             .tracks = tracks,
                             .marks = marks,
                             .words = words};
  check(make, ink_writer_counts(make->writer, &count, 1, tracks, 0, 0, &make->error));
}

static void end(maker *make) {
  check(make, ink_writer_close(make->writer, &make->error));
}

/* Four blocks; block b runs 2 + b % 2 iterations of four sections, 100 * (b + 1) cycles LineSearch,
 * 50 each of the two in the middle and 10 * (i + 1) UpdateGradient in iteration i. */
static void solver(const char *path, const char *cost_note) {
  maker make;
  uint64_t marks = 0, words = 0;
  begin(
      &make, path, "./solver -n 4", "Solver",
      "Step, LineSearch, UpdateConstraint, HessianIncremental, UpdateGradient, StepLast, NeverRun");
  device(&make, true, RING, 0);
  if (cost_note)
    costs(&make, cost_note);
  for (uint32_t b = 0; b < 4; b++) {
    open_track(&make, 1, 7, 4, b, 1000);
    for (uint32_t i = 0; i < 2 + b % 2; i++) {
      iteration(&make, i, 5);
      record(&make, INK_KIND_MARK, 2, 100 * (b + 1));
      record(&make, INK_KIND_MARK, 3, 50);
      record(&make, INK_KIND_MARK, 4, 50);
      record(&make, INK_KIND_MARK, 5, 10 * (i + 1));
    }
    record(&make, INK_KIND_MARK, 6, 30);
    close_track(&make, 20);
    marks += make.track.words - make.track.extra;
    words += make.track.words;
  }
  counts(&make, 1, 0, 4, marks, words);
  end(&make);
}

/* One block: Outer holds Inner twice, a called function marks Helper, then a value and an async
 * range; a second kernel in a second launch. */
static void nested(const char *path) {
  maker make;
  begin(&make, path, "./nested", "Nest", "Work, Outer, Inner, Helper, Copy, Second");
  device(&make, true, RING, 0);
  open_track(&make, 1, 1, 1, 0, 500);
  record(&make, INK_KIND_BEGIN, 2, 10);
  record(&make, INK_KIND_MARK, 3, 200);
  called(&make, 4, 40);
  record(&make, INK_KIND_MARK, 3, 300);
  record(&make, INK_KIND_END, 2, 25);
  word(&make, 9);
  record(&make, INK_KIND_ASYNC_BEGIN, 5, 5);
  word(&make, 9);
  record(&make, INK_KIND_ASYNC_END, 5, 70);
  make.track.extra += 2;
  close_track(&make, 15);
  open_track(&make, 6, 2, 1, 0, 5000);
  record(&make, INK_KIND_MARK, 3, 123456);
  close_track(&make, 1);
  counts(&make, 1, 0, 1, 8, 9);
  counts(&make, 6, 0, 1, 1, 1);
  end(&make);
}

/* Three kernels of two files: two of them share a list of what nobody passed. */
static void shared(const char *path) {
  static const char other[] = "Third, Load, Gone";
  maker make;
  begin(&make, path, "./shared", "Pair", "First, Second, Load, Never, Rare");
  const uint64_t hash = hash48("Single", other);
  check(&make, ink_writer_table(make.writer, "Single", other, "single.cu", 3, hash, &make.error));
  device(&make, true, RING, 0);
  for (uint32_t slot = 1; slot <= 3; slot++) {
    open_track(&make, slot, slot, 1, 0, 1000 * slot);
    record(&make, INK_KIND_MARK, slot == 3 ? 2 : 3, 100 * slot);
    close_track(&make, 1);
  }
  counts(&make, 1, 0, 1, 1, 1);
  counts(&make, 2, 0, 1, 1, 1);
  ink_kernel_counts third = {
      .slot = 3, .key = INK_KERNEL_KEY(hash, 1), .tracks = 1, .marks = 1, .words = 1};
  check(&make, ink_writer_counts(make.writer, &third, 1, 1, 0, 0, &make.error));
  end(&make);
}

/* On a "GPU": rings of 8 records that 20 marks overwrote, 3 threads that found no track, 2 tracks
 * that were lost; and an END that closes nothing. */
static void dropped(const char *path) {
  maker make;
  begin(&make, path, "./dropped", "Drop", "Loop, Load, Store");
  device(&make, false, 8, 0);
  for (uint32_t b = 0; b < 2; b++) {
    open_track(&make, 1, 3, 2, b, 100);
    for (int i = 0; i < 20; i++)
      record(&make, INK_KIND_MARK, i % 2 ? 3 : 2, i % 2 ? 7 : 11);
    if (b)
      record(&make, INK_KIND_END, 3, 4);
    close_track(&make, 2);
  }
  counts(&make, 1, 3, 4, 81, 81);
  end(&make);
}

/* 60 iterations of twelve sections with long names: wider and longer than a terminal. */
static void wide(const char *path) {
  maker make;
  char sections[512] = "Kernel";
  for (int i = 1; i <= 12; i++) {
    char name[32];
    snprintf(name, sizeof name, ", ASectionWithALongName%02d", i);
    strcat(sections, name);
  }
  begin(&make, path, "./wide", "Wide", sections);
  device(&make, true, RING, 0);
  for (uint32_t part = 0; part < 4; part++) {
    open_track(&make, 1, 1, 4, part, 100);
    for (uint32_t i = 0; i < 15; i++) {
      iteration(&make, part * 15 + i, 1);
      for (uint32_t s = 2; s <= 13; s++)
        record(&make, INK_KIND_MARK, s, s * 100);
    }
    close_track(&make, 1);
  }
  counts(&make, 1, 0, 4, 15 * 13 * 4, 15 * 14 * 4);
  end(&make);
}

/* Marks are there, but no kernel ran. */
static void none(const char *path) {
  maker make;
  begin(&make, path, "./none", "Nothing", "Kernel, Part");
  device(&make, true, RING, 0);
  end(&make);
}

/* The program was killed: no END, and a track that had not closed. */
static void killed(const char *path) {
  maker make;
  begin(&make, path, "./killed", "Kill", "Loop, Part");
  device(&make, true, RING, 0);
  open_track(&make, 1, 1, 2, 0, 100);
  record(&make, INK_KIND_MARK, 2, 400);
  close_track(&make, 6);
  open_track(&make, 1, 1, 2, 1, 100);
  make.track.state = INK_TRACK_OPEN;
  check(&make, ink_writer_track(make.writer, 0, &make.track, make.ring, make.aux, &make.error));
  counts(&make, 1, 0, 1, 1, 1);
  check(&make, ink_writer_flush(make.writer, &make.error));
  ink_writer_abandon(make.writer);
}

/* An END that names another section than the BEGIN, and a range that never ends. */
static void broken(const char *path) {
  maker make;
  begin(&make, path, "./broken", "Broken", "Kernel, Search, Gradient");
  device(&make, true, RING, 0);
  open_track(&make, 1, 1, 1, 0, 100);
  record(&make, INK_KIND_BEGIN, 2, 10);
  record(&make, INK_KIND_END, 3, 20);
  record(&make, INK_KIND_BEGIN, 3, 30);
  close_track(&make, 40);
  counts(&make, 1, 0, 1, 3, 3);
  end(&make);
}

/* Warps record; in each of two launches of 2 x 2 blocks every warp leaves a range open, and in the last
 * block one marks what is no section. */
static void mistakes(const char *path) {
  maker make;
  begin(&make, path, "./mistakes", "Slips", "Gather, Load, Wait");
  device(&make, true, RING, INK_BUFFER_PER_WARP);
  for (uint32_t launch = 0; launch < 2; launch++)
    for (uint32_t b = 0; b < 4; b++)
      for (uint32_t warp = 0; warp < 2; warp++) {
        open_track(&make, 1, 4 + launch, 2, b, 100 + 1000 * launch);
        make.track.grid_dim[1] = 2;
        make.track.block_index[0] = b % 2;
        make.track.block_index[1] = b / 2;
        make.track.thread = 32 * warp;
        make.track.ticket = launch * 8 + b * 2 + warp;
        record(&make, INK_KIND_BEGIN, 2, 10);
        record(&make, INK_KIND_MARK, 3, 20);
        if (b == 3 && warp)
          record(&make, INK_KIND_MARK, 9, 20);
        close_track(&make, 40);
      }
  counts(&make, 1, 0, 16, 34, 34);
  end(&make);
}

/* Walk, a recursive device function, calls itself once and marks its Leaf on the way down and its Sort on
 * the way up; the body's Traverse is around it. Then a range Refine of the body calls Sort too, and Leaf
 * marks inside of a Leaf of the body. The names stand in the order of the alphabet, not of calls. */
static void recursive(const char *path) {
  maker make;
  begin(&make, path, "./recursive", "Tree", "Search, Leaf, Refine, Sort, Traverse, Walk");
  device(&make, true, RING, 0);
  for (uint32_t b = 0; b < 2; b++) {
    open_track(&make, 1, 1, 2, b, 100);
    called_record(&make, INK_KIND_BEGIN, 6, 10);
    called(&make, 2, 30);
    called_record(&make, INK_KIND_BEGIN, 6, 10);
    called(&make, 2, 50);
    called(&make, 4, 100);
    called_record(&make, INK_KIND_END, 6, 0);
    called(&make, 4, 100);
    called_record(&make, INK_KIND_END, 6, 10);
    record(&make, INK_KIND_MARK, 5, 20);
    record(&make, INK_KIND_BEGIN, 3, 10);
    called(&make, 4, 200);
    record(&make, INK_KIND_END, 3, 0);
    called(&make, 2, 40);
    record(&make, INK_KIND_MARK, 2, 20);
    close_track(&make, 10);
  }
  counts(&make, 1, 0, 2, 28, 28);
  end(&make);
}

/* What is open goes to the capture as it stands; seen `seen` ns after it was opened. */
static void leave_open(maker *make, uint32_t flags, uint64_t seen) {
  make->track.state = INK_TRACK_OPEN;
  make->track.extra = make->track.aux_extra = 0;
  make->track.flags = flags;
  make->track.close_global_ns = make->track.open_global_ns + seen;
  check(make, ink_writer_open_track(make->writer, 0, &make->track, make->ring, make->track.words,
                                    make->aux, make->track.aux_words, &make->error));
}

/* How the recording of a kernel that hangs ends. */
enum hung_end { KILLED, BY_SIGNAL, WRITER_SAW_KILL };
static void end_hung(maker *make, enum hung_end how) {
  if (how != KILLED)
    check(make, ink_writer_fact(make->writer, "ended_by", how == BY_SIGNAL ? "signal 15 (SIGTERM)" : "signal 9 (SIGKILL)",
                                &make->error));
  if (how == WRITER_SAW_KILL) {
    check(make, ink_writer_fact(make->writer, "write_failure", "3 chunks could not be written", &make->error));
    check(make, ink_writer_fact(make->writer, "write_failure", "2 parts were ruined", &make->error));
    check(make, ink_writer_fact(make->writer, "unfinished", "the program was killed by signal 9 (Killed)",
                                &make->error));
  }
  check(make, ink_writer_flush(make->writer, &make->error));
  if (how == KILLED)
    ink_writer_abandon(make->writer);
  else
    check(make, ink_writer_close(make->writer, &make->error));
}

/* The program was killed while a kernel of 8 blocks hung: blocks 0 to 3 had closed, block 4 waits in iteration 7, 5
 * stands behind its Load, 6 in a helper in a range, of 7 no more is known than that it was past Load. A second
 * kernel left by `exit` behind its Load in one of two blocks. */
static void hung(const char *path, enum hung_end how) {
  maker make;
  begin(&make, path, "./hung", "Hang", "Step, Load, Wait, Compute, Helper, Short");
  device(&make, true, RING, 0);
  for (uint32_t b = 0; b < 8; b++) {
    open_track(&make, 1, 3, 8, b, 1000);
    for (int64_t i = 0; i < 8; i++) {
      iteration(&make, i, 5);
      record(&make, INK_KIND_MARK, 2, 100);
      if (b == 5 && i == 7)
        leave_open(&make, INK_TRACK_NEWEST, UINT64_C(4000000000));
      if (b == 7 && i == 7)
        leave_open(&make, 0, UINT64_C(4000000000));
      if ((b == 5 || b == 7) && i == 7)
        break;
      record(&make, INK_KIND_BEGIN, 3, 10);
      if (b == 6 && i == 7)
        called(&make, 5, 30);
      if ((b == 4 || b == 6) && i == 7) {
        leave_open(&make, INK_TRACK_NEWEST, UINT64_C(4000000000));
        break;
      }
      record(&make, INK_KIND_END, 3, 200);
      record(&make, INK_KIND_MARK, 4, 50);
    }
    if (b < 4)
      close_track(&make, 20);
  }
  for (uint32_t b = 0; b < 2; b++) {
    open_track(&make, 6, 4, 2, b, 20000);
    record(&make, INK_KIND_MARK, 2, 400);
    if (b) {
      leave_open(&make, INK_TRACK_NEWEST | INK_TRACK_CUT, UINT64_C(1000000));
    } else {
      record(&make, INK_KIND_MARK, 4, 100);
      close_track(&make, 6);
    }
  }
  counts(&make, 1, 0, 4, 4 * 40, 4 * 48);
  counts(&make, 6, 0, 1, 2, 2);
  end_hung(&make, how);
}

/* 40 blocks hang: 36 in Wait, 3 behind Load, one before its first mark. */
static void many_hung(const char *path) {
  maker make;
  begin(&make, path, "./many", "Hang", "Step, Load, Wait");
  device(&make, true, RING, 0);
  for (uint32_t b = 0; b < 40; b++) {
    open_track(&make, 1, 3, 40, b, 1000);
    if (b != 39)
      record(&make, INK_KIND_MARK, 2, 100 + b);
    if (b < 36)
      record(&make, INK_KIND_BEGIN, 3, 10);
    leave_open(&make, INK_TRACK_NEWEST, 2000000);
  }
  counts(&make, 1, 0, 0, 0, 0);
  check(&make, ink_writer_flush(make.writer, &make.error));
  ink_writer_abandon(make.writer);
}

/* A kernel that ran for long, written in parts while it did: 30 iterations, of which the parts lack 10 to 14 and the ring
 * of 32 records has the last ones; it closed in the end, or was open when the program was killed. */
static void streamed(const char *path, bool closes) {
  maker make;
  uint64_t words[256];
  begin(&make, path, "./streamed", "Stream", "Server, Poll, Work");
  device(&make, true, 32, 0);
  open_track(&make, 1, 5, 1, 0, 1000);
  const ink_track header = make.track;
  for (int64_t i = 0; i < 30; i++) {
    const uint64_t from = make.track.words;
    iteration(&make, i, 5);
    record(&make, INK_KIND_MARK, 2, 40);
    record(&make, INK_KIND_MARK, 3, 100);
    for (uint64_t k = from; k < make.track.words; k++)
      words[k] = make.ring[k % 32];
    const ink_part part = {.ticket = header.ticket, .open_clock0 = header.open_clock0, .first = from,
                           .flags = i == 15 && !closes ? INK_PART_LOST : 0, .words = words + from,
                           .count = make.track.words - from};
    if (i < 25 && (i < 10 || i > 14))
      check(&make, ink_writer_part(make.writer, &part, &make.error));
  }
  if (closes) {
    close_track(&make, 20);
    counts(&make, 1, 0, 1, 90, 120);
    end(&make);
    return;
  }
  make.track.state = INK_TRACK_OPEN;
  make.track.extra = 0;
  make.track.flags = INK_TRACK_LOST_OLDER;
  check(&make, ink_writer_open_track(make.writer, 0, &make.track, NULL, 0, NULL, 0, &make.error));
  counts(&make, 1, 0, 0, 0, 0);
  end_hung(&make, KILLED);
}

/* A killed run with two kernels and a ring that was too short, whose every name would steer a terminal, end a
 * line, be a formula, turn the reading direction or is no UTF-8. */
static void hostile(const char *path) {
  static const char bel[] = "\x1b]0;title\x07", row[] = "\r\nfake   100.0 %";
  char sections[1024], table[256];
  maker make;
  snprintf(sections, sizeof sections, "K%s%s,=2+3*cmd|' /C calc'!A0,+1+1,-2+3,@SUM(A1),caf\xe9,\xc2\x9b" "31m,"
           "\xe2\x80\xae" "abc\xe2\x80\xac,\x7f\b,'quoted',-17,back\\slash\\x1b,say \"hi\",\x9b" "1m\xe2\x82,Never\x1b[2J",
           bel, row);
  snprintf(table, sizeof table, "T%s%s", bel, row);
  make = (maker){.hash = 0x123456};
  check(&make, ink_writer_open(path, true, &make.writer, &make.error));
  check(&make, ink_writer_fact(make.writer, "command", "./x 'pl\x1b[31m\nX' caf\xe9", &make.error));
  check(&make, ink_writer_fact(make.writer, "host", "=host\x1b[2J\r", &make.error));
  check(&make, ink_writer_fact(make.writer, "pid", "-4711", &make.error));
  check(&make, ink_writer_fact(make.writer, "version", "@value\t\xc2\x85", &make.error));
  check(&make, ink_writer_fact(make.writer, "write_failure", "full\x1b[7m\nline", &make.error));
  check(&make, ink_writer_table(make.writer, table, sections, "f\x1b[5m\n.cu", 12, make.hash, &make.error));
  device(&make, true, RING, 0);
  ink_device_info info = {.index = 0, .simulated = 1, .sm_count = 4, .capability = 90, .clock_khz = 1000000,
                          .track_count = 64, .records_per_track = RING, .aux_records_per_track = RING,
                          .flags = INK_BUFFER_ON, .runtime_version = 13000, .driver_version = 13000,
                          .name = "GPU\x1b[41m\n\xff"};
  check(&make, ink_writer_device(make.writer, &info, &make.error)); /* the newest of that number counts */
  costs(&make, "not\x1b[8m\nmeasured");
  for (uint32_t b = 0; b < 2; b++) {
    open_track(&make, 1, 7 + b, 2, b, 1000);
    for (uint32_t i = 0; i < 12; i++) {
      iteration(&make, i, 5);
      record(&make, INK_KIND_BEGIN, 2 + i, 10);
      record(&make, INK_KIND_END, 2 + (i == 3 ? 5 : i), 100);
    }
    called(&make, 3, 40);
    close_track(&make, 20);
  }
  open_track(&make, 1, 9, 1, 0, 90000);
  make.track.state = INK_TRACK_OPEN;
  check(&make, ink_writer_track(make.writer, 0, &make.track, make.ring, make.aux, &make.error));
  counts(&make, 1, 3, 4, 60, 90);
  check(&make, ink_writer_flush(make.writer, &make.error));
  ink_writer_abandon(make.writer);
}

int main(void) {
  hostile("hostile.ink");
  recursive("recursive.ink");
  broken("broken.ink");
  mistakes("mistakes.ink");
  solver("solver.ink", NULL);
  solver("costed.ink", "");
  solver("unmeasured.ink", "'solver.cu' was compiled with INKMARK_NO_COST");
  nested("nested.ink");
  shared("shared.ink");
  dropped("dropped.ink");
  wide("wide.ink");
  none("none.ink");
  killed("killed.ink");
  hung("hung.ink", KILLED);
  hung("hung_ended.ink", BY_SIGNAL);
  hung("hung_failed.ink", WRITER_SAW_KILL);
  many_hung("many_hung.ink");
  streamed("streamed.ink", true);
  streamed("streamed_open.ink", false);
  make_activity("activity.ink");
  return 0;
}
