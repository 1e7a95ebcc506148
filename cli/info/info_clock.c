/* SPDX-License-Identifier: MIT */
/* `inkmark info` as text: how good the clocks of a device are. */
#include "info.h"

#include "grid.h"
#include "message.h"
#include "text_out.h"

#include <inttypes.h>
#include <math.h>

const char *info_edges_when(uint32_t when) {
  static const char *const words[] = {"at the start", "at the end", "on request"};
  return when < sizeof words / sizeof *words ? words[when] : "at another time";
}

static void rates(const ink_clock_quality *q, FILE *to) {
  if (!q->sms_seen) {
    fputs("  clock: no SM's clock was read\n", to);
    return;
  }
  fputs("  clock: ", to);
  if (q->timer_step_ns)
    text_print(to, "globaltimer steps by %u ns, ", q->timer_step_ns);
  text_print(to, "%u SM%s at %s", q->sms_seen, number_plural(q->sms_seen),
          number_fraction(q->slope_min_hz / 1e6, 3).text);
  if (q->slope_max_hz > q->slope_min_hz)
    text_print(to, " to %s", number_fraction(q->slope_max_hz / 1e6, 3).text);
  fputs(" MHz", to);
  if (q->sms_guessed)
    text_print(to, " (%u of them guessed)", q->sms_guessed);
  if (q->slope_bound_ppm > 0)
    text_print(to, ", known to %s ppm", number_fraction(q->slope_bound_ppm, 3).text);
  text_print(to, ", largest residual %s ns, spread %s ns\n",
          number_fraction(q->residual_max_ns, 1).text,
          number_fraction(q->residual_spread_ns, 1).text);
  if (q->skew_cycles)
    text_print(to, "  clock: the SMs' counters are up to %s cycles apart\n",
            number_whole(q->skew_cycles).text);
  if (q->sms_changed)
    text_print(to, "  clock: the rate of %u SM%s changed\n", q->sms_changed,
            number_plural(q->sms_changed));
  if (q->slack_ns || q->outliers)
    text_print(to, "  clock: %u of %u readings left out, the rest agree to %u ns\n", q->outliers,
            q->readings, q->slack_ns);
}

static void edges(const loaded_capture *loaded, const ink_clock_quality *q, FILE *to) {
  const ink_clock_edges *list;
  size_t n = ink_capture_clock_edges(loaded->capture, &list);
  if (q->calibrations)
    text_print(to,
            "  clock: edges of globaltimer were caught %u time%s, on %u of %u SMs, known to %s ns "
            "there\n",
            q->calibrations, number_plural(q->calibrations), q->sms_calibrated, q->sms_seen,
            number_fraction(q->edge_bound_ns, 1).text);
  for (size_t i = 0; i < n; i++)
    if (list[i].device == q->device && list[i].note[0])
      text_print(to, "  clock: edges %s: %s\n", info_edges_when(list[i].when), list[i].note);
}

static void host(const ink_clock_quality *q, FILE *to) {
  if (!q->has_host) {
    fputs("  host: no host clock was read, times are the device's own globaltimer\n", to);
    return;
  }
  text_print(to, "  host: offset known to %s ns", number_whole((uint64_t)q->host_bound_ns).text);
  if (isfinite(q->host_drift_ppm))
    text_print(to, ", drift %s ppm", number_fraction(q->host_drift_ppm, 3).text);
  if (q->has_monotonic)
    text_print(to, "; CLOCK_MONOTONIC is %s s %s CLOCK_REALTIME, known to %s ns",
            number_fraction(fabs((double)q->monotonic_offset_ns) / 1e9, 3).text,
            q->monotonic_offset_ns < 0 ? "behind" : "before", number_whole((uint64_t)q->monotonic_bound_ns).text);
  fputc('\n', to);
  if (q->realtime_set_ns)
    text_print(to,
            "  host: CLOCK_REALTIME was set by %" PRId64 " ns on the way; times are what it would "
            "have shown without that\n",
            q->realtime_set_ns);
}

static void bounds(const ink_clock_quality *q, FILE *to) {
  if (q->sms_refused)
    text_print(to,
            "  globaltimer ran back by up to %s ns on %u SM%s (SM %u first), because a timer restarted: no bound "
            "on the times is known\n",
            number_whole(q->went_back_ns).text, q->sms_refused, number_plural(q->sms_refused),
            q->refused_sm);
  else if (q->bound_ns == INT64_MAX)
    fputs("  too few clock readings to say how good a single time is\n", to);
  else
    text_print(to, "  any single time is good to %s ns, between SMs to %s ns\n",
            number_whole((uint64_t)q->bound_ns).text, number_fraction(q->sm_bound_ns, 1).text);
}

static bool sm_table(const loaded_capture *loaded, const ink_clock_quality *q, FILE *to) {
  static const char *const titles[] = {"MHz",         "known to ppm", "bound ns", "skew cycles",
                                       "rates",       "readings",     "edges",    "left out",
                                       "residual ns", "spread ns"};
  const ink_sm_quality *sms;
  size_t n = ink_clock_map_sms(loaded->map, q->device, &sms);
  text_grid *grid = grid_new();
  if (grid)
    grid_column(grid, GRID_RIGHT, "SM");
  for (size_t i = 0; grid && i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  for (size_t i = 0; grid && i < n; i++) {
    const ink_sm_quality *sm = &sms[i];
    grid_cell(grid, "%u", sm->sm);
    grid_cell(grid, "%s%s", number_fraction(sm->hz / 1e6, 3).text, sm->guessed ? " (guessed)" : "");
    grid_cell(grid, "%s", number_fraction(sm->hz_bound_ppm, 3).text);
    grid_cell(grid, "%s",
              isfinite(sm->bound_ns) ? number_fraction(sm->bound_ns, 1).text
              : sm->recorded         ? "unknown"
                                     : "no track");
    grid_cell(grid, "%s", number_whole(sm->skew_cycles).text);
    grid_cell(grid, "%u", sm->pieces);
    grid_cell(grid, "%u", sm->readings);
    grid_cell(grid, "%u", sm->edges);
    grid_cell(grid, "%u", sm->outliers);
    grid_cell(grid, "%s", number_fraction(sm->residual_max_ns, 1).text);
    grid_cell(grid, "%s", number_fraction(sm->residual_spread_ns, 1).text);
  }
  bool fine = grid && (!n || grid_print(grid, to, 4));
  grid_free(grid);
  if (!fine)
    message_say("out of memory");
  return fine;
}

bool info_clock(const info_settings *settings, const loaded_capture *loaded,
                const ink_clock_quality *quality, FILE *to) {
  rates(quality, to);
  edges(loaded, quality, to);
  host(quality, to);
  bounds(quality, to);
  return !settings->all || sm_table(loaded, quality, to);
}
