/* SPDX-License-Identifier: MIT */
/* Captures that are cut, flipped, absurd or no captures at all: the right status and one clear line,
 * what is whole still readable, and no damage that goes unnoticed. */
#include "check.h"
#include "craft.h"
#include "pipeline.h"
#include "synth.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

static void check_message(const ink_error *error, const char *what) {
  CHECK(error->message[0] && !strchr(error->message, '\n'), "%s: not one line", what);
  CHECK(error->message[0] < 'A' || error->message[0] > 'Z', "%s: '%s'", what, error->message);
  size_t n = strlen(error->message);
  CHECK(n && error->message[n - 1] != '.', "%s: '%s'", what, error->message);
}

static void expect_path(const char *path, ink_status status, const char *words) {
  ink_capture *capture = NULL;
  ink_error error = {0};
  ink_status got = ink_capture_open(path, &capture, &error);
  CHECK(got == status, "'%s' gave %d: %s", path, (int)got, error.message);
  CHECK(capture == NULL, "'%s': the out-parameter was touched", path);
  CHECK(strstr(error.message, words), "'%s': '%s' says nothing of '%s'", path, error.message, words);
  check_message(&error, path);
  ink_capture_free(capture);
}

static void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
    exit(2);
}

static void no_captures(void) {
  expect_path("no/such/file.ink", INK_ERROR_IO, "no such file");
  expect_path("/", INK_ERROR_IO, "directory");
  expect_path("/dev/null", INK_ERROR_IO, "regular");
  const char *path = synth_path("none");
  write_file(path, "", 0);
  expect_path(path, INK_ERROR_EMPTY, "empty");
  write_file(path, "hello", 5);
  expect_path(path, INK_ERROR_FORMAT, "not an inkmark capture");
  write_file(path, "{\"traceEvents\": [ 1, 2, 3, 4, 5, 6, 7, 8 ]}", 44);
  expect_path(path, INK_ERROR_FORMAT, "not an inkmark capture");
  craft c;
  craft_start(&c, 3, 5);
  write_file(path, c.bytes, c.size);
  expect_path(path, INK_ERROR_VERSION, "3.5");
  craft_start(&c, 0, 0);
  write_file(path, c.bytes, c.size);
  expect_path(path, INK_ERROR_FORMAT, "no sense");
  craft_start(&c, 1, 0);
  memcpy(c.bytes + 8, "\1\2\3\4", 4);
  write_file(path, c.bytes, c.size);
  expect_path(path, INK_ERROR_UNSUPPORTED, "byte order");
  remove(path);
}

/* A small capture with a bit of everything. */
static unsigned char *small_capture(size_t *size) {
  const char *path = synth_path("small");
  ink_error error;
  ink_writer *writer = synth_writer(path, 16, 8, false);
  ink_host_clock pair = {.device = 0, .global_ns = 5000, .realtime_before_ns = 100,
                         .realtime_after_ns = 140};
  NEED(ink_writer_host_clock(writer, &pair, &error), error);
  NEED(synth_costs(writer, &error), error);
  for (uint32_t i = 0; i < 3; i++) {
    synth_track track;
    synth_track_init(&track, 16, 8, false);
    track.header.grid_dim[0] = 3;
    track.header.block_index[0] = i;
    track.header.ticket = i;
    synth_open(&track, 1000, 5000 + i);
    uint64_t sum[4] = {2, 30, 10, 20};
    synth_record(&track, 0, INK_KIND_ITER, 0, 4, 1010);
    synth_record(&track, 0, INK_KIND_MARK, 2, 0, 1020);
    synth_record(&track, 0, INK_KIND_BEGIN, 3, 0, 1030);
    synth_record(&track, 1, INK_KIND_MARK, 4, 0, 1035);
    synth_value(&track, 0, INK_ESCAPE_VALUE_I64, 1, 99, SYNTH_OTHER_HASH, 1040);
    synth_record(&track, 0, INK_KIND_END, 3, 0, 1050);
    synth_record(&track, 0, INK_KIND_ASYNC_BEGIN, 5, 7, 1060);
    synth_record(&track, 1, INK_KIND_ASYNC_END, 5, 7, 1070);
    if (i == 1) /* the ring is overwritten */
      for (uint64_t m = 0; m < 14; m++)
        synth_record(&track, 0, INK_KIND_MARK, 6, 0, 1080 + m);
    synth_sum(&track, 2, sum, SYNTH_OTHER_HASH, 1100);
    synth_close(&track, 1200, 6000);
    synth_put(writer, &track);
    NEED(ink_writer_flush(writer, &error), error);
    synth_track_free(&track);
  }
  synth_finish(writer);
  unsigned char *bytes = synth_read_file(path, size);
  remove(path);
  return bytes;
}

static ink_status open_copy(const unsigned char *bytes, size_t size, ink_capture **capture,
                            unsigned char **copy, ink_error *error) {
  *copy = malloc(size ? size : 1); /* exact, so that a read beyond it is caught */
  memcpy(*copy, bytes, size);
  *capture = NULL;
  memset(error, 0, sizeof *error);
  return ink_capture_open_memory(*copy, size, capture, error);
}

static void truncate_everywhere(const unsigned char *bytes, size_t size) {
  uint64_t tracks_before = 0;
  for (size_t n = 0; n <= size; n++) {
    ink_capture *capture;
    unsigned char *copy;
    ink_error error;
    ink_status status = open_copy(bytes, n, &capture, &copy, &error);
    ink_status expected = n == 0 ? INK_ERROR_EMPTY : n < 32 ? INK_ERROR_DAMAGED : INK_OK;
    CHECK(status == expected, "cut at %zu: %d %s", n, (int)status, error.message);
    if (status == INK_OK) {
      const ink_capture_facts *facts = ink_capture_get_facts(capture);
      uint64_t tracks = ink_capture_track_count(capture);
      CHECK(tracks >= tracks_before, "cut at %zu: fewer tracks than in less", n);
      CHECK(facts->complete == (n == size), "cut at %zu: complete %d", n, facts->complete);
      CHECK((facts->note[0] == 0) == (n == size), "cut at %zu: note '%s'", n, facts->note);
      CHECK(facts->used_bytes <= facts->file_bytes && facts->file_bytes == n, "cut at %zu", n);
      tracks_before = tracks;
      pipeline_sums sums = {0};
      CHECK(pipeline_run(capture, &sums, &error) == INK_OK, "cut at %zu: %s", n, error.message);
    } else {
      check_message(&error, "cut");
    }
    ink_capture_free(capture);
    free(copy);
  }
  CHECK(tracks_before == 3, "%" PRIu64 " tracks in the whole file", tracks_before);
}

static void flip(const unsigned char *bytes, size_t size, size_t at, unsigned char with) {
  ink_capture *capture;
  unsigned char *copy, *flipped = malloc(size);
  ink_error error;
  memcpy(flipped, bytes, size);
  flipped[at] ^= with;
  ink_status status = open_copy(flipped, size, &capture, &copy, &error);
  if (at < 32) {
    CHECK(status != INK_OK && status != INK_ERROR_MEMORY, "byte %zu ^ %02x: accepted", at, with);
    check_message(&error, "flip");
  } else {
    CHECK(status == INK_OK, "byte %zu ^ %02x: %s", at, with, error.message);
  }
  if (status == INK_OK) {
    const ink_capture_facts *facts = ink_capture_get_facts(capture);
    CHECK(facts->damaged_chunks == 1 && facts->note[0], "byte %zu ^ %02x: %" PRIu64
          " damaged chunks, note '%s'", at, with, facts->damaged_chunks, facts->note);
    CHECK(ink_capture_track_count(capture) >= 2, "byte %zu ^ %02x: more than one chunk is gone", at,
          with);
    pipeline_sums sums = {0};
    CHECK(pipeline_run(capture, &sums, &error) == INK_OK, "byte %zu: %s", at, error.message);
  }
  ink_capture_free(capture);
  free(copy);
  free(flipped);
}

static void flip_everywhere(const unsigned char *bytes, size_t size) {
  for (size_t at = 0; at < size; at++) {
    flip(bytes, size, at, 0x01);
    flip(bytes, size, at, 0x80);
    if (at < 96 || at % 97 == 0)
      for (unsigned with = 1; with < 256; with++)
        flip(bytes, size, at, (unsigned char)with);
  }
}

/* ---- right checksums, wrong contents ------------------------------------------------------- */

static void expect_crafted(const craft *c, const char *what, uint64_t damaged, uint64_t tracks,
                           const char *words) {
  ink_capture *capture;
  unsigned char *copy;
  ink_error error;
  ink_status status = open_copy(c->bytes, c->size, &capture, &copy, &error);
  CHECK(status == INK_OK, "%s: %s", what, error.message);
  if (status == INK_OK) {
    const ink_capture_facts *facts = ink_capture_get_facts(capture);
    CHECK(facts->damaged_chunks == damaged, "%s: %" PRIu64 " damaged", what, facts->damaged_chunks);
    CHECK(ink_capture_track_count(capture) == tracks, "%s: %" PRIu64 " tracks", what,
          ink_capture_track_count(capture));
    CHECK(strstr(facts->note, words), "%s: the note is '%s'", what, facts->note);
    pipeline_sums sums = {0};
    CHECK(pipeline_run(capture, &sums, &error) == INK_OK, "%s: %s", what, error.message);
  }
  ink_capture_free(capture);
  free(copy);
}

static void absurd(void) {
  craft c;
  struct {
    ink_file_tracks head;
    ink_file_track track;
    uint64_t words[4];
  } tracks = {.head = {.count = 1}, .track = {.ring_words = 4}};
  const uint64_t huge[] = {5, 1u << 20, UINT64_C(1) << 61, UINT64_MAX};
  tracks.track.header.state = INK_TRACK_CLOSED;
  for (int i = 0; i < 4; i++) {
    craft_start(&c, 1, 0);
    tracks.track.ring_words = huge[i];
    craft_chunk(&c, INK_CHUNK_TRACKS, &tracks, sizeof tracks);
    expect_crafted(&c, "ring words", 1, 0, "longer than itself");
    craft_start(&c, 1, 0);
    tracks.track.ring_words = 0;
    tracks.track.aux_words = huge[i];
    craft_chunk(&c, INK_CHUNK_TRACKS, &tracks, sizeof tracks);
    expect_crafted(&c, "aux words", 1, 0, "longer than itself");
    tracks.track.aux_words = 0;
    craft_start(&c, 1, 0);
    tracks.head.count = huge[i];
    craft_chunk(&c, INK_CHUNK_TRACKS, &tracks, sizeof tracks);
    expect_crafted(&c, "track count", 1, 1, "fewer tracks");
    tracks.head.count = 1;
    craft_start(&c, 1, 0);
    craft_chunk_claiming(&c, INK_CHUNK_TRACKS, &tracks, sizeof tracks,
                         i == 0 ? sizeof tracks + 5 : huge[i]);
    craft_chunk(&c, INK_CHUNK_END, "12345678", 8);
    /* The first swallows the beginning of the next chunk. */
    expect_crafted(&c, "chunk length", i ? 1 : 2, 0, !i ? "checksum" : huge[i] > 1 << 30 ? "damaged header" : "cut off");
    ink_file_counts counts = {.count = (uint32_t)huge[i]};
    craft_start(&c, 1, 0);
    craft_chunk(&c, INK_CHUNK_COUNTS, &counts, sizeof counts);
    expect_crafted(&c, "counts", huge[i] == UINT64_C(1) << 61 ? 0 : 1, 0, "");
  }
  craft_start(&c, 1, 0);
  tracks.head.count = 1;
  tracks.track.ring_words = tracks.track.aux_words = 3; /* each fits, both do not */
  craft_chunk(&c, INK_CHUNK_TRACKS, &tracks, sizeof tracks);
  expect_crafted(&c, "both rings", 1, 0, "longer than itself");
  craft_start(&c, 1, 0);
  for (uint32_t type = INK_CHUNK_TABLE; type <= INK_CHUNK_TRACKS_1; type++)
    craft_chunk(&c, type, "abc", 3);
  craft_chunk(&c, INK_CHUNK_TRACKS, "abc", 3);
  craft_chunk(&c, INK_CHUNK_INSTANCE, "abc", 3);
  craft_chunk(&c, INK_CHUNK_INSTANCE, "a name without its end..", 24);
  expect_crafted(&c, "chunks that are too short", 8, 0, "damaged");
  craft_start(&c, 1, 0);
  craft_chunk(&c, INK_CHUNK_FACT, "key without end", 15);
  craft_chunk(&c, INK_CHUNK_HOST_CLOCK, "", 0);
  craft_chunk(&c, INK_CHUNK_TRACKS, &(ink_file_tracks){0}, sizeof(ink_file_tracks));
  expect_crafted(&c, "a fact", 1, 0, "text");
}

static void absurd_costs(void) {
  craft c;
  struct {
    ink_file_mark_costs head;
    ink_mark_cost costs[2];
    char note[8];
  } costs = {.costs = {{.what = INK_COST_OF_MARK, .flags = INK_COST_RECORDING,
                        .millicycles = UINT64_MAX, .bound_millicycles = UINT64_MAX},
                       {.what = 77, .flags = UINT32_MAX, .millicycles = 5}},
             .note = "why"};
  const struct {
    uint32_t count;
    size_t bytes;
    uint64_t damaged;
  } cases[] = {{2, sizeof costs, 0},     {0, 10, 0},
               {1, sizeof costs, 0}, /* more than it says is for newer versions */
               {3, sizeof costs, 1},     {UINT32_MAX, sizeof costs, 1},
               {2, sizeof costs - 8, 1}, {0, 8, 1},
               {0, 7, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    craft_start(&c, 1, 0);
    costs.head.count = cases[i].count;
    craft_chunk(&c, INK_CHUNK_MARK_COSTS, &costs, cases[i].bytes);
    expect_crafted(&c, "costs of marks", cases[i].damaged, 0, cases[i].damaged ? "costs of marks" : "");
  }
}

/* A newer minor version may add chunk types and larger headers: what is known is still read. */
static void newer_minor(void) {
  craft c;
  craft_start(&c, 1, 7);
  craft_chunk(&c, 99, "something of tomorrow", 21);
  craft_chunk(&c, INK_CHUNK_FACT, "key\0value", 10);
  craft_chunk(&c, INK_CHUNK_END, "\2\0\0\0\0\0\0", 8);
  ink_capture *capture;
  unsigned char *copy;
  ink_error error;
  ink_status status = open_copy(c.bytes, c.size, &capture, &copy, &error);
  CHECK(status == INK_OK, "%s", error.message);
  if (status == INK_OK) {
    const char *value = ink_capture_fact(capture, "key");
    CHECK(value && !strcmp(value, "value"), "the fact behind an unknown chunk");
    CHECK(ink_capture_get_facts(capture)->complete, "complete");
    CHECK(!ink_capture_get_facts(capture)->note[0], "nothing is wrong with it");
  }
  ink_capture_free(capture);
  free(copy);
}

/* A chunk inside of a damaged one, which bears an older sequence, is not read again. */
static void chunk_in_chunk(void) {
  craft c;
  craft_start(&c, 1, 0);
  craft_chunk(&c, INK_CHUNK_FACT, "k\0001", 4);
  size_t first_bytes = c.size - sizeof(ink_file_header), third;
  craft_chunk(&c, INK_CHUNK_FACT, "k\0002", 4);
  third = c.size;
  unsigned char copy_of_first[64];
  memcpy(copy_of_first, c.bytes + sizeof(ink_file_header), first_bytes);
  craft_chunk(&c, 99, copy_of_first, first_bytes);
  c.bytes[third + 8] ^= 1;
  ink_capture *capture;
  unsigned char *copy;
  ink_error error;
  NEED(open_copy(c.bytes, c.size, &capture, &copy, &error), error);
  CHECK(!strcmp(ink_capture_fact(capture, "k"), "2"), "the old chunk was read again");
  CHECK(ink_capture_get_facts(capture)->damaged_chunks == 1, "%s",
        ink_capture_get_facts(capture)->note);
  ink_capture_free(capture);
  free(copy);
}

/* Zeros in the middle, as a crashed file system leaves them: what comes after is found again. */
static void hole(const unsigned char *bytes, size_t size) {
  unsigned char *holed = malloc(size), *copy;
  ink_capture *capture;
  ink_error error;
  memcpy(holed, bytes, size);
  memset(holed + 200, 0, 300);
  NEED(open_copy(holed, size, &capture, &copy, &error), error);
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  CHECK(facts->damaged_chunks >= 1 && facts->complete, "note '%s'", facts->note);
  CHECK(ink_capture_track_count(capture) == 3, "the tracks behind the hole");
  ink_capture_free(capture);
  free(copy);
  free(holed);
}

/* Records that no kernel wrote, in rings whose checksums are right. */
static void random_words(void) {
  uint64_t random = 42;
  for (int i = 0; i < 3000; i++) {
    struct {
      ink_file_tracks head;
      ink_file_track track;
      uint64_t words[48];
    } t = {.head = {.count = 1, .flags = i % 3 ? 0 : INK_BUFFER_KEEP_FIRST},
           .track = {.ring_words = 30, .aux_words = 18}};
    for (int w = 0; w < 48; w++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      t.words[w] = i % 2 ? random : INK_HEAD(random >> 61, random >> 40 & 7, 2000 + (unsigned)w);
    }
    uint64_t *fields = (uint64_t *)(void *)&t.track.header.open_clock0;
    for (int f = 0; f < 10; f++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      fields[f] = i % 5 == 0 ? random : f < 3 ? 1000u : f < 6 ? 4000u : random % 60;
    }
    t.track.header.state = INK_TRACK_CLOSED;
    t.track.header.sm_open = i % 7 ? 0 : (uint32_t)random;
    craft c;
    craft_start(&c, 1, 0);
    ink_file_table table = {.hash48 = SYNTH_HASH};
    unsigned char named[64] = {0};
    memcpy(named, &table, sizeof table);
    memcpy(named + sizeof table, "T\0f\0A,B,C", 10);
    craft_chunk(&c, INK_CHUNK_TABLE, named, sizeof table + 10);
    struct {
      ink_file_counts head;
      ink_file_count count;
    } counts = {.head = {.count = 1}, .count = {.key = INK_KERNEL_KEY(SYNTH_HASH, 1)}};
    craft_chunk(&c, INK_CHUNK_COUNTS, &counts, sizeof counts);
    craft_chunk(&c, INK_CHUNK_TRACKS, &t, sizeof t);
    expect_crafted(&c, "random words", 0, 1, "");
  }
}

int main(void) {
  size_t size;
  unsigned char *bytes = small_capture(&size);
  no_captures();
  truncate_everywhere(bytes, size);
  flip_everywhere(bytes, size);
  absurd();
  absurd_costs();
  newer_minor();
  chunk_in_chunk();
  hole(bytes, size);
  random_words();
  free(bytes);
  return check_result("capture_damage");
}
