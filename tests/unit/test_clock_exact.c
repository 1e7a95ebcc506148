/* SPDX-License-Identifier: MIT */
/* Everything that a clock map says, number by number, of captures and readings that never change. That the numbers are right
 * is what test_clock_map and test_clock_truth show; this one sees it when any of them moves. */
#include "capture/capture_private.h"
#include "clock/clock_map.h"
#include "expected.h"
#include "true_clock.h"

#include <inttypes.h>

#define PRINT(...) fprintf(expected_out, __VA_ARGS__)

static void print_quality(const ink_clock_quality *q) {
  PRINT("  device %d simulated %u host %d step %u Hz %.7g to %.7g residual %.5g spread %.5g\n", q->device, q->simulated, q->has_host,
        q->timer_step_ns, q->slope_min_hz, q->slope_max_hz, q->residual_max_ns, q->residual_spread_ns);
  PRINT("  host %" PRId64 " within %" PRId64 " drift %.7g bound %" PRId64 " seen %u guessed %u changed %u readings %u outliers %u slack %u\n",
        q->host_offset_ns, q->host_bound_ns, q->host_drift_ppm, q->bound_ns, q->sms_seen, q->sms_guessed, q->sms_changed, q->readings,
        q->outliers, q->slack_ns);
  PRINT("  ppm %.5g sm bound %.5g refused %u first %u back %" PRIu64 " calibrations %u of %u SMs edges %.5g skew %" PRIu64
        " monotonic %d %" PRId64 " within %" PRId64 " set %" PRId64 "\n",
        q->slope_bound_ppm, q->sm_bound_ns, q->sms_refused, q->refused_sm, q->went_back_ns, q->calibrations, q->sms_calibrated,
        q->edge_bound_ns, q->skew_cycles, q->has_monotonic, q->monotonic_offset_ns, q->monotonic_bound_ns, q->realtime_set_ns);
}

static void print_fit(const ink_clock_fit *fit) {
  PRINT("    %zu pieces, outliers %zu, back %" PRIu64 "\n", fit->count, fit->outliers, fit->went_back_ns);
  for (size_t i = 0; i < fit->count; i++) {
    const ink_clock_piece *p = &fit->pieces[i];
    PRINT("    from %" PRIu64 ", %" PRIu64 " to %" PRIu64 ": base %" PRIu64 " %" PRIu64 " + %.4f, %.7g in %.7g to %.7g, corners", p->from_cycles,
          p->first_cycles, p->last_cycles, p->base_cycles, p->base_ns, p->offset_ns, p->ns_per_cycle, p->slope_min, p->slope_max);
    for (uint32_t k = 0; k < p->corner_count && k < 6; k++)
      PRINT(" %.3f:%.6g", p->corners[k].offset_ns, p->corners[k].ns_per_cycle);
    PRINT(" of %u\n", p->corner_count);
  }
}

/* What a map says around each place where it could change its mind. */
static void print_map(const ink_clock_map *map) {
  const ink_clock_quality *q;
  const ink_sm_quality *sms;
  const size_t n = ink_clock_map_quality(map, &q);
  PRINT(" %zu devices, changes %d\n", n, ink_clock_map_changes(map));
  for (size_t d = 0; d < n; d++) {
    const int32_t device = q[d].device;
    print_quality(&q[d]);
    const size_t count = ink_clock_map_sms(map, device, &sms);
    for (size_t s = 0; s < count; s++) {
      const uint32_t sm = sms[s].sm;
      const ink_clock_fit *fit = &map->devices[d].sms[sm].fit;
      PRINT("   SM %u recorded %d guessed %d pieces %u readings %u edges %u outliers %u Hz %.7g within %.4g ppm bound %.5g residual %.5g "
            "spread %.5g skew %" PRIu64 " %.7g Hz\n", sm, sms[s].recorded, sms[s].guessed, sms[s].pieces, sms[s].readings, sms[s].edges,
            sms[s].outliers, sms[s].hz, sms[s].hz_bound_ppm, sms[s].bound_ns, sms[s].residual_max_ns, sms[s].residual_spread_ns,
            sms[s].skew_cycles, ink_clock_map_sm_hz(map, device, sm));
      if (sm % 2) /* half of them say as much as all */
        continue;
      print_fit(fit);
      for (size_t i = 0; i < fit->count && i < 5; i++) {
        const ink_clock_piece *p = &fit->pieces[i];
        const uint64_t at[] = {p->from_cycles, p->from_cycles - 1, p->first_cycles, p->first_cycles - 1, p->last_cycles, p->last_cycles + 1};
        for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
          const uint64_t to = at[k] + 1000000;
          if (!(at[k] + 1 > 1)) /* so far from the readings, an ns is a matter of the compiler */
            continue;
          const ink_line line = ink_clock_map_line(map, device, sm, at[k], to);
          PRINT("      %" PRIu64 ": %" PRId64 " within %.5g, a ms %.7g within %.5g; line %.7g from %" PRIu64 " until %" PRIu64
                ", span %.7g within %.5g\n", at[k], ink_clock_map_ns(map, device, sm, at[k]), ink_clock_map_bound_ns(map, device, sm, at[k]),
                ink_clock_map_duration_ns(map, device, sm, 1000000), ink_clock_map_duration_bound_ns(map, device, sm, at[k], to),
                line.ns_per_cycle, line.from_cycles, line.until_cycles, ink_line_span_ns(&line, at[k], to),
                ink_line_span_bound(&line, at[k], to));
        }
      }
    }
    PRINT("  monotonic %" PRId64 ", none %.3g %.3g %" PRId64 "\n", ink_clock_map_monotonic_ns(map, device, 1000),
          ink_clock_map_bound_ns(map, device, 4000, 5), ink_clock_map_duration_bound_ns(map, device, 4000, 5, 9),
          ink_clock_map_ns(map, device, 4000, 5));
  }
}

/* ---- captures of GPUs whose clocks are drawn from a seed ------------------------------------- */

static void of_kind(const true_kind *kind, uint64_t seed, int restart) {
  true_gpu g;
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  const char *path = synth_path("exact");
  ink_writer *writer = synth_writer(path, 2048, 4, false);
  true_range *ranges = calloc((size_t)kind->tracks * TRUE_SMS, sizeof *ranges);
  const ink_device_info device = {.records_per_track = 2048, .aux_records_per_track = 4, .name = "device"};
  true_make(&g, kind, seed);
  if (!ranges || ink_writer_device(writer, &device, &error) != INK_OK)
    exit(1);
  if (kind->edges)
    true_edges(&g, writer, 1000, INK_EDGES_AT_START);
  true_tracks(&g, writer, ranges);
  if (restart == 1)
    g.epoch_ns -= 1000000000;
  else if (restart == 2)
    g.skew[2] = 5;
  if (restart)
    for (uint32_t sm = 1; sm < 4; sm++)
      for (int i = 0; i < 6; i++)
        true_track(&g, writer, sm, kind->span_ns + 1e6 * i + 1000, kind->span_ns + 1e6 * i + 90000);
  if (kind->edges)
    true_edges(&g, writer, kind->span_ns + 2 * TRUE_EDGES_NS, INK_EDGES_AT_END);
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  remove(path);
  PRINT("%s, step %.0f, seed %" PRIu64 ", restart %d\n", kind->name, kind->step_ns, seed, restart);
  print_map(map);
  if (restart) /* a track that went from one SM to another, and one that ends before it begins */
    for (uint64_t length = 0; length < 2000001; length += 1000000) {
      const uint64_t from = true_cycles(&g, 1, kind->span_ns / 2);
      const ink_track track = {.state = INK_TRACK_CLOSED, .sm_open = 1, .sm_close = 2, .open_clock1 = from, .close_clock0 = from + length};
      const ink_line line = ink_clock_map_track_line(map, 0, &track);
      PRINT("  moved: %.7g, known %d, moved %.5g, pieces %zu, %" PRId64 ", %.7g within %.5g\n", line.ns_per_cycle, line.bound_known, line.moved_ns,
            line.piece_count, ink_line_ns(&line, from + 500), ink_line_span_ns(&line, from, from + 900), ink_line_span_bound(&line, from, from + 900));
    }
  ink_clock_map_free(map);
  ink_capture_free(capture);
  free(ranges);
}

/* So many tracks whose timer is off, by different amounts: under which limits are lines fitted? */
static void strays(int n) {
  static const true_kind kind = {"strays", 32, 80, 1e4, 8e7, 0, 0, false, false};
  true_gpu g;
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  const char *path = synth_path("strays");
  ink_writer *writer = synth_writer(path, 2048, 4, false);
  true_make(&g, &kind, 5);
  const uint64_t epoch = g.epoch_ns;
  for (int i = 0; i < 80; i++) {
    g.epoch_ns = epoch + (i % 5 == 3 && i / 5 < n ? 48 * (uint64_t)(i / 5 + 1) : 0);
    true_track(&g, writer, 0, 1e6 * i + 1000, 1e6 * i + 9000);
  }
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  remove(path);
  PRINT("%d strays\n", n);
  print_map(map);
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

/* What of edges can be stored, and comes back. */
static void stored_edges(void) {
  const uint64_t most = UINT32_MAX;
  const ink_edge edges[] = {{1000, 1010, 5000, 32}, {1000 + most, 1001 + most, 5032, 32}, {1001 + most, 1001 + most, 5032, 32}, {2000, 2000 + most, 5064, 32},
                            {2000, 2001 + most, 5064, 32}, {3000, 3000, 5000 + most, 7}, {3000, 3000, 5001 + most, 7}, {4000, 4000, 5096, 0}};
  const ink_sm_edges sms[] = {{.sm = 3, .count = 8, .edges = edges}, {.sm = 4, .count = 0}, {.sm = 5, .count = 1, .edges = edges + 3}};
  const ink_clock_edges all = {.device = 0, .when = INK_EDGES_ON_REQUEST, .realtime_ns = 77, .sm_count = 3, .sms = sms, .note = "a note"},
                        wrong = {.sm_count = 1}, none = {.note = NULL};
  const ink_clock_edges *read;
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map = NULL;
  const char *path = synth_path("edges");
  ink_writer *writer = synth_writer(path, 2048, 4, false);
  PRINT("arguments: %d %d %d\n", ink_writer_clock_edges(NULL, &all, &error), ink_writer_clock_edges(writer, NULL, &error), ink_writer_clock_edges(writer, &wrong, &error));
  NEED(ink_writer_clock_edges(writer, &all, &error), error);
  NEED(ink_writer_clock_edges(writer, &none, &error), error);
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  remove(path);
  const size_t n = ink_capture_clock_edges(capture, &read);
  for (size_t i = 0; i < n; i++) {
    PRINT("edges of device %d, %u at %" PRId64 ", %u SMs, '%s'\n", read[i].device, read[i].when, read[i].realtime_ns, read[i].sm_count, read[i].note);
    for (uint32_t k = 0; k < read[i].sm_count; k++)
      for (uint32_t e = 0; e < read[i].sms[k].count; e++)
        PRINT("  SM %u: %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n", read[i].sms[k].sm, read[i].sms[k].edges[e].cycles0, read[i].sms[k].edges[e].cycles1,
              read[i].sms[k].edges[e].global_ns, read[i].sms[k].edges[e].jump_ns);
  }
  PRINT("arguments: %d %d\n", ink_clock_map_make(NULL, &map, &error), ink_clock_map_make(capture, NULL, &error));
  NEED(ink_clock_map_make(capture, &map, &error), error);
  print_map(map);
  PRINT("no such device: %zu %" PRId64 " %.3g %.3g %" PRId64 "\n", ink_clock_map_sms(map, 5, &(const ink_sm_quality *){NULL}), ink_clock_map_ns(map, 5, 0, 9),
        ink_clock_map_sm_hz(map, 5, 0), ink_clock_map_bound_ns(map, 5, 0, 9), ink_clock_map_monotonic_ns(map, 5, 9));
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

/* ---- lines through readings that are written here -------------------------------------------- */

static void fit(const char *what, const ink_clock_pair *pairs, size_t n, double period_ns, double slack_ns) {
  const ink_clock_limits limits = {.period_ns = period_ns, .slack_ns = slack_ns, .slope_min = 0.5, .slope_max = 2};
  ink_clock_fit made = {0};
  if (!ink_clock_fit_pieces(pairs, n, &limits, &made))
    exit(1);
  PRINT("%s, period %g, slack %g\n", what, period_ns, slack_ns);
  print_fit(&made);
  for (size_t i = 0; i + 1 < n && made.count; i++)
    PRINT("    at %" PRIu64 " piece %zu, bound %.5g, to the next %.5g, over all %.5g\n", pairs[i].cycles0,
          ink_clock_piece_at(made.pieces, made.count, pairs[i].cycles0), ink_clock_piece_bound(made.pieces, made.count, pairs[i].cycles0),
          ink_clock_span_bound(made.pieces, made.count, pairs[i].cycles0, pairs[i + 1].cycles0),
          ink_clock_span_bound(made.pieces, made.count, pairs[0].cycles0, pairs[i + 1].cycles0));
  free(made.pieces);
}

static void fits(void) {
  ink_clock_pair pairs[40] = {{0}};
  fit("none", pairs, 0, 32, 0);
  for (size_t n = 1; n < 6; n++) {
    for (size_t i = 0; i < n; i++)
      pairs[i] = (ink_clock_pair){.cycles0 = 1000 * i, .cycles1 = 1000 * i + i, .global_ns = 5000 + 1000 * i / 32 * 32};
    fit("a few", pairs, n, 32, 0);
    fit("a few", pairs, n, 32, 5);
  }
  for (size_t at = 0; at < 12; at++) { /* one reading is off, by more or by less */
    for (size_t i = 0; i < 12; i++)
      pairs[i] = (ink_clock_pair){.cycles0 = 1000 * i, .cycles1 = 1000 * i + 3, .global_ns = 100000 + 1000 * i + (i == at ? 50 * (at + 1) : 0)};
    fit("one is off", pairs, 12, 1, at % 2 ? 40 : 0);
  }
  for (size_t at = 1; at < 11; at += 3) { /* another rate from one on, with few and with many behind it, faster and slower */
    for (size_t i = 0; i < 12; i++)
      pairs[i] = (ink_clock_pair){.cycles0 = 1000 * i, .cycles1 = 1000 * i + 3,
                                  .global_ns = 100000 + 1000 * i + (i > at ? (i - at) * (at % 2 ? 300 : -300ull) : 0)};
    fit("another rate", pairs, 12, 1, 0);
  }
  for (size_t i = 0; i < 12; i++) /* globaltimer goes back */
    pairs[i] = (ink_clock_pair){.cycles0 = 1000 * i, .cycles1 = 1000 * i + 3, .global_ns = 100000 + 1000 * i - (i > 5 ? 4000 : 0)};
  fit("back", pairs, 12, 1, 0);
  for (size_t i = 0; i < 12; i++) /* edges, whose first clock is from before them */
    pairs[i] = (ink_clock_pair){.cycles0 = 960 * i, .cycles1 = 960 * i + 9, .global_ns = 64000 + 960 * i, .jump_ns = i % 3 ? 32 : 0};
  fit("edges", pairs, 12, 32, 0);
  uint64_t random = 7;
  for (size_t i = 0; i < 40; i++) { /* so many corners that some are left out */
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    pairs[i] = (ink_clock_pair){.cycles0 = 100 * i + (random >> 60), .cycles1 = 100 * i + 20, .global_ns = 7000 + 100 * i + (random >> 33) % 9};
  }
  fit("corners", pairs, 40, 16, 0);
}

/* ---- the host's clocks ------------------------------------------------------------------------ */

static void host(const char *what, const ink_host_clock *pairs, size_t n, bool simulated) {
  ink_device_map map = {.quality = {.device = 1, .simulated = simulated, .timer_step_ns = 32}};
  ink_clock_fit_host(pairs, n, &map);
  PRINT("%s: reference %" PRIu64 " offset %" PRId64 " drift %.9g\n", what, map.host_reference_ns, map.host_offset_ns, map.host_drift);
  print_quality(&map.quality);
}

static void hosts(void) {
  /* device, globaltimer, REALTIME before and after, MONOTONIC before and the width of the two host reads */
  ink_host_clock pairs[] = {
      {.device = 1, .global_ns = 1000, .realtime_before_ns = 500000, .realtime_after_ns = 500101, .monotonic_before_ns = 70000, .monotonic_width_ns = 41},
      {.device = 0, .global_ns = 0, .realtime_before_ns = 7, .realtime_after_ns = 8, .monotonic_before_ns = 1, .monotonic_width_ns = 1},
      {.device = 1, .global_ns = 2000, .realtime_before_ns = 501000, .realtime_after_ns = 501081},
      {.device = 1, .global_ns = 3000, .realtime_before_ns = 502500, .realtime_after_ns = 502400}, /* went back */
      {.device = 1, .global_ns = 600000000, .realtime_before_ns = 600499000, .realtime_after_ns = 600499011, .monotonic_before_ns = 600069000, .monotonic_width_ns = 7},
      {.device = 1, .global_ns = 1000000000, .realtime_before_ns = 1000500300, .realtime_after_ns = 1000500400, .monotonic_before_ns = 1000070300, .monotonic_width_ns = 61},
      {.device = 1, .global_ns = 1000001000, .realtime_before_ns = 1000501290, .realtime_after_ns = 1000501391, .monotonic_before_ns = 1000071290, .monotonic_width_ns = 31},
      {.device = 1, .global_ns = 1000001100, .realtime_before_ns = 1000501390, .realtime_after_ns = 1000501490, .monotonic_before_ns = 1000071390, .monotonic_width_ns = 31},
  };
  const size_t n = sizeof pairs / sizeof *pairs;
  for (size_t count = 0; count <= n; count++) {
    host("the first pairs", pairs, count, false);
    host("simulated", pairs, count, true);
  }
  for (int set = -60; set <= 60; set += 6) { /* the clock was set by little: is it told from the widths? */
    pairs[5].realtime_before_ns = 1000500300 + set;
    pairs[5].realtime_after_ns = 1000500400 + set;
    host("set by little", pairs, 6, false);
  }
  pairs[7].realtime_before_ns += 3600000000000;
  pairs[7].realtime_after_ns += 3600000000000;
  host("set by an hour", pairs, n, false);
  pairs[7].global_ns = 999999999 + 1000; /* a second less one ns, and a second */
  host("just below a second", &pairs[0], 1, false);
  for (uint64_t more = 0; more < 3; more++) {
    pairs[1] = pairs[7];
    pairs[1].global_ns = 1000000999 + more;
    host("about a second", pairs, 2, false);
  }
}

static uint64_t drawn_state;
static uint64_t drawn_of(uint64_t n) {
  drawn_state = drawn_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (drawn_state >> 33) % n;
}

/* Few values, so that times and widths are equal and lie at limits often. */
static void drawn_hosts(void) {
  drawn_state = 1;
  for (int i = 0; i < 240; i++) {
    ink_host_clock pairs[6];
    const size_t n = 1 + drawn_of(6);
    int64_t known = 0;
    for (size_t k = 0; k < n; k++) {
      const uint64_t at = drawn_of(12) * 100000000, widths[] = {0, 0, 3, 10, 11};
      const uint32_t monotonic[] = {0, 4, 5, 8};
      const uint32_t tied = monotonic[drawn_of(4)];
      known = known ? known : tied / 2;
      /* set by what the widths leave open, by one more, or not */
      int64_t set = known + tied / 2 + 2 + (int64_t)drawn_of(2);
      set *= (int64_t)drawn_of(3);
      set *= drawn_of(2) ? 1 : -1;
      pairs[k] = (ink_host_clock){.device = drawn_of(4) != 0, .global_ns = at, .monotonic_before_ns = (int64_t)at + 50, .monotonic_width_ns = tied};
      pairs[k].realtime_before_ns = 700 + (int64_t)at + set;
      pairs[k].realtime_after_ns = pairs[k].realtime_before_ns + (int64_t)widths[drawn_of(5)];
      pairs[k].realtime_after_ns -= drawn_of(8) == 0;
    }
    ink_device_map map = {.quality = {.device = 1, .timer_step_ns = (uint32_t)drawn_of(3)}};
    map.quality.simulated = drawn_of(4) == 0;
    ink_clock_fit_host(pairs, n, &map);
    const ink_clock_quality *q = &map.quality;
    PRINT("host %d: %" PRIu64 " %" PRId64 " %.9g; %d %" PRId64 " %" PRId64 " %.6g; %d %" PRId64 " %" PRId64 " set %" PRId64 "\n", i, map.host_reference_ns, map.host_offset_ns,
          map.host_drift, q->has_host, q->host_offset_ns, q->host_bound_ns, q->host_drift_ppm, q->has_monotonic, q->monotonic_offset_ns, q->monotonic_bound_ns,
          q->realtime_set_ns);
  }
}

/* ---- gathering -------------------------------------------------------------------------------- */

static void gathered(void) {
  ink_device_pairs device = {0};
  uint64_t words[12] = {0};
  ink_stored_track stored = {.header = {.state = INK_TRACK_CLOSED, .open_clock0 = 1000, .open_clock1 = 1010, .open_global_ns = 64000,
                                        .close_clock0 = 301000, .close_clock1 = 301010, .close_global_ns = 64000 + 199999}};
  const uint64_t triple[] = {1500, 1510, 64480, INK_HEAD(INK_KIND_INSTANT, 0, 1510), INK_ESCAPE_WORD(INK_ESCAPE_CLOCKS, 0, 1510)};
  memcpy(words, triple, sizeof triple);
  memcpy(words + 6, triple, sizeof triple);
  stored.aux = words;
  stored.aux_words = 12;
  for (int step = 0; step < 9; step++) {
    ink_stored_track now = stored;
    memcpy(words, triple, sizeof triple);
    if (step >= 1) now.header.close_global_ns++;           /* long enough for triples */
    if (step == 2) now.header.sm_close = 1;                /* moved */
    if (step == 3) now.header.state = INK_TRACK_OPEN;
    if (step == 4) now.header.open_clock1 = 999;           /* damaged */
    if (step == 5) now.header.close_clock1 = 300999;
    if (step == 6) now.header.open_clock0 = 1501, now.header.open_clock1 = 1502;
    if (step == 7) words[1] = 1499, words[3] = INK_HEAD(INK_KIND_INSTANT, 0, 1499), words[4] = INK_ESCAPE_WORD(INK_ESCAPE_CLOCKS, 0, 1499);
    if (step == 8) now.header.sm_open = now.header.sm_close = INK_SM_MAX;
    if (!ink_pairs_add_track(&device, &now))
      exit(1);
    PRINT("step %d: %.0f cycles in %.0f ns, readings %zu, SMs %u:", step, device.cycles_sum, device.ns_sum, device.reading_count, device.sm_count);
    for (uint32_t i = 0; i < device.sm_count; i++)
      PRINT(" %zu from %" PRIu64 " to %" PRIu64, device.sms[i].tracks.count, device.sms[i].low_cycles, device.sms[i].high_cycles);
    PRINT("\n");
  }
  ink_edge edges[] = {{500, 510, 63968, 32}, {540, 539, 64000, 32}, {570, 570, 64032, 0}, {600, 610, 64064, 64}};
  const ink_sm_edges sms[] = {{.sm = 0, .count = 4, .edges = edges}, {.sm = 2, .count = 0, .edges = edges}, {.sm = INK_SM_MAX, .count = 1, .edges = edges}};
  const ink_clock_edges none = {.sm_count = 0}, all = {.sm_count = 3, .sms = sms};
  if (!ink_pairs_add_edges(&device, &none) || !ink_pairs_add_edges(&device, &all) || !ink_pairs_sort(&device))
    exit(1);
  uint32_t least, step = ink_pairs_step(&device, &least);
  PRINT("calibrations %u, step %u, least %u\n", device.calibrations, step, least);
  for (size_t i = 0; i < device.sms[0].count; i++)
    PRINT("  %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %d\n", device.sms[0].items[i].cycles0, device.sms[0].items[i].cycles1, device.sms[0].items[i].global_ns,
          device.sms[0].items[i].jump_ns, device.sms[0].items[i].opens);
  static const uint64_t at[] = {0, 499, 500, 501, 999, 1000, 1001, 1499, 1500, 300999, 301000, 301001, UINT64_MAX};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    PRINT("  at %" PRIu64 ": recorded %d, tracks in here %d, to here %d, from here %d\n", at[i], ink_pairs_recorded(&device.sms[0], at[i]),
          ink_pairs_tracks_in(&device.sms[0], at[i], at[i]), ink_pairs_tracks_in(&device.sms[0], 0, at[i]), ink_pairs_tracks_in(&device.sms[0], at[i], UINT64_MAX));
  ink_pairs_free(&device);

  static const uint64_t readings[][4] = {{5, 5, 5, 5}, {5, 37, 5, 37}, {5, 37, 69, 5}, {0, 48, 80, 96}, {0, 0x100000000, 0x200000000, 0}, {0, 1, 0x100000001, 3}};
  for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
    uint64_t copy[4];
    memcpy(copy, readings[i], sizeof copy);
    ink_device_pairs some = {.readings = copy, .reading_count = 4};
    step = ink_pairs_step(&some, &least);
    PRINT("readings %zu: step %u, least %u\n", i, step, least);
  }
  /* more than are kept: every second one is dropped */
  ink_device_pairs many = {0};
  ink_stored_track open = {.header = {.state = INK_TRACK_OPEN}};
  for (uint64_t i = 0; i < 2 * INK_PAIRS_MAX + 3; i++) {
    open.header.open_clock0 = open.header.open_clock1 = open.header.open_global_ns = i;
    if (!ink_pairs_add_track(&many, &open))
      exit(1);
    if (i + 1 == INK_PAIRS_MAX || i == INK_PAIRS_MAX || i + 3 > 2 * INK_PAIRS_MAX)
      PRINT("%" PRIu64 ": %zu of %" PRIu64 ", stride %" PRIu64 ", the last is %" PRIu64 ", the second %" PRIu64 "\n", i, many.sms[0].tracks.count,
            many.sms[0].tracks.seen, many.sms[0].tracks.stride, many.sms[0].tracks.items[many.sms[0].tracks.count - 1].cycles0, many.sms[0].tracks.items[1].cycles0);
  }
  PRINT("recorded %d\n", ink_pairs_recorded(&many.sms[0], 0));
  ink_pairs_free(&many);
}

int main(int argc, char **argv) {
  static const true_kind again[] = {
      {"few tracks", 32, 4, 3e6, 1e7, 0, 0, false, false},
      {"few readings", 1024, 2, 3e3, 1e4, 0, 0, true, false},
      {"changes", 32, 40, 1e5, 1e8, 2, 0, false, true},
      {"triples", 1024, 3, 3e7, 1e8, 1, 5e5, false, false},
  };
  expected_begin();
  for (size_t i = 0; i < sizeof again / sizeof *again; i++)
    for (int restart = 0; restart < 3; restart++)
      of_kind(&again[i], 40 + i, restart);
  for (size_t i = 4; i < TRUE_KINDS; i += 7)
    of_kind(&true_kinds[i], 50 + i, 0);
  for (int n = 0; n < 16; n++)
    strays(n);
  stored_edges();
  fits();
  hosts();
  drawn_hosts();
  gathered();
  expected_end(argc > 1 ? argv[1] : "clock.txt");
  return check_result("clock_exact");
}
