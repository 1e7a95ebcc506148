/* SPDX-License-Identifier: MIT */
/* What makes tracks one launch and one kernel: grid ids that repeat, kernels that share a grid, functions that open a
 * track each time, instances of a template, roles; and ranges from one track to another. */
#include "block_sample.h"
#include "check.h"
#include "inkmark/decode.h"
#include "inkmark/table.h"
#include "synth.h"

#include <inttypes.h>
#include <math.h>

typedef struct one {
  uint32_t block, thread, sm, slot;
  uint64_t open_ns, close_ns;
  uint64_t role, instance;
} one;

static synth_track track_of(const one *o, uint64_t ticket) {
  synth_track track;
  synth_track_init(&track, 32, 4, false);
  track.header.grid_dim[0] = 4;
  track.header.block_dim[0] = 128;
  track.header.block_index[0] = o->block;
  track.header.thread = o->thread;
  track.header.kernel = o->slot;
  track.header.grid_id = 7;
  track.header.ticket = ticket;
  track.header.role = o->role;
  track.header.instance = o->instance;
  synth_open(&track, 1000 + o->open_ns, 1000 + o->open_ns); /* a cycle is a ns */
  synth_close(&track, 1000 + o->close_ns, 1000 + o->close_ns);
  track.header.sm_open = track.header.sm_close = o->sm;
  return track;
}

static ink_writer *begin(const char *path) {
  ink_error error;
  ink_writer *writer = synth_writer(path, 32, 4, false);
  const ink_kernel_counts counts[2] = {{.slot = 0, .key = INK_KERNEL_KEY(SYNTH_HASH, 1)},
                                       {.slot = 1, .key = INK_KERNEL_KEY(SYNTH_HASH, 6)}};
  NEED(ink_writer_counts(writer, counts, 2, 0, 0, 0, &error), error);
  return writer;
}

static ink_capture *end(ink_writer *writer, const char *path) {
  ink_error error;
  ink_capture *capture = NULL;
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  return capture;
}

/* How many launches `n` tracks in a row are, and how many the first may be at most. */
static void expect_launches(const char *what, const one *tracks, size_t n, size_t launches, uint32_t at_most) {
  const char *path = synth_path("launches");
  ink_writer *writer = begin(path);
  for (size_t i = 0; i < n; i++) {
    synth_track track = track_of(&tracks[i], i);
    synth_put(writer, &track);
    synth_track_free(&track);
  }
  ink_capture *capture = end(writer, path);
  const ink_launch *list;
  const size_t count = ink_capture_launches(capture, &list);
  CHECK(count == launches, "%s: %zu launches", what, count);
  CHECK(count && list[0].at_most == at_most, "%s: at most %u", what, list[0].at_most);
  ink_capture_free(capture);
  remove(path);
}

#define EXPECT(what, launches, at_most, ...)                                                       \
  do {                                                                                             \
    const one all[] = {__VA_ARGS__};                                                               \
    expect_launches(what, all, sizeof all / sizeof *all, launches, at_most);                       \
  } while (0)

static void repeats(void) {
  EXPECT("blocks of one grid", 1, 1, {.block = 0, .close_ns = 90}, {.block = 1, .sm = 1, .open_ns = 100, .close_ns = 190});
  EXPECT("a function called twice, another block between", 1, 1, {.block = 0, .close_ns = 90},
         {.block = 1, .sm = 1, .open_ns = 10, .close_ns = 300}, {.block = 0, .open_ns = 100, .close_ns = 190});
  EXPECT("one block again, when it had closed", 1, 3, {.close_ns = 90}, {.open_ns = 100, .close_ns = 190},
         {.open_ns = 200, .close_ns = 290});
  EXPECT("one block again, on another SM", 2, 1, {.close_ns = 90}, {.sm = 1, .open_ns = 100, .close_ns = 190});
  EXPECT("on another SM before all had closed", 1, 1, {.close_ns = 90}, {.block = 1, .sm = 2, .open_ns = 5, .close_ns = 400},
         {.sm = 1, .open_ns = 100, .close_ns = 190});
  EXPECT("two blocks again, one on another SM", 2, 1, {.block = 0, .close_ns = 90}, {.block = 1, .sm = 1, .close_ns = 90},
         {.block = 0, .open_ns = 100, .close_ns = 190}, {.block = 1, .sm = 2, .open_ns = 100, .close_ns = 190});
  EXPECT("two blocks again, on the same SMs", 1, 2, {.block = 0, .close_ns = 90}, {.block = 1, .sm = 1, .close_ns = 90},
         {.block = 0, .open_ns = 100, .close_ns = 190}, {.block = 1, .sm = 1, .open_ns = 100, .close_ns = 190});
  EXPECT("a kernel for each role", 1, 1, {.thread = 0, .close_ns = 90}, {.thread = 64, .slot = 1, .close_ns = 90});
  EXPECT("two kernels of one thread, one in the other", 1, 1, {.slot = 0, .close_ns = 90},
         {.slot = 1, .open_ns = 10, .close_ns = 80});
}

static void kernels_of_one_launch(void) {
  const char *path = synth_path("shared_launch");
  ink_writer *writer = begin(path);
  const one all[] = {{.thread = 0, .close_ns = 90}, {.thread = 64, .slot = 1, .close_ns = 95}};
  for (size_t i = 0; i < 2; i++) {
    synth_track track = track_of(&all[i], i);
    synth_put(writer, &track);
    synth_track_free(&track);
  }
  ink_capture *capture = end(writer, path);
  const ink_kernel *kernels;
  CHECK(ink_capture_kernels(capture, &kernels) == 2, "kernels");
  CHECK(kernels[0].launches == 1 && kernels[1].launches == 1, "both are in the launch");
  ink_stored_track a, b;
  ink_capture_track(capture, 0, &a);
  ink_capture_track(capture, 1, &b);
  CHECK(a.launch == 0 && b.launch == 0 && !strcmp(kernels[a.kernel].name, "Step") &&
            !strcmp(kernels[b.kernel].name, "StepLast"), "a track has its own kernel");
  ink_capture_free(capture);
  remove(path);
}

/* ---- instances ------------------------------------------------------------------------------- */

static const char *const functions[] = {"void k(T *) [with T = float; int N = 4]",
                                        "void k(T *) [with T = std::pair<int, long int>; int N = 400]",
                                        "void ns::Loop<F>::run(PROF) [with F = void(int)]", "void plain(int *)"};

static void instances(void) {
  const char *path = synth_path("instances");
  ink_error error;
  ink_writer *writer = begin(path);
  for (uint32_t i = 0; i < 4; i++)
    NEED(ink_writer_instance(writer, 0, 4096 + i, functions[i], &error), error);
  NEED(ink_writer_instance(writer, 0, 9000, functions[0], &error), error); /* the same in another file */
  const uint64_t addresses[] = {4096, 4097, 4098, 4099, 9000, 4095, 0};
  for (uint32_t i = 0; i < 7; i++) {
    const one o = {.thread = 32 * (i % 4), .block = i / 4, .sm = i / 4, .close_ns = 90, .instance = addresses[i]};
    synth_track track = track_of(&o, i);
    synth_put(writer, &track);
    synth_track_free(&track);
  }
  NEED(ink_writer_instance(writer, 0, 4095, functions[1], &error), error); /* told behind its track */
  ink_capture *capture = end(writer, path);
  const ink_kernel *kernels;
  const size_t n = ink_capture_kernels(capture, &kernels);
  static const struct {
    const char *name;
    uint64_t tracks;
  } expected[] = {{"Step (k<float, 4>)", 2}, {"Step (k<std::pair<int, long int>, 400>)", 2},
                  {"Step (ns::Loop<F>::run<void(int)>)", 1}, {"Step (plain)", 1}, {"Step", 1}};
  CHECK(n == 5, "%zu kernels", n);
  for (size_t i = 0; i < n && i < 5; i++) {
    bool found = false;
    for (size_t k = 0; k < n; k++)
      found |= !strcmp(kernels[k].name, expected[i].name) && kernels[k].tracks == expected[i].tracks;
    CHECK(found, "no '%s', but '%s' with %" PRIu64, expected[i].name, kernels[i].name, kernels[i].tracks);
  }
  ink_capture_free(capture);
  remove(path);
}

/* An address that a module left and another one took: what the name was when the track was written. */
static void address_again(void) {
  const char *path = synth_path("address_again");
  ink_error error;
  ink_writer *writer = begin(path);
  for (uint32_t i = 0; i < 2; i++) {
    const one o = {.block = i, .sm = i, .close_ns = 90, .instance = 4096};
    synth_track track = track_of(&o, i);
    NEED(ink_writer_instance(writer, 0, 4096, functions[i], &error), error);
    synth_put(writer, &track);
    synth_track_free(&track);
  }
  ink_capture *capture = end(writer, path);
  const ink_kernel *kernels;
  CHECK(ink_capture_kernels(capture, &kernels) == 2 && kernels[0].tracks == 1 && kernels[1].tracks == 1, "two kernels");
  ink_capture_free(capture);
  remove(path);
}

/* Names of 20 KB, and one instance alone: the section's name is enough. */
static void long_name(void) {
  const char *path = synth_path("long_name");
  ink_error error;
  ink_writer *writer = begin(path);
  static char name[20001];
  memset(name, 'x', 20000);
  memcpy(name, "void k(T) [with T = ", 20);
  name[19999] = ']';
  NEED(ink_writer_instance(writer, 0, 4096, name, &error), error);
  const one o = {.close_ns = 90, .instance = 4096};
  synth_track track = track_of(&o, 0);
  synth_put(writer, &track);
  synth_track_free(&track);
  ink_capture *capture = end(writer, path);
  const ink_kernel *kernels;
  CHECK(ink_capture_kernels(capture, &kernels) == 1 && !strcmp(kernels[0].name, "Step") &&
            !strcmp(kernels[0].instance, name), "'%.40s'", kernels[0].name);
  ink_capture_free(capture);
  remove(path);
}

/* Addresses that nobody could read a name of are not one function. */
static void without_names(void) {
  const char *path = synth_path("without_names");
  ink_writer *writer = begin(path);
  for (uint32_t i = 0; i < 3; i++) {
    const one o = {.block = i, .sm = i, .close_ns = 90, .instance = i < 2 ? 4096 : 8192};
    synth_track track = track_of(&o, i);
    synth_put(writer, &track);
    synth_track_free(&track);
  }
  ink_capture *capture = end(writer, path);
  const ink_kernel *kernels;
  CHECK(ink_capture_kernels(capture, &kernels) == 2 && kernels[0].tracks == 2 && kernels[1].tracks == 1 &&
            strstr(kernels[0].name, "0x1000") && strstr(kernels[1].name, "0x2000"), "'%s'", kernels[0].name);
  ink_capture_free(capture);
  remove(path);
}

/* Lost tracks are the slot's: of which instance nobody knows. */
static void lost_instances(void) {
  const char *path = synth_path("lost_instances");
  ink_error error;
  ink_writer *writer = begin(path);
  for (uint32_t i = 0; i < 2; i++) {
    const one o = {.block = i, .sm = i, .close_ns = 90, .instance = 4096 + i};
    synth_track track = track_of(&o, i);
    NEED(ink_writer_instance(writer, 0, 4096 + i, functions[i], &error), error);
    synth_put(writer, &track);
    synth_track_free(&track);
  }
  const ink_kernel_counts counts = {.slot = 0, .key = INK_KERNEL_KEY(SYNTH_HASH, 1), .missed = 3, .tracks = 7, .marks = 50};
  NEED(ink_writer_counts(writer, &counts, 1, 10, 0, 0, &error), error);
  ink_capture *capture = end(writer, path);
  const ink_kernel *kernels;
  const size_t n = ink_capture_kernels(capture, &kernels);
  CHECK(n == 3, "%zu kernels", n);
  CHECK(n == 3 && !kernels[2].instance && !strcmp(kernels[2].name, "Step") && kernels[2].missed == 3 &&
            kernels[2].tracks_lost == 5 && kernels[2].marks_lost == 50 && !kernels[0].tracks_lost && !kernels[1].missed,
        "what was lost");
  ink_capture_free(capture);
  remove(path);
}

/* ---- roles ----------------------------------------------------------------------------------- */

static void roles(void) {
  const char *path = synth_path("roles");
  ink_writer *writer = begin(path);
  const uint64_t producer = INK_KERNEL_KEY(SYNTH_HASH, 2), consumer = INK_KERNEL_KEY(SYNTH_OTHER_HASH, 1);
  const one all[] = {{.thread = 0, .role = producer, .close_ns = 90},
                     {.thread = 32, .role = consumer, .close_ns = 90},
                     {.thread = 64, .role = consumer, .close_ns = 90},
                     {.thread = 96, .close_ns = 90},
                     {.block = 1, .thread = 33, .role = consumer, .close_ns = 90},
                     {.block = 1, .thread = 0, .role = INK_KERNEL_KEY(0x77, 1), .close_ns = 90}};
  static const char *const labels[] = {"block 0 LineSearch", "block 0 Alpha warp 1", "block 0 Alpha warp 2",
                                       "block 0 warp 3", "block 1", "block 1 Alpha"};
  for (size_t i = 0; i < 6; i++) {
    synth_track track = track_of(&all[i], i);
    synth_put(writer, &track);
    synth_track_free(&track);
  }
  ink_capture *capture = end(writer, path);
  for (uint64_t i = 0; i < 6; i++) {
    ink_stored_track track;
    char label[160];
    ink_capture_track(capture, i, &track);
    ink_track_label(&track, label, sizeof label);
    CHECK(!strcmp(label, labels[i]), "'%s' instead of '%s'", label, labels[i]);
  }
  ink_capture_free(capture);
  remove(path);
}

/* ---- ranges across threads ------------------------------------------------------------------- */

typedef struct seen {
  ink_crossing all[16];
  size_t count, problems;
  char text[8][160];
} seen;

static ink_status on_crossing(void *user, const ink_crossing *crossing) {
  seen *s = user;
  if (s->count < 16)
    s->all[s->count] = *crossing;
  s->count++;
  return INK_OK;
}
static ink_status on_problem(void *user, const ink_problem *problem) {
  seen *s = user;
  if (s->problems < 8)
    memcpy(s->text[s->problems], problem->text, sizeof problem->text);
  s->problems++;
  return INK_OK;
}

static void shared(synth_track *track, uint32_t code, bool ends, uint64_t cluster, uint64_t key, uint64_t clock) {
  const uint32_t kind = ends ? INK_KIND_ASYNC_END : INK_KIND_ASYNC_BEGIN;
  const uint64_t words[] = {cluster, key, INK_HEAD(kind, SYNTH_LINE_SEARCH, clock),
                            INK_ESCAPE_WORD(code, SYNTH_HASH, clock)};
  const size_t skip = code != INK_ESCAPE_CLUSTER;
  synth_words(track, 0, words + skip, 4 - skip);
}

static void expect_crossings(synth_track *tracks, size_t n, seen *out) {
  const char *path = synth_path("crossings");
  ink_error error;
  ink_writer *writer = begin(path);
  for (size_t i = 0; i < n; i++) {
    synth_put(writer, &tracks[i]);
    synth_track_free(&tracks[i]);
  }
  ink_capture *capture = end(writer, path);
  ink_clock_map *map = NULL;
  NEED(ink_clock_map_make(capture, &map, &error), error);
  *out = (seen){.count = 0};
  const ink_sink sink = {.user = out, .crossing = on_crossing, .problem = on_problem};
  NEED(ink_decode(capture, map, UINT32_MAX, &sink, &error), error);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
}

static void in_a_block(void) {
  seen s;
  synth_track tracks[] = {track_of(&(one){.thread = 0, .close_ns = 1000}, 0),
                          track_of(&(one){.thread = 64, .close_ns = 1000}, 1),
                          track_of(&(one){.block = 1, .sm = 1, .close_ns = 1000}, 2)};
  shared(&tracks[0], INK_ESCAPE_BLOCK, false, 0, 5, 1100);
  shared(&tracks[0], INK_ESCAPE_BLOCK, false, 0, 5, 1110);
  shared(&tracks[1], INK_ESCAPE_BLOCK, true, 0, 5, 1150);
  shared(&tracks[1], INK_ESCAPE_BLOCK, true, 0, 5, 1250);
  shared(&tracks[2], INK_ESCAPE_BLOCK, false, 0, 5, 1105); /* of another block: its own */
  shared(&tracks[2], INK_ESCAPE_BLOCK, true, 0, 5, 1900);
  expect_crossings(tracks, 3, &s);
  CHECK(s.count == 3 && !s.problems, "%zu crossings, %zu problems: %s", s.count, s.problems, s.text[0]);
  CHECK(s.all[0].cycles == 50 && s.all[1].cycles == 140 && s.all[2].cycles == 795, "first begun, first ended");
  CHECK(s.all[0].exact && s.all[0].bound_ns == 0 && s.all[0].from_track == 0 && s.all[0].to_track == 1 &&
            s.all[0].scope == INK_SCOPE_BLOCK && s.all[2].from_track == 2, "one SM's clock");
}

static void apart(void) {
  seen s;
  synth_track tracks[] = {track_of(&(one){.close_ns = 1000}, 0),
                          track_of(&(one){.block = 1, .sm = 1, .close_ns = 1000}, 1)};
  shared(&tracks[0], INK_ESCAPE_GRID, false, 0, 1, 1100);
  shared(&tracks[1], INK_ESCAPE_GRID, true, 0, 1, 1300);
  shared(&tracks[0], INK_ESCAPE_CLUSTER, false, 3, 1, 1310);
  shared(&tracks[1], INK_ESCAPE_CLUSTER, true, 3, 1, 1400);
  shared(&tracks[1], INK_ESCAPE_CLUSTER, true, 4, 1, 1500); /* of another cluster */
  expect_crossings(tracks, 2, &s);
  CHECK(s.count == 3 && s.problems == 1, "%zu crossings, %zu problems", s.count, s.problems);
  CHECK(strstr(s.text[0], "has no begin") != NULL, "'%s'", s.text[0]);
  CHECK(!s.all[0].exact && s.all[0].bound_ns > 0, "between SMs there is a bound");
  const int64_t ns = s.all[2].end_ns - s.all[2].begin_ns;
  CHECK(s.all[2].scope == INK_SCOPE_GRID && ns > 150 && ns < 250, "%" PRId64 " ns", ns);
}

static void left_alone(void) {
  seen s;
  synth_track tracks[] = {track_of(&(one){.close_ns = 1000}, 0)};
  shared(&tracks[0], INK_ESCAPE_BLOCK, true, 0, 1, 1100);
  shared(&tracks[0], INK_ESCAPE_BLOCK, false, 0, 1, 1200); /* on one SM an end is never before its begin */
  expect_crossings(tracks, 1, &s);
  CHECK(s.count == 2 && s.problems == 2, "%zu crossings, %zu problems", s.count, s.problems);
  CHECK(s.all[0].cut == INK_CUT_BEGIN && s.all[1].cut == INK_CUT_NEVER_ENDED, "neither is joined");
}

/* Where words of the launch were lost the other end may have been among them. */
static void with_loss(void) {
  seen s;
  synth_track tracks[] = {track_of(&(one){.close_ns = 1000}, 0), track_of(&(one){.thread = 32, .close_ns = 1000}, 1)};
  for (uint64_t i = 0; i < 40; i++)
    synth_record(&tracks[0], 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, 1100 + i);
  shared(&tracks[1], INK_ESCAPE_BLOCK, true, 0, 1, 1500);
  expect_crossings(tracks, 2, &s);
  CHECK(s.count == 1 && !s.problems && s.all[0].cut == INK_CUT_BEGIN, "%zu problems: %s", s.problems, s.text[0]);
}

/* One block of each S in a row, as few as fit, whatever the grid: what kernels do is in windows.auto. */
static void rule_of_samples(void) {
  const uint32_t one_warp[] = {20, 1, 1}, three[] = {16, 3, 2}, whole[] = {32, 32, 1};
  for (uint32_t tracks = 1; tracks <= 4096; tracks *= 4)
    for (uint32_t blocks = 1; blocks < 70000; blocks += 1 + blocks / 3) {
      const uint32_t grid[] = {blocks, 1, 1};
      const uint32_t log2 = ink_sample_log2(INK_BUFFER_SAMPLED, tracks, grid, whole);
      uint32_t chosen = 0, row = 0;
      for (uint32_t b = 0; b < blocks; b++) {
        row += ink_sample_has(log2, b);
        chosen += ink_sample_has(log2, b);
        if ((b + 1) % (1u << log2) == 0) {
          CHECK(row == 1, "%u of the %u in a row that end with block %u", row, 1u << log2, b);
          row = 0;
        }
      }
      CHECK(chosen <= tracks, "%u of %u blocks in %u tracks", chosen, blocks, tracks);
      CHECK(!log2 || blocks > tracks << (log2 - 1), "%u blocks in %u tracks: one of %u", blocks, tracks, 1u << log2);
      CHECK(!ink_sample_log2(INK_BUFFER_ON, tracks, grid, whole), "a buffer without samples has one");
      const uint32_t warps = INK_BUFFER_SAMPLED | INK_BUFFER_SAMPLED_WARPS;
      const uint32_t few[] = {(blocks + 2) / 3, 1, 1};
      CHECK(ink_sample_log2(warps, tracks, grid, one_warp) == log2, "blocks of 20 threads need a track");
      CHECK(ink_sample_log2(warps, tracks, few, three) ==
                ink_sample_log2(INK_BUFFER_SAMPLED, tracks, (const uint32_t[]){few[0] * 3, 1, 1}, whole),
            "blocks of 96 threads need three");
      CHECK(ink_sample_log2(INK_BUFFER_SAMPLED | 2 << 8, tracks * 4, grid, whole) == log2, "four warps that are listed");
    }
}

/* What a launch says of it, and that code which knows no samples is not said to have made one. */
static void samples(void) {
  const char *path = synth_path("sampled");
  const ink_device_info device = {.simulated = 1, .sm_count = 2, .clock_khz = 1000000, .track_count = 4, .records_per_track = 32,
                                  .aux_records_per_track = 4, .flags = INK_BUFFER_ON | INK_BUFFER_SAMPLED, .name = "made up"};
  for (int other = 0; other < 2; other++) {
    ink_error error;
    ink_writer *writer = begin(path);
    NEED(ink_writer_device(writer, &device, &error), error);
    for (uint32_t b = 0, n = 0; b < 9; b++)
      if (other ? b > 4 : ink_sample_has(2, b)) {
        synth_track track = track_of(&(one){.block = b, .open_ns = 100 * b, .close_ns = 100 * b + 90}, n++);
        track.header.grid_dim[0] = 9;
        synth_put(writer, &track);
        synth_track_free(&track);
      }
    ink_capture *capture = end(writer, path);
    const ink_launch *list;
    const size_t count = ink_capture_launches(capture, &list);
    CHECK(count == 1 && list[0].one_of == (other ? 1 : 4), "%zu launches, one of %u", count, count ? list[0].one_of : 0);
    ink_capture_free(capture);
    remove(path);
  }
}

/* An end without a beginning in each track of two kernels: one line for each kernel, which says how often. */
static void problems_of_two(void) {
  const char *path = synth_path("problems_of_two");
  ink_writer *writer = begin(path);
  for (uint64_t i = 0; i < 7; i++) {
    synth_track track = track_of(&(one){.block = (uint32_t)i % 4, .slot = i % 3 != 0, .open_ns = 5000 * i, .close_ns = 5000 * i + 900}, i);
    track.header.grid_id = 8 + i % 3;
    synth_record(&track, 0, INK_KIND_END, SYNTH_HESSIAN, 0, track.header.open_clock1 + 50);
    synth_put(writer, &track);
    synth_track_free(&track);
  }
  ink_capture *capture = end(writer, path);
  ink_clock_map *map;
  ink_table *table;
  ink_error error;
  const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX};
  NEED(ink_clock_map_make(capture, &map, &error), error);
  NEED(ink_table_make(capture, map, &options, &table, &error), error);
  const ink_problem *problems;
  uint64_t total;
  const size_t n = ink_table_problems(table, &problems, &total);
  CHECK(n == 2 && total == 7, "%zu problems, %" PRIu64 " in all", n, total);
  for (size_t i = 0; i < n; i++)
    CHECK(problems[i].times == (problems[i].track < 3 ? 3 : 4), "%" PRIu64 " times from track %" PRIu64, problems[i].times, problems[i].track);
  ink_table_free(table);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
}

int main(void) {
  rule_of_samples();
  samples();
  repeats();
  kernels_of_one_launch();
  instances();
  address_again();
  long_name();
  without_names();
  lost_instances();
  roles();
  in_a_block();
  apart();
  left_alone();
  with_loss();
  problems_of_two();
  return check_result("launches");
}
