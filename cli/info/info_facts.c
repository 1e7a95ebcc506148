/* SPDX-License-Identifier: MIT */
/* `inkmark info` as JSON and CSV: one walk over the capture names every fact once; CSV has a line
 * `file,subject,index,key,value` for each. */
#include "info.h"

#include "json.h"
#include "text_out.h"

#include "inkmark/sources.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct fact_walk {
  FILE *to;
  const char *path;
  const char *subject;
  size_t index;      /* of the item in the subject */
  json_writer *json; /* NULL: CSV */
} fact_walk;

static json_writer writer; /* begin, files and end are three calls on one document */

static void csv_lead(const fact_walk *walk, const char *key) {
  csv_field(walk->to, walk->path);
  text_print(walk->to, ",%s,%zu,%s,", walk->subject, walk->index, key);
}

static void text(const fact_walk *walk, const char *key, const char *value) {
  if (walk->json) {
    json_string(walk->json, key, value);
  } else if (value) {
    csv_lead(walk, key);
    csv_field(walk->to, value);
    fputc('\n', walk->to);
  }
}

static void whole(const fact_walk *walk, const char *key, uint64_t value) {
  if (walk->json) {
    json_unsigned(walk->json, key, value);
  } else {
    csv_lead(walk, key);
    text_print(walk->to, "%" PRIu64 "\n", value);
  }
}

static void integer(const fact_walk *walk, const char *key, int64_t value) {
  if (walk->json) {
    json_signed(walk->json, key, value);
  } else {
    csv_lead(walk, key);
    text_print(walk->to, "%" PRId64 "\n", value);
  }
}

static void real(const fact_walk *walk, const char *key, double value) {
  if (walk->json) {
    json_double(walk->json, key, value);
  } else if (isfinite(value)) {
    csv_lead(walk, key);
    text_print(walk->to, "%.12g\n", value);
  }
}

static void truth(const fact_walk *walk, const char *key, bool value) {
  if (walk->json)
    json_bool(walk->json, key, value);
  else
    text(walk, key, value ? "true" : "false");
}

static void subject(fact_walk *walk, const char *name) {
  if (walk->json && walk->subject)
    json_close(walk->json, ']');
  walk->subject = name;
  walk->index = 0;
  if (walk->json && name)
    json_open(walk->json, name, '[');
}

static void item(fact_walk *walk, size_t index) {
  walk->index = index;
  if (walk->json)
    json_open_flat(walk->json, NULL);
}

static void item_end(const fact_walk *walk) {
  if (walk->json)
    json_close(walk->json, '}');
}

static void capture_facts(fact_walk *walk, const loaded_capture *loaded) {
  static const char *const keys[] = {"command", "host", "pid", "started_ns", "version"};
  const ink_capture_facts *facts = ink_capture_get_facts(loaded->capture);
  subject(walk, "capture");
  item(walk, 0);
  text(walk, "file", loaded->path);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    text(walk, keys[i], ink_capture_fact(loaded->capture, keys[i]));
  whole(walk, "format_version", facts->version);
  truth(walk, "simulated_clock", ink_capture_simulated(loaded->capture));
  truth(walk, "complete", facts->complete);
  text(walk, "ended_by", ink_capture_fact(loaded->capture, "ended_by"));
  text(walk, "write_failure", ink_capture_fact(loaded->capture, "write_failure"));
  text(walk, "not_armed", ink_capture_fact(loaded->capture, "not_armed"));
  text(walk, "window", ink_capture_fact(loaded->capture, "window"));
  text(walk, "window_launches", ink_capture_fact(loaded->capture, "window_launches"));
  text(walk, "blocks", ink_capture_fact(loaded->capture, "blocks"));
  text(walk, "unfinished", ink_capture_fact(loaded->capture, "unfinished"));
  whole(walk, "file_bytes", facts->file_bytes);
  whole(walk, "used_bytes", facts->used_bytes);
  whole(walk, "damaged_chunks", facts->damaged_chunks);
  whole(walk, "open_tracks", facts->open_tracks);
  whole(walk, "unknown_kernels", facts->unknown_kernels);
  whole(walk, "tracks", ink_capture_track_count(loaded->capture));
  text(walk, "note", facts->note[0] ? facts->note : NULL);
  item_end(walk);
}

static void device_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_device_info *list;
  size_t n = ink_capture_devices(loaded->capture, &list);
  subject(walk, "devices");
  for (size_t i = 0; i < n; i++) {
    item(walk, i);
    integer(walk, "device", list[i].index);
    text(walk, "name", list[i].name);
    truth(walk, "simulated", list[i].simulated != 0);
    whole(walk, "sms", list[i].sm_count);
    whole(walk, "capability", list[i].capability);
    whole(walk, "clock_khz", list[i].clock_khz);
    whole(walk, "runtime_version", list[i].runtime_version);
    whole(walk, "driver_version", list[i].driver_version);
    whole(walk, "buffer_tracks", list[i].track_count);
    whole(walk, "records_per_track", list[i].records_per_track);
    text(walk, "granularity", list[i].flags & INK_BUFFER_PER_WARP ? "warp" : "block");
    text(walk, "keep", list[i].flags & INK_BUFFER_KEEP_FIRST ? "first" : "last");
    char key[32];
    snprintf(key, sizeof key, "selftest.%d", list[i].index);
    text(walk, "selftest", ink_capture_fact(loaded->capture, key));
    item_end(walk);
  }
}

static void cost_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_mark_costs *list;
  size_t n = ink_capture_mark_costs(loaded->capture, &list), index = 0;
  subject(walk, "mark_costs");
  for (size_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < list[i].count; k++) {
      const ink_mark_cost *cost = &list[i].costs[k];
      item(walk, index++);
      integer(walk, "device", list[i].device);
      text(walk, "mark", info_cost_name(cost->what));
      truth(walk, "called", (cost->flags & INK_COST_CALLED_FUNCTION) != 0);
      truth(walk, "recording", (cost->flags & INK_COST_RECORDING) != 0);
      whole(walk, "samples", cost->samples);
      real(walk, "cycles", (double)cost->millicycles / 1000);
      real(walk, "bound_cycles", (double)cost->bound_millicycles / 1000);
      item_end(walk);
    }
    if (list[i].note[0]) {
      item(walk, index++);
      integer(walk, "device", list[i].device);
      text(walk, "not_measured", list[i].note);
      item_end(walk);
    }
  }
}

static void clock_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_clock_quality *list;
  size_t n = ink_clock_map_quality(loaded->map, &list);
  subject(walk, "clocks");
  for (size_t i = 0; i < n; i++) {
    item(walk, i);
    integer(walk, "device", list[i].device);
    truth(walk, "simulated", list[i].simulated != 0);
    truth(walk, "has_host", list[i].has_host);
    whole(walk, "timer_step_ns", list[i].timer_step_ns);
    real(walk, "slope_min_hz", list[i].slope_min_hz);
    real(walk, "slope_max_hz", list[i].slope_max_hz);
    real(walk, "residual_max_ns", list[i].residual_max_ns);
    integer(walk, "host_offset_ns", list[i].host_offset_ns);
    integer(walk, "host_bound_ns", list[i].host_bound_ns);
    real(walk, "host_drift_ppm", list[i].host_drift_ppm);
    if (list[i].bound_ns != INT64_MAX) /* else nothing can be said */
      integer(walk, "bound_ns", list[i].bound_ns);
    whole(walk, "sms_seen", list[i].sms_seen);
    whole(walk, "sms_guessed", list[i].sms_guessed);
    whole(walk, "sms_changed", list[i].sms_changed);
    whole(walk, "sms_refused", list[i].sms_refused);
    whole(walk, "went_back_ns", list[i].went_back_ns);
    whole(walk, "readings", list[i].readings);
    whole(walk, "outliers", list[i].outliers);
    whole(walk, "slack_ns", list[i].slack_ns);
    real(walk, "slope_bound_ppm", list[i].slope_bound_ppm);
    if (isfinite(list[i].sm_bound_ns))
      real(walk, "sm_bound_ns", list[i].sm_bound_ns);
    real(walk, "residual_spread_ns", round(list[i].residual_spread_ns * 1000) / 1000);
    whole(walk, "refused_sm", list[i].refused_sm);
    whole(walk, "skew_cycles", list[i].skew_cycles);
    whole(walk, "calibrations", list[i].calibrations);
    whole(walk, "sms_calibrated", list[i].sms_calibrated);
    real(walk, "edge_bound_ns", list[i].edge_bound_ns);
    truth(walk, "has_monotonic", list[i].has_monotonic);
    if (list[i].has_monotonic) {
      integer(walk, "monotonic_offset_ns", list[i].monotonic_offset_ns);
      integer(walk, "monotonic_bound_ns", list[i].monotonic_bound_ns);
      integer(walk, "realtime_set_ns", list[i].realtime_set_ns);
    }
    item_end(walk);
  }
}

static void sm_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_clock_quality *list;
  const ink_sm_quality *sms;
  size_t n = ink_clock_map_quality(loaded->map, &list), index = 0;
  subject(walk, "sm_clocks");
  for (size_t i = 0; i < n; i++) {
    const size_t count = ink_clock_map_sms(loaded->map, list[i].device, &sms);
    for (size_t k = 0; k < count; k++) {
      item(walk, index++);
      integer(walk, "device", list[i].device);
      whole(walk, "sm", sms[k].sm);
      truth(walk, "recorded", sms[k].recorded);
      truth(walk, "guessed", sms[k].guessed);
      real(walk, "hz", sms[k].hz);
      real(walk, "hz_bound_ppm", sms[k].hz_bound_ppm);
      real(walk, "bound_ns", sms[k].bound_ns);
      whole(walk, "skew_cycles", sms[k].skew_cycles);
      whole(walk, "pieces", sms[k].pieces);
      whole(walk, "readings", sms[k].readings);
      whole(walk, "edges", sms[k].edges);
      whole(walk, "outliers", sms[k].outliers);
      real(walk, "residual_max_ns", sms[k].residual_max_ns);
      real(walk, "residual_spread_ns", round(sms[k].residual_spread_ns * 1000) / 1000);
      item_end(walk);
    }
  }
}

static void edge_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_clock_edges *list;
  size_t n = ink_capture_clock_edges(loaded->capture, &list);
  subject(walk, "clock_edges");
  for (size_t i = 0; i < n; i++) {
    uint64_t edges = 0;
    for (uint32_t k = 0; k < list[i].sm_count; k++)
      edges += list[i].sms[k].count;
    item(walk, i);
    integer(walk, "device", list[i].device);
    text(walk, "when", info_edges_when(list[i].when));
    integer(walk, "realtime_ns", list[i].realtime_ns);
    whole(walk, "sms", list[i].sm_count);
    whole(walk, "edges", edges);
    text(walk, "not_caught", list[i].note[0] ? list[i].note : NULL);
    item_end(walk);
  }
}

static void kernel_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_kernel *list;
  size_t n = ink_capture_kernels(loaded->capture, &list);
  subject(walk, "kernels");
  for (size_t i = 0; i < n; i++) {
    item(walk, i);
    text(walk, "kernel", list[i].name);
    text(walk, "table", list[i].table ? list[i].table->name : NULL);
    whole(walk, "launches", list[i].launches);
    whole(walk, "tracks", list[i].tracks);
    whole(walk, "marks_executed", list[i].marks_executed);
    whole(walk, "missed", list[i].missed);
    whole(walk, "tracks_lost", list[i].tracks_lost);
    whole(walk, "marks_lost", list[i].marks_lost);
    item_end(walk);
  }
}

static void section_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_section *list;
  size_t n = ink_capture_sections(loaded->capture, &list);
  subject(walk, "sections");
  for (size_t i = 0; i < n; i++) {
    item(walk, i);
    text(walk, "table", list[i].table->name);
    text(walk, "section", list[i].name);
    whole(walk, "id", list[i].id);
    text(walk, "source", list[i].table->file);
    whole(walk, "line", list[i].table->line);
    item_end(walk);
  }
}

static void source_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_source *list;
  const size_t n = ink_capture_sources(loaded->capture, &list);
  subject(walk, "sources");
  for (size_t i = 0; i < n; i++) {
    item(walk, i);
    text(walk, "source", list[i].file);
    whole(walk, "bytes", list[i].bytes);
    text(walk, "sha256", list[i].sha256);
    item_end(walk);
  }
}

static void stall_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_stall *stalls;
  const ink_code *codes;
  ink_stall_facts all;
  const size_t n = ink_capture_stalls(loaded->capture, &stalls, &all), code_count = ink_capture_codes(loaded->capture, &codes);
  subject(walk, "stalls");
  if (!n && !all.samples && !code_count)
    return;
  item(walk, 0);
  whole(walk, "samples", all.samples);
  whole(walk, "dropped", all.dropped);
  whole(walk, "elsewhere", all.elsewhere);
  whole(walk, "left_out", all.left_out);
  whole(walk, "period_cycles", all.period_log2 ? UINT64_C(1) << all.period_log2 : 0);
  whole(walk, "buffer_full", all.full);
  whole(walk, "codes", code_count);
  whole(walk, "code_bytes", info_code_bytes(codes, code_count));
  item_end(walk);
}

static void launch_facts(fact_walk *walk, const loaded_capture *loaded) {
  const ink_launch *list;
  const ink_kernel *kernels;
  size_t n = ink_capture_launches(loaded->capture, &list);
  ink_capture_kernels(loaded->capture, &kernels);
  subject(walk, "launches");
  for (size_t i = 0; i < n; i++) {
    char shape[64];
    item(walk, i);
    text(walk, "kernel", kernels[list[i].kernel].name);
    integer(walk, "device", list[i].device);
    whole(walk, "grid_id", list[i].grid_id);
    snprintf(shape, sizeof shape, "%ux%ux%u", list[i].grid_dim[0], list[i].grid_dim[1],
             list[i].grid_dim[2]);
    text(walk, "blocks", shape);
    snprintf(shape, sizeof shape, "%ux%ux%u", list[i].block_dim[0], list[i].block_dim[1],
             list[i].block_dim[2]);
    text(walk, "threads", shape);
    whole(walk, "tracks", list[i].track_count);
    whole(walk, "one_block_of", list[i].one_of);
    whole(walk, "first_open_global_ns", list[i].first_open_global_ns);
    whole(walk, "last_close_global_ns", list[i].last_close_global_ns);
    item_end(walk);
  }
}

static void activity_facts(fact_walk *walk, const loaded_capture *loaded) {
  static const char *const losses[] = {"activity_missing", "activity_dropped",
                                       "activity_left_out", "activity_without_time"};
  const char *state = ink_capture_fact(loaded->capture, "activity");
  if (!state)
    return;
  const info_activity n = info_count_activity(loaded);
  subject(walk, "activity");
  item(walk, 0);
  text(walk, "state", state);
  text(walk, "cupti", ink_capture_fact(loaded->capture, "activity_cupti"));
  whole(walk, "kernels", n.kernels);
  whole(walk, "kernels_with_tracks", n.with_tracks);
  whole(walk, "copies", n.copies);
  whole(walk, "sets", n.sets);
  whole(walk, "calls", n.calls);
  whole(walk, "own", n.own);
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    text(walk, losses[i] + strlen("activity_"), ink_capture_fact(loaded->capture, losses[i]));
  item_end(walk);
}

void info_facts_begin(const info_settings *settings, FILE *to) {
  if (settings->format == INFO_CSV) {
    fputs("file,subject,index,key,value\n", to);
    return;
  }
  writer = (json_writer){.to = to};
  json_open(&writer, NULL, '{');
  json_unsigned(&writer, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_string(&writer, "inkmark", INKMARK_VERSION);
  json_open(&writer, "captures", '[');
}

void info_facts(const info_settings *settings, const loaded_capture *loaded, FILE *to) {
  fact_walk walk = {.to = to, .path = loaded->path};
  if (settings->format == INFO_JSON) {
    walk.json = &writer;
    json_open(&writer, NULL, '{');
  }
  capture_facts(&walk, loaded);
  device_facts(&walk, loaded);
  clock_facts(&walk, loaded);
  edge_facts(&walk, loaded);
  sm_facts(&walk, loaded);
  cost_facts(&walk, loaded);
  kernel_facts(&walk, loaded);
  section_facts(&walk, loaded);
  source_facts(&walk, loaded);
  stall_facts(&walk, loaded);
  activity_facts(&walk, loaded);
  launch_facts(&walk, loaded);
  subject(&walk, NULL);
  if (settings->format == INFO_JSON)
    json_close(&writer, '}');
}

void info_facts_end(const info_settings *settings, FILE *to) {
  (void)to;
  if (settings->format != INFO_JSON)
    return;
  json_close(&writer, ']');
  json_close(&writer, '}');
}
