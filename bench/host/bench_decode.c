/* SPDX-License-Identifier: MIT */
/* How fast records become tables, on one core, as a ratio to memcpy of the same bytes in the same
 * run. Streams of several shapes; the best of some repeats of each. */
#include "synth.h"

#include "inkmark/table.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>

enum { REPEATS = 7 };

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may run on this machine */
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint32_t draw(uint64_t *state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

typedef struct shape {
  const char *name;
  uint32_t ring, aux_ring;
  uint32_t marks_per_iteration; /* 0: no ITER */
  bool nested, called;
} shape;

/* Fills one track's rings to the last word, in the way of a solver's loop. */
static void fill(synth_track *track, const shape *s, uint64_t *random) {
  uint64_t clock = 1000, row = 0;
  synth_open(track, clock, 1000);
  while (track->header.words < s->ring * 9 / 8) {
    if (s->marks_per_iteration)
      synth_record(track, 0, INK_KIND_ITER, 0, row++, clock += 4);
    uint32_t marks = s->marks_per_iteration ? s->marks_per_iteration : 5;
    for (uint32_t i = 0; i < marks; i++) {
      uint32_t section = 2 + i % 5;
      if (s->nested && i == 1)
        synth_record(track, 0, INK_KIND_BEGIN, section, 0, clock += 10);
      if (s->called && i == 2 && track->header.aux_words < s->aux_ring)
        synth_record(track, 1, INK_KIND_MARK, 1, 0, clock += 50 + draw(random, 20));
      clock += 100 * (i + 1) + draw(random, 64);
      synth_record(track, 0, s->nested && i == 1 ? INK_KIND_END : INK_KIND_MARK, section, 0, clock);
    }
  }
  synth_close(track, clock + 10, 1000 + (clock - 1000) / 2);
}

static void make_capture(const char *path, const shape *s, uint64_t records) {
  uint64_t random = 1;
  ink_writer *writer = synth_writer(path, s->ring, s->aux_ring, false);
  synth_track track;
  synth_track_init(&track, s->ring, s->aux_ring, false);
  track.header.grid_dim[0] = (uint32_t)(records / s->ring);
  for (uint64_t i = 0; i < records / s->ring; i++) {
    track.header.words = track.header.extra = track.header.aux_words = track.header.aux_extra = 0;
    track.header.block_index[0] = (uint32_t)i;
    track.header.ticket = i;
    track.header.sm_open = track.header.sm_close = (uint32_t)i % 4;
    track.header.grid_id = 1;
    fill(&track, s, &random);
    synth_put(writer, &track);
  }
  synth_finish(writer);
  synth_track_free(&track);
}

static double copy_seconds(const void *from, size_t bytes) {
  unsigned char *to = malloc(bytes);
  double best = 1e9;
  memset(to, 1, bytes);
  for (int i = 0; i < REPEATS; i++) {
    double start = now_s();
    memcpy(to, from, bytes);
    __asm__ volatile("" ::"r"(to) : "memory");
    double took = now_s() - start;
    best = took < best ? took : best;
  }
  free(to);
  return best;
}

static void run(const shape *s, uint64_t records, enum ink_group_by by, const char *by_name) {
  const char *path = synth_path("bench");
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  make_capture(path, s, records);
  double start = now_s(), opened, best = 1e9;
  if (ink_capture_open(path, &capture, &error) != INK_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  opened = now_s() - start;
  if (ink_clock_map_make(capture, &map, &error) != INK_OK)
    exit(1);
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < ink_capture_track_count(capture); i++) {
    ink_stored_track track;
    ink_capture_track(capture, i, &track);
    bytes += (track.ring_words + track.aux_words) * 8;
  }
  for (int i = 0; i < REPEATS; i++) {
    ink_table *table;
    ink_table_options options = {.size = sizeof options, .by = by, .launch = UINT32_MAX};
    start = now_s();
    if (ink_table_make(capture, map, &options, &table, &error) != INK_OK) {
      fprintf(stderr, "%s\n", error.message);
      exit(1);
    }
    double took = now_s() - start;
    best = took < best ? took : best;
    ink_table_free(table);
  }
  size_t size = 0;
  void *file = synth_read_file(path, &size);
  double copy = copy_seconds(file, (size_t)bytes < size ? (size_t)bytes : size);
  free(file);
  printf("%-34s %-9s %7.2f GB/s  %7.1f M words/s  memcpy %6.2f GB/s  ratio %.3f  (open %.2f GB/s)\n",
         s->name, by_name, (double)bytes / best * 1e-9, (double)bytes / 8 / best * 1e-6,
         (double)bytes / copy * 1e-9, copy / best, (double)size / opened * 1e-9);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
}

int main(int argc, char **argv) {
  uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 6000000;
  static const shape shapes[] = {
      {"marks, rings of 65536", 65536, 4, 0, false, false},
      {"marks, rings of 1024", 1024, 4, 0, false, false},
      {"marks, rings of 64", 64, 4, 0, false, false},
      {"16 marks an iteration, 65536", 65536, 4, 16, false, false},
      {"5 marks an iteration, 65536", 65536, 4, 5, false, false},
      {"5 marks an iteration, 1024", 1024, 4, 5, false, false},
      {"nested, 5 an iteration, 1024", 1024, 4, 5, true, false},
      {"called, 5 an iteration, 1024", 1024, 256, 5, false, true},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    if (argc > 2 && i != strtoull(argv[2], NULL, 10))
      continue;
    run(&shapes[i], records, INK_BY_SECTION, "section");
    if (shapes[i].marks_per_iteration)
      run(&shapes[i], records, INK_BY_ITERATION, "iteration");
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("peak resident memory %.0f MB\n", (double)usage.ru_maxrss / 1024);
  return 0;
}
