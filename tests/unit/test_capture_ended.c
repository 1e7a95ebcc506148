/* SPDX-License-Identifier: MIT */
/* Tracks that were stored open and ended later, and devices that are armed twice: each track of a capture is
 * counted once, as kept, as open or as lost. */
#include "check.h"
#include "craft.h"
#include "synth.h"

#include <inttypes.h>

typedef struct sums {
  uint64_t stored, open, lost;
} sums;

static void put(ink_writer *writer, uint64_t ticket, bool closed) {
  synth_track track;
  synth_track_init(&track, 8, 4, false);
  track.header.grid_id = 3;
  track.header.grid_dim[0] = 100;
  track.header.block_index[0] = (uint32_t)ticket;
  track.header.ticket = ticket;
  synth_open(&track, 1000, 5000 + ticket);
  if (closed) {
    synth_record(&track, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, 1100);
    synth_close(&track, 1200, 6000 + ticket);
  } else {
    track.header.state = INK_TRACK_OPEN;
  }
  synth_put(writer, &track);
  synth_track_free(&track);
}

static void count(ink_writer *writer, uint64_t tracks, uint64_t unknown) {
  ink_error error;
  const ink_kernel_counts counts = {.slot = 0, .key = INK_KERNEL_KEY(SYNTH_HASH, 1), .tracks = tracks,
                                    .marks = tracks};
  NEED(ink_writer_counts(writer, &counts, 1, tracks, unknown, 0, &error), error);
}

static void end(ink_writer *writer, uint64_t ticket) {
  ink_error error;
  NEED(ink_writer_ended(writer, 0, &ticket, 1, &error), error);
}

static sums read_sums(const char *path, uint64_t *unknown) {
  ink_capture *capture;
  ink_error error;
  NEED(ink_capture_open(path, &capture, &error), error);
  const ink_kernel *kernels;
  const size_t n = ink_capture_kernels(capture, &kernels);
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  sums s = {.stored = ink_capture_track_count(capture), .open = facts->open_tracks};
  for (size_t i = 0; i < n; i++)
    s.lost += kernels[i].tracks_lost;
  if (unknown)
    *unknown = facts->unknown_kernels;
  ink_capture_free(capture);
  return s;
}

#define EXPECT(s, stored_, open_, lost_)                                                            \
  CHECK((s).stored == (stored_) && (s).open == (open_) && (s).lost == (lost_),                      \
        "%" PRIu64 " stored, %" PRIu64 " open, %" PRIu64 " lost", (s).stored, (s).open, (s).lost)

/* Of three that two drains saw open: one was used again before it was drained, one came, one hangs. */
static void ended(void) {
  const char *path = synth_path("ended");
  ink_writer *writer = synth_writer(path, 8, 4, false);
  for (uint64_t ticket = 0; ticket < 3; ticket++)
    put(writer, ticket, false);
  end(writer, 0); /* flushes what waits: it is among it */
  end(writer, 1);
  count(writer, 3, 0);
  put(writer, 1, true);
  put(writer, 7, true);
  synth_finish(writer);
  EXPECT(read_sums(path, NULL), 3, 1, 1); /* 1, 7 and, open, 2; of three that closed one is lost */
  remove(path);
}

/* As files of older versions are. */
static void without(void) {
  const char *path = synth_path("without");
  ink_writer *writer = synth_writer(path, 8, 4, false);
  put(writer, 0, false);
  put(writer, 1, false);
  count(writer, 1, 0);
  put(writer, 1, true);
  synth_finish(writer);
  EXPECT(read_sums(path, NULL), 2, 1, 0);
  remove(path);
}

/* A new buffer counts tickets and tracks from 0: the same ticket is another track, the same number more. */
static void armed_again(void) {
  const char *path = synth_path("armed_again");
  ink_error error;
  ink_writer *writer = synth_writer(path, 8, 4, false);
  put(writer, 5, false);
  end(writer, 5);
  count(writer, 4, 2);
  put(writer, 6, true);
  const ink_device_info device = {.index = 0, .sm_count = 4, .track_count = 64, .records_per_track = 8,
                                  .aux_records_per_track = 4, .name = "synth"};
  NEED(ink_writer_device(writer, &device, &error), error);
  put(writer, 5, false);
  count(writer, 4, 1);
  synth_finish(writer);
  uint64_t unknown;
  const sums s = read_sums(path, &unknown);
  EXPECT(s, 2, 1, 7);
  CHECK(unknown == 3, "%" PRIu64 " unknown", unknown);
  remove(path);
}

static void damaged(void) {
  static craft c;
  const struct {
    uint32_t words[4];
    size_t bytes;
    bool right;
  } cases[] = {{{0, 1, 5, 0}, 16, true}, {{0, 2, 5, 0}, 16, false}, {{0, 0, 0, 0}, 8, true},
               {{0, 0xffffffff, 5, 0}, 16, false}, {{0, 1, 0, 0}, 4, false}, {{0, 1, 0, 0}, 12, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ink_capture *capture;
    ink_error error;
    craft_start(&c, 1, 0);
    craft_chunk(&c, INK_CHUNK_ENDED, cases[i].words, cases[i].bytes);
    NEED(ink_capture_open_memory(c.bytes, c.size, &capture, &error), error);
    CHECK(ink_capture_get_facts(capture)->damaged_chunks == !cases[i].right, "case %zu", i);
    ink_capture_free(capture);
  }
}

int main(void) {
  ended();
  without();
  armed_again();
  damaged();
  return check_result("capture_ended");
}
