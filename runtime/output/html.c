/* SPDX-License-Identifier: MIT */
/* The HTML output: report_page.html with the summary, the iterations and the lanes put in as JSON.
 * The page stays below 3 MB: of tracks beyond a limit it has only when and where they ran, and it says of how many.
 */
#include "host_lanes.h"
#include "outputs.h"
#include "page_sources.h"
#include "path_shown.h"
#include "report_page.h"
#include "tables_object.h"
#include "text_write.h"
#include "track_events.h"


#include <stdlib.h>

enum { TRACKS_MAX = 4096, SLICES_MAX = 60000, ITERATION_ROWS_MAX = 10000, OPEN_MOST = 1000, HOST_MAX = 10000 };

static const char data_mark[] = "<!--DATA-->";

typedef struct html {
  ink_selection selection; /* first: see ink_selection_decode */
  ink_file file;
  ink_error *error;
  ink_table *table;
  ink_track_events events;
  host_lanes host;
  char label[160];
  uint64_t tracks, whole_tracks, lanes, slices, left_out_slices;
  bool full; /* the limit is reached: decoding was stopped by us */
} html;

/* ---- iterations -------------------------------------------------------------------------------
 */

static void put_names(html *w, bool with_host) {
  ink_file_text(&w->file, "\"names\": [");
  for (size_t i = 0; i < w->selection.section_count; i++) {
    ink_file_text(&w->file, i ? "," : "");
    ink_file_json_string(&w->file, w->selection.sections[i].name);
  }
  ink_file_text(&w->file, w->selection.section_count ? ",\"(unmarked)\"" : "\"(unmarked)\"");
  for (size_t i = 0; with_host && i < w->host.count && i < HOST_MAX; i++) { /* after those of sections: one for each */
    char name[400];
    host_item_name(&w->host.items[i], name, sizeof name);
    ink_file_text(&w->file, ",");
    ink_file_json_string(&w->file, name);
  }
  ink_file_text(&w->file, "]");
}

static size_t name_index(const html *w, ink_section_index section) {
  return section < w->selection.section_count ? section : w->selection.section_count;
}

/* Rows of [part, section, iteration, count, cycles, ns]. */
static ink_status put_iterations(html *w) {
  ink_table *table;
  ink_status status = ink_selection_table(&w->selection, INK_BY_ITERATION, &table, w->error);
  if (status != INK_OK)
    return status;
  const ink_table_row *rows;
  size_t count = ink_table_rows(table, &rows), put = 0, left_out = 0;
  ink_file_text(&w->file, "<script type=\"application/json\" id=\"iterations\">{");
  put_names(w, false);
  ink_file_text(&w->file, ",\n\"rows\": [");
  for (size_t i = 0; i < count; i++) {
    if (rows[i].group == INK_ROW_NONE || rows[i].group == INK_ROW_UNKNOWN)
      continue;
    if (put == ITERATION_ROWS_MAX) {
      left_out++;
      continue;
    }
    ink_file_print(&w->file, "%s\n[%u,%zu,%lld,%llu,%llu,%.0f]", put++ ? "," : "", rows[i].part,
                   name_index(w, rows[i].section), (long long)rows[i].group,
                   (unsigned long long)rows[i].count, (unsigned long long)rows[i].total_cycles,
                   rows[i].total_ns);
  }
  ink_file_print(&w->file, "],\n\"left_out\": %zu}</script>\n", left_out);
  ink_table_free(table);
  return INK_OK;
}

/* ---- critical path ----------------------------------------------------------------------------
 */

static void put_path_section(html *w, ink_section_index section) {
  if (section == INK_PATH_BETWEEN)
    ink_file_text(&w->file, "\"(between blocks)\"");
  else
    ink_file_json_string(&w->file, section < w->selection.section_count ? w->selection.sections[section].name : "(unmarked)");
}

/* Shares [section, ns on the path, ns of all tracks]; rules [wait, how, section, share seen]. */
static void put_path_of(html *w, const ink_critical_path *path, uint32_t part) {
  static const char *const signs[INK_SIGNS] = {"is in", "leaves", "comes to", "was the last to come to"};
  ink_file_print(&w->file, "{\"launch\": %u, \"kernel_index\": %u, \"ns\": %lld, \"marked\": %llu, \"slots\": %llu, \"shares\": [",
                 path->launch, part, (long long)ink_ns_between(path->begin_ns, path->end_ns),
                 (unsigned long long)path->edges[INK_PATH_MARKED], (unsigned long long)path->edges[INK_PATH_SLOT]);
  for (size_t i = 0; i < path->share_count; i++) {
    ink_file_text(&w->file, i ? ", [" : "[");
    put_path_section(w, path->shares[i].section);
    ink_file_print(&w->file, ", %lld, %lld]", (long long)path->shares[i].path_ns, (long long)path->shares[i].all_ns);
  }
  ink_file_text(&w->file, "], \"rules\": [");
  bool follows = false;
  for (size_t i = 0; i < path->rule_count; i++) {
    const ink_path_rule *r = &path->rules[i];
    if (r->ends == INK_SECTION_UNKNOWN)
      continue;
    ink_file_text(&w->file, follows ? ", [" : "[");
    put_path_section(w, r->wait);
    ink_file_print(&w->file, ", \"%s\", ", signs[r->sign]);
    put_path_section(w, r->ends);
    ink_file_print(&w->file, ", %.4f]", r->seen);
    follows = true;
  }
  ink_file_text(&w->file, "]}");
}

static ink_status put_path(html *w) {
  ink_critical_path *path;
  ink_path_none none;
  const ink_status status = ink_path_shown(&w->selection, &path, &none);
  const uint32_t part = none.launch == UINT32_MAX
                            ? UINT32_MAX
                            : ink_table_part_of(w->table, none.launch, w->selection.launches[none.launch].kernel);
  ink_file_text(&w->file, "<script type=\"application/json\" id=\"path\">");
  if (path) {
    put_path_of(w, path, part);
  } else if (none.launch == UINT32_MAX) {
    ink_file_text(&w->file, "null");
  } else { /* "why" in the place of all the rest */
    ink_file_print(&w->file, "{\"launch\": %u, \"kernel_index\": %u, \"why\": ", none.launch, part);
    ink_file_json_string(&w->file, none.why);
    ink_file_text(&w->file, "}");
  }
  ink_file_text(&w->file, "</script>\n");
  ink_critical_path_free(path);
  return status;
}

/* ---- lanes ------------------------------------------------------------------------------------
 */

static void begin_lane(html *w, const char *suffix, size_t number) {
  char label[200];
  if (suffix)
    snprintf(label, sizeof label, "%s %s %zu", w->label, suffix, number);
  else
    snprintf(label, sizeof label, "%s", w->label);
  ink_file_text(&w->file, w->lanes++ ? ",\n[" : "\n[");
  ink_file_json_string(&w->file, label);
  ink_file_text(&w->file, ",[");
}

/* The fields that report_page.html names SECTION .. CUT. */
static void put_slice(html *w, bool first, ink_section_index section, int64_t begin_ns,
                      int64_t end_ns, uint32_t depth, int64_t row, uint8_t cut) {
  char *p = ink_file_room(&w->file, 256);
  if (!first)
    *p++ = ',';
  p = text_u64(p, name_index(w, section));
  *p++ = ',';
  p = text_i64(p, ink_ns_between(w->selection.begin_ns, begin_ns));
  *p++ = ',';
  p = text_i64(p, ink_ns_between(begin_ns, end_ns));
  *p++ = ',';
  p = text_u64(p, depth);
  *p++ = ',';
  if (row == INK_ROW_NONE)
    p = text_bytes(p, "null", 4);
  else if (row == INK_ROW_UNKNOWN)
    p = text_bytes(p, "\"unknown\"", 9);
  else
    p = text_i64(p, row);
  *p++ = ',';
  p = text_u64(p, cut);
  ink_file_took(&w->file, p);
  w->slices++;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  html *w = user;
  char label[96];
  w->full = w->tracks >= TRACKS_MAX;
  if (w->full)
    return INK_ERROR_STOPPED;
  ink_track_label(track->stored, label, sizeof label);
  snprintf(w->label, sizeof w->label, "%u SM %u %s", track->stored->launch,
           track->stored->header.sm_open, label);
  ink_track_events_clear(&w->events);
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  return ink_track_events_slice(&((html *)user)->events, slice);
}

static ink_status on_async(void *user, const ink_async *async) {
  return ink_track_events_async(&((html *)user)->events, async);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  html *w = user;
  const ink_track_events *e = &w->events;
  const uint64_t wanted = w->slices + e->slice_count + e->async_count;
  const bool whole = wanted <= SLICES_MAX || !w->slices; /* a first one is cut, later ones are only named */
  begin_lane(w, NULL, 0);
  for (size_t i = 0; whole && i < e->slice_count && w->slices < SLICES_MAX; i++) {
    const ink_slice *s = &e->slices[i];
    put_slice(w, i == 0, s->section, s->begin_ns, s->end_ns, s->depth, s->row, s->cut);
  }
  const ink_stored_track *stored = track->stored;
  ink_file_print(&w->file, "],[%u,%u,%d,%u,%lld,%lld,%u,%u,%u,%u,%u,%u,%lld]]",
                 ink_table_part_of(w->table, stored->launch, stored->kernel), stored->header.sm_open,
                 stored->device, stored->launch,
                 (long long)ink_ns_between(w->selection.begin_ns, track->open_ns),
                 (long long)ink_ns_between(track->open_ns, track->close_ns), stored->header.block_index[0],
                 stored->header.block_index[1], stored->header.block_index[2], stored->header.grid_dim[0], stored->header.grid_dim[1],
                 stored->header.grid_dim[2], stored->role == UINT32_MAX ? -1LL : (long long)name_index(w, stored->role));
  ink_status status = whole ? ink_track_events_lanes(&w->events) : INK_OK;
  for (size_t lane = 0; whole && status == INK_OK && lane < e->lane_count; lane++) {
    bool first = true;
    begin_lane(w, "async", lane);
    for (size_t i = 0; i < e->async_count && w->slices < SLICES_MAX; i++) {
      const ink_async *a = &e->asyncs[i];
      if (e->lanes[i] != lane)
        continue;
      put_slice(w, first, a->section, a->begin_ns, a->end_ns, 0, a->row, a->cut);
      first = false;
    }
    ink_file_text(&w->file, "]]");
  }
  w->tracks++;
  w->whole_tracks += whole;
  w->left_out_slices += wanted - w->slices;
  return status == INK_OK ? ink_file_check(&w->file, w->error) : status;
}

/* Above the tracks. */
static void put_host(html *w) {
  char name[300];
  const size_t count = w->host.count < HOST_MAX ? w->host.count : HOST_MAX;
  for (size_t lane = 0; lane < w->host.lane_count && count; lane++) {
    bool first = true;
    host_lane_name(&w->host, &w->host.lanes[lane], name, sizeof name);
    ink_file_text(&w->file, w->lanes++ ? ",\n[" : "\n[");
    ink_file_json_string(&w->file, name);
    ink_file_text(&w->file, ",[");
    for (size_t i = 0; i < count; i++) {
      const host_item *item = &w->host.items[i];
      if (item->lane != lane)
        continue;
      ink_file_print(&w->file, "%s%zu,%lld,%lld,%u,null,%d", first ? "" : ",", w->selection.section_count + 1 + i,
                     (long long)ink_ns_between(w->selection.begin_ns, item->begin_ns),
                     (long long)ink_ns_between(item->begin_ns, item->end_ns), item->depth, item->range && item->range->open);
      first = false;
    }
    ink_file_text(&w->file, "]]");
  }
}

static ink_status put_lanes(html *w) {
  const ink_sink sink = {.track_begin = on_track_begin,
                         .slice = on_slice,
                         .async = on_async,
                         .track_end = on_track_end};
  ink_file_text(&w->file, "<script type=\"application/json\" id=\"lane-data\">{");
  put_names(w, true);
  ink_file_text(&w->file, ",\n\"tracks\": [");
  put_host(w);
  ink_error ours = {0},
            *callers = w->error; /* the caller's stays untouched when we stop ourselves */
  w->error = &ours;
  ink_status status = ink_selection_decode(&w->selection, &sink, &ours);
  w->error = callers;
  if (status == INK_ERROR_STOPPED && w->full)
    status = INK_OK;
  else if (status != INK_OK && callers)
    *callers = ours;
  ink_file_print(&w->file,
                 "],\n\"host\": %zu, \"left_out_host\": %llu, \"slices\": %llu, \"left_out_slices\": %llu, "
                 "\"left_out_tracks\": %llu, \"with_info\": %llu, \"whole_tracks\": %llu}</script>\n",
                 w->host.count ? w->host.lane_count : 0,
                 (unsigned long long)(w->host.left_out + (w->host.count > HOST_MAX ? w->host.count - HOST_MAX : 0)),
                 (unsigned long long)w->slices, (unsigned long long)w->left_out_slices,
                 (unsigned long long)(w->selection.chosen_tracks - w->tracks), (unsigned long long)w->tracks,
                 (unsigned long long)w->whole_tracks);
  return status;
}

/* JSON that is there already: "<" stands in strings only, and is escaped as elsewhere. */
static void put_comparison(html *w) {
  const char *at = w->selection.options.comparison ? w->selection.options.comparison : "null";
  ink_file_text(&w->file, "<script type=\"application/json\" id=\"comparison\">");
  for (const char *end; *at; at = *end ? end + 1 : end) {
    end = at + strcspn(at, "<");
    ink_file_write(&w->file, at, (size_t)(end - at));
    ink_file_text(&w->file, *end ? "\\u003c" : "");
  }
  ink_file_text(&w->file, "</script>\n");
}

static ink_status put_data(html *w) {
  w->selection.open_most = OPEN_MOST;
  ink_status status = ink_selection_table(&w->selection, INK_BY_SECTION, &w->table, w->error);
  if (status != INK_OK)
    return status;
  ink_file_text(&w->file, "<script type=\"application/json\" id=\"summary\">");
  ink_tables_begin(&w->file);
  status = ink_tables_capture(&w->file, &w->selection, NULL, w->table, INK_BY_SECTION, w->error);
  ink_tables_end(&w->file);
  ink_file_text(&w->file, "</script>\n");
  if (status == INK_OK)
    status = put_iterations(w);
  if (status == INK_OK)
    status = put_path(w);
  if (status == INK_OK) {
    ink_file_text(&w->file, "<script type=\"application/json\" id=\"sources\">");
    status = ink_page_sources(&w->file, &w->selection, w->table, w->error);
    ink_file_text(&w->file, "</script>\n");
    put_comparison(w);
  }
  return status == INK_OK ? put_lanes(w) : status;
}

ink_status ink_write_html(const ink_capture *capture, const ink_clock_map *map,
                          const ink_output_options *options, const char *path, ink_error *error) {
  html w = {.error = error, .file.fd = -1};
  const char *page = (const char *)ink_report_page, *mark = strstr(page, data_mark);
  ink_status status = ink_selection_make(&w.selection, capture, map, options, error);
  if (status == INK_OK && w.selection.options.filter)
    status = ink_error_set(error, INK_ERROR_ARGUMENT, "the page cannot be filtered by time, blocks, iterations or length");
  w.selection.without_marking = w.selection.options.marking != INK_MARKING_IN;
  if (status == INK_OK)
    status = host_lanes_make(&w.host, &w.selection, error);
  if (status == INK_OK)
    status = ink_file_open_utf8(&w.file, path, error);
  if (status != INK_OK)
    goto cleanup;
  ink_file_write(&w.file, page, (size_t)(mark - page));
  status = put_data(&w);
  if (status == INK_OK) {
    ink_file_text(&w.file, mark + strlen(data_mark));
    status = ink_file_close(&w.file, error);
  } else if (status == INK_ERROR_MEMORY) {
    ink_error_set(error, status, "out of memory");
  }
cleanup:
  ink_table_free(w.table);
  ink_file_abandon(&w.file);
  ink_selection_free(&w.selection);
  host_lanes_free(&w.host);
  ink_track_events_free(&w.events);
  return status;
}
