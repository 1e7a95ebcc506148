/* SPDX-License-Identifier: MIT */
/* Resident memory of reporting a large capture (100 million words unless told otherwise), measured
 * in a process that does nothing else. */
#include "streams.h"

#include "inkmark/table.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int report(const char *path, enum ink_group_by by, bool findings) {
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  ink_table *table;
  ink_table_options options = {.size = sizeof options, .by = by, .launch = UINT32_MAX,
                               .findings = findings};
  if (ink_capture_open(path, &capture, &error) != INK_OK ||
      ink_clock_map_make(capture, &map, &error) != INK_OK ||
      ink_table_make(capture, map, &options, &table, &error) != INK_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const ink_table_row *rows;
  size_t n = ink_table_rows(table, &rows);
  uint64_t count = 0;
  for (size_t i = 0; i < n; i++)
    count += rows[i].count;
  printf("%zu rows from %" PRIu64 " slices and gaps, ", n, count);
  fflush(stdout);
  ink_table_free(table);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return 0;
}

static int measure(const char *name, const char *path, enum ink_group_by by, bool findings) {
  printf("%s: ", name);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0)
    _exit(report(path, by, findings));
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
    return 1;
  printf("%.0f MB resident at most, %.1f s of CPU\n", (double)usage.ru_maxrss / 1024,
         (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6);
  return 0;
}

int main(int argc, char **argv) {
  uint64_t words = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
  static const shape shapes[] = {
      {"rings of 65536", 65536, 4, 5, false, false},
      {"rings of 64", 64, 4, 5, false, false},
  };
  int failed = 0;
  for (size_t i = 0; i < 2; i++) {
    const char *path = synth_path("memory");
    make_capture(path, &shapes[i], words);
    printf("%.0f million words in %s\n", (double)words * 1e-6, shapes[i].name);
    failed |= measure("  by section", path, INK_BY_SECTION, false);
    failed |= measure("  with findings", path, INK_BY_SECTION, true);
    failed |= measure("  by iteration", path, INK_BY_ITERATION, false);
    failed |= measure("  by block", path, INK_BY_BLOCK, false);
    remove(path);
  }
  return failed;
}
