/* SPDX-License-Identifier: MIT */
/* Makes captures without a GPU, by storing the records that kernels would have stored.
 *
 * mixed: a simulated GPU 0 with two overlapping launches of Solver's Step (8 blocks on 4 SMs) and
 * one of Pipe's Main (per-warp tracks, asynchronous ranges, a name that needs quoting), and GPU 1,
 * not simulated, with a launch whose ring overflowed. one: a single launch. many: for measurements.
 */
#include "made_capture.h"

#include "inkmark/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOLVER                                                                                     \
  "Step, LineSearch, UpdateConstraint, Gradient, Inner, Residual, Note, Sums, NeverPassed"
enum { STEP = 1, LINE_SEARCH, UPDATE, GRADIENT, INNER, RESIDUAL, NOTE, SUMS };
#define PIPE "Main, Copy, \"Odd\" <b>&name, Wait"
enum { MAIN = 1, COPY, ODD, WAIT };
#define SOLVER_HASH UINT64_C(0x5a0000000001)
#define PIPE_HASH UINT64_C(0x5a0000000002)

#define UNIX_BASE INT64_C(1700000000123456789)
#define GLOBAL_BASE UINT64_C(77000000000)

typedef struct maker {
  ink_writer *writer;
  ink_error error;
  ink_track track;
  uint64_t *ring, *aux;
  uint32_t records; /* of the current device, both rings */
  uint64_t clock;   /* of the track's SM */
  uint64_t seed;
  bool roles;
} maker;

static void check(maker *m, ink_status status) {
  if (status == INK_OK)
    return;
  fprintf(stderr, "made_capture: %s\n", m->error.message);
  exit(1);
}

/* An SM ticks 1.5 times a ns; its counter began at another moment than its neighbours', SM 3's
 * beyond 48 bits. */
static uint64_t sm_clock(uint32_t sm, uint64_t global_ns) {
  uint64_t start = sm * UINT64_C(1000000007) + (sm == 3 ? (UINT64_C(1) << 48) - 30000 : 0);
  return start + (global_ns - GLOBAL_BASE) * 3 / 2;
}
static uint64_t sm_global(uint32_t sm, uint64_t clock) {
  return GLOBAL_BASE + (clock - sm_clock(sm, GLOBAL_BASE)) * 2 / 3;
}

static void store(maker *m, int called, const uint64_t *words, size_t n) {
  uint64_t *count = called ? &m->track.aux_words : &m->track.words;
  *(called ? &m->track.aux_extra : &m->track.extra) += n - 1;
  for (size_t i = 0; i < n; i++)
    (called ? m->aux : m->ring)[(*count)++ % m->records] = words[i];
}

/* The time that passes before a record: some cycles, different each time, the same in every run. */
static uint64_t tick(maker *m, uint64_t least) {
  m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  m->clock += least + (m->seed >> 33) % (least + 1);
  return m->clock;
}

static void plain(maker *m, uint32_t kind, uint32_t section, uint64_t least) {
  uint64_t word = INK_HEAD(kind, section, tick(m, least));
  store(m, 0, &word, 1);
}

static void keyed(maker *m, uint32_t kind, uint32_t section, uint64_t key, uint64_t least) {
  uint64_t words[2] = {key, INK_HEAD(kind, section, tick(m, least))};
  store(m, 0, words, 2);
}

static void called_mark(maker *m, uint32_t section, uint64_t least) {
  uint64_t clock = tick(m, least);
  uint64_t words[2] = {INK_HEAD(INK_KIND_MARK, section, clock),
                       INK_ESCAPE_WORD(INK_ESCAPE_TABLE, SOLVER_HASH, clock)};
  store(m, 1, words, 2);
}

static void value(maker *m, uint32_t code, uint32_t section, uint64_t bits) {
  uint64_t clock = tick(m, 3);
  uint64_t words[3] = {bits, INK_HEAD(INK_KIND_INSTANT, section, clock),
                       INK_ESCAPE_WORD(code, SOLVER_HASH, clock)};
  store(m, 0, words, 3);
}

static void sum(maker *m, uint32_t section, uint64_t count) {
  uint64_t clock = tick(m, 3);
  uint64_t words[6] = {count,
                       count * 11,
                       7,
                       15,
                       INK_HEAD(INK_KIND_INSTANT, section, clock),
                       INK_ESCAPE_WORD(INK_ESCAPE_SUM, SOLVER_HASH, clock)};
  store(m, 0, words, 6);
}

static void open_track(maker *m, uint64_t grid_id, uint32_t blocks, uint32_t block, uint32_t thread,
                       uint32_t sm, uint64_t global_ns) {
  static uint64_t ticket;
  m->track = (ink_track){.state = INK_TRACK_CLOSED,
                         .ticket = ticket++,
                         .grid_id = grid_id,
                         .grid_dim = {blocks, 1, 1},
                         .block_dim = {128, 1, 1},
                         .block_index = {block, 0, 0},
                         .thread = thread,
                         .sm_open = sm,
                         .sm_close = sm};
  m->clock = sm_clock(sm, global_ns);
  m->seed = grid_id * 1000003 + block * 131 + thread;
  m->track.open_clock0 = m->clock;
  m->track.open_global_ns = sm_global(sm, m->clock);
  m->track.open_clock1 = m->clock += 2;
}

static void close_track(maker *m, int32_t device) {
  m->clock += 40;
  m->track.close_clock0 = m->clock;
  m->track.close_global_ns = sm_global(m->track.sm_open, m->clock);
  m->track.close_clock1 = m->clock + 2;
  check(m, ink_writer_track(m->writer, device, &m->track, m->ring, m->aux, &m->error));
}

/* One environment of the solver: `iterations` of a Newton loop. */
static void solver(maker *m, uint32_t iterations, bool everything) {
  for (uint32_t i = 0; i < iterations; i++) {
    keyed(m, INK_KIND_ITER, 0, i, 5);
    plain(m, INK_KIND_MARK, LINE_SEARCH, 300);
    plain(m, INK_KIND_MARK, UPDATE, 150);
    if (everything) {
      plain(m, INK_KIND_BEGIN, GRADIENT, 10);
      plain(m, INK_KIND_MARK, INNER, 90);
      called_mark(m, NOTE, 20);
      plain(m, INK_KIND_MARK, INNER, 70);
      plain(m, INK_KIND_INSTANT, NOTE, 5);
      plain(m, INK_KIND_END, GRADIENT, 5);
      double residual = 1.0 / (i + 1);
      uint64_t bits;
      memcpy(&bits, &residual, 8);
      value(m, INK_ESCAPE_VALUE_F64, RESIDUAL, bits);
      value(m, INK_ESCAPE_VALUE_I64, NOTE, (uint64_t) - (int64_t)i);
      value(m, INK_ESCAPE_VALUE_U64, UPDATE, (uint64_t)i << 40);
      sum(m, SUMS, i + 1);
      for (int n = 0; n < 3; n++)
        plain(m, INK_KIND_MARK, RESIDUAL, 1); /* one or two cycles: 0, 1 or 2 ns */
    } else {
      plain(m, INK_KIND_MARK, GRADIENT, 200);
      plain(m, INK_KIND_MARK, INNER, 100);
      plain(m, INK_KIND_MARK, NOTE, 80);
    }
  }
}

static void pipe_line(maker *m, uint32_t stages) {
  for (uint32_t i = 0; i < stages; i++) {
    keyed(m, INK_KIND_ASYNC_BEGIN, COPY, i, 20);
    if (i >= 2)
      keyed(m, INK_KIND_ASYNC_END, COPY, i - 2, 60);
    plain(m, INK_KIND_MARK, ODD, 50);
    plain(m, INK_KIND_MARK, WAIT, 30);
  }
  for (uint32_t i = stages - 2; i < stages; i++)
    keyed(m, INK_KIND_ASYNC_END, COPY, i, 30);
}

static void device(maker *m, int32_t index, bool simulated, uint32_t records, uint32_t flags) {
  ink_device_info info = {.index = index,
                          .simulated = simulated,
                          .sm_count = 4,
                          .capability = 90,
                          .clock_khz = 1500000,
                          .track_count = 64,
                          .records_per_track = records,
                          .aux_records_per_track = records,
                          .flags = INK_BUFFER_ON | flags,
                          .runtime_version = 13000,
                          .driver_version = 13000,
                          .name = simulated ? "simulated device" : "made-up \"GPU\""};
  check(m, ink_writer_device(m->writer, &info, &m->error));
  for (int i = 0; i < 2; i++) {
    int64_t at = i * 5000000;
    ink_host_clock pair = {.device = index,
                           .global_ns = GLOBAL_BASE + (uint64_t)at,
                           .realtime_before_ns = UNIX_BASE + at - 60,
                           .realtime_after_ns = UNIX_BASE + at + 60,
                           .monotonic_before_ns = 5000000000 + at - 60};
    check(m, ink_writer_host_clock(m->writer, &pair, &m->error));
  }
}

/* Marks and tracks are those of all tracks put; `missed` is made up. */
static void counts(maker *m, int32_t index, uint64_t hash, uint64_t missed, uint32_t slot) {
  ink_kernel_counts c = {
      .device = index, .slot = slot, .key = INK_KERNEL_KEY(hash, 1), .missed = missed};
  check(m, ink_writer_counts(m->writer, &c, 1, 0, 0, index, &m->error));
}

static void start(maker *m, const char *path, uint32_t records) {
  *m = (maker){.records = records};
  m->ring = calloc(records, 8);
  m->aux = calloc(records, 8);
  if (!m->ring || !m->aux)
    exit(1);
  check(m, ink_writer_open(path, true, &m->writer, &m->error));
  check(m, ink_writer_fact(m->writer, "command", "./solver --case '</script>'", &m->error));
  check(m, ink_writer_fact(m->writer, "pid", "4711", &m->error));
  check(m, ink_writer_table(m->writer, "Solver", SOLVER, "solver.cu", 12, SOLVER_HASH, &m->error));
}

static void finish(maker *m) {
  check(m, ink_writer_close(m->writer, &m->error));
  free(m->ring);
  free(m->aux);
}

static void solver_launch(maker *m, int32_t index, uint32_t slot, uint64_t grid_id, uint32_t blocks,
                          uint64_t global_ns, uint32_t iterations, bool everything) {
  for (uint32_t b = 0; b < blocks; b++) {
    open_track(m, grid_id, blocks, b, 0, b % 4, global_ns + b / 4 * 40000 + b * 100);
    m->track.kernel = slot;
    m->track.role = m->roles ? INK_KERNEL_KEY(SOLVER_HASH, 2 + b % 2) : 0;
    solver(m, iterations + (everything ? b % 3 : 0), everything);
    close_track(m, index);
  }
}

/* Markup in every form that could leave a script element or a cell, bytes that are no UTF-8, a line that is very long. */
static void hostile_source(maker *m) {
  static const char head[] = "// </script><script>window.injected = 1</script><!-- <img src=x onerror=window.injected=2>\n"
                             "// \xff\xfe ]]> \" onmouseover=\"window.injected = 3\n"
                             "PROF_SECTIONS(Solver, Step, LineSearch)\r\n"
                             "  PROF_KERNEL(Step);\n"
                             "  PROF_MARK(LineSearch, alpha); // <b>bold</b> &amp;\n"
                             "  PROF_BEGIN(Inner);\n"
                             "\tPROF_END(Inner);\n//";
  char text[sizeof head + 5000];
  memcpy(text, head, sizeof head - 1);
  memset(text + sizeof head - 1, '<', 5000);
  check(m, ink_writer_source(m->writer, "solver.cu", text, sizeof text - 1, &m->error));
}

/* As long as a source may be, with marks all over it. */
static void long_source(maker *m) {
  static const char line[] = "  PROF_MARK(LineSearch, alpha);                                          // and so on, for many lines\n";
  char *text = malloc(INK_SOURCE_BYTES_MAX);
  size_t bytes = 0;
  for (; text && bytes + sizeof line - 1 <= INK_SOURCE_BYTES_MAX; bytes += sizeof line - 1)
    memcpy(text + bytes, line, sizeof line - 1);
  check(m, ink_writer_source(m->writer, "solver.cu", text, bytes, &m->error));
  free(text);
}

static void make_mixed(maker *m) {
  hostile_source(m);
  check(m, ink_writer_table(m->writer, "Pipe", PIPE, "pipe, one.cu", 3, PIPE_HASH, &m->error));
  device(m, 0, true, 512, 0);
  counts(m, 0, SOLVER_HASH, 3, 0);
  counts(m, 0, PIPE_HASH, 0, 1);
  solver_launch(m, 0, 0, 11, 8, GLOBAL_BASE + 1000, 4, true);
  solver_launch(m, 0, 0, 12, 8, GLOBAL_BASE + 6000, 3, true); /* overlaps the one before */
  for (uint32_t warp = 0; warp < 3; warp++) {
    open_track(m, 13, 2, 1, warp * 32 + (warp == 2 ? 5 : 0), 2, GLOBAL_BASE + 300000 + warp * 50);
    m->track.kernel = 1;
    pipe_line(m, 6);
    close_track(m, 0);
  }
  m->records = 64;
  device(m, 1, false, 64, 0);
  counts(m, 1, SOLVER_HASH, 0, 0);
  solver_launch(m, 1, 0, 11, 2, GLOBAL_BASE + 2000, 40, true); /* 64 words hold the last few rows */
}

/* What is open goes to the capture as it stands, seen 9 us after it was opened. */
static void leave_open(maker *m, uint32_t flags) {
  m->track.state = INK_TRACK_OPEN;
  m->track.extra = m->track.aux_extra = 0;
  m->track.flags = flags;
  m->track.close_global_ns = m->track.open_global_ns + 9000;
  check(m, ink_writer_open_track(m->writer, 0, &m->track, m->ring, m->track.words, m->aux, m->track.aux_words, &m->error));
}

/* A kernel that hung: block 0 had closed, block 1 is in a range and in one around it, of block 2 no more is known than
 * that it was past a mark; and one of another kernel with a copy under way. */
static void make_open(maker *m) {
  check(m, ink_writer_table(m->writer, "Pipe", PIPE, "pipe, one.cu", 3, PIPE_HASH, &m->error));
  device(m, 0, true, m->records, 0);
  counts(m, 0, SOLVER_HASH, 0, 0);
  counts(m, 0, PIPE_HASH, 0, 1);
  for (uint32_t b = 0; b < 3; b++) {
    open_track(m, 11, 3, b, 0, b, GLOBAL_BASE + 1000 + b * 100);
    solver(m, 2, false);
    keyed(m, INK_KIND_ITER, 0, 2, 5);
    plain(m, INK_KIND_MARK, UPDATE, 100);
    plain(m, INK_KIND_BEGIN, GRADIENT, 20);
    if (b == 0) {
      plain(m, INK_KIND_END, GRADIENT, 300);
      close_track(m, 0);
    } else if (b == 1) {
      plain(m, INK_KIND_BEGIN, INNER, 30);
      leave_open(m, INK_TRACK_NEWEST);
    } else {
      plain(m, INK_KIND_END, GRADIENT, 50);
      leave_open(m, 0);
    }
  }
  open_track(m, 12, 1, 0, 0, 3, GLOBAL_BASE + 20000);
  m->track.kernel = 1;
  plain(m, INK_KIND_MARK, WAIT, 50);
  keyed(m, INK_KIND_ASYNC_BEGIN, COPY, 7, 20);
  plain(m, INK_KIND_MARK, WAIT, 50);
  leave_open(m, INK_TRACK_NEWEST);
}

/* Of so many blocks three of four wait in a range, the others in front of it. */
static void make_hung(maker *m, uint32_t blocks) {
  device(m, 0, true, m->records, 0);
  counts(m, 0, SOLVER_HASH, 0, 0);
  for (uint32_t b = 0; b < blocks; b++) {
    open_track(m, 11, blocks, b, 0, b % 4, GLOBAL_BASE + 1000 + b);
    plain(m, INK_KIND_MARK, UPDATE, 100);
    if (b % 4)
      plain(m, INK_KIND_BEGIN, GRADIENT, 20);
    leave_open(m, INK_TRACK_NEWEST);
  }
}

static uint64_t draw(maker *m) {
  m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return m->seed >> 20 ^ m->seed << 40;
}

/* Headers that no device would write, and rings of records in any order, with any payload. */
static void make_garbage(maker *m, uint64_t seed) {
  check(m, ink_writer_table(m->writer, "Pipe", PIPE, "pipe, one.cu", 3, PIPE_HASH, &m->error));
  m->seed = seed;
  device(m, 0, true, 64, draw(m) % 2 ? INK_BUFFER_KEEP_FIRST : 0);
  counts(m, 0, draw(m) % 3 ? SOLVER_HASH : 0x123, draw(m), 0);
  m->records = 64;
  for (uint64_t n = draw(m) % 12; n; n--) {
    open_track(m, draw(m) % 3, (uint32_t)draw(m) % 4, (uint32_t)draw(m) % 5, (uint32_t)draw(m) % 70,
               (uint32_t)draw(m) % 5, GLOBAL_BASE + draw(m) % 100000);
    for (uint32_t i = 0; i < 64; i++) {
      uint64_t kind = draw(m) % 8, clock = m->clock += draw(m) % 300;
      m->ring[i] = INK_HEAD(kind, draw(m) % 12, clock);
      m->aux[i] = kind ? INK_HEAD(draw(m) % 8, draw(m) % 12, clock - 30) : draw(m);
      if (draw(m) % 9 == 0)
        m->ring[i] = draw(m) % 2 ? draw(m) : INK_ESCAPE_WORD(2 * (draw(m) % 8), SOLVER_HASH, clock);
    }
    m->track.words = draw(m) % 200;
    m->track.extra = draw(m) % (m->track.words + 1);
    m->track.aux_words = draw(m) % 100;
    if (draw(m) % 4 == 0) {
      m->track.block_index[1] = (uint32_t)draw(m);
      m->track.grid_dim[2] = (uint32_t)draw(m);
      m->track.sm_open = (uint32_t)draw(m);
    }
    if (draw(m) % 4 == 0)
      m->clock = draw(m);
    if (draw(m) % 4 == 0)
      m->track.open_clock1 = draw(m);
    if (draw(m) % 6 == 0)
      m->track.state = INK_TRACK_OPEN;
    close_track(m, 0);
  }
}

bool make_capture(const char *kind, const char *path) {
  maker m;
  unsigned blocks = 8, iterations = 4;
  unsigned long long seed = 0;
  bool many = sscanf(kind, "many:%u:%u", &blocks, &iterations) == 2;
  const bool hung = sscanf(kind, "hung:%u", &blocks) == 1;
  bool garbage = sscanf(kind, "garbage:%llu", &seed) == 1;
  if (!many && !garbage && !hung && strcmp(kind, "mixed") && strcmp(kind, "open") && strcmp(kind, "one") &&
      strcmp(kind, "roles")) {
    fprintf(stderr, "made_capture: no kind '%s'\n", kind);
    return false;
  }
  start(&m, path, many ? 65536 : 512);
  m.roles = !strcmp(kind, "roles"); /* of blocks by turns */
  if (many)
    long_source(&m);
  if (!strcmp(kind, "mixed")) {
    make_mixed(&m);
  } else if (!strcmp(kind, "open")) {
    make_open(&m);
  } else if (hung) {
    make_hung(&m, blocks);
  } else if (garbage) {
    make_garbage(&m, seed);
  } else {
    device(&m, 0, true, m.records, 0);
    counts(&m, 0, SOLVER_HASH, 0, 0);
    solver_launch(&m, 0, 0, 11, blocks, GLOBAL_BASE + 1000, iterations, !many);
  }
  finish(&m);
  return true;
}
