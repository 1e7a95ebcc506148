/* SPDX-License-Identifier: MIT */
/* Activity on the host: what a record costs while it is recorded (the queue, which CUPTI's callback
 * pays; the file), and reading and exporting a capture full of it, with resident memory. One
 * million activities unless told otherwise, five a kernel launch as CUPTI tells of it. */
#include "cuda/activity_queue.h"
#include "inkmark/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char path[] = "bench_activity.ink";
static ink_error error;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check(ink_status status) {
  if (!status)
    return;
  fprintf(stderr, "%s\n", error.message);
  exit(1);
}

static void told(const char *what, double begin, size_t n) {
  const double took = seconds() - begin;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%-28s %8.1f ns an activity, %6.2f million/s, %5ld MB resident at most\n", what,
         took / (double)n * 1e9, (double)n / took * 1e-6, usage.ru_maxrss / 1024);
}

static ink_activity made(size_t i) {
  const uint64_t launch = i / 5;
  ink_activity a = {.kind = i % 5 < 2 ? INK_ACTIVITY_RUNTIME_CALL : INK_ACTIVITY_KERNEL,
                    .begin_ns = 1000 + launch * 2000 + i % 5,
                    .correlation = (uint32_t)launch + 1,
                    .peer = -1};
  a.end_ns = a.begin_ns + 1500;
  if (a.kind == INK_ACTIVITY_KERNEL) {
    a.stream = 7 + (uint32_t)(i % 5);
    a.grid_id = i;
    a.grid_dim[0] = a.grid_dim[1] = a.grid_dim[2] = 1;
    a.block_dim[0] = 256;
    a.block_dim[1] = a.block_dim[2] = 1;
    a.registers = 40;
  } else {
    a.device = -1;
    a.context = a.stream = 4711 + (uint32_t)(i % 5);
  }
  return a;
}

static void record(size_t n) {
  static ink_i_activity_queue queue;
  ink_writer *writer;
  double putting = 0;
  char name[64];
  const double begin = seconds();
  ink_i_queue_init(&queue);
  check(ink_writer_open(path, true, &writer, &error));
  for (size_t i = 0; i < n;) {
    const double from = seconds();
    for (size_t stop = i + 100000 < n ? i + 100000 : n; i < stop; i++) {
      const ink_activity a = made(i);
      snprintf(name, sizeof name, "_Z%zukernel_of_a_model_%03zu", (size_t)21, i % 300);
      ink_i_queue_item(&queue, &a, name);
    }
    putting += seconds() - from;
    check(ink_i_queue_write(&queue, writer, &error));
  }
  check(ink_writer_close(writer, &error));
  const double now = seconds();
  told("into the queue (with names)", now - putting, n);
  told("into the queue and the file", begin, n);
  if (queue.left_out)
    printf("left out: %llu\n", (unsigned long long)queue.left_out);
  ink_i_queue_free(&queue);
}

int main(int argc, char **argv) {
  const size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
  struct stat file;
  ink_capture *capture;
  ink_clock_map *map;
  record(n);
  if (!stat(path, &file))
    printf("%.0f bytes an activity in the file\n", (double)file.st_size / (double)n);
  double begin = seconds();
  check(ink_capture_open(path, &capture, &error));
  told("opened and sorted", begin, n);
  check(ink_clock_map_make(capture, &map, &error));
  static const char *const formats[] = {"perfetto", "chrome"};
  for (size_t i = 0; i < 2; i++) {
    char what[64];
    const ink_output_options options = {.size = sizeof options, .launch = UINT32_MAX};
    begin = seconds();
    check(ink_output_by_name(formats[i])->write(capture, map, &options, "/dev/null", &error));
    snprintf(what, sizeof what, "exported as %s", formats[i]);
    told(what, begin, n);
  }
  ink_clock_map_free(map);
  ink_capture_free(capture);
  unlink(path);
  return 0;
}
