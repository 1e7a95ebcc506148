/* SPDX-License-Identifier: MIT */
/* How fast records become tables, on one core, as a ratio to memcpy of the same bytes in the same
 * run. Streams of several shapes; the best of some repeats of each; as stamped, and with the marks' cost
 * taken out, as a report does. */
#include "streams.h"

#include "inkmark/table.h"

#include <inttypes.h>
#include <sys/resource.h>

enum { REPEATS = 7 };

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

static void run(const shape *s, uint64_t records, enum ink_group_by by, const char *by_name,
                bool without) {
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
    ink_table_options options = {.size = sizeof options, .by = by, .launch = UINT32_MAX,
                                 .without_marking = without, .findings = by == INK_BY_SECTION};
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
  printf("%-29s %-9s %-7s %7.2f GB/s  %7.1f M words/s  memcpy %6.2f GB/s  ratio %.3f  (open %.2f GB/s)\n",
         s->name, by_name, without ? "no cost" : "", (double)bytes / best * 1e-9, (double)bytes / 8 / best * 1e-6,
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
    for (int without = 0; without < 2; without++) {
      run(&shapes[i], records, INK_BY_SECTION, "section", without);
      if (shapes[i].marks_per_iteration)
        run(&shapes[i], records, INK_BY_ITERATION, "iteration", without);
    }
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("peak resident memory %.0f MB\n", (double)usage.ru_maxrss / 1024);
  return 0;
}
