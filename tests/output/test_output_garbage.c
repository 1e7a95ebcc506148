/* SPDX-License-Identifier: MIT */
/* Every output of captures whose tracks hold garbage: no crash, and success or one clear error. Run
 * with the sanitizers it also finds what only damages memory. */
#include "inkmark/output.h"
#include "made_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS = 300 };

static void fail(uint64_t seed, const char *what, const char *why) {
  fprintf(stderr, "seed %llu, %s: %s\n", (unsigned long long)seed, what, why);
  exit(1);
}

/* npy writes several files under the name; they are removed again. */
static void remove_all(const char *stem) {
  static const char *const endings[] = {"", ".json", ".cycles.npy", ".ns.npy", ".counts.npy"};
  static const char *const kernels[] = {"", ".Step", ".?", "._"};
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
      char path[256];
      snprintf(path, sizeof path, "%s%s%s", stem, kernels[k], endings[e]);
      unlink(path);
    }
  }
}

static unsigned write_all(const ink_capture *capture, const ink_clock_map *map, uint64_t seed,
                          const char *stem) {
  const ink_output *outputs;
  size_t count = ink_outputs(&outputs);
  const ink_output_options options = {.size = sizeof options, .launch = UINT32_MAX};
  unsigned refused = 0;
  for (size_t i = 0; i < count; i++) {
    ink_error error = {0};
    ink_status status = outputs[i].write(capture, map, &options, stem, &error);
    if (status != INK_OK && (!error.message[0] || error.status != status))
      fail(seed, outputs[i].name, "failed without saying why");
    refused += status != INK_OK;
    remove_all(stem);
  }
  return refused;
}

int main(void) {
  char path[64], stem[64];
  unsigned refused = 0, opened = 0;
  snprintf(path, sizeof path, "garbage.%ld.ink", (long)getpid());
  snprintf(stem, sizeof stem, "garbage.%ld.out", (long)getpid());
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    char kind[40];
    snprintf(kind, sizeof kind, "garbage:%llu", (unsigned long long)seed);
    ink_error error = {0};
    ink_capture *capture = NULL;
    ink_clock_map *map = NULL;
    if (!make_capture(kind, path))
      fail(seed, "make", "failed");
    if (ink_capture_open(path, &capture, &error) != INK_OK ||
        ink_clock_map_make(capture, &map, &error) != INK_OK)
      fail(seed, "open", error.message);
    opened++;
    refused += write_all(capture, map, seed, stem);
    ink_clock_map_free(map);
    ink_capture_free(capture);
  }
  unlink(path);
  printf("%u captures written in every form, %u times refused with a reason\n", opened, refused);
  return opened != SEEDS;
}
