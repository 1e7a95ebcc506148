/* SPDX-License-Identifier: MIT */
/* The clock map against GPUs whose clocks are known (true_clock.h): the stated bound holds and is not
 * merely huge, rate changes are found, and a timer that restarts is refused. */
#include "check.h"
#include "true_clock.h"

#include <inttypes.h>

enum { RUNS = 60 };

static void kind_holds(const true_kind *kind) {
  double error[RUNS], bound[RUNS];
  int held = 0, changed = 0;
  for (int i = 0; i < RUNS; i++) {
    true_score score = true_run(kind, 7000 + (uint64_t)i);
    error[i] = score.error_ns;
    bound[i] = score.bound_ns;
    held += score.within;
    changed += score.changed == TRUE_SMS;
    if (kind->tracks >= 60 && kind->step_ns < 2000)
      CHECK(score.slope_ppm < 10, "%s, %.0f ns: slope off by %f ppm", kind->name, kind->step_ns,
            score.slope_ppm);
  }
  double worst = true_percentile(error, RUNS, 99), stated = true_percentile(bound, RUNS, 50);
  CHECK(held * 100 >= RUNS * 99, "%s, %.0f ns: the bound held in %d of %d", kind->name,
        kind->step_ns, held, RUNS);
  CHECK(stated <= 3 * worst, "%s, %.0f ns: bound %f, error %f", kind->name, kind->step_ns, stated,
        worst);
  CHECK(kind->changes ? changed >= RUNS * 9 / 10 : changed == 0,
        "%s, %.0f ns: every SM changed its rate in %d of %d", kind->name, kind->step_ns, changed,
        RUNS);
}

/* Tracks of one SM; from track `restart` on, globaltimer or clock64 begins anew. */
static ink_clock_quality restarted(int restart, bool timer) {
  static const true_kind plain = {"restart", 32, 40, 1e5, 1e7, 0, 0, false, false};
  true_gpu g;
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  const ink_clock_quality *q;
  const char *path = synth_path("restart");
  ink_writer *writer = synth_writer(path, 2048, 4, false);
  true_make(&g, &plain, 3);
  g.skew[0] = UINT64_C(1) << 40;
  for (int i = 0; i < 40; i++) {
    if (i == restart && timer)
      g.epoch_ns -= 1000000000;
    else if (i == restart)
      g.skew[0] = 5; /* clock64 falls back to nothing while globaltimer goes on */
    true_track(&g, writer, 0, 1e6 * i + 1000, 1e6 * i + 90000);
  }
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  remove(path);
  ink_clock_map_quality(map, &q);
  ink_clock_quality copy = *q;
  CHECK(isinf(ink_clock_map_bound_ns(map, 0, 0, 7)) == (restart < 40), "bound of a stamp");
  ink_clock_map_free(map);
  ink_capture_free(capture);
  return copy;
}

static void restarts(void) {
  ink_clock_quality q = restarted(40, true);
  CHECK(q.sms_refused == 0 && q.bound_ns != INT64_MAX, "nothing restarted");
  q = restarted(20, true);
  CHECK(q.sms_refused == 1 && q.refused_sm == 0 && q.bound_ns == INT64_MAX, "globaltimer");
  CHECK(q.went_back_ns > 900000000 && q.went_back_ns < 1000000000, "%" PRIu64, q.went_back_ns);
  q = restarted(20, false);
  CHECK(q.sms_refused == 1 && q.went_back_ns > 0 && q.bound_ns == INT64_MAX, "clock64");
}

/* Durations within a track are better known than moments, and their bound holds. */
static void durations(void) {
  static const true_kind kind = {"durations", 1024, 50, 1e6, 1e8, 0, 0, false, false};
  true_gpu g;
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  true_range ranges[50 * TRUE_SMS];
  const char *path = synth_path("durations");
  ink_writer *writer = synth_writer(path, 2048, 4, false);
  true_make(&g, &kind, 11);
  true_tracks(&g, writer, ranges);
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  remove(path);
  for (uint32_t i = 0; i < 50 * TRUE_SMS; i++) {
    uint32_t sm = i / 50;
    uint64_t from = true_cycles(&g, sm, ranges[i].from), to = true_cycles(&g, sm, ranges[i].to);
    double truth = (double)(to - from) / (g.hz[0] * g.factor[sm]) * 1e9;
    double off = fabs(ink_clock_map_duration_ns(map, 0, sm, to - from) - truth);
    double bound = ink_clock_map_duration_bound_ns(map, 0, sm, from, to);
    CHECK(off <= bound + 1e-3, "off by %f, bound %f", off, bound);
    CHECK(bound < ink_clock_map_bound_ns(map, 0, sm, from), "%f", bound);
  }
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

int main(void) {
  for (size_t i = 0; i < TRUE_KINDS; i++)
    kind_holds(&true_kinds[i]);
  restarts();
  durations();
  return check_result("clock_truth");
}
