/* SPDX-License-Identifier: MIT */
/* Moves the host's ranges and calls into another trace's time, as the launches that the calls made are moved. */
#include "merged_host.h"

/* The first launch that was placed; SIZE_MAX: there is none, and nothing says what their time is of ours. */
static size_t first_placed(const placement *p) {
  for (size_t i = 0; i < p->selection.launch_count; i++)
    if (p->launches[i].placed)
      return i;
  return SIZE_MAX;
}

ink_status merged_host_make(host_lanes *lanes, const placement *p, ink_error *error) {
  ink_status status = host_lanes_make(lanes, &p->selection, error);
  if (status != INK_OK || !lanes->count || !p->foreign)
    return status;
  const size_t launch = first_placed(p);
  if (launch == SIZE_MAX) {
    lanes->count = 0;
    return status;
  }
  const int64_t ns = p->selection.spans[launch].begin_ns;
  const size_t before = host_lanes_shift(lanes, placement_ns(p, launch, ns) - ns, placement_zero_ns(p));
  if (before)
    placement_say(p, "%zu ranges and calls of the host are before the trace's time zero and left out", before);
  return status;
}

void merged_host_who(const placement *p, const char *who, char *text, size_t size) {
  snprintf(text, size, "%s%s", *who ? who : p->foreign ? "inkmark" : "", *who || p->foreign ? ": " : "");
}
