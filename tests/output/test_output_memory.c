/* SPDX-License-Identifier: MIT */
/* Every output with an allocator that fails on its Nth call, for every N: "out of memory" or
 * success, and nothing leaked or crashed (the sanitizers see to that). The linker sends the
 * library's calls here
 * (--wrap). */
#include "inkmark/output.h"
#include "made_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long calls_left = -1; /* -1: never fail */

static bool fails(void) {
  return calls_left >= 0 && calls_left-- == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size) {
  return fails() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) {
  return fails() ? NULL : __real_realloc(old, size);
}

/* How many calls had to succeed until the output did. */
static long run(const ink_capture *capture, const ink_clock_map *map, const ink_output *output,
                const char *path) {
  const ink_output_options options = {.size = sizeof options, .launch = UINT32_MAX};
  for (long n = 0;; n++) {
    ink_error error = {0};
    calls_left = n;
    ink_status status = output->write(capture, map, &options, path, &error);
    bool reached = calls_left < 0;
    calls_left = -1;
    if (status == INK_OK && !reached)
      return n;
    if (status == INK_OK || status != INK_ERROR_MEMORY || !strstr(error.message, "out of memory")) {
      fprintf(stderr, "%s, call %ld: status %d, '%s'\n", output->name, n, (int)status,
              error.message);
      exit(1);
    }
    if (access(path, F_OK) == 0) {
      fprintf(stderr, "%s, call %ld: a file was left\n", output->name, n);
      exit(1);
    }
  }
}

int main(void) {
  static const char *const made[] = {".Step.json",       ".Step.cycles.npy", ".Step.ns.npy",
                                     ".Step.counts.npy", ".Main.json",       ".Main.cycles.npy",
                                     ".Main.ns.npy",     ".Main.counts.npy", ""};
  char path[64];
  ink_error error = {0};
  ink_capture *capture = NULL;
  ink_clock_map *map = NULL;
  const ink_output *outputs;
  snprintf(path, sizeof path, "memory.%ld.ink", (long)getpid());
  if (!make_capture("mixed", path) || ink_capture_open(path, &capture, &error) != INK_OK ||
      ink_clock_map_make(capture, &map, &error) != INK_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  unlink(path);
  snprintf(path, sizeof path, "memory.%ld.out", (long)getpid());
  size_t count = ink_outputs(&outputs);
  for (size_t i = 0; i < count; i++) {
    long calls = run(capture, map, &outputs[i], path);
    printf("%s: %ld allocations, each failed once\n", outputs[i].name, calls);
    if (calls < 5)
      return 1; /* the linker did not send them here */
    for (size_t m = 0; m < sizeof made / sizeof *made; m++) {
      char name[128];
      snprintf(name, sizeof name, "%s%s", path, made[m]);
      unlink(name);
    }
  }
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return 0;
}
