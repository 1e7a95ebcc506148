// SPDX-License-Identifier: MIT
// How long one drain takes: of a device with nothing new, and of 16 to 16,384 closed tracks of 62 marks each.
// One line each: TRACKS MILLISECONDS MEGABYTES_STORED, the shortest of three. drain_times FOLDER: its capture goes there.
#include <inkmark/mark.cuh>
#include <inkmark/session.h>

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

PROF_SECTIONS(DrainTimes, Kernel, A)

__global__ void kernel() {
  PROF_KERNEL(Kernel);
  for (int i = 0; i < 62; i++)
    PROF_MARK(A);
}

static ink_error error;

static void must(bool good) {
  if (good)
    return;
  fprintf(stderr, "drain_times: %s\n", error.message);
  exit(1);
}

static double now_ms() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double size_mb(const char *path) {
  struct stat s;
  return stat(path, &s) ? 0 : (double)s.st_size * 1e-6;
}

int main(int argc, char **argv) {
  char path[4096];
  snprintf(path, sizeof path, "%s/drain_times.ink", argc > 1 ? argv[1] : ".");
  ink_session_options options = {};
  options.size = sizeof options;
  options.output = path;
  options.records_per_track = 128;
  options.tracks = 16384;
  options.drain_ms = UINT32_MAX;
  options.replace = true;
  ink_session *session;
  must(ink_session_open(&options, &session, &error) == INK_OK);
  must(ink_session_arm(session, &error) == INK_OK);
  kernel<<<1, 32>>>(); // the file is made with what is drained first
  must(cudaDeviceSynchronize() == cudaSuccess && ink_session_drain(session, &error) == INK_OK);
  for (int tracks : {0, 16, 256, 4096, 16384}) {
    double best = 1e300, stored = 0;
    for (int round = 0; round < 3; round++) {
      if (tracks)
        kernel<<<tracks, 32>>>();
      must(cudaDeviceSynchronize() == cudaSuccess);
      const double before = size_mb(path), began = now_ms();
      must(ink_session_drain(session, &error) == INK_OK);
      const double took = now_ms() - began;
      if (took < best)
        best = took;
      stored = size_mb(path) - before;
    }
    printf("%d %.2f %.2f\n", tracks, best, stored);
  }
  must(ink_session_close(session, nullptr, &error) == INK_OK);
  return 0;
}
