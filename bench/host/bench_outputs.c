/* SPDX-License-Identifier: MIT */
/* How fast the outputs are written, on one core: bytes a second as a ratio to memcpy of as many
 * bytes, and bytes a slice. Written to /dev/null for the rate, to a file for the size. */
#include "inkmark/output.h"
#include "made_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 5 };

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may run on this machine */
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double copy_seconds(size_t bytes) {
  unsigned char *from = malloc(bytes), *to = malloc(bytes);
  double best = 1e9;
  if (!from || !to)
    exit(1);
  memset(from, 1, bytes);
  memset(to, 2, bytes);
  for (int i = 0; i < REPEATS; i++) {
    double start = now_s();
    memcpy(to, from, bytes);
    __asm__ volatile("" ::"r"(to) : "memory");
    double took = now_s() - start;
    best = took < best ? took : best;
  }
  free(from);
  free(to);
  return best;
}

static void must(ink_status status, const ink_error *error) {
  if (status == INK_OK)
    return;
  fprintf(stderr, "bench_outputs: %s\n", error->message);
  exit(1);
}

static void run(const ink_capture *capture, const ink_clock_map *map, const char *name,
                const char *path, uint64_t slices) {
  const ink_output *output = ink_output_by_name(name);
  const ink_output_options options = {.size = sizeof options, .launch = UINT32_MAX};
  bool packed = strstr(path, ".gz") != NULL;
  ink_error error;
  struct stat st;
  double best = 1e9;
  for (int i = 0; i < REPEATS; i++) {
    double start = now_s();
    must(output->write(capture, map, &options, packed ? path : "/dev/null", &error), &error);
    double took = now_s() - start;
    best = took < best ? took : best;
  }
  must(output->write(capture, map, &options, path, &error), &error);
  if (stat(path, &st) != 0)
    exit(1);
  unlink(path);
  double bytes = (double)st.st_size, copy = copy_seconds((size_t)st.st_size);
  printf("%-16s %6.2f bytes a slice  %7.1f MB/s  %6.2f M slices/s  memcpy %6.2f GB/s  ratio %.4f\n",
         path, bytes / (double)slices, bytes / best * 1e-6, (double)slices / best * 1e-6,
         bytes / copy * 1e-9, copy / best);
}

int main(int argc, char **argv) {
  unsigned blocks = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000, iterations = 100;
  char kind[64], folder[] = "/tmp/inkmark-bench-XXXXXX";
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  snprintf(kind, sizeof kind, "many:%u:%u", blocks, iterations);
  if (!mkdtemp(folder) || chdir(folder) != 0 || !make_capture(kind, "bench.ink"))
    return 1;
  must(ink_capture_open("bench.ink", &capture, &error), &error);
  must(ink_clock_map_make(capture, &map, &error), &error);
  uint64_t slices = (uint64_t)blocks * iterations * 5;
  printf("%u tracks of %u iterations with 5 sections, iteration and cycles with every slice\n",
         blocks, iterations);
  run(capture, map, "perfetto", "x.pftrace", slices);
  run(capture, map, "perfetto", "x.pftrace.gz", slices);
  run(capture, map, "chrome", "x.json", slices);
  run(capture, map, "csv", "x.csv", slices);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  unlink("bench.ink");
  return chdir("/") != 0 || rmdir(folder) != 0;
}
