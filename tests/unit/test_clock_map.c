/* SPDX-License-Identifier: MIT */
/* Clock maps of synthetic GPUs whose true clocks are known: every ns must lie within the bound that
 * the map itself states. */
#include "check.h"
#include "inkmark/table.h"
#include "synth.h"

#include <inttypes.h>
#include <math.h>

enum { SMS = 6 };

/* Globaltimer ns at a moment t, in steps; clock64 of an SM at t. */
typedef struct gpu {
  double hz[SMS], skew[SMS];
  uint64_t step_ns, epoch_ns;
  double host_offset_ns, host_drift;
} gpu;

static uint64_t timer(const gpu *g, double t_ns) {
  uint64_t now = g->epoch_ns + (uint64_t)t_ns;
  return now - now % g->step_ns;
}

static uint64_t cycles(const gpu *g, uint32_t sm, double t_ns) {
  return (uint64_t)(g->skew[sm] + t_ns * g->hz[sm] * 1e-9);
}

static void put_track(ink_writer *writer, const gpu *g, uint32_t sm, double from_ns, double to_ns) {
  static uint64_t ticket;
  synth_track t;
  synth_track_init(&t, 64, 4, false);
  t.header.sm_open = t.header.sm_close = sm;
  t.header.ticket = ++ticket;
  t.header.grid_id = ticket;
  t.header.open_clock0 = cycles(g, sm, from_ns - 4);
  t.header.open_clock1 = cycles(g, sm, from_ns + 4);
  t.header.open_global_ns = timer(g, from_ns);
  t.header.close_clock0 = cycles(g, sm, to_ns - 4);
  t.header.close_clock1 = cycles(g, sm, to_ns + 4);
  t.header.close_global_ns = timer(g, to_ns);
  synth_put(writer, &t);
  synth_track_free(&t);
}

static void put_host(ink_writer *writer, const gpu *g, double t_ns, int64_t before, int64_t after) {
  ink_error error;
  double host = (double)g->epoch_ns + g->host_offset_ns + t_ns * (1 + g->host_drift);
  ink_host_clock pair = {.global_ns = timer(g, t_ns),
                         .realtime_before_ns = (int64_t)host - before,
                         .realtime_after_ns = (int64_t)host + after};
  NEED(ink_writer_host_clock(writer, &pair, &error), error);
}

static ink_writer *start(const char *path, uint32_t simulated) {
  ink_writer *writer = synth_writer(path, 64, 4, false);
  ink_error error;
  ink_device_info device = {.simulated = simulated, .records_per_track = 64,
                            .aux_records_per_track = 4, .name = "device"};
  NEED(ink_writer_device(writer, &device, &error), error);
  return writer;
}

static ink_clock_map *load(const char *path, ink_writer *writer, ink_capture **capture,
                           const ink_clock_quality **quality) {
  ink_clock_map *map;
  ink_error error;
  synth_finish(writer);
  NEED(ink_capture_open(path, capture, &error), error);
  NEED(ink_clock_map_make(*capture, &map, &error), error);
  CHECK(ink_clock_map_quality(map, quality) == 1, "one device");
  remove(path);
  return map;
}

/* Many tracks over a second on every SM; different rates, skews and timer steps. */
static void many(uint64_t step_ns, uint32_t simulated, double drift) {
  gpu g = {.step_ns = step_ns, .epoch_ns = 1700000000000000000, .host_offset_ns = 12345678,
           .host_drift = drift};
  static const int ranks[SMS] = {0, 3, 4, 2, 1, 2}; /* of their rates */
  const char *path = synth_path("many");
  ink_writer *writer = start(path, simulated);
  uint64_t random = step_ns;
  for (uint32_t sm = 0; sm < SMS; sm++) {
    g.hz[sm] = 1.41e9 + ranks[sm] * 3e4;
    g.skew[sm] = 1e12 * sm;
  }
  for (int i = 0; i < 300; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    double from = 1e6 + (double)(random >> 34) * 4.7;
    /* SM 5 runs once only, for 200 ns: no slope of its own. */
    if (i % SMS != 5 || i == 5)
      put_track(writer, &g, (uint32_t)i % SMS, from, from + (i % SMS == 5 ? 200 : 3e6));
  }
  put_host(writer, &g, 1e6, 900, 20000);
  put_host(writer, &g, 1.2e6, 700, 700);
  put_host(writer, &g, 5.3e9, 300, 300);
  put_host(writer, &g, 5.301e9, 30000, 400);
  ink_capture *capture;
  const ink_clock_quality *q;
  ink_clock_map *map = load(path, writer, &capture, &q);
  /* A timer of 1 ns cannot be told from an uneven one: the smallest difference seen is stated. */
  CHECK(step_ns == 1 ? q->timer_step_ns >= 1 && q->timer_step_ns <= 200
                     : q->timer_step_ns == step_ns, "step %u, not %" PRIu64, q->timer_step_ns,
        step_ns);
  CHECK(q->sms_seen == SMS && q->sms_guessed == 1, "%u seen, %u guessed", q->sms_seen,
        q->sms_guessed);
  CHECK(q->has_host && q->simulated == simulated, "host");
  CHECK(fabs(q->slope_min_hz / 1.41e9 - 1) < 1e-5 && fabs(q->slope_max_hz / 1.41012e9 - 1) < 1e-5,
        "%f to %f Hz", q->slope_min_hz, q->slope_max_hz);
  for (uint32_t sm = 0; sm < SMS - 1; sm++)
    CHECK(fabs(ink_clock_map_sm_hz(map, 0, sm) / g.hz[sm] - 1) < 1e-6, "SM %u: %f Hz", sm,
          ink_clock_map_sm_hz(map, 0, sm));
  /* One without a rate of its own has the median of the others. */
  CHECK(fabs(ink_clock_map_sm_hz(map, 0, SMS - 1) / g.hz[3] - 1) < 5e-6, "SM %d: %f Hz", SMS - 1, ink_clock_map_sm_hz(map, 0, SMS - 1));
  const ink_sm_quality *of_sms;
  const size_t sm_count = ink_clock_map_sms(map, 0, &of_sms);
  CHECK(sm_count == SMS, "%zu SMs", sm_count);
  for (size_t i = 0; i + 1 < sm_count; i++)
    CHECK(fabs(of_sms[i].hz / g.hz[of_sms[i].sm] - 1) * 1e6 <= of_sms[i].hz_bound_ppm && of_sms[i].hz_bound_ppm < 1,
          "SM %u: %f Hz, said to be good to %g ppm", of_sms[i].sm, of_sms[i].hz, of_sms[i].hz_bound_ppm);
  CHECK(q->host_bound_ns == (simulated || drift == 0 ? (simulated ? 300 : 700) : 700), "%" PRId64,
        q->host_bound_ns);
  CHECK(simulated ? isnan(q->host_drift_ppm)
                  : fabs(q->host_drift_ppm - drift * 1e6) < 0.6, "drift %f ppm", q->host_drift_ppm);
  CHECK(q->bound_ns >= q->host_bound_ns && q->bound_ns < q->host_bound_ns + 3 * (int64_t)q->timer_step_ns + 10,
        "bound %" PRId64, q->bound_ns);
  for (uint32_t sm = 0; sm < SMS - 1; sm++)
    for (double t = 1e6; t < 5e9; t += 1.7e8) {
      double truth = (simulated ? 0 : t * drift) + g.host_offset_ns;
      if (simulated) /* one offset, taken where the round trip was smallest */
        truth = g.host_offset_ns + 5.3e9 * drift;
      int64_t expected = (int64_t)g.epoch_ns + (int64_t)(t + truth);
      int64_t got = ink_clock_map_ns(map, 0, sm, cycles(&g, sm, t));
      CHECK(llabs(got - expected) <= q->bound_ns, "SM %u at %.0f: off by %" PRId64
            " ns, bound %" PRId64, sm, t, got - expected, q->bound_ns);
    }
  CHECK(fabs(ink_clock_map_duration_ns(map, 0, 3, 1410060) - 1e6) < 1, "duration");
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

/* Wild pairs, up to a tenth of all, move nothing but the stated residual. */
static void outliers(void) {
  gpu g = {.step_ns = 32, .epoch_ns = 1000000000};
  const char *path = synth_path("outliers");
  ink_writer *writer = start(path, 1);
  for (uint32_t sm = 0; sm < SMS; sm++)
    g.hz[sm] = 1e9;
  for (int i = 0; i < 200; i++) {
    synth_track t;
    put_track(writer, &g, 0, 1e5 * (i + 1), 1e5 * (i + 1) + 5e4);
    if (i % 20 == 7) { /* preempted between the two clock reads of its opening */
      synth_track_init(&t, 64, 4, false);
      t.header.grid_id = t.header.ticket = 100000u + (unsigned)i;
      t.header.open_clock0 = cycles(&g, 0, 1e5 * i);
      t.header.open_clock1 = cycles(&g, 0, 1e5 * i + 9e4);
      t.header.open_global_ns = timer(&g, 1e5 * i + 8.9e4);
      t.header.close_clock0 = t.header.close_clock1 = cycles(&g, 0, 1e5 * i + 9.5e4);
      t.header.close_global_ns = timer(&g, 1e5 * i + 9.5e4);
      synth_put(writer, &t);
      synth_track_free(&t);
    }
  }
  ink_capture *capture;
  const ink_clock_quality *q;
  ink_clock_map *map = load(path, writer, &capture, &q);
  CHECK(fabs(ink_clock_map_sm_hz(map, 0, 0) / 1e9 - 1) < 1e-5, "%f",
        ink_clock_map_sm_hz(map, 0, 0));
  CHECK(q->residual_max_ns < 40, "the wide pairs are left out: %f", q->residual_max_ns);
  CHECK(!q->has_host, "no host clock was written");
  int64_t got = ink_clock_map_ns(map, 0, 0, cycles(&g, 0, 1e7));
  CHECK(llabs(got - 1010000000) <= q->bound_ns, "raw globaltimer: %" PRId64, got);
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

/* Too little to know a slope from: nothing absurd, and said. */
static void little(void) {
  gpu g = {.step_ns = 1024, .epoch_ns = 5000000 / 1024 * 1024, .hz = {1e9, 1e9}};
  const char *path = synth_path("little");
  ink_writer *writer = start(path, 0);
  put_track(writer, &g, 0, 100, 300); /* within one step of the timer */
  ink_capture *capture;
  const ink_clock_quality *q;
  ink_clock_map *map = load(path, writer, &capture, &q);
  CHECK(q->bound_ns == INT64_MAX && q->slope_max_hz == 0 && q->sms_guessed == 1, "not known");
  int64_t ns = ink_clock_map_ns(map, 0, 0, cycles(&g, 0, 300));
  CHECK(llabs(ns - (int64_t)g.epoch_ns) < 2000, "near the reading: %" PRId64, ns);
  CHECK(ink_clock_map_ns(map, 7, 0, 5) == 5, "a device that is not there");
  ink_clock_map_free(map);
  ink_capture_free(capture);

  writer = start(path, 0);
  put_track(writer, &g, 0, 100, 300);
  put_track(writer, &g, 1, 900, 1300); /* over one step: 400 cycles, "1024" ns */
  map = load(path, writer, &capture, &q);
  CHECK(q->sms_guessed == 2 && q->slope_max_hz > 1e8 && q->slope_max_hz < 1e10, "%f Hz",
        q->slope_max_hz);
  ink_clock_map_free(map);
  ink_capture_free(capture);

  writer = start(path, 0);
  map = load(path, writer, &capture, &q); /* no track at all */
  CHECK(q->sms_seen == 0 && q->bound_ns == INT64_MAX, "nothing seen");
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

/* A track that was moved from one SM to another of another rate: what a slice before the move is taken to last may be wrong, and the
 * bound says by how much. `slower`: the clock that goes slower is that of the SM where it ends. */
static void moved(bool slower) {
  const double from_ns = 10e6, mid_ns = 10.5e6, to_ns = 11e6;
  gpu g = {.step_ns = 1, .epoch_ns = UINT64_C(1) << 60};
  const uint32_t first = slower, last = !slower;
  g.hz[0] = 1e9, g.hz[1] = 2e9;
  g.skew[first] = 1e6;
  /* the difference of its two stamps is what the clock where it ends counts in that time */
  g.skew[last] = (double)cycles(&g, first, from_ns) - from_ns * g.hz[last] * 1e-9;
  const char *path = synth_path("moved");
  ink_writer *writer = start(path, 0);
  for (int i = 0; i < 40; i++)
    for (uint32_t sm = 0; sm < 2; sm++)
      put_track(writer, &g, sm, 0.5e6 * i, 0.5e6 * i + 0.2e6);
  synth_track t;
  synth_track_init(&t, 64, 4, false);
  t.header.sm_open = first;
  t.header.sm_close = last;
  t.header.ticket = t.header.grid_id = 1000;
  t.header.open_clock0 = t.header.open_clock1 = cycles(&g, first, from_ns);
  t.header.open_global_ns = timer(&g, from_ns);
  synth_record(&t, 0, INK_KIND_MARK, SYNTH_LINE_SEARCH, 0, cycles(&g, first, mid_ns));
  t.header.close_clock0 = t.header.close_clock1 = cycles(&g, last, to_ns);
  t.header.close_global_ns = timer(&g, to_ns);
  synth_put(writer, &t);
  synth_track_free(&t);
  ink_capture *capture;
  const ink_clock_quality *quality;
  ink_clock_map *map = load(path, writer, &capture, &quality);
  ink_table *table;
  ink_error error;
  const ink_table_options options = {.size = sizeof options, .launch = UINT32_MAX};
  NEED(ink_table_make(capture, map, &options, &table, &error), error);
  const ink_table_row *rows;
  const size_t n = ink_table_rows(table, &rows);
  const double truth = mid_ns - from_ns;
  bool seen = false;
  for (size_t i = 0; i < n; i++)
    if (rows[i].section == SYNTH_LINE_SEARCH - 1) {
      seen = true;
      CHECK(fabs(rows[i].total_ns - truth) > 1000, "the test shows nothing: %.0f ns", rows[i].total_ns);
      CHECK(fabs(rows[i].total_ns - truth) <= rows[i].bound_ns, "%.0f ns for %.0f, said to be good to %.0f", rows[i].total_ns, truth,
            rows[i].bound_ns);
    }
  CHECK(seen, "no row");
  ink_table_free(table);
  ink_clock_map_free(map);
  ink_capture_free(capture);
  remove(path);
}

int main(void) {
  moved(false);
  moved(true);
  many(1, 0, 0);
  many(32, 0, 0);
  many(32, 0, 17e-6);
  many(1024, 0, -40e-6);
  many(32, 1, 90e-6);
  outliers();
  little();
  return check_result("clock_map");
}
