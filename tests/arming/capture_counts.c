/* SPDX-License-Identifier: MIT */
/* Prints what a capture holds in one line, for the arming tests to compare with what was launched. */
#include "inkmark/decode.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct counts {
  uint64_t tracks, marks, kept, problems;
} counts;

static ink_status end_track(void *user, const ink_decoded_track *track) {
  counts *c = user;
  c->tracks++;
  c->marks += track->marks_executed;
  c->kept += track->marks_kept;
  c->problems += track->problems;
  return INK_OK;
}

int main(int argc, char **argv) {
  ink_capture *capture = NULL;
  ink_clock_map *map = NULL;
  ink_error error = {0};
  counts c = {0};
  const ink_sink sink = {.user = &c, .track_end = end_track};
  if (argc != 2 || ink_capture_open(argv[1], &capture, &error) ||
      ink_clock_map_make(capture, &map, &error) ||
      ink_decode(capture, map, UINT32_MAX, &sink, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const ink_kernel *kernels;
  uint64_t lost = 0, missed = 0;
  for (size_t i = 0, n = ink_capture_kernels(capture, &kernels); i < n; i++) {
    lost += kernels[i].tracks_lost;
    missed += kernels[i].missed;
  }
  const ink_launch *launches;
  const ink_device_info *devices;
  printf("devices %zu launches %zu tracks %" PRIu64 " marks %" PRIu64 " kept %" PRIu64
         " lost %" PRIu64 " missed %" PRIu64 " problems %" PRIu64 " complete %d\n",
         ink_capture_devices(capture, &devices), ink_capture_launches(capture, &launches), c.tracks,
         c.marks, c.kept, lost, missed, c.problems, ink_capture_get_facts(capture)->complete);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return 0;
}
