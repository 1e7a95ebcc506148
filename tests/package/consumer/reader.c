/* SPDX-License-Identifier: MIT */
/* Counts the tracks of a capture. */
#include <inkmark/capture.h>

#include <stdio.h>

int main(int argc, char **argv) {
  ink_capture *capture;
  ink_error error;
  if (argc != 2 || ink_capture_open(argv[1], &capture, &error))
    return 1;
  printf("%llu tracks\n", (unsigned long long)ink_capture_track_count(capture));
  ink_capture_free(capture);
  return 0;
}
