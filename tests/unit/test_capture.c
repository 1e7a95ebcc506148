/* SPDX-License-Identifier: MIT */
/* The capture file: what is written comes back, in the documented order, with the losses counted. */
#include "check.h"
#include "inkmark/decode.h"
#include "synth.h"

#include <errno.h>
#include <inttypes.h>

static ink_capture *reopen(const char *path) {
  ink_capture *capture = NULL;
  ink_error error;
  NEED(ink_capture_open(path, &capture, &error), error);
  return capture;
}

static synth_track small_track(uint32_t block, uint64_t grid_id, uint64_t ticket) {
  synth_track track;
  synth_track_init(&track, 8, 4, false);
  track.header.grid_dim[0] = 8;
  track.header.block_index[0] = block;
  track.header.grid_id = grid_id;
  track.header.ticket = ticket;
  synth_open(&track, 1000, 5000 + ticket);
  synth_record(&track, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, 1100);
  synth_close(&track, 1200, 6000 + ticket);
  return track;
}

static void put_small(ink_writer *writer, uint32_t block, uint64_t grid_id, uint64_t ticket) {
  synth_track track = small_track(block, grid_id, ticket);
  synth_put(writer, &track);
  synth_track_free(&track);
}

static void write_trip(const char *path) {
  ink_error error;
  ink_writer *writer = synth_writer(path, 8, 4, false);
  NEED(ink_writer_fact(writer, "command", "newer", &error), error);
  NEED(ink_writer_fact(writer, "pid", "77", &error), error);
  ink_host_clock pair = {.device = 0, .global_ns = 5000, .realtime_before_ns = 100,
                         .realtime_after_ns = 140, .monotonic_before_ns = 7};
  NEED(ink_writer_host_clock(writer, &pair, &error), error);
  put_small(writer, 3, 9, 2);
  NEED(ink_writer_flush(writer, &error), error);
  put_small(writer, 1, 9, 1);
  ink_kernel_counts counts[2] = {
      {.slot = 0, .key = INK_KERNEL_KEY(SYNTH_HASH, 1), .missed = 4, .tracks = 5, .marks = 12},
      {.slot = 1, .key = INK_KERNEL_KEY(SYNTH_HASH, 2)}};
  NEED(ink_writer_counts(writer, counts, 2, 9, 3, 0, &error), error);
  synth_finish(writer);
}

/* Sections of one name, as the rewriter gives calls of one line. */
static void names_alike(void) {
  static const char *const shown[] = {"Step", "f (a.cu:3)", "f (a.cu:3, 2)", "g (a.cu:3)", "g (a.cu:3, 2)",
                                      "f (a.cu:3, 3)", "f (a.cu:4)", "Step, 2"};
  const char *path = synth_path("alike");
  ink_error error;
  ink_writer *writer = NULL;
  NEED(ink_writer_open(path, true, &writer, &error), error);
  NEED(ink_writer_table(writer, "Alike", "Step, f (a.cu:3), f (a.cu:3), g (a.cu:3), g (a.cu:3), "
                        "f (a.cu:3), f (a.cu:4), Step", "a.cu", 1, SYNTH_HASH, &error), error);
  synth_finish(writer);
  ink_capture *capture = reopen(path);
  const ink_section *sections;
  const size_t n = ink_capture_sections(capture, &sections);
  CHECK(n == sizeof shown / sizeof *shown, "%zu sections", n);
  for (size_t i = 0; i < n; i++)
    CHECK(!strcmp(sections[i].name, shown[i]), "'%s' is shown as '%s'", shown[i], sections[i].name);
  ink_capture_free(capture);
}

static void round_trip(void) {
  const char *path = synth_path("trip");
  write_trip(path);
  ink_capture *capture = reopen(path);
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  CHECK(facts->complete && !facts->note[0] && facts->damaged_chunks == 0, "%s", facts->note);
  CHECK(facts->used_bytes == facts->file_bytes && facts->version == 2, "bytes");
  CHECK(facts->unknown_kernels == 3, "%" PRIu64, facts->unknown_kernels);
  CHECK(!strcmp(ink_capture_fact(capture, "command"), "newer"), "the newest fact wins");
  CHECK(!strcmp(ink_capture_fact(capture, "pid"), "77"), "pid");
  CHECK(ink_capture_fact(capture, "none") == NULL, "a fact nobody wrote");
  const ink_device_info *devices;
  CHECK(ink_capture_devices(capture, &devices) == 1, "devices");
  CHECK(devices[0].sm_count == 4 && devices[0].records_per_track == 8 &&
            !strcmp(devices[0].name, "synthetic device"), "device");
  CHECK(ink_capture_simulated(capture), "simulated");
  const ink_section_table *tables;
  CHECK(ink_capture_tables(capture, &tables) == 2, "tables");
  CHECK(tables[0].section_count == 6 && !strcmp(tables[0].sections[1], "LineSearch") &&
            !strcmp(tables[0].name, "Solver") && tables[0].line == 7 &&
            !strcmp(tables[0].file, "solver.cu"), "table");
  CHECK(ink_capture_table(capture, SYNTH_OTHER_HASH) == &tables[1], "table by hash");
  CHECK(ink_capture_table(capture, 1) == NULL, "no such table");
  const ink_section *sections;
  CHECK(ink_capture_sections(capture, &sections) == 8 && sections[7].id == 2 &&
            !strcmp(sections[7].name, "Beta"), "sections");
  const ink_host_clock *clocks;
  CHECK(ink_capture_host_clocks(capture, &clocks) == 1 && clocks[0].realtime_after_ns == 140,
        "host clock");
  const ink_kernel *kernels;
  size_t n = ink_capture_kernels(capture, &kernels);
  CHECK(n == 1, "%zu kernels: a slot in which nothing happened is none", n);
  CHECK(!strcmp(kernels[0].name, "Step") && kernels[0].table == &tables[0], "kernel's name");
  CHECK(kernels[0].tracks == 2 && kernels[0].missed == 4 && kernels[0].tracks_lost == 3 &&
            kernels[0].marks_lost == 10 && kernels[0].marks_executed == 2, "kernel's counts");
  const ink_launch *launches;
  CHECK(ink_capture_launches(capture, &launches) == 1, "launches");
  CHECK(launches[0].track_count == 2 && launches[0].first_open_global_ns == 5001 &&
            launches[0].last_close_global_ns == 6002 && launches[0].grid_dim[0] == 8, "launch");
  ink_stored_track track;
  CHECK(ink_capture_track_count(capture) == 2, "tracks");
  ink_capture_track(capture, 0, &track);
  CHECK(track.header.block_index[0] == 1 && track.ring_words == 1 && track.aux_words == 0,
        "by block, not as written");
  CHECK(track.ring[0] == INK_HEAD(INK_KIND_MARK, SYNTH_LINE_SEARCH, 1100), "the word");
  ink_capture_free(capture);
  remove(path);
}

/* A graph replayed: the same grid id, block after block, three times, each time on other SMs and when all had closed;
 * one track of the second replay is lost. And a launch of another grid, and the same grid id on another device. */
static void launches(void) {
  const char *path = synth_path("launches");
  ink_error error;
  ink_writer *writer = synth_writer(path, 8, 4, false);
  uint64_t ticket = 0;
  for (int replay = 0; replay < 3; replay++)
    for (uint32_t block = 0; block < 4; block++) {
      ticket++;
      synth_track replayed = small_track(3 - block, 5, ticket);
      replayed.header.open_global_ns += 2000 * (uint64_t)replay;
      replayed.header.close_global_ns += 2000 * (uint64_t)replay;
      replayed.header.sm_open = replayed.header.sm_close = (block + (uint32_t)replay) % 4;
      if (replay != 1 || block != 3)
        synth_put(writer, &replayed);
      synth_track_free(&replayed);
    }
  put_small(writer, 0, 2, ++ticket);
  ink_device_info second = {.index = 1, .records_per_track = 8, .aux_records_per_track = 4,
                            .name = "second"};
  NEED(ink_writer_device(writer, &second, &error), error);
  synth_track track = small_track(0, 5, 1);
  NEED(ink_writer_track(writer, 1, &track.header, track.rings[0], track.rings[1], &error), error);
  synth_track_free(&track);
  synth_finish(writer);
  ink_capture *capture = reopen(path);
  const ink_launch *list;
  size_t n = ink_capture_launches(capture, &list);
  CHECK(n == 5, "%zu launches", n);
  static const uint64_t counts[] = {4, 1, 3, 4, 1}, grids[] = {5, 2, 5, 5, 5};
  for (size_t i = 0; i < n && i < 5; i++)
    CHECK(list[i].track_count == counts[i] && list[i].grid_id == grids[i], "launch %zu: %" PRIu64
          " tracks of grid %" PRIu64, i, list[i].track_count, list[i].grid_id);
  CHECK(n == 5 && list[4].device == 1, "device by device");
  const ink_kernel *kernels;
  n = ink_capture_kernels(capture, &kernels);
  CHECK(n == 2 && kernels[0].launches == 4, "kernel 0");
  CHECK(n == 2 && !strcmp(kernels[1].name, "?") && kernels[1].table == NULL,
        "a device without counts: its kernels are unknown");
  for (uint64_t i = 1; i < ink_capture_track_count(capture); i++) {
    ink_stored_track a, b;
    ink_capture_track(capture, i - 1, &a);
    ink_capture_track(capture, i, &b);
    CHECK(a.launch < b.launch ||
              (a.launch == b.launch && a.header.block_index[0] < b.header.block_index[0]),
          "track %" PRIu64 " is out of order", i);
  }
  ink_capture_free(capture);
  remove(path);
}

static void open_then_closed(void) {
  const char *path = synth_path("open");
  ink_error error;
  ink_writer *writer = synth_writer(path, 8, 4, false);
  synth_track track = small_track(0, 1, 1), other = small_track(1, 1, 2);
  track.header.state = other.header.state = INK_TRACK_OPEN;
  track.header.words = UINT64_MAX; /* not valid while it is open */
  synth_put(writer, &track);
  synth_put(writer, &other);
  track.header.state = INK_TRACK_CLOSED;
  track.header.words = 1;
  synth_put(writer, &track);
  track.header.state = INK_TRACK_FREE;
  CHECK(ink_writer_track(writer, 0, &track.header, track.rings[0], track.rings[1], &error) ==
            INK_ERROR_ARGUMENT, "a free track");
  track.header.state = INK_TRACK_CLOSED;
  CHECK(ink_writer_track(writer, 4, &track.header, track.rings[0], NULL, &error) ==
            INK_ERROR_ARGUMENT, "a device that was not written");
  CHECK(ink_writer_track(writer, 0, &track.header, NULL, NULL, &error) == INK_ERROR_ARGUMENT,
        "words without their ring");
  synth_finish(writer);
  ink_capture *capture = reopen(path);
  CHECK(ink_capture_track_count(capture) == 2, "%" PRIu64 " tracks: closing one replaces the open",
        ink_capture_track_count(capture));
  CHECK(ink_capture_get_facts(capture)->open_tracks == 1, "open tracks");
  ink_stored_track stored;
  ink_capture_track(capture, 0, &stored);
  CHECK(stored.header.state == INK_TRACK_CLOSED && stored.ring_words == 1, "the closed one stays");
  ink_capture_track(capture, 1, &stored);
  CHECK(stored.header.state == INK_TRACK_OPEN && stored.ring_words == 0, "header only");
  ink_capture_free(capture);
  synth_track_free(&track);
  synth_track_free(&other);
  remove(path);
}

/* What of a ring is kept, by the words' own values. */
static void kept_words(void) {
  static const struct {
    uint64_t words;
    bool first;
    uint32_t unwritten; /* at the end of a full keep-first ring */
    uint64_t kept, oldest;
  } cases[] = {
      {0, false, 0, 0, 0},
      {5, false, 0, 5, 0},
      {8, false, 0, 8, 0},
      {11, false, 0, 8, 3},
      {(UINT64_C(1) << 32) + 5, false, 0, 8, 5},
      {(UINT64_C(9) << 40) + 7, false, 0, 8, 7},
      {5, true, 0, 5, 0},
      {8, true, 0, 8, 0},
      {20, true, 0, 8, 0},
      {20, true, 3, 5, 0},
      {(UINT64_C(1) << 32) + 5, true, 5, 3, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = synth_path("kept");
    ink_writer *writer = synth_writer(path, 8, 4, cases[i].first);
    synth_track track;
    synth_track_init(&track, 8, 4, cases[i].first);
    track.header.words = cases[i].words;
    for (uint64_t w = 0; w < 8; w++)
      track.rings[0][w] = w >= 8 - cases[i].unwritten ? INK_UNWRITTEN : w + 100;
    synth_put(writer, &track);
    synth_finish(writer);
    ink_capture *capture = reopen(path);
    ink_stored_track stored;
    ink_capture_track(capture, 0, &stored);
    CHECK(stored.ring_words == cases[i].kept, "case %zu: %" PRIu64 " words", i, stored.ring_words);
    for (uint64_t w = 0; w < stored.ring_words; w++)
      CHECK(stored.ring[w] == 100 + (cases[i].oldest + w) % 8, "case %zu: word %" PRIu64
            " is %" PRIu64, i, w, stored.ring[w]);
    CHECK(stored.header.words == cases[i].words, "case %zu: the exact count", i);
    CHECK((stored.flags & INK_BUFFER_KEEP_FIRST) == (cases[i].first ? INK_BUFFER_KEEP_FIRST : 0u),
          "flags");
    ink_capture_free(capture);
    synth_track_free(&track);
    remove(path);
  }
}

/* A slot that is given another key when the device is armed again, and counters that begin anew. */
static void armed_again(void) {
  const char *path = synth_path("again");
  ink_error error;
  ink_writer *writer = synth_writer(path, 8, 4, false);
  ink_kernel_counts counts = {.key = INK_KERNEL_KEY(SYNTH_HASH, 1), .tracks = 3, .marks = 3};
  put_small(writer, 0, 1, 1);
  NEED(ink_writer_counts(writer, &counts, 1, 0, 0, 0, &error), error);
  counts = (ink_kernel_counts){.key = INK_KERNEL_KEY(SYNTH_HASH, 1), .tracks = 1, .marks = 1};
  NEED(ink_writer_counts(writer, &counts, 1, 0, 0, 0, &error), error);
  counts = (ink_kernel_counts){.key = INK_KERNEL_KEY(SYNTH_HASH, 3), .tracks = 1, .marks = 1};
  NEED(ink_writer_counts(writer, &counts, 1, 0, 0, 0, &error), error);
  put_small(writer, 0, 2, 1);
  synth_finish(writer);
  ink_capture *capture = reopen(path);
  const ink_kernel *kernels;
  size_t n = ink_capture_kernels(capture, &kernels);
  CHECK(n == 2 && !strcmp(kernels[0].name, "Step") && !strcmp(kernels[1].name, "UpdateConstraint"),
        "%zu kernels", n);
  CHECK(n == 2 && kernels[0].tracks == 1 && kernels[0].tracks_lost == 3, "3 + 1 counted, 1 stored");
  CHECK(n == 2 && kernels[1].tracks == 1 && kernels[1].tracks_lost == 0, "the new key");
  ink_capture_free(capture);
  remove(path);
}

/* Beyond the size up to which files are read, they are mapped; both must give the same. */
static void mapped(void) {
  const char *path = synth_path("mapped");
  ink_writer *writer = synth_writer(path, 65536, 4, false);
  synth_track track;
  synth_track_init(&track, 65536, 4, false);
  synth_open(&track, 1000, 1000);
  for (uint64_t i = 0; i < 65536; i++)
    synth_record(&track, 0, INK_KIND_MARK, 1 + (uint32_t)(i % 6), 0, 1001 + i);
  synth_close(&track, 70000, 70000);
  track.header.grid_dim[0] = 200;
  for (uint32_t i = 0; i < 140; i++) {
    track.header.block_index[0] = i;
    track.header.ticket = i;
    synth_put(writer, &track);
  }
  synth_finish(writer);
  ink_capture *capture = reopen(path);
  CHECK(ink_capture_get_facts(capture)->file_bytes > 64 << 20, "large enough to be mapped");
  CHECK(ink_capture_track_count(capture) == 140, "tracks");
  ink_stored_track stored;
  ink_capture_track(capture, 139, &stored);
  CHECK(stored.header.block_index[0] == 139 &&
            !memcmp(stored.ring, track.rings[0], 65536 * sizeof(uint64_t)), "the last track");
  ink_capture_free(capture);
  synth_track_free(&track);
  remove(path);
}

int main(void) {
  round_trip();
  names_alike();
  launches();
  open_then_closed();
  kept_words();
  armed_again();
  mapped();
  return check_result("capture");
}
