/* SPDX-License-Identifier: MIT */
/* Writes every output and every merged form of a capture in a locale, as a program would that has set one:
 *   locale_tool LOCALE CAPTURE TRACE FOLDER
 * prints how the locale writes one and a half, and what the library says. */
#include "inkmark/merged.h"
#include "inkmark/output.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static void say(void *user, const char *line) {
  (void)user;
  printf("remark: %s\n", line);
}

static int write_all(const ink_capture *capture, const ink_clock_map *map, const char *trace,
                     const char *folder) {
  static const char *const merged[] = {"merged.json", "merged.pftrace", "merged.zip"};
  const ink_output *outputs;
  const size_t n = ink_outputs(&outputs);
  char path[4096];
  ink_error error;
  for (size_t i = 0; i < n; i++) {
    const ink_output_options options = {.size = sizeof options, .launch = UINT32_MAX};
    snprintf(path, sizeof path, "%s/%s", folder, outputs[i].name);
    if (outputs[i].write(capture, map, &options, path, &error)) {
      printf("%s: %s\n", path, error.message);
      return 1;
    }
  }
  for (size_t i = 0; i < sizeof merged / sizeof *merged; i++) {
    const ink_merged_options options = {.size = sizeof options, .launch = UINT32_MAX, .remark = say};
    snprintf(path, sizeof path, "%s/%s", folder, merged[i]);
    if (ink_merged_write(capture, map, trace, &options, path, &error)) {
      printf("%s: %s\n", merged[i], error.message);
      return 1;
    }
  }
  ink_error_set(&error, INK_ERROR_DAMAGED, "a message with %.2f and %g", 1234.5, 1e-3);
  printf("message: %s\n", error.message);
  return 0;
}

int main(int argc, char **argv) {
  ink_capture *capture = NULL;
  ink_clock_map *map = NULL;
  ink_error error;
  if (argc != 5)
    return 2;
  if (!setlocale(LC_ALL, argv[1])) {
    printf("no locale %s\n", argv[1]);
    return 3;
  }
  fprintf(stderr, "%.1f\n", 1.5);
  if (ink_capture_open(argv[2], &capture, &error) || ink_clock_map_make(capture, &map, &error)) {
    printf("%s\n", error.message);
    return 1;
  }
  const int code = write_all(capture, map, argv[3], argv[4]);
  fprintf(stderr, "%.1f\n", 1.5); /* the program's locale is what it was */
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return code;
}
