/* SPDX-License-Identifier: MIT */
/* `inkmark report --activity` as text: what there is, kernels, copies, calls, devices, the
 * timeline. */
#include "report_activity.h"

#include "message.h"
#include "style.h"
#include "text_out.h"

#include <inttypes.h>
#include <string.h>

enum { TIMELINE_SHOWN = 40, GROUPS_SHOWN = 30, NAME_SHOWN = 48 };

static number_text time_text(const activity_view *view, uint64_t ns) {
  return view->settings->unit == REPORT_NS ? number_whole(ns)
                                           : number_fraction((double)ns / 1000, 3);
}

static const char *unit_word(const activity_view *view) {
  return view->settings->unit == REPORT_NS ? "ns" : "us";
}

static void short_name(const activity_view *view, const ink_activity *a, char *out, size_t bytes) {
  ink_activity_short_name(activity_name(view, a), out, bytes);
  if (!out[0])
    snprintf(out, bytes, "?");
}

static bool print_grid(text_grid *grid, FILE *to) {
  const bool fine = grid && grid_print(grid, to, 2);
  grid_free(grid);
  if (!fine)
    message_say("out of memory");
  return fine;
}

static text_grid *grid_of(const char *const *titles, size_t n, size_t left) {
  text_grid *grid = grid_new();
  for (size_t i = 0; grid && i < n; i++)
    grid_column(grid, i < left ? GRID_LEFT : GRID_RIGHT, titles[i]);
  return grid;
}

static void title(FILE *to, const char *text) {
  text_print(to, "\n%s%s%s\n", style_code(to, STYLE_BOLD), text, style_code(to, STYLE_PLAIN));
}

/* ---- what there is ---- */

static void loss(const activity_view *view, const char *fact, const char *words, FILE *to) {
  const char *text = ink_capture_fact(view->loaded.capture, fact);
  if (text)
    text_print(to, "%s%s %s%s\n", style_code(to, STYLE_WARNING), text, words,
            style_code(to, STYLE_PLAIN));
}

static void head(const activity_view *view, FILE *to) {
  const ink_capture *capture = view->loaded.capture;
  const char *program = ink_capture_fact(capture, "command");
  const char *state = ink_capture_fact(capture, "activity");
  const char *missing = ink_capture_fact(capture, "activity_missing");
  const char *incomplete = load_incomplete(capture);
  text_print(to, "%s%s%s%s%s%s\n", view->loaded.path, program ? ": " : "", program ? program : "",
          incomplete ? " (" : "", incomplete ? incomplete : "", incomplete ? ")" : "");
  if (ink_capture_simulated(capture) && view->count)
    text_print(to,
            "%ssimulated clock: times are the simulator's, not a GPU's; copies and calls take "
            "none, every kernel says 32 registers%s\n",
            style_code(to, STYLE_WARNING), style_code(to, STYLE_PLAIN));
  if (!state)
    fputs("no activity was asked for ('inkmark record --activity')\n", to);
  else if (strcmp(state, "recorded") != 0)
    text_print(to, "no activity was recorded: %s\n", state);
  if (missing)
    text_print(to, "CUPTI did not give: %s\n", missing);
  loss(view, "activity_dropped", "records were dropped by CUPTI, for want of buffers", to);
  loss(view, "activity_left_out",
       "activities were left out, they came faster than they could be "
       "written",
       to);
  loss(view, "activity_without_time", "activities have no times and are left out", to);
  if (view->kernels)
    text_print(to, "%s of %s kernel%s have tracks, by device and grid id\n",
            number_whole(view->joined).text, number_whole(view->kernels).text,
            number_plural(view->kernels));
  if (view->outside)
    text_print(to,
            "%sthe tracks of %s of them stick out of their kernel, by up to %s ns before and %s ns "
            "after: the two clocks are off by that%s\n",
            style_code(to, STYLE_WARNING), number_whole(view->outside).text,
            number_whole((uint64_t)view->early_ns).text, number_whole((uint64_t)view->late_ns).text,
            style_code(to, STYLE_PLAIN));
  if (view->own)
    text_print(to, "%s activities of inkmark itself are not shown\n", number_whole(view->own).text);
  if (view->count && !view->clock.simulated && view->clock.known)
    text_print(to, "CUPTI's clock is known to %s ns of the host's\n",
            number_whole((uint64_t)view->clock.bound_ns).text);
}

/* ---- groups ---- */

static void times(const activity_view *view, text_grid *grid, const activity_group *g) {
  grid_cell(grid, "%s", number_whole(g->count).text);
  grid_cell(grid, "%s", time_text(view, g->total_ns).text);
  grid_cell(grid, "%s", time_text(view, g->min_ns).text);
  grid_cell(grid, "%s", time_text(view, g->median_ns).text);
  grid_cell(grid, "%s", time_text(view, g->max_ns).text);
}

static void kernel_row(const activity_view *view, text_grid *grid, const activity_group *g) {
  const ink_activity *k = g->sample;
  char name[256];
  const ink_occupancy o = ink_activity_occupancy(k, activity_device(view, k->device));
  short_name(view, k, name, sizeof name);
  grid_cell(grid, "%.*s", NAME_SHOWN, name);
  grid_cell(grid, "%d", k->device);
  times(view, grid, g);
  grid_cell(grid, "%u,%u,%u", k->block_dim[0], k->block_dim[1], k->block_dim[2]);
  grid_cell(grid, "%u", k->registers);
  grid_cell(grid, "%s",
            number_whole((uint64_t)k->static_shared_bytes + k->dynamic_shared_bytes).text);
  if (o.limit == INK_LIMIT_UNKNOWN) {
    grid_cell(grid, "%s", "");
    grid_cell(grid, "%s", "");
  } else {
    grid_cell(grid, "%.1f %%", o.share * 100);
    grid_cell(grid, "%s", activity_limit_word(o.limit));
  }
}

static void copy_row(const activity_view *view, text_grid *grid, const activity_group *g) {
  const ink_activity *c = g->sample;
  if (c->kind == INK_ACTIVITY_COPY && c->peer >= 0)
    grid_cell(grid, "%s (device %d)", activity_name(view, c), c->peer);
  else
    grid_cell(grid, "%s", activity_name(view, c));
  grid_cell(grid, "%d", c->device);
  times(view, grid, g);
  grid_cell(grid, "%s", number_bytes(g->bytes).text);
  if (g->total_ns)
    grid_cell(grid, "%s", number_fraction((double)g->bytes / (double)g->total_ns, 2).text);
  else
    grid_cell(grid, "%s", "");
}

static void call_row(const activity_view *view, text_grid *grid, const activity_group *g) {
  grid_cell(grid, "%.*s", NAME_SHOWN, activity_name(view, g->sample));
  times(view, grid, g);
}

typedef struct group_table {
  uint32_t first_kind, last_kind;
  const char *title;
  const char *titles[12];
  size_t columns;
  void (*row)(const activity_view *view, text_grid *grid, const activity_group *group);
} group_table;

static const group_table tables[] = {
    {INK_ACTIVITY_KERNEL,
     INK_ACTIVITY_KERNEL,
     "kernels",
     {"kernel", "device", "count", "total", "min", "median", "max", "threads", "registers",
      "shared bytes", "occupancy", "limited by"},
     12,
     kernel_row},
    {INK_ACTIVITY_COPY,
     INK_ACTIVITY_SET,
     "copies and sets",
     {"what", "device", "count", "total", "min", "median", "max", "bytes", "GB/s"},
     9,
     copy_row},
    {INK_ACTIVITY_RUNTIME_CALL,
     INK_ACTIVITY_DRIVER_CALL,
     "calls that launch, copy or wait",
     {"call", "count", "total", "min", "median", "max"},
     6,
     call_row},
};

static bool print_table(const activity_view *view, const group_table *table, FILE *to) {
  size_t shown = 0, all = 0;
  text_grid *grid = NULL;
  for (size_t i = 0; i < view->group_count; i++) {
    const activity_group *g = &view->groups[i];
    if (g->sample->kind < table->first_kind || g->sample->kind > table->last_kind)
      continue;
    if (!all++) {
      char words[64];
      snprintf(words, sizeof words, "%s, %s", table->title, unit_word(view));
      title(to, words);
      grid = grid_of(table->titles, table->columns, 1);
      if (!grid)
        return print_grid(grid, to);
    }
    if (shown < GROUPS_SHOWN || view->settings->all) {
      table->row(view, grid, g);
      shown++;
    }
  }
  if (!all)
    return true;
  const bool fine = print_grid(grid, to);
  if (shown < all)
    text_print(to, "  %s more rows are not shown (--all)\n", number_whole(all - shown).text);
  return fine;
}

/* ---- devices ---- */

static void share_cell(text_grid *grid, uint64_t part, uint64_t whole) {
  if (whole)
    grid_cell(grid, "%.1f %%", 100.0 * (double)part / (double)whole);
  else
    grid_cell(grid, "%s", "");
}

static bool print_devices(const activity_view *view, FILE *to) {
  static const char *const titles[] = {"device",      "kernels",      "copies",
                                       "sets",        "bytes copied", "span",
                                       "kernels run", "copies run",   "idle"};
  if (!view->use_count)
    return true;
  char words[64];
  snprintf(words, sizeof words, "devices, %s", unit_word(view));
  title(to, words);
  text_grid *grid = grid_of(titles, sizeof titles / sizeof *titles, 1);
  for (size_t i = 0; grid && i < view->use_count; i++) {
    const activity_use *u = &view->uses[i];
    const uint64_t span = u->end_ns - u->begin_ns;
    grid_cell(grid, "%d", u->device);
    grid_cell(grid, "%s", number_whole(u->kernels).text);
    grid_cell(grid, "%s", number_whole(u->copies).text);
    grid_cell(grid, "%s", number_whole(u->sets).text);
    grid_cell(grid, "%s", number_bytes(u->copied_bytes).text);
    grid_cell(grid, "%s", time_text(view, span).text);
    share_cell(grid, u->kernel_busy_ns, span);
    share_cell(grid, u->copy_busy_ns, span);
    share_cell(grid, span - u->busy_ns, span);
  }
  return print_grid(grid, to);
}

/* ---- the timeline ---- */

static void timeline_what(const activity_view *view, text_grid *grid, const activity_item *item) {
  const ink_activity *a = item->a;
  char name[256];
  short_name(view, a, name, sizeof name);
  if (a->kind == INK_ACTIVITY_KERNEL)
    grid_cell(grid, "%.*s <<<%u,%u,%u; %u,%u,%u>>>%s", NAME_SHOWN, name, a->grid_dim[0],
              a->grid_dim[1], a->grid_dim[2], a->block_dim[0], a->block_dim[1], a->block_dim[2],
              a->graph ? " (graph)" : "");
  else if (a->kind == INK_ACTIVITY_COPY || a->kind == INK_ACTIVITY_SET)
    grid_cell(grid, "%s, %s%s", name, number_bytes(a->bytes).text, a->graph ? " (graph)" : "");
  else
    grid_cell(grid, "%s%s", name, a->result ? " (failed)" : "");
}

static void timeline_row(const activity_view *view, text_grid *grid, const activity_item *item) {
  const ink_activity *a = item->a;
  grid_cell(grid, "%s", time_text(view, a->begin_ns - view->first_ns).text);
  grid_cell(grid, "%s", time_text(view, a->end_ns - a->begin_ns).text);
  if (a->device >= 0)
    grid_cell(grid, "GPU %d, stream %u", a->device, a->stream);
  else
    grid_cell(grid, "thread %u", a->stream);
  timeline_what(view, grid, item);
  grid_cell(grid, "%u", a->correlation);
  if (a->kind == INK_ACTIVITY_KERNEL)
    grid_cell(grid, "%" PRIu64, a->grid_id);
  else
    grid_cell(grid, "%s", "");
  if (item->launch == ACTIVITY_NO_LAUNCH) {
    grid_cell(grid, "%s", "");
    grid_cell(grid, "%s", "");
  } else {
    grid_cell(grid, "%u", item->launch);
    grid_cell(grid, "%s", number_whole(activity_tracks(view, item->launch)).text);
  }
}

static bool print_timeline(const activity_view *view, FILE *to) {
  static const char *const titles[] = {"begin",       "lasted",  "where",  "what",
                                       "correlation", "grid id", "launch", "tracks"};
  if (!view->count)
    return true;
  const size_t shown =
      view->settings->all || view->count < TIMELINE_SHOWN ? view->count : TIMELINE_SHOWN;
  char words[64];
  snprintf(words, sizeof words, "timeline, %s from the first activity on", unit_word(view));
  title(to, words);
  text_grid *grid = grid_new();
  for (size_t i = 0; grid && i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, i == 2 || i == 3 ? GRID_LEFT : GRID_RIGHT, titles[i]);
  for (size_t i = 0; grid && i < shown; i++)
    timeline_row(view, grid, &view->items[i]);
  const bool fine = print_grid(grid, to);
  if (shown < view->count)
    text_print(to, "  %s more activities are not shown (--all, or --format csv)\n",
            number_whole(view->count - shown).text);
  return fine;
}

bool activity_text(const activity_view *view, bool follows, FILE *to) {
  if (follows)
    fputc('\n', to);
  head(view, to);
  bool fine = true;
  for (size_t i = 0; i < sizeof tables / sizeof *tables && fine; i++)
    fine = print_table(view, &tables[i], to);
  return fine && print_devices(view, to) && print_timeline(view, to);
}
