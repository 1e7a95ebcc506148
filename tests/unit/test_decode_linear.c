/* SPDX-License-Identifier: MIT */
/* Decoding takes steps in proportion to the words: twice the ring, no more than about twice the basic blocks that
 * the decoder and the table run through, however badly a program nests its ranges. The compiler counts them in
 * (-fsanitize-coverage=trace-pc), so no clock is looked at. And what comes out of a small ring is what one can work out. */
#include "check.h"
#include "inkmark/table.h"
#include "synth.h"

#include <inttypes.h>

void __sanitizer_cov_trace_pc(void);
static uint64_t steps;
void __sanitizer_cov_trace_pc(void) { steps++; }

enum { KERN = 1, A, B, SMALL = 1 << 12 };

typedef struct shape {
  const char *name;
  void (*word)(synth_track *track, uint32_t i, uint32_t n, uint64_t now);
} shape;

static void mark(synth_track *track, int called, enum ink_kind kind, uint32_t section, uint64_t now) {
  const uint64_t word = INK_HEAD(kind, section, now);
  synth_words(track, called, &word, 1);
}

/* C5: an END that closes another section than the two ranges that were begun. */
static void two_begun_one_ended(synth_track *track, uint32_t i, uint32_t n, uint64_t now) {
  (void)n;
  mark(track, 0, i % 3 == 2 ? INK_KIND_END : INK_KIND_BEGIN, i % 3 == 2 ? B : A, now);
}
static void never_ended(synth_track *track, uint32_t i, uint32_t n, uint64_t now) {
  (void)i, (void)n;
  mark(track, 0, INK_KIND_BEGIN, A, now);
}
static void deep(synth_track *track, uint32_t i, uint32_t n, uint64_t now) {
  mark(track, 0, i < n / 2 ? INK_KIND_BEGIN : INK_KIND_END, A, now);
}
/* Many are still open at the END of one around them. */
static void all_but_one(synth_track *track, uint32_t i, uint32_t n, uint64_t now) {
  const uint32_t at = i % (n / 8);
  mark(track, 0, at + 1 < n / 8 ? INK_KIND_BEGIN : INK_KIND_END, at == 0 || at + 1 == n / 8 ? A : B, now);
}
static void no_section(synth_track *track, uint32_t i, uint32_t n, uint64_t now) {
  (void)n;
  mark(track, 0, i % 3 == 2 ? INK_KIND_END : INK_KIND_BEGIN, i % 3 == 2 ? A : 100, now);
}
static void called(synth_track *track, uint32_t i, uint32_t n, uint64_t now) {
  (void)n;
  mark(track, 1, i % 3 == 2 ? INK_KIND_END : INK_KIND_BEGIN, i % 3 == 2 ? B : A, now);
}
static void marks_around(synth_track *track, uint32_t i, uint32_t n, uint64_t now) {
  (void)n;
  mark(track, 0, i % 2 ? INK_KIND_MARK : INK_KIND_BEGIN, A, now);
}
static void ends_only(synth_track *track, uint32_t i, uint32_t n, uint64_t now) {
  (void)i, (void)n;
  mark(track, 0, INK_KIND_END, A, now);
}
static const shape shapes[] = {{"two begun, one ended", two_begun_one_ended}, {"never ended", never_ended},
                               {"deep", deep}, {"all but one", all_but_one}, {"no section", no_section},
                               {"called", called}, {"marks around", marks_around}, {"ends only", ends_only}};

static uint64_t decode(const shape *of, uint32_t n, uint64_t *problems) {
  static const char sections[] = "Kern, A, B";
  const char *path = synth_path("linear");
  ink_error error;
  ink_writer *writer;
  const uint64_t hash = 0x123456789abc;
  NEED(ink_writer_open(path, true, &writer, &error), error);
  NEED(ink_writer_table(writer, "T", sections, "x.cu", 1, hash, &error), error);
  const ink_device_info device = {.sm_count = 1, .track_count = 1, .records_per_track = n,
                                  .aux_records_per_track = n, .flags = INK_BUFFER_ON, .name = "x"};
  NEED(ink_writer_device(writer, &device, &error), error);
  const ink_kernel_counts counts = {.key = INK_KERNEL_KEY(hash, KERN), .tracks = 1, .marks = n, .words = n};
  NEED(ink_writer_counts(writer, &counts, 1, 1, 0, 0, &error), error);
  synth_track track;
  synth_track_init(&track, n, n, false);
  synth_open(&track, 1000, 1000);
  for (uint32_t i = 0; i < n; i++)
    of->word(&track, i, n, 2000 + 10 * (uint64_t)i);
  synth_close(&track, 3000 + 10 * (uint64_t)n, 3000 + 10 * (uint64_t)n);
  NEED(ink_writer_track(writer, 0, &track.header, track.rings[0], track.rings[1], &error), error);
  NEED(ink_writer_close(writer, &error), error);
  synth_track_free(&track);
  ink_capture *capture;
  ink_clock_map *map;
  ink_table *table;
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX};
  steps = 0;
  NEED(ink_table_make(capture, map, &options, &table, &error), error);
  const uint64_t taken = steps;
  const ink_problem *list;
  ink_table_problems(table, &list, problems);
  ink_table_free(table);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
  return taken;
}

int main(void) {
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    uint64_t problems, more;
    const uint64_t once = decode(&shapes[i], SMALL, &problems), sixteen = decode(&shapes[i], SMALL * 16, &more);
    CHECK(once > SMALL / 16, "%s: %" PRIu64 " steps were counted", shapes[i].name, once);
    CHECK(sixteen < 20 * once, "%s: %" PRIu64 " steps for %d words, %" PRIu64 " for 16 times as many", shapes[i].name,
          once, SMALL, sixteen);
    if (shapes[i].word == two_begun_one_ended) /* each END names another, each BEGIN but these never ends */
      CHECK(problems == SMALL - SMALL / 3, "%" PRIu64 " problems", problems);
  }
  return check_result("decode_linear");
}
