/* SPDX-License-Identifier: MIT */
/* The host's events in a capture: ranges are paired whatever the program did, launches joined with calls by device, name,
 * dimensions and order, what is not certain left alone, damage found. */
#include "check.h"
#include "craft.h"

#include "inkmark/host_ranges.h"

#include <stdlib.h>
#include <unistd.h>

static const char path[] = "test_host_file.ink";
enum { WALL = 1000000 };

static ink_host_event event(uint32_t kind, int64_t ns, uint32_t thread, uint32_t name) {
  return (ink_host_event){.kind = kind, .ns = ns, .thread = thread, .name = name};
}

static ink_host_event call(int64_t ns, int64_t until, uint32_t thread, uint32_t name, uint32_t blocks) {
  ink_host_event e = event(INK_HOST_LAUNCH, ns, thread, name);
  e.id = (uint64_t)until;
  for (int i = 0; i < 3; i++)
    e.grid_dim[i] = e.block_dim[i] = 1;
  e.grid_dim[0] = blocks;
  return e;
}

static ink_host_event graph(int64_t ns) {
  ink_host_event e = event(INK_HOST_LAUNCH, ns, 1, 0);
  e.id = (uint64_t)ns + 1;
  e.flags = INK_HOST_GRAPH;
  return e;
}

static void write_launch(ink_writer *writer, uint64_t grid_id, uint32_t blocks) {
  ink_error error = {0};
  const ink_track track = {.state = INK_TRACK_CLOSED, .ticket = grid_id, .grid_id = grid_id, .grid_dim = {blocks, 1, 1},
                           .block_dim = {1, 1, 1}, .open_global_ns = 10 * grid_id, .close_global_ns = 10 * grid_id + 5};
  NEED(ink_writer_track(writer, 0, &track, NULL, NULL, &error), error);
}

/* Launches as {grid id, blocks}, up to one with no blocks. */
static ink_capture *made_of(const ink_host_event *events, size_t n, const uint32_t (*launches)[2], uint64_t missed, bool whole) {
  ink_error error = {0};
  ink_writer *writer;
  ink_capture *capture;
  NEED(ink_writer_open(path, true, &writer, &error), error);
  NEED(ink_writer_device(writer, &(ink_device_info){.name = "x", .sm_count = 1}, &error), error);
  for (; launches && (*launches)[1]; launches++)
    write_launch(writer, (*launches)[0], (*launches)[1]);
  NEED(ink_writer_host_name(writer, 1, "one", &error), error);
  NEED(ink_writer_host_name(writer, 3, "_Z5threev", &error), error);
  NEED(ink_writer_host_events(writer, events, n, 7, 5000, WALL + 5000, &error), error);
  const ink_kernel_counts counts = {.key = INK_KERNEL_KEY(1, 1), .missed = missed};
  if (missed)
    NEED(ink_writer_counts(writer, &counts, 1, 0, 0, 0, &error), error);
  if (!whole)
    NEED(ink_writer_fact(writer, "unfinished", "killed", &error), error);
  NEED(ink_writer_close(writer, &error), error);
  NEED(ink_capture_open(path, &capture, &error), error);
  unlink(path);
  return capture;
}
static ink_capture *made(const ink_host_event *events, size_t n, const uint32_t (*launches)[2]) {
  return made_of(events, n, launches, 0, true);
}
#define MADE(launches, ...) made((const ink_host_event[]){__VA_ARGS__}, sizeof((const ink_host_event[]){__VA_ARGS__}) / sizeof(ink_host_event), launches)

static void test_pairs(void) {
  const ink_host_range *r;
  ink_host_event named = event(INK_HOST_CATEGORY, 1, 1, 3), marked = event(INK_HOST_MARK, 35, 1, 1),
                 begins = event(INK_HOST_START, 12, 1, 1), ends = event(INK_HOST_END, 45, 2, 0);
  named.category = marked.category = 9;
  begins.id = ends.id = 77;
  ink_capture *c = MADE(NULL, event(INK_HOST_PUSH, 10, 1, 1), begins, event(INK_HOST_PUSH, 20, 1, 3), event(INK_HOST_PUSH, 20, 2, 4),
                        event(INK_HOST_POP, 30, 1, 0), marked, event(INK_HOST_POP, 40, 1, 0), event(INK_HOST_POP, 41, 1, 0), ends,
                        ends, named, event(99, 50, 1, 1));
  const size_t n = ink_capture_host_ranges(c, &r);
  const ink_host_facts *facts = ink_capture_host_facts(c);
  CHECK(n == 5 && facts->events == 12 && facts->lost == 7, "%zu ranges, %llu events", n, (unsigned long long)facts->events);
  CHECK(facts->ends_without_begin == 2 && facts->open == 1, "%llu ends, %llu open",
        (unsigned long long)facts->ends_without_begin, (unsigned long long)facts->open);
  CHECK(r[0].begin_ns == WALL + 10 && r[0].end_ns == WALL + 40 && !strcmp(r[0].name, "one") && !r[0].open, "the outer one");
  CHECK(r[1].kind == INK_HOST_START && r[1].end_ns == WALL + 45 && !r[1].open, "that of the process");
  CHECK(r[2].begin_ns == WALL + 20 && r[2].end_ns == WALL + 30 && r[2].depth == 1, "the inner one");
  CHECK(r[3].thread == 2 && r[3].open && r[3].end_ns == WALL + 5000 && !*r[3].name && !r[3].depth, "the open one");
  CHECK(r[4].kind == INK_HOST_MARK && !strcmp(r[4].category_name, "_Z5threev"), "the mark");
  ink_capture_free(c);
}

/* The calls of the launches, as text: "0 - 2" */
static const char *joined(ink_capture *c) {
  static char text[200];
  const ink_launch *launches;
  const size_t n = ink_capture_launches(c, &launches);
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < n; i++) {
    const uint32_t of = ink_launch_call(c, (uint32_t)i);
    used += (size_t)(of == UINT32_MAX ? snprintf(text + used, sizeof text - used, "%s-", i ? " " : "")
                                      : snprintf(text + used, sizeof text - used, "%s%u", i ? " " : "", of));
  }
  ink_capture_free(c);
  return text;
}
#define JOINED(wanted, launches, ...)                                                              \
  do {                                                                                             \
    const char *found = joined(MADE(launches, __VA_ARGS__));                                       \
    CHECK(!strcmp(found, wanted), "joined %s, not %s", found, wanted);                             \
  } while (0)
#define L(...) ((const uint32_t[][2]){__VA_ARGS__, {0, 0}})

static void test_join(void) {
  JOINED("0 1", L({5, 2}, {6, 3}), call(10, 11, 1, 0, 2), call(20, 21, 1, 0, 3));
  JOINED("1 0", L({5, 2}, {6, 3}), call(10, 11, 1, 0, 3), call(20, 21, 1, 0, 2)); /* on streams of their own */
  JOINED("0 1", L({5, 2}, {6, 2}), call(10, 11, 1, 0, 2), call(20, 21, 2, 0, 2));
  JOINED("- -", L({5, 2}, {6, 2}), call(10, 25, 1, 0, 2), call(20, 30, 2, 0, 2)); /* two threads at once */
  JOINED("0 1", L({5, 2}, {6, 2}), call(10, 25, 1, 0, 2), call(20, 30, 1, 0, 2));
  JOINED("- -", L({5, 2}, {6, 2}), call(10, 25, 1, 0, 2), call(20, 30, 2, 0, 2), graph(40)); /* nor are they the graph's */
  JOINED("- 1", L({5, 2}, {6, 3}), call(10, 11, 1, 0, 2), call(20, 21, 1, 0, 3), call(30, 31, 1, 0, 2)); /* which one? */
  JOINED("0 - - 2", L({5, 2}, {6, 4}, {7, 5}, {8, 3}), call(10, 11, 1, 0, 2), call(20, 21, 1, 0, 9), call(30, 31, 1, 0, 3));
  JOINED("0 1 1 2", L({5, 2}, {6, 4}, {7, 5}, {8, 3}), call(10, 11, 1, 0, 2), graph(20), call(30, 31, 1, 0, 3));
  JOINED("0 1 1 2 2", L({5, 2}, {6, 4}, {7, 5}, {8, 4}, {9, 5}), call(10, 11, 1, 0, 2), graph(20), graph(30));
  JOINED("0 - - -", L({5, 2}, {6, 4}, {7, 5}, {8, 4}), call(10, 11, 1, 0, 2), graph(20), graph(30));
}

/* Of a recording that broke off the last calls did not run any more, if nothing of the others was lost. */
static void test_cut(void) {
  const ink_host_event calls[] = {call(10, 11, 1, 0, 2), call(20, 21, 1, 0, 2), call(30, 31, 1, 0, 2)};
  const char *found = joined(made_of(calls, 3, L({5, 2}, {6, 2}), 0, true));
  CHECK(!strcmp(found, "- -"), "a whole one: %s", found);
  found = joined(made_of(calls, 3, L({5, 2}, {6, 2}), 0, false));
  CHECK(!strcmp(found, "0 1"), "one that broke off: %s", found);
  found = joined(made_of(calls, 3, L({5, 2}, {6, 2}), 2, false));
  CHECK(!strcmp(found, "- -"), "one that broke off and lost tracks: %s", found);
}

static void test_sums(void) {
  const ink_host_range *r;
  const ink_host_launch *calls;
  ink_host_event begins = event(INK_HOST_START, 15, 1, 1);
  begins.id = 3;
  ink_capture *c = MADE(L({5, 2}, {6, 3}, {7, 4}), event(INK_HOST_PUSH, 10, 1, 1), call(11, 12, 1, 0, 2), begins,
                        call(20, 21, 2, 3, 3), event(INK_HOST_POP, 30, 1, 0), call(40, 41, 1, 0, 4));
  CHECK(ink_capture_host_ranges(c, &r) == 2 && ink_capture_host_launches(c, &calls) == 3, "ranges and calls");
  CHECK(r[0].launches == 1 && r[0].kernels == 1 && r[0].kernels_ns == 5, "the thread's: %llu, %lld ns",
        (unsigned long long)r[0].kernels, (long long)r[0].kernels_ns);
  CHECK(r[1].launches == 2 && r[1].kernels == 2 && r[1].kernels_ns == 10 && r[1].open, "any thread's");
  CHECK(ink_capture_host_facts(c)->launches_joined == 3 && calls[1].kernels == 1, "joined");
  ink_capture_free(c);
}

/* Any events at all are read in time that grows with their number, and none is written beyond. */
static void test_any(void) {
  enum { N = 200000 };
  ink_host_event *all = calloc(N, sizeof *all);
  const ink_host_range *r;
  const ink_host_launch *calls;
  uint32_t x = 1;
  for (int round = 0; round < 3 && all; round++) {
    for (size_t i = 0; i < N; i++) {
      x = x * 1664525 + 1013904223;
      all[i] = round == 1 ? event(INK_HOST_PUSH, (int64_t)i, 1, 1) : call((int64_t)i, N, (uint32_t)(i % 7), 0, 1);
      if (!round)
        all[i] = event(x >> 29, x >> 8 & 0xffff, x >> 24 & 3, x >> 20 & 7);
      if (!round)
        all[i].id = all[i].kind == INK_HOST_LAUNCH ? (uint64_t)all[i].ns + (x & 0xff) : x & 0xff;
    }
    ink_capture *c = made(all, N, L({5, 1}, {6, 1}));
    const size_t ranges = ink_capture_host_ranges(c, &r), n = ink_capture_host_launches(c, &calls);
    CHECK(round == 0 || (round == 1 ? ranges == N && r[N - 1].depth == N - 1 : n == N), "round %d: %zu, %zu", round, ranges, n);
    for (size_t i = 1; i < ranges; i++)
      if (r[i].begin_ns < r[i - 1].begin_ns || r[i].end_ns < r[i].begin_ns)
        CHECK(false, "round %d: range %zu", round, i);
    ink_capture_free(c);
  }
  free(all);
}

typedef struct one_event {
  ink_file_host head;
  ink_host_event event;
} one_event;

static size_t read_back(const void *payload, size_t bytes, uint32_t type, uint64_t *damaged) {
  static craft c;
  ink_error error = {0};
  ink_capture *capture;
  craft_start(&c, 1, 0);
  craft_chunk(&c, type, payload, bytes);
  NEED(ink_capture_open_memory(c.bytes, c.size, &capture, &error), error);
  *damaged = ink_capture_get_facts(capture)->damaged_chunks;
  const size_t n = ink_capture_host_facts(capture)->events;
  ink_capture_free(capture);
  return n;
}

static void test_damage(void) {
  uint64_t damaged;
  const one_event good = {.head = {.item_bytes = sizeof(ink_host_event), .count = 1, .realtime_ns = 5},
                          .event = {.kind = INK_HOST_MARK, .ns = 4}};
  CHECK(read_back(&good, sizeof good, INK_CHUNK_HOST, &damaged) == 1 && !damaged, "a good one");
#define DAMAGED(what, change)                                                                      \
  do {                                                                                             \
    one_event one = good;                                                                          \
    change;                                                                                        \
    CHECK(!read_back(&one, sizeof one, INK_CHUNK_HOST, &damaged) && damaged == 1, what);           \
  } while (0)
  DAMAGED("more than there are", one.head.count = 2);
  DAMAGED("a count that wraps", one.head.count = UINT64_MAX / sizeof(ink_host_event) + 2);
  DAMAGED("too small", one.head.item_bytes = 80);
  DAMAGED("not of eight", one.head.item_bytes = 92);
  DAMAGED("before the clock's beginning", one.event.ns = -1);
  DAMAGED("no clock shows that", one.event.ns = INT64_MAX);
  DAMAGED("a call that ends before it begins", (one.event.kind = INK_HOST_LAUNCH, one.event.id = 3));
  DAMAGED("a reading", one.head.monotonic_ns = INT64_MIN);
  DAMAGED("another reading", one.head.realtime_ns = INT64_MAX);
#undef DAMAGED
  CHECK(!read_back(&good, 8, INK_CHUNK_HOST, &damaged) && damaged == 1, "half a head");
  const char *const names[] = {"\1\0\0\0\0\0\0\0x", "\0\0\0\0\0\0\0\0\0", "\0\0\0\0\1\0\0\0x"};
  for (size_t i = 0; i < 3; i++) { /* no end, an id of 0, one that is too large */
    read_back(names[i], i == 0 ? 9 : i == 1 ? 9 : 10, INK_CHUNK_HOST_NAME, &damaged);
    CHECK(damaged == 1, "name %zu", i);
  }
}

int main(void) {
  test_pairs();
  test_join();
  test_cut();
  test_sums();
  test_any();
  test_damage();
  return check_result("host");
}
