/* SPDX-License-Identifier: MIT */
/* Prints how many tracks with all their 3 marks a capture has in each row, for kills.py: "row tracks", then
 * "complete 0" or "complete 1". */
#include "inkmark/decode.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROWS_MAX = 4096, MARKS = 3 };

typedef struct rows {
  uint32_t tracks[ROWS_MAX];
  int64_t row;     /* of the track at hand */
  uint32_t slices; /* in it */
} rows;

static ink_status begin_track(void *user, const ink_decoded_track *track) {
  rows *r = user;
  (void)track;
  r->row = -1;
  r->slices = 0;
  return INK_OK;
}

static ink_status slice(void *user, const ink_slice *one) {
  rows *r = user;
  r->row = one->row;
  r->slices++;
  return INK_OK;
}

static ink_status end_track(void *user, const ink_decoded_track *track) {
  rows *r = user;
  if (r->row >= 0 && r->row < ROWS_MAX && r->slices == MARKS && !track->problems)
    r->tracks[r->row]++;
  return INK_OK;
}

int main(int argc, char **argv) {
  static rows r;
  ink_capture *capture = NULL;
  ink_clock_map *map = NULL;
  ink_error error = {0};
  const ink_sink sink = {
      .user = &r, .track_begin = begin_track, .slice = slice, .track_end = end_track};
  if (argc != 2 || ink_capture_open(argv[1], &capture, &error) ||
      ink_clock_map_make(capture, &map, &error) ||
      ink_decode(capture, map, UINT32_MAX, &sink, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int i = 0; i < ROWS_MAX; i++)
    if (r.tracks[i])
      printf("%d %" PRIu32 "\n", i, r.tracks[i]);
  printf("complete %d\n", ink_capture_get_facts(capture)->complete);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return 0;
}
