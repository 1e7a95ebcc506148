/* SPDX-License-Identifier: MIT */
/* Is the trace of another run? Launches of a run repeat in the next one, so they join; but both
 * files then tell Unix time of one host, and that differs by little. */
#include "placement.h"

#include "number_text.h"

#include <math.h>
#include <stdlib.h>

/* Profilers convert their times to Unix time within a few ms; hosts with NTP differ by no more. */
#define DOUBTFUL_NS 20e6
#define REFUSED_NS 100000000

static void warn(const placement *p, const char *line) {
  if (p->options.warning)
    p->options.warning(p->options.remark_user, line);
  else if (p->options.remark)
    p->options.remark(p->options.remark_user, line);
}

/* The offset farthest from 0, less what it may be off by; NULL: all are near, or tell nothing. */
static const ink_join_clock *farthest(const placement *p) {
  const ink_join_clock *clocks, *most = NULL;
  size_t n = ink_join_clocks(p->join, &clocks);
  for (size_t i = 0; i < n; i++) {
    const ink_clock_quality *q = ink_selection_quality(&p->selection, clocks[i].device);
    if (!clocks[i].joined || !q || q->bound_ns == INT64_MAX ||
        fabs((double)clocks[i].offset_ns) - (double)clocks[i].bound_ns - (double)q->bound_ns <=
            DOUBTFUL_NS)
      continue;
    if (!most || llabs(clocks[i].offset_ns) > llabs(most->offset_ns))
      most = &clocks[i];
  }
  return most;
}

ink_status placement_check_apart(const placement *p, ink_error *error) {
  const ink_join_clock *clock = p->facts->base_known ? farthest(p) : NULL;
  if (!clock)
    return INK_OK;
  char subject[120] = "the capture";
  if (p->label)
    snprintf(subject, sizeof subject, "'%.100s'", p->label);
  const double offset_ms = (double)clock->offset_ns / 1e6;
  if (llabs(clock->offset_ns) > REFUSED_NS && p->gap_ns > 0 && !p->options.align)
    return ink_error_set(error, INK_ERROR_NOT_FOUND,
                         "'%.150s' is perhaps of another run than %s: the launches fit its kernels "
                         "%+.3f ms away only, and none of those is near (%.3f ms between them); "
                         "'--align' joins them all the same",
                         p->with, subject, offset_ms, (double)p->gap_ns / 1e6);
  char line[400];
  ink_i_print(line, sizeof line,
           "'%.150s' is perhaps of another run than %s: on GPU %d their clocks are %+.3f ms "
           "apart, more than those of one host",
           p->with, subject, clock->device, offset_ms);
  warn(p, line);
  return INK_OK;
}
