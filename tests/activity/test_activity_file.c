/* SPDX-License-Identifier: MIT */
/* Activity in a capture: what is written is read, damage is found, inkmark's own work is taken out,
 * launches are joined, CUPTI's clock becomes the host's, names become readable. */
#include "check.h"
#include "craft.h"

#include "inkmark/activity.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const char path[] = "test_activity_file.ink";

static ink_activity kernel(uint64_t begin, uint64_t end, uint32_t correlation, uint64_t grid_id) {
  return (ink_activity){.kind = INK_ACTIVITY_KERNEL, .begin_ns = begin, .end_ns = end,
                        .correlation = correlation, .name = 1, .grid_id = grid_id,
                        .grid_dim = {2, 1, 1}, .block_dim = {64, 1, 1}, .registers = 40, .peer = -1};
}

static void write_track(ink_writer *writer, uint64_t grid_id, uint32_t block) {
  ink_error error = {0};
  const ink_track track = {.state = INK_TRACK_CLOSED, .ticket = grid_id * 10 + block,
                           .grid_id = grid_id, .grid_dim = {2, 1, 1}, .block_dim = {64, 1, 1},
                           .block_index = {block, 0, 0}};
  NEED(ink_writer_track(writer, 0, &track, NULL, NULL, &error), error);
}

static void test_round_trip(void) {
  ink_error error = {0};
  ink_writer *writer;
  ink_capture *capture;
  const ink_activity *const *all;
  uint64_t own;
  NEED(ink_writer_open(path, true, &writer, &error), error);
  NEED(ink_writer_device(writer, &(ink_device_info){.name = "x", .sm_count = 1}, &error), error);
  write_track(writer, 7, 0);
  write_track(writer, 9, 0);
  NEED(ink_writer_activity_name(writer, 1, "_Z4stepv", &error), error);
  NEED(ink_writer_activity_name(writer, 3, "cudaLaunchKernel", &error), error);
  const ink_activity first[] = {kernel(500, 900, 12, 9), kernel(100, 400, 11, 7),
                                kernel(950, 990, 13, 8)};
  NEED(ink_writer_activities(writer, first, 3, &error), error);
  const ink_activity call = {.kind = INK_ACTIVITY_RUNTIME_CALL, .device = -1, .begin_ns = 90,
                             .end_ns = 110, .correlation = 11, .name = 3, .context = 4711,
                             .stream = 4712, .result = -5, .peer = -1};
  NEED(ink_writer_activities(writer, &call, 1, &error), error);
  NEED(ink_writer_activity_own(writer, (uint32_t[]){99, 13}, 2, &error), error);
  NEED(ink_writer_fact(writer, "activity_own", "5", &error), error);
  NEED(ink_writer_activity_device(writer, &(ink_activity_device){.index = 0, .sm_count = 3}, &error),
       error);
  NEED(ink_writer_activity_device(writer, &(ink_activity_device){.index = 0, .sm_count = 4}, &error),
       error);
  CHECK(ink_writer_activity_name(writer, 0, "x", &error) == INK_ERROR_ARGUMENT, "an id of 0");
  CHECK(ink_writer_activities(writer, NULL, 2, &error) == INK_ERROR_ARGUMENT, "no items");
  CHECK(ink_writer_activities(writer, NULL, 0, &error) == INK_OK, "nothing to write");
  NEED(ink_writer_close(writer, &error), error);

  NEED(ink_capture_open(path, &capture, &error), error);
  const size_t n = ink_capture_activities(capture, &all, &own);
  CHECK(n == 3 && own == 6, "%zu activities, %llu own", n, (unsigned long long)own);
  CHECK(n == 3 && !memcmp(all[0], &call, sizeof call), "the call is not the first, or not the same");
  CHECK(n == 3 && !memcmp(all[1], &first[1], sizeof call), "not the same");
  CHECK(n == 3 && !memcmp(all[2], &first[0], sizeof call), "not the same");
  CHECK(!strcmp(ink_capture_activity_name(capture, 1), "_Z4stepv"), "name 1");
  CHECK(!strcmp(ink_capture_activity_name(capture, 3), "cudaLaunchKernel"), "name 3");
  CHECK(!*ink_capture_activity_name(capture, 0) && !*ink_capture_activity_name(capture, 2) &&
            !*ink_capture_activity_name(capture, 4), "names that are not there");
  const ink_launch *launches;
  CHECK(ink_capture_launches(capture, &launches) == 2, "launches");
  const uint32_t joined = ink_activity_launch(capture, &first[0]);
  CHECK(joined < 2 && launches[joined].grid_id == 9, "joined with %u", joined);
  ink_activity other = first[0];
  other.device = 1;
  CHECK(ink_activity_launch(capture, &other) == UINT32_MAX, "another device's");
  CHECK(ink_activity_launch(capture, &first[2]) == UINT32_MAX, "a grid id that is not there");
  CHECK(ink_activity_launch(capture, &call) == UINT32_MAX, "a call");
  const ink_activity_device *devices;
  CHECK(ink_capture_activity_devices(capture, &devices) == 1 && devices[0].sm_count == 4,
        "the newest device does not hold");
  ink_capture_free(capture);
  unlink(path);
}

/* The payload of an ACTIVITY chunk with one item, then with what `damage` does to it. */
typedef struct one_item {
  ink_file_activity head;
  ink_activity item;
} one_item;

static size_t read_back(const void *payload, size_t bytes, uint32_t type, uint64_t *damaged) {
  static craft c;
  ink_error error = {0};
  ink_capture *capture;
  const ink_activity *const *all;
  craft_start(&c, 1, 0);
  craft_chunk(&c, type, payload, bytes);
  NEED(ink_capture_open_memory(c.bytes, c.size, &capture, &error), error);
  *damaged = ink_capture_get_facts(capture)->damaged_chunks;
  const size_t n = ink_capture_activities(capture, &all, NULL);
  ink_capture_free(capture);
  return n;
}

static one_item made(void) {
  return (one_item){.head = {.part = INK_ACTIVITY_PART_ITEMS, .item_bytes = sizeof(ink_activity),
                             .count = 1},
                    .item = kernel(10, 20, 1, 1)};
}

static void test_damage(void) {
  uint64_t damaged;
  one_item one = made();
  CHECK(read_back(&one, sizeof one, INK_CHUNK_ACTIVITY, &damaged) == 1 && !damaged, "a good one");
#define DAMAGED(what, ...)                                                                         \
  do {                                                                                             \
    one = made();                                                                                  \
    __VA_ARGS__;                                                                                   \
    const size_t left = read_back(&one, sizeof one, INK_CHUNK_ACTIVITY, &damaged);                 \
    CHECK(!left && damaged == 1, "%s: %zu items, %d damaged", what, left, (int)damaged);           \
  } while (0)
  DAMAGED("kind 0", one.item.kind = 0);
  DAMAGED("kind 6", one.item.kind = 6);
  DAMAGED("ends before it begins", one.item.end_ns = 9);
  DAMAGED("ends after all time", one.item.end_ns = UINT64_MAX);
  DAMAGED("two items where one is", one.head.count = 2);
  DAMAGED("a count that overflows", one.head.count = UINT64_MAX / 64);
  DAMAGED("items too short", one.head.item_bytes = 120);
  DAMAGED("items of odd size", one.head.item_bytes = 129);
  DAMAGED("items of no size", one.head.item_bytes = 0);
  DAMAGED("readings too short", one.head.part = INK_ACTIVITY_PART_READINGS;
          one.head.item_bytes = 8);
  one = made();
  one.head.part = 77;
  CHECK(!read_back(&one, sizeof one, INK_CHUNK_ACTIVITY, &damaged) && !damaged, "a newer part");
  CHECK(!read_back(&one, 8, INK_CHUNK_ACTIVITY, &damaged) && damaged == 1, "half a head");
  struct {
    ink_file_activity head;
    ink_activity item;
    uint64_t more;
  } longer = {.head = {INK_ACTIVITY_PART_ITEMS, sizeof(ink_activity) + 8, 1},
              .item = kernel(10, 20, 1, 1)};
  CHECK(read_back(&longer, sizeof longer, INK_CHUNK_ACTIVITY, &damaged) == 1 && !damaged,
        "items of a newer version");
  struct {
    ink_file_activity head;
    ink_activity_reading reading;
  } backwards = {{INK_ACTIVITY_PART_READINGS, sizeof(ink_activity_reading), 1}, {5, 20, 10}};
  read_back(&backwards, sizeof backwards, INK_CHUNK_ACTIVITY, &damaged);
  CHECK(damaged == 1, "a reading that goes back");
  const struct {
    uint64_t id;
    char text[8];
  } names[] = {{0, "zero"}, {1, {'n', 'o', ' ', 'e', 'n', 'd', '!', '!'}}, {UINT64_C(1) << 40, "huge"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    read_back(&names[i], sizeof names[i], INK_CHUNK_ACTIVITY_NAME, &damaged);
    CHECK(damaged == 1, "name %zu", i);
  }
  read_back(&names[0], 8, INK_CHUNK_ACTIVITY_NAME, &damaged);
  CHECK(damaged == 1, "a name without text");
}

/* CUPTI's clock runs fast by 100 ppm and is 5 s behind; its readings have round trips of their own. */
static void test_clock(void) {
  ink_error error = {0};
  ink_writer *writer;
  ink_capture *capture;
  const int64_t offset = 5000000000;
  NEED(ink_writer_open(path, true, &writer, &error), error);
  for (int i = 0; i < 20; i++) {
    const uint64_t ns = UINT64_C(1000000000) * (uint64_t)(i + 1);
    const int64_t truth = (int64_t)llround((double)ns / 1.0001) + offset;
    const int64_t before = i % 5 == 2 ? 30 : 900 + i * 10, after = i % 5 == 2 ? 20 : 3000;
    NEED(ink_writer_activity_reading(
             writer, &(ink_activity_reading){ns, truth - before, truth + after}, &error), error);
  }
  NEED(ink_writer_close(writer, &error), error);
  NEED(ink_capture_open(path, &capture, &error), error);
  const ink_activity_clock clock = ink_activity_clock_make(capture, NULL);
  CHECK(clock.known && !clock.simulated && clock.bound_ns == 25, "bound %lld",
        (long long)clock.bound_ns);
  double worst = 0;
  for (uint64_t ns = 1000000000; ns < UINT64_C(20000000000); ns += 77777777) {
    const double truth = (double)ns / 1.0001 + (double)offset;
    const double wrong = fabs((double)ink_activity_unix_ns(&clock, 0, ns) - truth);
    worst = wrong > worst ? wrong : worst;
  }
  CHECK(worst < 30, "off by %g ns", worst);
  ink_capture_free(capture);
  unlink(path);

  static craft c;
  craft_start(&c, 1, 0);
  NEED(ink_capture_open_memory(c.bytes, c.size, &capture, &error), error);
  const ink_activity_clock none = ink_activity_clock_make(capture, NULL);
  CHECK(!none.known && ink_activity_unix_ns(&none, 0, 1234) == 1234, "no reading");
  ink_capture_free(capture);
}

static void test_names(void) {
  static const char *const names[][2] = {
      {"_Z4stepPK11EnvironmentP8Solution", "step"},
      {"_ZN4gemm3runIfLi4EEEvPT_i", "gemm::run<float, 4>"},
      {"_Z3addIfEvPT_", "add<float>"},
      {"_Z1kIPKdEvT_", "k<...>"},
      {"_Z1kIPP3JobLin12Eb", "k<...>"},
      {"_Z1kIPP3JobLin12EbEvT_", "k<Job**, -12, bool>"},
      {"_ZN12_GLOBAL__N_14workEPi", "(anonymous)::work"},
      {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
       "at::native::vectorized_elementwise_kernel<...>"},
      {"_ZL6hiddenv", "hidden"},
      {"_ZNK1A4callEv", "A::call"},
      {"_ZN1AC1Ev", "_ZN1AC1Ev"},
      {"_Z", "_Z"},
      {"_Z9short", "_Z9short"},
      {"_ZN", "_ZN"},
      {"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
      {"", ""},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char out[128], cut[6];
    ink_activity_short_name(names[i][0], out, sizeof out);
    CHECK(!strcmp(out, names[i][1]), "'%s' gives '%s'", names[i][0], out);
    ink_activity_short_name(names[i][0], cut, sizeof cut);
    CHECK(strlen(cut) < sizeof cut && !strncmp(cut, names[i][1], strlen(cut)), "cut to '%s'", cut);
  }
}

int main(void) {
  test_round_trip();
  test_damage();
  test_clock();
  test_names();
  return check_result("activity_file");
}
