/* SPDX-License-Identifier: MIT */
/* `inkmark report --path`: the critical path of the longest launch of each capture, as text or JSON. */
#include "report_path.h"

#include "commands.h"
#include "longest_launch.h"
#include "message.h"
#include "text_out.h"

#include "inkmark/critical.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *section_name(const loaded_capture *loaded, ink_section_index section) {
  return section == INK_PATH_BETWEEN ? "(between blocks)" : load_section_name(loaded, section);
}

static const char *edge_name(uint8_t edge) {
  static const char *const names[] = {NULL, "marked", "hand-over", "last of several", "slot"};
  return names[edge];
}

/* The launch that lasted longest, of those that the settings let through; UINT32_MAX after a message. */
static uint32_t choose_launch(const report_settings *settings, const loaded_capture *loaded) {
  longest_launch found;
  if (settings->launch != UINT64_MAX)
    return (uint32_t)settings->launch;
  if (!find_longest_launch(loaded, settings->kernel, false, &found))
    message_say("out of memory");
  else if (found.launch == UINT32_MAX)
    message_say("'%s' has no track that was closed", loaded->path);
  return found.launch;
}

/* ---- text ---- */

static number_text percent(double share) {
  number_text out;
  snprintf(out.text, sizeof out.text, "%.1f %%", 100 * share);
  return out;
}

static const char *const signs[INK_SIGNS] = {"is in", "leaves", "comes to", "came last"};

static void rules_text(const loaded_capture *loaded, const ink_critical_path *path, FILE *to) {
  for (size_t i = 0; i < path->rule_count; i++) {
    const ink_path_rule *r = &path->rules[i];
    const char *wait = section_name(loaded, r->wait);
    if (r->ends == INK_SECTION_UNKNOWN)
      text_print(to, "  %s: nothing was found in the block that ends it, so it stays on the path\n", wait);
    else if (r->sign == INK_SIGN_LAST)
      text_print(to, "  %s ends when the last of several comes: so it was at %s of %s waits\n", wait,
                 percent(r->seen).text, number_whole(r->waits).text);
    else
      text_print(to, "  %s ends when another track %s %s: so it was at %s of %s waits, by chance it would be at %s\n",
                 wait, signs[r->sign], section_name(loaded, r->ends), percent(r->seen).text,
                 number_whole(r->waits).text, percent(r->chance).text);
  }
  if (!path->rule_count && !path->edges[INK_PATH_MARKED] && !path->edges[INK_PATH_SLOT])
    text_print(to, "  nothing\n");
  if (path->edges[INK_PATH_MARKED])
    text_print(to, "  %s ranges across threads, as they were marked\n", number_whole(path->edges[INK_PATH_MARKED]).text);
  if (path->edges[INK_PATH_SLOT])
    text_print(to, "  %s time%s a block began where another one had ended\n", number_whole(path->edges[INK_PATH_SLOT]).text,
               path->edges[INK_PATH_SLOT] == 1 ? "" : "s");
}

static bool shares_text(const report_settings *settings, const loaded_capture *loaded, const ink_critical_path *path,
                        FILE *to) {
  static const char *const titles[] = {"ns", "share", "of its time", "steps", "slack at most, ns"};
  const double all = (double)(path->end_ns - path->begin_ns);
  text_grid *grid = grid_new();
  if (!grid)
    return false;
  grid_column(grid, GRID_LEFT, "on the path");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  for (size_t i = 0; i < path->share_count; i++) {
    const ink_path_share *s = &path->shares[i];
    if (!s->path_ns && !settings->all && (s->waits || s->slack_ns == INT64_MAX))
      continue;
    grid_cell(grid, "%s", section_name(loaded, s->section));
    grid_cell(grid, "%s", number_whole((uint64_t)s->path_ns).text);
    grid_cell(grid, "%s", all > 0 ? percent((double)s->path_ns / all).text : "");
    grid_cell(grid, "%s", percent((double)s->path_ns / (double)s->all_ns).text);
    grid_cell(grid, "%s", number_whole(s->steps).text);
    grid_cell(grid, "%s", s->slack_ns == INT64_MAX ? "" : number_whole((uint64_t)s->slack_ns).text);
  }
  const bool fine = grid_print(grid, to, 2);
  grid_free(grid);
  return fine;
}

/* What most of another path is, from where it parts from the first one. */
static void other_text(const loaded_capture *loaded, const ink_critical_path *first, const ink_critical_path *other,
                       FILE *to) {
  enum { MOST = 3 };
  const double all = (double)(other->end_ns - other->begin_ns);
  char place[LOAD_PLACE_BYTES];
  if (!other->step_count)
    return;
  text_print(to, "  %s ns shorter: to the end of %s, its own from %s ns on;",
             number_whole((uint64_t)(first->end_ns - other->end_ns)).text,
             load_track_place(loaded, other->steps[other->step_count - 1].track, place),
             number_whole((uint64_t)(other->parts_ns - other->begin_ns)).text);
  for (size_t i = 0; i < other->share_count && i < MOST && other->shares[i].path_ns > 0; i++)
    text_print(to, "%s %s %s", i ? "," : "", section_name(loaded, other->shares[i].section),
               percent(all > 0 ? (double)other->shares[i].path_ns / all : 0).text);
  text_print(to, "\n");
}

static bool steps_text(const loaded_capture *loaded, const ink_critical_path *path, FILE *to) {
  text_grid *grid = grid_new();
  if (!grid)
    return false;
  grid_column(grid, GRID_RIGHT, "begins at, ns");
  grid_column(grid, GRID_RIGHT, "ns");
  grid_column(grid, GRID_LEFT, "section");
  grid_column(grid, GRID_LEFT, "track");
  grid_column(grid, GRID_LEFT, "came by");
  for (size_t i = 0; i < path->step_count; i++) {
    const ink_path_step *s = &path->steps[i];
    char place[LOAD_PLACE_BYTES];
    grid_cell(grid, "%s", number_whole((uint64_t)(s->begin_ns - path->begin_ns)).text);
    grid_cell(grid, "%s", number_whole((uint64_t)(s->end_ns - s->begin_ns)).text);
    grid_cell(grid, "%s", section_name(loaded, s->section));
    grid_cell(grid, "%s", load_track_place(loaded, s->track, place));
    grid_cell(grid, "%s", s->edge ? edge_name(s->edge) : "");
  }
  const bool fine = grid_print(grid, to, 2);
  grid_free(grid);
  return fine;
}

static bool path_text(const report_settings *settings, const loaded_capture *loaded, const ink_critical_path *path,
                      FILE *to) {
  char place[LOAD_PLACE_BYTES];
  text_print(to, "%s\n", loaded->path);
  if (ink_capture_simulated(loaded->capture))
    text_print(to, "%s\n", LOAD_SIMULATED_LINE);
  if (!path->step_count) {
    text_print(to, "launch %u has no critical path: its tracks lasted no time\n", path->launch);
    return true;
  }
  text_print(to, "critical path of launch %u: %s ns to the end of %s\n", path->launch,
             number_whole((uint64_t)(path->end_ns - path->begin_ns)).text,
             load_track_place(loaded, path->steps[path->step_count - 1].track, place));
  bool fine = shares_text(settings, loaded, path, to);
  if (path->steps[0].begin_ns > path->begin_ns)
    text_print(to, "  the first %s ns are before the path: no recorded track held its first track up\n",
               number_whole((uint64_t)(path->steps[0].begin_ns - path->begin_ns)).text);
  if (path->marks_dropped)
    text_print(to, "  %s marks were dropped because rings were full: the path is not known there, and is "
                   "(unmarked) here; --records-per-track holds more, --fit as many as are needed\n", number_whole(path->marks_dropped).text);
  if (path->blocks_seen < path->blocks)
    text_print(to, "  %s of %s blocks have no track here: while they ran the path is (between blocks)\n",
               number_whole(path->blocks - path->blocks_seen).text, number_whole(path->blocks).text);
  if (path->other_count)
    text_print(to, "the next paths\n");
  for (size_t i = 0; i < path->other_count; i++)
    other_text(loaded, path, path->others[i], to);
  text_print(to, "taken for an edge\n");
  rules_text(loaded, path, to);
  if (fine && settings->all)
    fine = steps_text(loaded, path, to);
  if (!fine)
    message_say("out of memory");
  return fine;
}

/* ---- JSON ---- */

static void shares_json(json_writer *json, const loaded_capture *loaded, const ink_critical_path *path) {
  json_open(json, "sections", '[');
  for (size_t i = 0; i < path->share_count; i++) {
    const ink_path_share *s = &path->shares[i];
    json_open_flat(json, NULL);
    json_string(json, "section", section_name(loaded, s->section));
    json_bool(json, "waits", s->waits);
    json_signed(json, "path_ns", s->path_ns);
    json_signed(json, "all_ns", s->all_ns);
    json_unsigned(json, "steps", s->steps);
    if (s->slack_ns == INT64_MAX)
      json_string(json, "slack_ns", NULL);
    else
      json_signed(json, "slack_ns", s->slack_ns);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void rules_json(json_writer *json, const loaded_capture *loaded, const ink_critical_path *path) {
  json_open(json, "edges", '[');
  for (size_t i = 0; i < path->rule_count; i++) {
    const ink_path_rule *r = &path->rules[i];
    json_open_flat(json, NULL);
    json_string(json, "wait", section_name(loaded, r->wait));
    json_string(json, "section", r->ends == INK_SECTION_UNKNOWN ? NULL : section_name(loaded, r->ends));
    json_string(json, "sign", r->ends == INK_SECTION_UNKNOWN ? NULL : signs[r->sign]);
    json_unsigned(json, "waits", r->waits);
    json_double(json, "seen_share", r->seen);
    json_double(json, "chance_share", r->chance);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void others_json(json_writer *json, const loaded_capture *loaded, const ink_critical_path *path) {
  json_open(json, "next_paths", '[');
  for (size_t i = 0; i < path->other_count; i++) {
    const ink_critical_path *other = path->others[i];
    json_open(json, NULL, '{');
    json_signed(json, "end_ns", other->end_ns);
    json_signed(json, "parts_ns", other->parts_ns);
    if (other->step_count)
      json_unsigned(json, "track", other->steps[other->step_count - 1].track);
    else
      json_string(json, "track", NULL);
    shares_json(json, loaded, other);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void path_json(json_writer *json, const loaded_capture *loaded, const ink_critical_path *path) {
  json_open(json, NULL, '{');
  json_string(json, "file", loaded->path);
  json_bool(json, "simulated", ink_capture_simulated(loaded->capture));
  json_unsigned(json, "launch", path->launch);
  json_unsigned(json, "marks_dropped", path->marks_dropped);
  json_unsigned(json, "blocks", path->blocks);
  json_unsigned(json, "blocks_seen", path->blocks_seen);
  json_signed(json, "begin_ns", path->begin_ns);
  json_signed(json, "end_ns", path->end_ns);
  shares_json(json, loaded, path);
  rules_json(json, loaded, path);
  others_json(json, loaded, path);
  json_open(json, "steps", '[');
  for (size_t i = 0; i < path->step_count; i++) {
    const ink_path_step *s = &path->steps[i];
    ink_stored_track t;
    ink_capture_track(loaded->capture, s->track, &t);
    const ink_track *h = &t.header;
    json_open_flat(json, NULL);
    json_unsigned(json, "track", s->track);
    json_unsigned(json, "block", h->block_index[0] + (uint64_t)h->grid_dim[0] * (h->block_index[1] + (uint64_t)h->grid_dim[1] * h->block_index[2]));
    json_unsigned(json, "warp", h->thread / 32);
    json_string(json, "section", section_name(loaded, s->section));
    json_string(json, "edge", edge_name(s->edge));
    json_signed(json, "begin_ns", s->begin_ns);
    json_signed(json, "end_ns", s->end_ns);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}

/* ---- both ---- */

static bool one_file(const report_settings *settings, const char *file, json_writer *json, FILE *to) {
  loaded_capture loaded;
  ink_critical_path *path = NULL;
  ink_error error = {0};
  bool fine = false;
  if (!load_capture(file, &loaded))
    return false;
  uint32_t launch = UINT32_MAX;
  if (load_check_choice(&loaded, settings->kernel, settings->launch))
    launch = choose_launch(settings, &loaded);
  if (launch != UINT32_MAX) {
    error.status = ink_critical_path_make(loaded.capture, loaded.map, launch, settings->waits, &path, &error);
    if (error.status)
      message_failure(&error);
    else if (json)
      path_json(json, &loaded, path);
    fine = !error.status && (json || path_text(settings, &loaded, path, to));
    ink_critical_path_free(path);
  }
  unload_capture(&loaded);
  return fine;
}

int report_path(const report_settings *settings, char **paths, size_t n) {
  return report_in_forms(settings, paths, n, one_file);
}
