/* SPDX-License-Identifier: MIT */
/* Goes over the tracks of a capture for the launch that lasted longest. */
#include "longest_launch.h"

#include <regex.h>
#include <stdlib.h>

typedef struct span {
  int64_t begin, end;
  uint32_t kernel;
  bool any;
} span;

/* Exact where it is short: Unix ns are beyond what a double holds. */
static double duration(int64_t begin, int64_t end) { return end > begin ? (double)((uint64_t)end - (uint64_t)begin) : 0; }

static void add_track(const loaded_capture *loaded, uint64_t index, span *spans, double *sums) {
  ink_stored_track t;
  ink_capture_track(loaded->capture, index, &t);
  if (t.header.state != INK_TRACK_CLOSED)
    return;
  span *s = &spans[t.launch];
  const int64_t begin = ink_clock_map_ns(loaded->map, t.device, t.header.sm_open, t.header.open_clock1);
  const int64_t end = ink_clock_map_ns(loaded->map, t.device, t.header.sm_close, t.header.close_clock0);
  s->begin = !s->any || begin < s->begin ? begin : s->begin;
  s->end = !s->any || end > s->end ? end : s->end;
  s->kernel = t.kernel;
  s->any = true;
  sums[t.kernel] += duration(begin, end);
}

bool find_longest_launch(const loaded_capture *loaded, const char *regex, bool costliest, longest_launch *out) {
  const ink_launch *launches;
  const ink_kernel *kernels;
  const size_t n = ink_capture_launches(loaded->capture, &launches), kernel_count = ink_capture_kernels(loaded->capture, &kernels);
  const uint64_t tracks = ink_capture_track_count(loaded->capture);
  span *spans = calloc(n + 1, sizeof *spans);
  double *sums = calloc(kernel_count + 1, sizeof *sums);
  regex_t compiled;
  const bool filtered = regex && !regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB), fine = spans && sums;
  *out = (longest_launch){.launch = UINT32_MAX};
  for (uint64_t i = 0; fine && i < tracks; i++)
    add_track(loaded, i, spans, sums);
  size_t costly = 0;
  for (size_t k = 0; fine && k < kernel_count; k++)
    costly = sums[k] > sums[costly] ? k : costly;
  const span *best = NULL;
  for (size_t i = 0; fine && i < n; i++) {
    const span *s = &spans[i];
    if (!s->any || (costliest && s->kernel != costly) || (filtered && regexec(&compiled, kernels[s->kernel].name, 0, NULL, 0)))
      continue;
    if (!best || duration(s->begin, s->end) > duration(best->begin, best->end)) {
      best = s;
      *out = (longest_launch){(uint32_t)i, s->begin, s->end};
    }
  }
  if (filtered)
    regfree(&compiled);
  free(spans);
  free(sums);
  return fine;
}
