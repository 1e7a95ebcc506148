/* SPDX-License-Identifier: MIT */
/* Rates and memory of merging with other profilers' traces. bench_merge FIT_CAPTURE [MB] [FOLDER]:
 * makes traces of that size (200) in the folder (/tmp), captures that fit a few thousand of their
 * kernels, and merges them; the Nsight Systems export has 200 MB at most, which are four million
 * rows. Rates are of the other file's bytes, unpacked, and beside what the same machine needs to
 * copy or to inflate that file. */
#include "made_trace.h"

#include "inkmark/merged.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 256 * 1024, LAUNCHES = 2000, NSIGHT_MOST = 200 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long peak_kb(void) {
  char line[256];
  long kb = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %ld", &kb) == 1)
      break;
  if (file)
    fclose(file);
  return kb;
}

/* Seconds to bring the file through one buffer into another, as a plain copy of it would. */
static double copy_seconds(const char *path) {
  char *from = malloc(BLOCK), *to = malloc(BLOCK);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (!from || !to || fd < 0)
    exit(1);
  double best = 1e9;
  for (int i = 0; i < 3; i++) {
    ssize_t n;
    double start = now();
    lseek(fd, 0, SEEK_SET);
    while ((n = read(fd, from, BLOCK)) > 0) {
      memcpy(to, from, (size_t)n);
      __asm__ volatile("" : : "r"(to) : "memory");
    }
    best = now() - start < best ? now() - start : best;
  }
  close(fd);
  free(from);
  free(to);
  return best;
}

static int pack(const char *path, const char *packed) {
  char *bytes = malloc(BLOCK);
  FILE *in = fopen(path, "rb");
  gzFile out = gzopen(packed, "wb4");
  size_t n = 0;
  int failed = !bytes || !in || !out;
  while (!failed && (n = fread(bytes, 1, BLOCK, in)) > 0)
    failed = gzwrite(out, bytes, (unsigned)n) != (int)n;
  failed |= !out || gzclose(out) != Z_OK;
  if (in)
    fclose(in);
  free(bytes);
  return failed;
}

static double inflate_seconds(const char *packed) {
  char *bytes = malloc(BLOCK);
  gzFile in = gzopen(packed, "rb");
  double start = now();
  if (!bytes || !in)
    exit(1);
  while (gzread(in, bytes, BLOCK) > 0) {
  }
  double seconds = now() - start;
  gzclose(in);
  free(bytes);
  return seconds;
}

static int merge(const char *capture_path, const char *with, const char *output) {
  ink_error error = {0};
  ink_capture *capture;
  ink_clock_map *map;
  const ink_merged_options options = {.size = sizeof options, .launch = UINT32_MAX};
  if (ink_capture_open(capture_path, &capture, &error) != INK_OK ||
      ink_clock_map_make(capture, &map, &error) != INK_OK ||
      ink_merged_write(capture, map, with, &options, output, &error) != INK_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  return 0;
}

/* In a process of its own, whose memory is then only the merge's. */
static int measure(const char *what, const char *capture, const char *with, const char *output,
                   uint64_t bytes, double plain, const char *plain_name) {
  int ends[2];
  struct {
    double seconds;
    long kb;
  } result = {0};
  if (pipe(ends))
    return 1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    double start = now();
    int failed = merge(capture, with, output);
    result.seconds = now() - start;
    result.kb = peak_kb();
    _exit(failed || write(ends[1], &result, sizeof result) != sizeof result);
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status ||
      read(ends[0], &result, sizeof result) != sizeof result)
    return 1;
  close(ends[0]);
  close(ends[1]);
  printf("  %-22s %6.2f s  %6.0f MB/s  %5.1f times %s  %4.0f MB of memory\n", what, result.seconds,
         (double)bytes * 1e-6 / result.seconds, result.seconds / plain, plain_name,
         (double)result.kb * 1024e-6);
  return unlink(output);
}

static int make_capture(const char *fit, const char *with, const char *capture, uint64_t kernels) {
  char every[32];
  snprintf(every, sizeof every, "%" PRIu64, 1 + kernels / LAUNCHES);
  pid_t child = fork();
  if (child == 0) {
    execl(fit, fit, with, capture, "--every", every, (char *)NULL);
    _exit(127);
  }
  int status = 1;
  return child < 0 || waitpid(child, &status, 0) != child || status;
}

static void in_folder(char *path, const char *folder, const char *name) {
  snprintf(path, 512, "%.400s/inkmark-bench-%ld-%s", folder, (long)getpid(), name);
}

static int bench_json(const char *fit, uint64_t bytes, const char *folder) {
  char with[512], packed[512], capture[512], output[512];
  made_trace made;
  in_folder(with, folder, "trace.json");
  in_folder(packed, folder, "trace.json.gz");
  in_folder(capture, folder, "made.ink");
  int failed = made_kineto(with, bytes, &made) || make_capture(fit, with, capture, made.kernels) ||
               pack(with, packed);
  if (failed) {
    fprintf(stderr, "cannot make a trace in '%s'\n", folder);
    goto cleanup;
  }
  double copy = copy_seconds(with), unpack = inflate_seconds(packed);
  printf("JSON: %.0f MB, %" PRIu64 " events, %" PRIu64 " kernels; copied in %.2f s, inflated in "
         "%.2f s\n",
         (double)made.bytes * 1e-6, made.events, made.kernels, copy, unpack);
  static const struct {
    const char *what, *ending;
    int packed;
  } forms[] = {{"JSON to JSON", "merged.json", 0},
               {"JSON to zip", "merged.zip", 0},
               {"JSON to Perfetto", "merged.pftrace", 0},
               {"gzip to JSON", "merged.json", 1},
               {"gzip to Perfetto", "merged.pftrace", 1}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    in_folder(output, folder, forms[i].ending);
    failed |= measure(forms[i].what, capture, forms[i].packed ? packed : with, output, made.bytes,
                      forms[i].packed ? unpack : copy, forms[i].packed ? "inflate" : "copy");
  }
cleanup:
  unlink(with);
  unlink(packed);
  unlink(capture);
  return failed;
}

static int bench_nsight(const char *fit, uint64_t bytes, const char *folder) {
  char with[512], capture[512], output[512];
  made_trace made;
  in_folder(with, folder, "report.sqlite");
  in_folder(capture, folder, "made.ink");
  in_folder(output, folder, "merged.pftrace");
  int failed = made_nsight(with, bytes, &made);
  if (failed == 2) {
    printf("Nsight Systems: no libsqlite3 on this machine\n");
    return 0;
  }
  failed = failed || make_capture(fit, with, capture, made.kernels);
  if (!failed) {
    double copy = copy_seconds(with);
    printf("Nsight Systems: %.0f MB, %" PRIu64 " rows, %" PRIu64 " kernels; copied in %.2f s\n",
           (double)made.bytes * 1e-6, made.events, made.kernels, copy);
    failed = measure("SQLite to Perfetto", capture, with, output, made.bytes, copy, "copy");
  } else {
    fprintf(stderr, "cannot make a report in '%s'\n", folder);
  }
  unlink(with);
  unlink(capture);
  return failed;
}

int main(int argc, char **argv) {
  uint64_t megabytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 200;
  const char *folder = argc > 3 ? argv[3] : "/tmp";
  if (argc < 2 || !megabytes) {
    fprintf(stderr, "bench_merge FIT_CAPTURE [MB] [FOLDER]\n");
    return 2;
  }
  printf("merging with %" PRIu64 " MB, one core, CPU seconds\n", megabytes);
  int failed = bench_json(argv[1], megabytes * 1000000, folder);
  uint64_t rows = megabytes < NSIGHT_MOST ? megabytes : NSIGHT_MOST;
  return bench_nsight(argv[1], rows * 1000000, folder) || failed;
}
